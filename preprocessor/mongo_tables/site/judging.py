"""What the rows of a results source show of the comments of a site: faults, and where rows come from."""

from __future__ import annotations

from collections import ChainMap
from copy import copy
from typing import TYPE_CHECKING, Protocol, TypeVar

from mongo_tables.site.model import Answers, Page, Tables, provenance_in, tables_by_id
from mongo_tables.site.reading import source_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from pathlib import Path

    from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec
    from mongo_tables.files.memo import Memo
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.model import Fault, Limits, LocalDocuments, Query, ResultsError
    from mongo_tables.results.provenance import Provenance
    from mongo_tables.site.site import Site

_T = TypeVar("_T")


class Answered(Protocol):
    """What a results source answered, and what it tells of itself."""

    @property
    def by_key(self) -> Answers:
        """The rows of each query, or why there are none, by ``Query.key``."""
        ...

    @property
    def collections(self) -> tuple[str, ...]:
        """The names of its collections, sorted; none where it does not tell."""
        ...

    @property
    def local(self) -> LocalDocuments | None:
        """The documents, where they are on this machine."""
        ...

    @property
    def version(self) -> str:
        """The version of MongoDB that answers; "" where none does."""
        ...

    @property
    def unreachable(self) -> ResultsError | None:
        """Why the source cannot be used at all, if so."""
        ...

    @property
    def digest(self) -> str | None:
        """A digest of all documents; None where it is not known, as of a database."""
        ...

    @property
    def unread(self) -> Sequence[Path]:
        """The files that are there and not read, sorted."""
        ...

    @property
    def broken(self) -> Sequence[Fault]:
        """The first fault of each file that no query reads and that cannot be read as it is."""
        ...

    @property
    def limits(self) -> Limits:
        """What one query may cost."""
        ...


class Source(Protocol):
    """A results source: files or MongoDB."""

    def answer(self, queries: Iterable[Query]) -> Answered:
        """Run each distinct query once; an error is an answer, too."""
        ...


class Judge:
    """Judges comments by the rows of their tables, each comment once and when somebody asks for it."""

    def __init__(self, site: Site, answers: Answered, memo: Memo | None = None) -> None:
        self.site = site
        self.source = answers
        self.answers: Answers = answers.by_key
        self.tables: Tables = site.tables
        self.asked = site.snapshot.needs != "nothing"
        self._memo = memo
        self._judged: dict[int, tuple[Spec, TableSpec | None, list[Finding]]] = {}
        self._sources: dict[tuple[str, bool | None], Provenance | None] = {}

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages whose comments are judged."""
        return self.site.judged

    @property
    def away(self) -> ResultsError | None:
        """Why the results source cannot be used at all, if so."""
        return self.source.unreachable

    def within(self, page: Page) -> Judge:
        """The same, as seen from one page: its own tables come first, as a translation may have the same ids."""
        own = tables_by_id([page])
        if not own:
            return self
        view = copy(self)
        view.tables = ChainMap(own, self.tables)  # type: ignore[arg-type]  # which is not written to
        return view

    def judge(self, spec: Spec) -> list[Finding]:
        """The faults of a comment that only rows show; judged once for each table that it quotes."""
        if self.away or not self.asked:
            return []
        table = self.tables.get(spec.quoted_table) if spec.quoted_table is not None else None
        known = self._judged.get(id(spec))
        if known is None or known[1] is not table:
            beside = (table.file, table.comment.body) if table else spec.quoted_table
            found = self.remember("rows", spec, beside, lambda: self._judge(spec))
            known = self._judged[id(spec)] = spec, table, found
        return known[2]

    def _judge(self, spec: Spec) -> list[Finding]:
        from mongo_tables.site.kinds import KINDS  # and with it what draws figures

        judge = KINDS[type(spec)].findings
        return judge(spec, self.tables, self.answers, self.source.collections, self.site.snapshot.today)

    def remember(self, what: str, spec: Spec, beside: Hashable, make: Callable[[], _T]) -> _T:
        """What ``make`` finds out about a comment; kept by its text, its place, and all that it depends on ``beside``.

        Nothing is kept of a database: its rows may be others at any time.
        """
        if self._memo is None or (digest := self.source.digest) is None:
            return make()
        comment, snapshot = spec.comment, self.site.snapshot
        written = spec.file, comment.matter, comment.line, comment.start, snapshot.shared.digest
        around = digest, snapshot.needs, snapshot.today, snapshot.server
        return self._memo.get((what, written, around, beside), make)

    def provenance(self, spec: PipelineSpec) -> Provenance | None:
        """Where the rows of a figure come from; worked out once for all that start from the same documents."""
        key = spec.source_query.key, spec.provenance
        if key not in self._sources:
            self._sources[key] = provenance_in(spec, self.answers)
        return self._sources[key]

    def source_findings(self) -> list[Finding]:
        """Why the results source cannot be used at all, if so: faults of its files, or one of what names it."""
        return source_findings(self.away, self.site.snapshot.results) if self.away else []
