"""Runs a pipeline stage by stage on a results source, and lists the fields of stages and documents.

For each stage, the pipeline up to this stage runs from the start, because stages affect each other: a limit shortens a
sort, and a ``$skip`` moves ahead of stages that may fail. A server returns only the number of documents (``$count``)
and the first documents (``$limit``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.aggregation.fields import NO_EXPRESSION, Gives, Parts, effect_of, paths_in, record_of
from mongo_tables.aggregation.values import type_name
from mongo_tables.findings.finding import nearest_words, suggest
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows
from mongo_tables.results.row_names import has_path

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource

Stage = Mapping[str, Any]


def operator_of(stage: Stage) -> tuple[str, Any]:
    """Return the operator of a stage and its argument."""
    ((name, argument),) = stage.items()
    return name, argument


def fields_read(stage: Stage) -> list[str]:
    """Return the dotted paths that a stage reads from its input, each once, in the order of its text.

    Paths that a sub-pipeline reads, and computed paths, are left out.
    """
    effect = effect_of(*operator_of(stage))
    read = list(effect.reads)
    for field in effect.fields:
        read += [field.parts] if field.becomes == "kept" and field.place is not None else field.reads
    return _dotted(read)


def fields_named(stage: Stage) -> list[str]:
    """Return the fields that a stage writes, then the fields that it reads. These columns of its rows are worth
    showing.
    """
    effect = effect_of(*operator_of(stage))
    written = [field.parts for field in effect.fields if field.becomes == "made" and field.place is not None]
    return list(dict.fromkeys([*_dotted(written), *fields_read(stage)]))


def fields_computed(stage: Stage) -> dict[str, Any]:
    """Return the fields that a stage computes from each document: dotted path → expression."""
    name, argument = operator_of(stage)
    record = record_of(name)
    if record is None or record.gives is not Gives.EACH:
        return {}
    return {
        ".".join(field.parts): field.expression
        for field in effect_of(name, argument).fields
        if field.expression is not NO_EXPRESSION
    }


def fields_guarded(stage: Stage) -> set[str]:
    """Return the fields that a stage reads inside ``$ifNull``, which replaces absent values."""
    name, argument = operator_of(stage)
    computed = [field.expression for field in effect_of(name, argument).fields]
    return {path for path in _guarded([argument, *computed]) if path}


def _guarded(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "$ifNull" and isinstance(inner, list):
                yield from map(".".join, paths_in(inner[:-1]))
            yield from _guarded(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _guarded(item)


def _dotted(paths: Iterable[Parts]) -> list[str]:
    texts = dict.fromkeys(map(".".join, paths))
    return [path for path in texts if path and not path.startswith("$")]


def path_of(value: Any) -> str:
    """Return the path of a field path expression such as ``$a.b`` or ``$$ROOT.a``, or "" for anything else."""
    return ".".join(next(paths_in(value), ())) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class FieldCount:
    """A dotted path, and how many documents have it with each type, the most frequent first."""

    path: str
    types: tuple[tuple[str, int], ...]

    @property
    def present(self) -> int:
        """The number of documents that have the field, null or not."""
        return sum(count for _, count in self.types)


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """The fields of ``documents`` documents by first appearance, two levels deep: ``_id``, ``_id.testname``."""

    documents: int
    fields: tuple[FieldCount, ...]

    @property
    def top(self) -> tuple[FieldCount, ...]:
        """The fields of the first level."""
        return tuple(field for field in self.fields if "." not in field.path)


def shape_of(rows: Sequence[Mapping[str, Any]]) -> FieldCounts:
    """Count the fields and types of ``rows``."""
    found: dict[str, Counter[str]] = {}
    inner: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        for name, value in row.items():
            _count(found, name, value)
            if isinstance(value, Mapping):
                below = inner.setdefault(name, {})
                for key, item in value.items():
                    _count(below, f"{name}.{key}", item)
    counted = [
        pair for name, types in found.items() for pair in ((name, types), *inner.get(name, {}).items())
    ]
    by_count = (
        (path, sorted(types.items(), key=lambda item: (-item[1], item[0]))) for path, types in counted
    )
    return FieldCounts(len(rows), tuple(FieldCount(path, tuple(types)) for path, types in by_count))


def _count(counters: dict[str, Counter[str]], path: str, value: Any) -> None:
    if path not in counters:  # ``setdefault`` would make a Counter for each value.
        counters[path] = Counter()
    counters[path][type_name(value)] += 1


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """The fields of the first level that a stage adds, drops, or gives other types."""

    came: tuple[FieldCount, ...] = ()
    went: tuple[FieldCount, ...] = ()
    changed: tuple[tuple[FieldCount, FieldCount], ...] = ()


def difference(before: FieldCounts, after: FieldCounts) -> FieldChanges:
    """Return the changes between two counts, or none if one of them has no documents.

    A type counts as changed if it is new, not if fewer documents have it.
    """
    if not before.documents or not after.documents:
        return FieldChanges()
    old = {field.path: field for field in before.top}
    new = {field.path: field for field in after.top}
    pairs = [(old[path], field) for path, field in new.items() if path in old]
    return FieldChanges(
        tuple(field for path, field in new.items() if path not in old),
        tuple(field for path, field in old.items() if path not in new),
        tuple((was, now) for was, now in pairs if not dict(now.types).keys() <= dict(was.types).keys()),
    )


def suggest_path(path: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a hint with one or two paths of ``rows`` that are similar to a wrong path, or "".

    A path of two levels is also found by its last name: ``_id.testname`` by ``testname``.
    """
    parts = path.split(".")
    by_last = {field.path.rpartition(".")[2]: field.path for field in reversed(shape_of(rows).fields)}
    near = [by_last[path]] if path in by_last else _siblings(parts, rows)
    near = near or [by_last[one] for one in nearest_words(parts[-1], by_last)]
    return suggest([one for one in near if one != path])


def _siblings(parts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the path with its first wrong part replaced by the nearest fields at the same place."""
    level: list[Any] = list(rows)
    for depth, part in enumerate(parts):
        documents = [
            item
            for one in level
            for item in (one if isinstance(one, list) else [one])
            if isinstance(item, Mapping)
        ]
        keys = {key: None for item in documents for key in item}
        if part not in keys:
            mended = ([*parts[:depth], near, *parts[depth + 1 :]] for near in nearest_words(part, keys))
            return [".".join(path) for path in mended if any(has_path(row, path) for row in rows)]
        level = [item[part] for item in documents if part in item]
    return []


SAMPLE = 20
"""The number of documents of each step that are fetched from a server."""


@dataclass(frozen=True, slots=True)
class Step:
    """The documents at one point of the pipeline: their number, all or some of them, and the time from the start.

    ``sampled``: a server returned only the first documents.
    """

    count: int
    rows: Rows
    milliseconds: float
    sampled: bool = False

    @property
    def complete(self) -> bool:
        """Whether ``rows`` are all documents."""
        return len(self.rows) == self.count


class StageWalk:
    """A query that runs step by step. ``steps`` are the collection's documents, then the documents after each
    stage.

    ``clock`` returns seconds; by default, no time is measured.
    """

    def __init__(self, source: ResultsSource, query: Query, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.steps: list[Step] = []
        self._source = source
        self._clock = clock
        self.query = query

    def _since(self, started: float) -> float:
        return (self._clock() - started) * 1000

    def run(self) -> ResultsError | None:
        """Fill ``steps``. Return the error of the failing stage, with a path in the pipeline.

        Raises ResultsError for an unusable source.
        """
        if self._source.local is not None:
            with suppress(AggregationError):
                # Import the operators before time is measured. An error occurs again at its stage.
                check(self.query.pipeline, variables=self.query.let)
        last = len(self.query.pipeline)
        for position in range(last + 1):
            try:
                self.steps.append(self._step(position))
            except ResultsError as error:
                if error.environment:
                    raise
                if 0 < position < last and self._works():
                    # A later ``$skip`` or ``$limit`` leaves out the documents on which the stage fails.
                    self.steps.append(self.steps[-1])
                    continue
                # An error without a path comes from the last of these stages, except in the whole pipeline: there, any
                # stage may fail.
                known = error.path is not None or position in (0, last)
                return error if known else ResultsError(error.message, hint=error.hint, path=(position - 1,))
        return None

    def _works(self) -> bool:
        """Return whether the whole pipeline runs without an error."""
        try:
            self._source.aggregate(self.query)
        except ResultsError:
            return False
        return True

    def ask(self, position: int, stages: Sequence[Any]) -> Rows:
        """Run ``stages`` on the documents after the first ``position`` stages."""
        local: FileSource | None = self._source.local
        if local is None:
            return self._source.aggregate(self._with_stages(*self.query.pipeline[:position], *stages))
        step = self.steps[position]
        rows = step.rows if step.complete else local.documents(self.query.collection)
        return local.apply_query(rows, self._with_stages(*stages))

    def may_have(self, position: int, path: str) -> bool:
        """Return whether a document at ``position`` may have the path; true if the source does not answer."""
        step, parts = self.steps[position], path.split(".")
        if any(has_path(row, parts) for row in step.rows):
            return True
        if step.complete:
            return False
        try:
            found = self.ask(
                position, [{"$match": {path: {"$exists": True}}}, {"$limit": 1}, {"$project": {"_id": 1}}]
            )
        except ResultsError:
            return True
        return bool(found)

    def _with_stages(self, *stages: Any) -> Query:
        return replace(self.query, pipeline=stages)

    def _step(self, position: int) -> Step:
        """Run the first ``position`` stages."""
        local: FileSource | None = self._source.local
        pipeline, started = self.query.pipeline, self._clock()
        if position == len(pipeline):  # the table's own query, with the same errors
            rows = self._source.aggregate(self.query)
            return Step(len(rows), rows, self._since(started), sampled=local is None)
        if local is None:
            counted = self.ask(position, [{"$count": "n"}])
            milliseconds = self._since(started)
            rows = self.ask(position, [{"$limit": SAMPLE}]) if counted else []
            return Step(int(counted[0]["n"]) if counted else 0, rows, milliseconds, sampled=True)
        if not position:
            return Step(len(local.documents(self.query.collection)), list(local.candidates(self.query)), 0.0)
        rows = local.apply_query(self.steps[0].rows, self._with_stages(*pipeline[:position]))
        return Step(len(rows), rows, self._since(started))
