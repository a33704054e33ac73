"""The sites of the folder that an editor has open, as of a repository with several packages, each with a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mongo_tables.findings.usage import UsageError
from mongo_tables.lsp.session import Session
from mongo_tables.site.site_config import Site, find_site


class Sites:
    """The session of the folder, and one for each site below it of which a file was asked for.

    ``open_session`` is given the file of a site; None is what holds in the folder itself. Where ``named`` is the file
    of a site, all pages are of that one. Raises UsageError for a file of a site that cannot be read.
    """

    def __init__(self, open_session: Callable[[str | None], Session], named: str | None) -> None:
        self._open_session = open_session
        self._named = named
        self._root = Path.cwd()
        self._main = open_session(named)
        self._below: dict[Path, Session] = {}
        self._known: dict[Path, Session] = {}

    @property
    def sessions(self) -> list[Session]:
        """All sessions, that of the folder first."""
        return [self._main, *self._below.values()]

    def of(self, file: str) -> Session:
        """The session of the site that has a file, else of the nearest one around it.

        It is that of the folder where there is no such site, or it is not below the folder.
        """
        folder = Path(file).parent
        if folder not in self._known:
            self._known[folder] = self._main if self._named else self._find(file)
        return self._known[folder]

    def _find(self, file: str) -> Session:
        try:
            around = self._main.project.where.of(file)
            site = around.site if around else find_site(Path(file).parent)
            return self._session_of(site) if site else self._main
        except UsageError:  # Its file is being written.
            return self._main

    def _session_of(self, site: Site) -> Session:
        if self._root not in site.file.parent.parents or not site.file.exists():
            return self._main
        if site.file not in self._below:
            self._below[site.file] = self._open_session(str(site.file))
        return self._below[site.file]

    def look_again(self) -> list[Session]:
        """Have the next check look at the disk again; files that are open go to the site that is around them now.

        Gives the sessions of sites that are gone, which end with that.
        """
        self._known.clear()
        for session in self.sessions:
            session.look_again()
            for file, document in session.documents.copy().items():
                now = self.of(file)
                if now is not session:
                    session.close(file)
                    now.open(file, document.text, document.version)
        gone = [file for file in self._below if not file.exists()]
        return [self._below.pop(file) for file in gone]
