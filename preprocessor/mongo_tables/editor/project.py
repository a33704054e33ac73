"""The pages, shared pipelines and results of a folder while its pages are edited, and what is wrong with them.

Findings are those of ``mongo-tables check``, which judges the pages here as well; what did not change is not looked at
again. Files are read at the beginning, and again when an editor tells that they have changed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.commands.check.checking import Desk, Request, check_pages
from mongo_tables.comments.model import Scan
from mongo_tables.comments.rescan import rescan
from mongo_tables.comments.search import find
from mongo_tables.editor.recent import Recent
from mongo_tables.editor.remembered import Remembered
from mongo_tables.files.states import state_of
from mongo_tables.files.ways import look_at_ways
from mongo_tables.findings.shared import find_in_lists
from mongo_tables.lint.documents import Documents
from mongo_tables.lint.looking import look_at
from mongo_tables.lint.pages import Looked, Ran
from mongo_tables.pages.asking import queries
from mongo_tables.pages.build import Build
from mongo_tables.pages.files import PAGE_SUFFIXES, page_of_no_text, pages_under
from mongo_tables.pages.generated import template_in
from mongo_tables.pages.included import Included, read_included
from mongo_tables.pages.inclusions import may_include
from mongo_tables.pages.model import Page
from mongo_tables.pages.reading import read_page
from mongo_tables.pages.siteconfig import list_places, list_site_files
from mongo_tables.pages.sitepages import Whereabouts, page_folders
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import ResultsError
from mongo_tables.specs.sharedpipelines import SharedPipelines, read_shared

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.otherpages import OtherPages
    from mongo_tables.results.model import Limits, Query, Rows
    from mongo_tables.specs.model import PipelineSpec, Spec, TableSpec

Findings = Mapping[str, Sequence["Finding"]]
"""Findings by the file in which they are, or which they are about."""


_FEW_ROWS: Final = 1_000
"""Answers of more rows are not kept once nothing asks for them."""


class TimedAnswers(Answers):
    """Answers, by ``Query.key``, with the milliseconds that each took to come.

    Those that nothing asks for any more are kept for a while: what is typed is often taken back.
    """

    def __init__(self, where: str, limits: Limits, server: str) -> None:
        super().__init__(where, limits, workers=1, server=server)
        self.milliseconds: dict[str, float] = {}
        self._dropped: Recent[str, Rows | ResultsError] = Recent()
        self._unread = ""
        self.changed = True
        """Whether the source may hold other results than in the last build."""

    def refresh(self) -> None:
        """Begin the next build."""
        names, read = self.collections, self.read
        super().refresh()
        self.changed = (
            self.local is None
            or names != self.collections
            or any(self.source.digest(name) != digest for name, digest in read.items())
        )
        self._dropped.clear()
        self._unread = ""
        if self.changed:
            self.milliseconds.clear()

    def ask(self, queries: Iterable[Query]) -> None:
        """Run those queries that have no answer yet, one by one; of all that a build asks."""
        asked = list(queries)
        if self._unread and self._unread != self._find_first_away(asked):
            self._forget_unread()
        for query in asked:
            if query.key in self._answers:
                continue
            if (known := self._dropped.take(query.key)) is not None:
                self._answers[query.key] = known
            elif self.unreachable is not None:  # Each query would wait for it anew, at every keystroke.
                self._answers[query.key] = self.unreachable
            else:
                began = time.perf_counter()
                super().ask([query])
                self.milliseconds.setdefault(query.key, (time.perf_counter() - began) * 1000)
                if self.unreachable is not None and self.local is not None:
                    self._unread = query.key

    def _find_first_away(self, asked: Iterable[Query]) -> str | None:
        """The first of what is asked that has no answer, or that the source cannot be used: ``check`` tells of that."""
        answers = ((query.key, self._answers.get(query.key)) for query in asked)
        return next((key for key, answer in answers if answer is None or _is_away(answer)), None)

    def _forget_unread(self) -> None:
        """Use files again: what asked for the one that cannot be read asks no more, as when a name is taken back.

        A database that is out of reach stays so until the next look at it.
        """
        self._answers = {key: answer for key, answer in self._answers.items() if not _is_away(answer)}
        self._unreachable, self._unread = None, ""

    def keep(self, keys: Collection[str]) -> None:
        """Drop all other answers: what is typed asks for something else with every letter."""
        for key in self._answers.keys() - keys:
            answer = self._answers.pop(key)
            if not _is_away(answer) and (isinstance(answer, ResultsError) or len(answer) <= _FEW_ROWS):
                self._dropped.put(key, answer)
        for key in self.milliseconds.keys() - self._answers.keys() - self._dropped.keys():
            del self.milliseconds[key]


def _is_away(answer: Rows | ResultsError) -> bool:
    """Whether an answer is that the source cannot be used."""
    return isinstance(answer, ResultsError) and answer.environment


class Project:
    """Pages as they are edited. Names of files are those that ``check`` gives them, started in this folder."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answers = TimedAnswers(request.results, request.limits, request.server)
        self.build = Build(self.answers, ())
        self.folders = page_folders(request.site)
        self._edited: dict[str, str] = {}
        self._saved: dict[str, str | bytes] = {}
        self._pages: dict[str, tuple[str | bytes, Page]] = {}
        self._scans: dict[str, tuple[str, Scan]] = {}
        self._remembered = Remembered()
        self._taken_in: dict[Path, None] = {}
        self._site_files = list_site_files(request.site)
        self._unasked = self._open_unasked()
        self.first_glance = self.glance()
        """What a glance gave before anything was read."""
        self.look_again()

    def _open_unasked(self) -> Answers:
        """The results source as it is before it was asked: what it answers is none of a check without rows."""
        return Answers(self.request.results, self.request.limits, server=self.request.server)

    def look_again(self) -> None:
        """Read saved pages and shared pipelines anew, and ask the results source again where it has changed."""
        files = (file for folder in self.folders for file in pages_under(Path(folder)))
        self._saved = {file.as_posix(): _read(file) for file in files}
        self.where = Whereabouts(self.request.site)
        self._site_files = list_site_files(self.request.site)
        self._read_lists()
        if not self.request.static:
            self.answers.refresh()
            self._unasked.close()
            self._unasked = self._open_unasked()
        if self.answers.changed:
            self._remembered.forget_rows()

    def glance(self) -> str:
        """A text that is another one once a file was written, came or went; none is read for it."""
        pages = [file for folder in self.folders for file in pages_under(Path(folder))]
        lists = sorted(Path(self.request.pipelines).glob("*.json"))
        sites = (*self._site_files, *list_places(Path()))  # one that there was not may be there now
        seen = [f"{file} {_state(file)}" for file in (*pages, *lists, *sites)]
        folders = map(Path, (*self.folders, self.request.pipelines))
        seen += [f"{way} {state}" for folder in folders for way, state in look_at_ways(folder)]
        # Of those that are not there nothing is said: another name is looked for with each letter of it.
        seen += [f"{file} {state}" for file in self._taken_in if (state := _state(file))]
        return "\n".join([*seen, "" if self.request.static else self.answers.writes() or ""])

    def edit(self, file: str, text: str | None) -> None:
        """Take a text in the place of a saved file; None for the saved one again."""
        if text is None:
            self._edited.pop(file, None)
            path = Path(file)
            if file in self._saved and path.is_file():
                self._saved[file] = _read(path)
        else:
            self._edited[file] = text
        if self.is_list(file):
            self._read_lists()

    def is_list(self, file: str) -> bool:
        """Whether a file is that of a shared pipeline."""
        path = Path(file)
        return path.suffix == ".json" and path.parent == Path(self.request.pipelines)

    def is_ours(self, file: str) -> bool:
        """Whether a file is a page or a shared pipeline."""
        return self.is_list(file) or Path(file).suffix.lower() in PAGE_SUFFIXES

    def _read_lists(self) -> None:
        edited = {file: text for file, text in self._edited.items() if self.is_list(file)}
        self.shared = SharedPipelines(Path(self.request.pipelines), edited)
        self._remembered.forget_others(self.shared)
        self._pages.clear()

    @property
    def list_names(self) -> list[str]:
        """The names of shared pipelines."""
        folder = Path(self.request.pipelines)
        saved = (path.stem for path in folder.glob("*.json"))
        return sorted({*saved, *(Path(file).stem for file in self._edited if self.is_list(file))})

    def list_file(self, name: str) -> str:
        """The file of a shared pipeline."""
        return (Path(self.request.pipelines) / f"{name}.json").as_posix()

    def list_text(self, name: str) -> str:
        """The text of a shared pipeline as it is edited, else as it is saved."""
        file = self.list_file(name)
        saved = self._edited.get(file)
        content = _read(Path(file)) if saved is None else saved
        return content if isinstance(content, str) else ""

    @property
    def files(self) -> list[str]:
        """The pages that are judged: those of the site, and those that are edited."""
        edited = (file for file in self._edited if not self.is_list(file))
        return list(dict.fromkeys([*self._saved, *edited]))

    def text(self, file: str) -> str | None:
        """A file as it is edited, else a page as it is saved; None where there is none."""
        saved = self._edited.get(file, self._saved.get(file))
        return saved if isinstance(saved, str) else None

    def page(self, file: str) -> Page:
        """A page as it was read."""
        content = self._edited.get(file, self._saved.get(file, ""))
        known = self._pages.get(file)
        if known is None or known[0] != content:
            known = content, self._read_page(content, file)
            self._pages[file] = known
        return known[1]

    def _read_page(self, content: str | bytes, file: str) -> Page:
        if isinstance(content, str):
            return read_page(content, file, self.shared, read=self._remembered.read, find=self._find)
        return page_of_no_text(content, file) or Page(file, content.decode(), (), (), ())

    def _find(self, text: str, file: str) -> Scan:
        """The comments of a page: as they were, where nothing but the body of one was edited."""
        before, known = self._scans.get(file, ("", Scan((), ())))
        scan = known if text == before else rescan(text, before, known) or find(text, file)
        self._scans[file] = text, scan
        return scan

    def check(self) -> Findings:
        """What is wrong, by file.

        Raises ResultsError for a results source that cannot be used.
        """
        return self._check(self.request)

    def check_without_rows(self) -> Findings:
        """What is wrong as far as that is known when no pipeline is run, by file."""
        return self._check(self.request._replace(static=True))

    def _check(self, request: Request) -> Findings:
        pages = [self.page(file) for file in self.files]
        found: dict[str, list[Finding]] = {}
        self._taken_in.clear()
        of_pages = check_pages(pages, request, _KeptDesk(self, request)).findings
        for one in (*of_pages, *find_in_lists(of_pages, Path(request.pipelines))):
            found.setdefault(one.file, []).append(one)
        for file, faults in self._judge_unnamed_lists().items():
            found.setdefault(file, list(faults))
        self._forget_others(pages)
        return found

    def _judge_unnamed_lists(self) -> Findings:
        """The faults of shared pipelines that are edited; ``check`` has those of lists that a page names."""
        found = {}
        for file, text in self._edited.items():
            if self.is_list(file) and (
                faults := read_shared(text, file, Path(file).stem, self.shared).findings
            ):
                found[file] = faults
        return found

    def _forget_others(self, pages: Sequence[Page]) -> None:
        """Drop what was found out about comments that are on no page any more."""
        self._remembered.keep(spec for page in pages for spec in page.specs if spec is not None)
        self.answers.keep({query.key for query in queries(pages)})

    def take_in(self, pages: Sequence[Page]) -> Included:
        """The files that come into pages, which are looked at from now on as pages are."""
        if not any(may_include(page.text) or template_in(page.text) for page in pages):
            return Included([], False)
        included = read_included(pages, self.request.pipelines)
        self._taken_in |= dict.fromkeys(included.files)
        return included

    def begin_build(self, pages: Sequence[Page], others: Sequence[Page], *, asks: bool) -> Build:
        """The build of pages, which takes what is known of them from earlier ones; ``asks``: it runs pipelines."""
        self.build = _KeptBuild(self.answers if asks else self._unasked, pages, others, self._remembered)
        return self.build


def _state(file: Path) -> str:
    try:
        return state_of(file.stat())
    except OSError:
        return ""


def _read(file: Path) -> str | bytes:
    """A page; its bytes where they are no text, and nothing where it cannot be read."""
    try:
        content = file.read_bytes()
    except OSError:
        return ""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


class _KeptDesk(Desk):
    """What a check looks things up with, of a project."""

    def __init__(self, project: Project, request: Request) -> None:
        super().__init__(request)
        self._project = project

    def whereabouts(self) -> Whereabouts:
        return self._project.where

    def take_in(self, pages: Sequence[Page]) -> Included:
        return self._project.take_in(pages)

    def others(self, pages: Sequence[Page], where: Whereabouts) -> OtherPages:
        """Those of sites other than the one that is edited, of which all pages are known."""
        found = where.others(pages, self.request.pipelines)
        return found.without(self._project.folders)

    @contextmanager
    def build(self, pages: Sequence[Page], others: Sequence[Page]) -> Iterator[Build]:
        yield self._project.begin_build(pages, others, asks=not self.request.static)


class _KeptBuild(Build):
    """A build that is told what was found out about comments before."""

    def __init__(
        self, asked: Answers, pages: Sequence[Page], others: Sequence[Page], remembered: Remembered
    ) -> None:
        super().__init__(asked, pages, others, look=self._look_once)
        self._remembered = remembered

    def _judge_once(self, spec: Spec, table: TableSpec | None) -> list[Finding]:
        found = self._remembered.judged(spec, table)
        if found is None:
            found = self._judge_anew(spec)
            self._remembered.keep_judged(spec, table, found)
        return found

    def _look_once(
        self, spec: PipelineSpec, documents: Documents, quoted: tuple[str, ...], ran: Ran | None
    ) -> Looked | None:
        beside = quoted, ran is None, ran is not None and ran.rows is None
        known = self._remembered.looked(spec, beside)
        if known is not None:
            return known[0]
        looked = look_at(spec, documents, quoted, ran)
        self._remembered.keep_looked(spec, beside, looked)
        return looked
