"""A results source and its answers, for the builds of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from mongo_tables.aggregation.limits import time_outs
from mongo_tables.files.folders import shorten_path
from mongo_tables.files.memo import Memo, digest_of
from mongo_tables.files.process import nothing_collected
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.results.guards import Limits, collections_read, is_lasting
from mongo_tables.results.model import PlainRows, Query, ResultsError, ResultsSource, Rows
from mongo_tables.results.opening import open_source

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource

_Asking = TypeVar("_Asking")

MOST_ROWS: Final = 500_000
"""The maximum number of rows in the memo, over all answers."""
_UNREAD: Final = "give it the suffix of a known format, or move it out of the folder"
_MOST_DECODED: Final = 4_000
"""The maximum number of rows that are kept decoded."""


class HeldRows(NamedTuple):
    """Rows as BSON, which needs a fifth of the memory of Python documents.

    ``size`` is the number of rows. ``decimals`` has the decimals of ``PlainRows``, or is None for other rows.
    """

    content: bytes
    size: int
    decimals: Mapping[str, int] | None


@dataclass(eq=False)
class HeldAnswers(Mapping[str, Rows | ResultsError]):
    """The answers of a build, by ``Query.key``.

    Rows are ``held`` as BSON and decoded on access. A query in ``waiting`` runs when its answer is first accessed,
    together with the other queries on its collection.
    """

    held: dict[str, HeldRows | ResultsError] = field(default_factory=dict)
    waiting: dict[str, Callable[[], None]] = field(default_factory=dict)
    _decoded: dict[str, tuple[HeldRows, Rows]] = field(default_factory=dict, init=False)
    _size: int = field(default=0, init=False)

    def __getitem__(self, key: str) -> Rows | ResultsError:
        if key in self.waiting:
            self.waiting[key]()
        held = self.held[key]
        if isinstance(held, ResultsError):
            return held
        known = self._decoded.get(key)
        if known is not None and known[0] is held:
            return known[1]
        from mongo_tables.results.rows import decode_rows  # on demand, as in ``hold``

        rows = decode_rows(held.content)
        if held.decimals is not None:
            rows = PlainRows(rows, held.decimals)
        self.hold(key, rows, held)
        return rows

    def hold(self, key: str, rows: Rows, held: HeldRows | None = None) -> HeldRows:
        """Return rows as BSON, and keep them decoded for the next access. Callers must not change the rows.

        ``held`` is the BSON of the rows if the caller has it.
        """
        if held is None:
            # On demand, because it imports BSON, which only pages with comments need.
            from mongo_tables.results.rows import encode_rows

            decimals = rows.decimals if isinstance(rows, PlainRows) else None
            held = HeldRows(encode_rows(rows), len(rows), decimals)
        if self._size > _MOST_DECODED:
            self._decoded.clear()
            self._size = 0
        self._decoded[key] = held, rows
        self._size += held.size
        return held

    def __contains__(self, key: object) -> bool:
        return key in self.held or key in self.waiting

    def __iter__(self) -> Iterator[str]:
        return iter([*self.held, *self.waiting])

    def __len__(self) -> int:
        return len(self.held) + len(self.waiting)


@dataclass(eq=False)
class Answers:
    """A results source and its answers in a build, by ``Query.key``.

    ``server`` is the MongoDB version that the pipelines must run on, or "". After ``refresh``, the next build runs only
    queries whose collections changed, or all queries if the source cannot report changes. ``once`` is true if no other
    build follows. Then queries on files run when their answers are accessed, and large collections are dropped
    afterwards.
    """

    where: str
    limits: Limits = field(default_factory=Limits)
    workers: int = 4
    server: str = ""
    once: bool = False
    by_key: HeldAnswers = field(default_factory=HeldAnswers, init=False)
    """All answers of this build."""
    unreachable: ResultsError | None = field(default=None, init=False)
    """The error that makes the whole source unusable, or None."""
    ran: int = field(default=0, init=False)
    """The number of pipelines that ran in this build."""
    notes: Sequence[Finding] = field(default=(), init=False)
    """The notes about files that queries read, and about files that are not read."""
    _source: ResultsSource | None = field(default=None, init=False)
    _memo: Memo = field(default_factory=partial(Memo, MOST_ROWS), init=False)
    """The cache of rows. A key has the query, and the digests of the collections that the query reads."""
    _reached: bool = field(default=False, init=False)
    _asked: Iterable[str] = field(default=(), init=False)
    _unread: Sequence[Finding] = field(default=(), init=False)
    _time_outs: int = field(default_factory=time_outs, init=False)

    def refresh(self) -> None:
        """Start the next build. It checks the source for changes."""
        self.by_key, self.ran, self.notes = HeldAnswers(), 0, ()
        self.unreachable, self._reached = None, False
        for name in ("collections", "version"):  # the cached properties
            vars(self).pop(name, None)
        self._time_outs = time_outs()
        if self._source is not None:
            self._source.refresh()

    def answer(self, queries: Mapping[str, Query]) -> Answers:
        """Answer the queries that have no answer yet. An answer is rows or an error.

        If an error concerns the whole source, it becomes ``unreachable``.
        """
        new: dict[str, Query] = {}
        known = self.by_key.held.keys() | self.by_key.waiting.keys()
        for key, query in queries.items():
            if key not in known:
                new[key] = query
        # Only the keys are kept, because queries need much memory.
        self._asked, self.unreachable = tuple(queries), None
        try:
            if new and not self._reached:
                self.source.reach()
                self._reached = True
                self._unread = tuple(
                    finding(
                        "MT313",
                        shorten_path(path),
                        (0, 0),
                        "the results source does not read this file",
                        _UNREAD,
                    )
                    for path in (self.local.unread() if self.local else ())
                )
            if self.once and self.local is not None:
                groups: dict[str, dict[str, Query]] = {}
                for key, query in new.items():
                    groups.setdefault(query.collection, {})[key] = query
                for together in groups.values():
                    run = partial(self._run_together, together)
                    self.by_key.waiting.update(dict.fromkeys(together, run))
            elif queries:
                self._run_together(new)
        except ResultsError as error:
            self.by_key.held.update(dict.fromkeys(new, error))
        self._find_unreachable()
        if queries and self.unreachable:
            self.notes = ()
        return self

    def _find_unreachable(self) -> None:
        self.unreachable = None
        for each in map(self.by_key.held.get, self._asked):
            if isinstance(each, ResultsError) and each.environment:
                self.unreachable = each
                break

    @nothing_collected()
    def _run_together(self, queries: Mapping[str, Query]) -> None:
        """Answer queries, from the memo where possible."""
        read: dict[str, tuple[str | None, ...]] = {}
        asked = dict(queries)
        for key, query in queries.items() if not self.once else ():
            read[key] = tuple(map(self.source.digest, collections_read(query)))
            if None not in read[key] and isinstance(held := self._memo.find((key, read[key])), HeldRows):
                self.by_key.held[key] = held
                del asked[key]
        if asked:
            self.ran += len(asked)
            workers = min(self.workers, self.source.workers)
            answers = answer_all(self.source.aggregate, asked, self.by_key.hold, workers)
            self.by_key.held.update(answers)
            for key, answer in answers.items():
                if isinstance(answer, ResultsError):
                    if answer.environment:
                        self._find_unreachable()
                # Errors are not kept: they may depend on other files, or on the load of the machine.
                elif not self.once and None not in read[key] and is_lasting(asked[key]):
                    self._memo.keep((key, read[key]), answer, 1 + answer.size)
        for key in queries if self.by_key.waiting else ():
            self.by_key.waiting.pop(key, None)
        self.notes = ()
        if not self.unreachable and (local := self.local) is not None:
            self.notes = (*self._unread, *local.notes)

    @property
    def has_timed_out(self) -> bool:
        """Whether a pipeline ran out of time in this build. On an idle machine it might have finished."""
        return time_outs() != self._time_outs

    @property
    def digest(self) -> str | None:
        """A digest of all documents of the source as this build reads them, or None for a database."""
        if self.local is None:
            return None
        names = self.collections
        return digest_of(*(part for name in names for part in (name, self.source.digest(name) or "")))

    @property
    def source(self) -> ResultsSource:
        """The source, which is opened on first access. Raises ResultsError if it does not exist."""
        if self._source is None:
            self._source = open_source(self.where, self.limits)
        return self._source

    @cached_property
    def collections(self) -> tuple[str, ...]:
        """The names of the collections of the source, or nothing if it cannot list them."""
        try:
            return self.source.collections()
        except ResultsError:
            return ()

    @property
    def local(self) -> FileSource | None:
        """The source if its documents are on this machine, or None. The linter reads these documents."""
        try:
            local: FileSource | None = self.source.local
            if local is not None:
                self.source.collections()
        except ResultsError:  # The source does not exist.
            return None
        return local

    @cached_property
    def version(self) -> str:
        """The MongoDB version of the source, or "" if it is no server or does not report a version."""
        try:
            return self.source.version()
        except ResultsError:
            return ""

    def writes(self) -> str | None:
        """Return a text that changes with every write to the source, or None if the source cannot be read."""
        try:
            return self.source.writes()
        except ResultsError:
            return None

    def apart(self, asking: Iterable[tuple[Query, _Asking]]) -> list[tuple[list[_Asking], Collection[str]]]:
        """Group items so that no collection is read for two groups. Return each group with its collections.

        ``asking`` has each item with its query. If documents are kept until the next build, there is only one group,
        without collections.
        """
        if not self.once or self.source.local is None:
            return [([one for _, one in asking], ())]
        groups: dict[str, tuple[list[_Asking], set[str]]] = {}
        for query, one in asking:
            some, collections = groups.setdefault(query.collection, ([], {query.collection}))
            for name in collections_read(query):
                if name not in collections:
                    more, others = groups.get(name, ([], {name}))
                    some += more
                    collections |= others
                    groups |= dict.fromkeys(others, (some, collections))
            some.append(one)
        return list({id(group[0]): group for group in groups.values()}.values())

    def let_go(self, collections: Iterable[str]) -> None:
        """Drop the documents of collections that are no longer needed, if many are held and no build follows."""
        if self.once and (local := self.source.local) is not None:
            for collection in collections:
                local.let_go(collection)

    def release(self) -> None:
        """Drop the documents and the memo. Keep the answers."""
        self._memo = Memo(MOST_ROWS)
        if self._source is not None and (local := self._source.local) is not None:
            local.release()

    def close(self) -> None:
        """Close the connections of the source. Keep the answers."""
        if self._source is not None:
            self._source.close()
            self._source = None


def answer_all(
    ask: Callable[[Query], Rows],
    queries: Mapping[str, Query],
    hold: Callable[[str, Rows], HeldRows],
    workers: int = 1,
) -> dict[str, HeldRows | ResultsError]:
    """Run each query with ``ask``. Return its rows, as ``hold`` returns them, or its error, by the same keys.

    At most ``workers`` queries run at a time. The error of one query does not stop the others. If an error concerns the
    whole source, all later queries get the same error. An interrupt returns at once: the threads are daemons, and the
    time limit of the server ends its queries.
    """
    answers: dict[str, HeldRows | ResultsError] = {}
    lost: list[ResultsError] = []
    defects: list[BaseException] = []
    waiting = iter(list(queries.items()))

    def serve() -> None:
        for key, query in waiting:  # All threads share the iterator, so each query runs once.
            if defects:
                return
            try:
                answers[key] = lost[0] if lost else hold(key, ask(query))
            except ResultsError as error:
                answers[key] = error
                if error.environment:
                    lost.append(error)
            except MemoryError:
                answers[key] = ResultsError(
                    "this pipeline needs more memory than the machine allows",
                    hint="reduce the data in it; a lower memory_limit shows which stage needs the memory",
                    environment=True,
                )
            except BaseException as error:
                # A defect of this program, or an interrupt. It is raised again in the thread of the caller.
                defects.append(error)

    if workers <= 1:
        serve()
    else:
        threads = [
            threading.Thread(target=serve, name="mongo-tables query", daemon=True)
            for _ in range(min(workers, len(queries)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if defects:
        raise defects[0]
    return {key: answers[key] for key in queries} if workers > 1 else answers
