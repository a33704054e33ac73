"""The pages, shared pipelines and results of a folder while its pages are edited, and their findings.

Findings are those of ``mongo-tables check``: the same `build`, over a snapshot with the editor's texts on top. A memo
keeps the results of unchanged comments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.build import build
from mongo_tables.commands.check.pages import raise_if_unusable
from mongo_tables.directives.pipelines import SharedPipelines, read_shared
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import find_in_lists
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import PAGE_SUFFIXES, Request, pages_under, read_snapshots, snapshot_of
from mongo_tables.site.pages import Page, read_page
from mongo_tables.site.site_config import list_places, list_site_files, values_of
from mongo_tables.site.site_pages import Whereabouts, page_folders

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.snapshot import Needs

Findings = Mapping[str, Sequence["Finding"]]
"""Findings by the file that contains them or that they are about."""


class Project:
    """The edited pages. Files have the names that ``check`` gives them if it starts in this folder.

    ``static``: no pipeline runs, for example because the user did not allow the database.
    """

    def __init__(self, request: Request, static: bool = False) -> None:
        self.request = request
        self.static = static
        self.answers = Answers(request.results, request.limits, workers=1, server=request.server)
        self.folders = page_folders(request.site)
        self._edited: dict[str, str] = {}
        self._memo = Memo()
        self._files: Sequence[Path] = ()
        self.checked: Mapping[str, str] = {}
        """The texts of the pages that the last check read: the positions of its findings refer to these."""
        self.first_glance = self.glance()
        """The result of ``glance`` before anything was read."""
        self.look_again()

    def look_again(self) -> None:
        """Read files again, and query the results source again if it has changed."""
        self.where = Whereabouts(self.request.site)
        self.shared = self._read_lists()
        if not self.static:
            self.answers.refresh()
        self.report = build(snapshot_of({}), self.answers)

    def glance(self) -> str:
        """Return a digest of the files that a check reads. It changes with their contents."""
        total = sha256()
        folder = Path(self.request.pipelines)
        files = dict.fromkeys(file for each in self.folders for file in pages_under(Path(each)))
        files |= dict.fromkeys([*sorted(folder.glob("*.json")), *self._files])
        files |= dict.fromkeys([*list_site_files(self.request.site), *list_places(Path())])
        for file in files:
            with suppress(OSError):
                total.update(
                    f"{file}\0".encode(errors="surrogateescape") + sha256(file.read_bytes()).digest()
                )
        written = "" if self.static else self.answers.writes() or ""
        return f"{total.hexdigest()} {written}"

    def edit(self, file: str, text: str | None) -> None:
        """Use a text in place of a saved file. With None, use the saved file again."""
        if text is None:
            self._edited.pop(file, None)
        else:
            self._edited[file] = text
        if self.is_list(file):
            self.shared = self._read_lists()

    def is_list(self, file: str) -> bool:
        """Return whether a file is a shared pipeline."""
        path = Path(file)
        return path.suffix == ".json" and path.parent == Path(self.request.pipelines)

    def is_ours(self, file: str) -> bool:
        """Return whether a file is a page or a shared pipeline."""
        return self.is_list(file) or Path(file).suffix.lower() in PAGE_SUFFIXES

    def _read_lists(self) -> SharedPipelines:
        edited = {file: text for file, text in self._edited.items() if self.is_list(file)}
        return SharedPipelines(Path(self.request.pipelines), edited, values_of(self.request.site))

    @property
    def list_names(self) -> list[str]:
        """The names of shared pipelines."""
        return [file.stem for file in self.shared.files]

    def list_file(self, name: str) -> str:
        """Return the file of a shared pipeline."""
        return (Path(self.request.pipelines) / f"{name}.json").as_posix()

    def list_text(self, name: str) -> str:
        """Return the edited text of a shared pipeline, else the saved one."""
        return self.text(self.list_file(name)) or ""

    @property
    def files(self) -> list[str]:
        """Return the pages that are checked: those of the site, and edited ones."""
        saved = (file.as_posix() for folder in self.folders for file in pages_under(Path(folder)))
        edited = (file for file in self._edited if not self.is_list(file))
        return list(dict.fromkeys([*saved, *edited]))

    def text(self, file: str) -> str | None:
        """Return the edited text of a file, else the saved one, or None if there is no such file."""
        if file in self._edited:
            return self._edited[file]
        try:
            return Path(file).read_bytes().decode()
        except (OSError, ValueError):
            return None

    def page(self, file: str) -> Page:
        """Return a page as parsed."""
        text = self.text(file) or ""
        key = ("page", file, text, self.shared.digest)
        return self._memo.get(key, lambda: read_page(text, file, self.shared))

    def check(self, *, with_rows: bool = True) -> Findings:
        """Return all findings, or those that need no pipeline run, by file.

        Raises ResultsError if the results source is unusable.
        """
        needs: Needs = "rows" if with_rows and not self.static else "nothing"
        texts = {os.path.abspath(file): text for file, text in self._edited.items()}  # noqa: PTH100
        read = read_snapshots(self.files, replace(self.request, texts=texts), needs)
        reports = [build(snapshot, self.answers, self._memo) for snapshot in read.snapshots]
        for report in reports:
            raise_if_unusable(report)
        self._files = read.files
        self.checked = {one.file: one.text for snapshot in read.snapshots for one in snapshot.pages}
        self.report = reports[0] if reports else self.report
        every = sorted({one for report in reports for one in report.findings})
        found: dict[str, list[Finding]] = {}
        for one in (*every, *find_in_lists(every, Path(self.request.pipelines))):
            found.setdefault(one.file, []).append(one)
        for file, faults in self._judge_unnamed_lists().items():
            found.setdefault(file, list(faults))
        return found

    def _judge_unnamed_lists(self) -> Findings:
        """Return the faults of edited shared pipelines. ``check`` only has those of lists that a page names."""
        found = {}
        for file, text in self._edited.items():
            if self.is_list(file) and (
                faults := read_shared(text, file, Path(file).stem, self.shared).findings
            ):
                found[file] = faults
        return found
