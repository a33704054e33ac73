"""The server for one editor: its files, the schedule of checks, and the published findings."""

from __future__ import annotations

import asyncio
import logging
import os
from argparse import Namespace
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.language_server import lsp_method
from pygls.uris import from_fs_path, to_fs_path

from mongo_tables import SITE, __version__
from mongo_tables.lsp.diagnostics import Diagnostic
from mongo_tables.lsp.names import Mention, Texts
from mongo_tables.lsp.session import Checked, Session, Sites, request_of
from mongo_tables.site.site_config import from_here, has_site_file

_T = TypeVar("_T")

_PAUSE: Final = 0.02
"""Seconds without a keystroke before a check begins, so that requests sent with the keystroke are answered first."""

_LOOK: Final = 2.0
"""Seconds between two scans of the disk, for editors that do not report changes there."""


def _list_folders(params: lsp.InitializeParams) -> list[Path]:
    """Return the existing folders that an editor has open."""
    uris = [each.uri for each in params.workspace_folders or ()]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [to_fs_path(uri) for uri in uris] if uris else [params.root_path]
    return [Path(path) for path in paths if path and Path(path).is_dir()]


class _Protocol(LanguageServerProtocol):
    """The protocol with UTF-16 columns, which every editor supports."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


@dataclass
class _Shown:
    """The state sent to an editor for one site: findings by file, with its version, and a notice."""

    found: dict[str, tuple[list[Diagnostic], int | None]]
    notice: str = ""


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self, arguments: Namespace) -> None:
        super().__init__(
            "mongo-tables",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
        )
        self.arguments = arguments
        self.sites: Sites | None = None
        self.root = Path.cwd()
        self._judge = ThreadPoolExecutor(1, "mongo-tables check")
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self._wanted = False
        self._shown: dict[Session, _Shown] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # -- files --

    def begin(self, params: lsp.InitializeParams) -> None:
        """Open the project of the folder in which an editor works; of several, the first with a site file."""
        folders = _list_folders(params)
        root = next((each for each in folders if has_site_file(each)), folders[0] if folders else None)
        if root is not None:
            os.chdir(root)
            self.root = root
        given = self.arguments
        self.sites = Sites(
            lambda site: Session(
                lambda: request_of(site, given.results, given.limit, database=given.database)
            ),
            given.site_file,
        )

    @property
    def sessions(self) -> list[Session]:
        """The sessions of all sites."""
        return self.sites.sessions if self.sites else []

    def session_of(self, file: str) -> Session | None:
        """Return the session of the site of a file, or None before the editor has opened a file or a folder."""
        return self.sites.of(file) if self.sites and file else None

    def file_of(self, uri: str) -> str:
        """Return the name of a file as ``check`` has it, or "" for files that are not ours."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is None or self.sites is None:
            return ""
        within = Path(path).is_relative_to(self.root)
        name = Path(path).relative_to(self.root).as_posix() if within else from_here(Path(path))
        return name if self.sites.of(name).project.is_ours(name) else ""

    def uri_of(self, file: str) -> str:
        """Return the URI of a file."""
        return from_fs_path(str(Path(os.path.normpath(self.root / file)))) or ""

    def locate(self, one: Mention, texts: Texts) -> lsp.Location:
        """Return the location of a name."""
        return lsp.Location(self.uri_of(one.file), texts.lines(one.file).span(one.start, one.end))

    # -- checks --

    def check_soon(self) -> None:
        """Schedule a check for when typing pauses."""
        self._wanted = True
        if self._timer is not None:
            self._timer.cancel()
        if not self._running:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_PAUSE, lambda: self.start(self._check()))

    def look_again(self) -> None:
        """Schedule a check of all pages with the current files; clear the findings of removed sites."""
        for session in self.sites.look_again() if self.sites else ():
            self._publish(session, Checked({}, {}))
            del self._shown[session]
        self.check_soon()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a background task."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def look_now_and_then(self) -> None:
        """Watch for file changes on disk that no editor reports."""
        known: dict[Session, str] = {}
        while self.sites is not None:
            seen = {each: await self._run(each.project.glance) for each in self.sessions}
            if any(known.get(each, each.project.first_glance) != glance for each, glance in seen.items()):
                self.look_again()
            known = seen
            await asyncio.sleep(_LOOK)

    async def _check(self) -> None:
        if self._running:
            return
        self._running = True
        try:
            while self._wanted:
                self._wanted = False
                for session in [one for one in self.sessions if one.is_due]:
                    checked = await self._run(session.check)
                    if session in self.sessions:  # Its site may have been removed meanwhile.
                        self._publish(session, checked)
        except Exception:  # A defect of this program: editing continues, and the log has the traceback.
            logging.getLogger(__name__).exception("a check failed")
        finally:
            self._running = False

    async def ask(self, file: str, question: Callable[[Session], _T]) -> _T | None:
        """Return the answer of the file's session to a question, between two checks, or None without a session."""
        session = self.session_of(file)
        return None if session is None else await self._run(partial(question, session))

    async def _run(self, work: Callable[[], _T]) -> _T:
        """Run work in the checking thread."""
        return await asyncio.get_running_loop().run_in_executor(self._judge, work)

    def _publish(self, session: Session, checked: Checked) -> None:
        """Publish the changes of a site, for files that have not changed since the check."""
        shown = self._shown.setdefault(session, _Shown({}))
        now = {file: one.version for file, one in session.documents.items()}
        for file in {**checked.diagnostics, **shown.found, **now}:
            found = checked.diagnostics.get(file, [])
            version = now.get(file)
            if version != checked.versions.get(file) or shown.found.get(file, ([], None)) == (found, version):
                continue
            shown.found[file] = found, version
            sent = [diagnostic_of(one, self.uri_of) for one in found]
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(self.uri_of(file), sent, version)
            )
        if checked.notice and checked.notice != shown.notice:
            self.tell(checked.notice)
        shown.notice = checked.notice

    def tell(self, message: str) -> None:
        """Show a message to the user."""
        self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"mongo-tables: {message}"))


_SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def diagnostic_of(one: Diagnostic, uri_of: Callable[[str], str]) -> lsp.Diagnostic:
    """Return a finding as a diagnostic of the protocol. ``uri_of`` returns the URI of a file."""
    found = one.finding
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri_of(each.file), each.span), f"in {each.file}")
        for each in one.related
    ]
    return lsp.Diagnostic(
        one.span,
        f"{found.message}\n{found.hint}" if found.hint else found.message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        code_description=lsp.CodeDescription(f"{SITE}reference/rules/"),
        source="mongo-tables",
        related_information=related or None,
    )
