"""The open files of an editor, and their project.

Requests may come from any thread, but only one thread checks. A check uses the texts from its start, and later changes
wait for the next check.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from lsprotocol.types import Position, Range

from mongo_tables.directives.html_comments import is_fenced
from mongo_tables.directives.keywords import is_mdx
from mongo_tables.files.folders import plain_path
from mongo_tables.findings.usage import CommandError
from mongo_tables.jsontext.tokens import read_tokens
from mongo_tables.lint.shape.values import Shape
from mongo_tables.lsp.completion import Completion, complete
from mongo_tables.lsp.diagnostics import (
    Action,
    Diagnostic,
    Lines,
    diagnose,
    list_actions,
    offset_of,
    touch,
)
from mongo_tables.lsp.flows import shape_before
from mongo_tables.lsp.hover import Hover, hover, hover_comment
from mongo_tables.lsp.names import Mention, Texts, mentions
from mongo_tables.lsp.project import Findings, Knowledge, Project
from mongo_tables.lsp.slots import Stretch
from mongo_tables.lsp.typed_json import PIPELINE, Body, body_of, comment_body, cursor_at, read_value
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import is_uri
from mongo_tables.site.disk import Request
from mongo_tables.site.site_config import fill_in, find_site

_LINE_END: Final = 2**31 - 1
"""The largest column of the protocol."""


class OpenFile(NamedTuple):
    """An open file with the editor's text."""

    lines: Lines
    version: int

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.lines.text


class Checked(NamedTuple):
    """The findings of a check by file, the versions of the open files that it read, and a notice for the author."""

    diagnostics: Mapping[str, list[Diagnostic]]
    versions: Mapping[str, int]
    notice: str = ""


def request_of(
    site_file: str | None, results: str | None, limit: list[str] | None, *, database: bool
) -> tuple[Request, bool]:
    """Return the settings of checks in the current folder, and whether checks run no pipelines.

    Raises CommandError if the site file cannot be read.
    """
    given = Namespace(config_file=site_file, results=results, limit=limit)
    fill_in(given)
    static = is_uri(given.results) and not database
    return Request(given.site, given.pipelines, given.results, given.limits, given.server), static


class Session:
    """The open files of one editor. Files are named as in ``Project``.

    ``read_request`` returns the settings of checks, and is called again after files have changed.
    """

    def __init__(self, read_request: Callable[[], tuple[Request, bool]]) -> None:
        self._read_request = read_request
        self._asked = read_request()
        self._take(Project(*self._asked))
        self.documents: dict[str, OpenFile] = {}
        self._pending: dict[str, str | None] = {}
        self._stale = False
        self.is_due = True
        """Whether something has changed since the last check, or there was no check yet."""
        self._diagnostics: Mapping[str, list[Diagnostic]] = {}
        self._seen: Mapping[str, int] = {}
        self._lock = Lock()

    def _take(self, project: Project) -> None:
        self.project = project
        self.knowledge = Knowledge(project)

    def open(self, file: str, text: str, version: int) -> None:
        """Open a file, or change the text of an open one."""
        with self._lock:
            self.documents[file] = OpenFile(Lines(text), version)
            self._pending[file] = text
            self.is_due = True

    def close(self, file: str) -> None:
        """Close a file and use its saved text again."""
        with self._lock:
            self.documents.pop(file, None)
            self._pending[file] = None
            self.is_due = True

    def look_again(self) -> None:
        """Make the next check read the disk again."""
        with self._lock:
            self._stale = self.is_due = True

    @property
    def versions(self) -> Mapping[str, int]:
        """The versions of the open files."""
        return {file: one.version for file, one in self.documents.items()}

    # -- requests at any time --

    def complete(self, file: str, at: Position) -> tuple[Completion, Lines] | None:
        """Return the completions at a position of an open file."""
        place = self._place(file, at)
        if place is None:
            return None
        lines, offset, body = place
        if offset < body.start:
            return None
        cursor = cursor_at(lines.text, body, offset)
        return complete(lines.text, cursor, self.knowledge, self._start_of(file)), lines

    def hover(self, file: str, at: Position) -> tuple[Hover, Lines] | None:
        """Return the hover at a position of an open file."""
        place = self._place(file, at)
        if place is None:
            return None
        lines, offset, body = place
        if offset < body.start:
            value = read_value(lines.text, read_tokens(lines.text, body.start, body.end))
            told = hover_comment(body, self.knowledge, value)
            return (Hover(body.opened, body.start, told), lines) if told else None
        found = hover(lines.text, body, offset, self.knowledge, self._start_of(file))
        return (found, lines) if found else None

    def _place(self, file: str, at: Position) -> tuple[Lines, int, Body] | None:
        """Return the lines of an open file, the offset of a position, and the comment or shared pipeline around it,
        or None.
        """
        document = self.documents.get(file)
        if document is None:
            return None
        offset = document.lines.offset(at)
        body = self._body_at(file, document.text, offset)
        return None if body is None else (document.lines, offset, body)

    def list_actions(self, file: str, span: Range) -> tuple[list[Action], Lines] | None:
        """Return the actions for findings in a range of an open file. If there are none, use the whole lines of the
        range.

        Call this method in the checking thread.
        """
        document = self.documents.get(file)
        if document is None:
            return None
        lines = document.lines
        found = self._diagnostics.get(file, []) if self._seen.get(file) == document.version else []
        whole = Range(Position(span.start.line, 0), Position(span.end.line, _LINE_END))
        touched = [one for one in found if touch(one.span, span)]
        touched = touched or [one for one in found if touch(one.span, whole)]
        start = lines.offset(span.start)
        at = offset_of(touched[0].finding, lines) if touched else start
        body = self._body_at(file, document.text, at)
        actions = list(list_actions(touched, lines, body))
        return actions, lines

    def _body_at(self, file: str, text: str, offset: int) -> Body | None:
        """Return the JSON of the comment or shared pipeline around an offset, or None."""
        if self.project.is_list(file):
            return Body(PIPELINE, 0, len(text))
        body = comment_body(text, offset)
        return None if body is None or is_fenced(text, body.opened, is_mdx(text, file)) else body

    def _start_of(self, file: str) -> Shape | None:
        """Return the shape of the input of a shared pipeline where a page first names it, or None if no page does."""
        name = Path(file).stem
        for page in self.project.report.site.judged if self.project.is_list(file) else ():
            for comment in page.comments if f'"{name}"' in page.text else ():
                value = comment.parsed.value
                written = value.get("pipeline") if isinstance(value, dict) else None
                if isinstance(written, list) and name in written:
                    way = Stretch(("pipeline",), written.index(name), ("collection",))
                    return shape_before(value, [way], self.knowledge)
        return None

    # -- requests in the checking thread, between two checks --

    def settle(self) -> None:
        """Pass the changed texts to the project."""
        with self._lock:
            pending, self._pending = self._pending, {}
        for file, text in pending.items():
            self.project.edit(file, text)

    def texts(self) -> Texts:
        """Return the texts of all pages and shared pipelines."""
        self.settle()
        project = self.project
        found: dict[str, tuple[str, list[Body]]] = {}
        for page in map(project.page, project.files):
            found[page.file] = page.text, [body_of(comment, page.text) for comment in page.comments]
        for file, text in project.lists.items():
            found[file] = text, [Body(PIPELINE, 0, len(text))]
        return found

    def mention_at(self, file: str, at: Position) -> tuple[Mention, Texts] | None:
        """Return the name at a position and all texts, or None if there is no name."""
        texts = self.texts()
        offset = Lines(self.project.text(file) or "").offset(at)
        here = (one for one in mentions(texts) if one.file == file and one.start <= offset <= one.end)
        found = next(here, None)
        return (found, texts) if found else None

    # -- findings --

    def check(self) -> Checked:
        """Check all pages."""
        with self._lock:
            stale, self._stale = self._stale, False
            self.is_due = False
            versions = self.versions
        if stale:
            self._look_again()
        self.settle()
        found, notice = self._find()
        checked = self.project.checked
        texts = {file: checked.get(file) or self.project.text(file) or _read(file) for file in found}
        self._diagnostics = diagnose(found, {file: Lines(text) for file, text in texts.items()})
        self._seen = versions
        return Checked(self._diagnostics, versions, notice)

    def _look_again(self) -> None:
        """Read the disk again. If the settings of the site have changed, create a new project."""
        asked = self._asked
        # The old settings stay while the site file is invalid, perhaps because it is being written.
        with suppress(CommandError):
            asked = self._read_request()
        if asked == self._asked:
            self.project.look_again()
            return
        self._asked = asked
        self._take(Project(*asked))
        for file, document in self.documents.copy().items():
            self.project.edit(file, document.text)

    def _find(self) -> tuple[Findings, str]:
        try:
            return self.project.check(), ""
        except ResultsError as error:
            return self.project.check(with_rows=False), f"{error.message}: pages are checked without rows"


def _read(file: str) -> str:
    """Return the text of a file that is neither edited nor a page, such as results."""
    path = Path(file)
    try:
        return path.read_bytes().decode(errors="replace") if path.is_file() else ""
    except OSError:
        return ""


class Sites:
    """The session of the editor's folder, and one for each site below it whose files were opened.

    ``open_session`` opens a session for the file of a site, or for the folder itself with None. If ``named`` is the
    file of a site, all pages belong to this site. Raises CommandError if a site file cannot be read.
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
        """All sessions, the one of the folder first."""
        return [self._main, *self._below.values()]

    def of(self, file: str) -> Session:
        """Return the session of the site that contains a file, or of the nearest site around the file.

        Without such a site below the editor's folder, this is the session of the folder.
        """
        folder = Path(file).parent
        if folder not in self._known:
            try:
                self._known[folder] = self._main if self._named else self._find(file)
            except CommandError:  # The file of the site is being written.
                return self._main
        return self._known[folder]

    def _find(self, file: str) -> Session:
        site = self._main.project.where.of(plain_path(Path(file))) or find_site(Path(file).parent)
        if site is None or self._root not in site.file.parent.parents or not site.file.exists():
            return self._main
        if site.file not in self._below:
            self._below[site.file] = self._open_session(str(site.file))
        return self._below[site.file]

    def look_again(self) -> list[Session]:
        """Make the next checks read the disk again, and move open files to the sites that now contain them.

        Return the sessions of removed sites.
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
