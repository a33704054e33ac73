"""Fields of stages and of documents: which fields a stage reads and computes, and which ones documents have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mongo_tables.aggregation.fields import NO_EXPRESSION, Gives, Parts, effect_of, paths_in, record_of
from mongo_tables.aggregation.values import type_name
from mongo_tables.findings.nearest import nearest_word

Stage = Mapping[str, Any]


def operator_of(stage: Stage) -> tuple[str, Any]:
    """Return the operator of a stage and its argument."""
    ((name, argument),) = stage.items()
    return name, argument


def fields_read(stage: Stage) -> list[str]:
    """Return the dotted paths that a stage reads from its input, each once, in the order of its text.

    Paths that the text does not contain (those of a sub-pipeline, computed ones) are left out.
    """
    effect = effect_of(*operator_of(stage))
    read = list(effect.reads)
    for field in effect.fields:
        read += [field.parts] if field.becomes == "kept" and field.place is not None else field.reads
    return _dotted(read)


def fields_named(stage: Stage) -> list[str]:
    """Return the fields that a stage writes, then those that it reads: the columns to show of its rows."""
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
    """Return the fields that a stage reads only inside ``$ifNull``, which has another value for absent ones."""
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
    """Compare two shapes. A shape without documents carries no information.

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


def has_path(value: Any, path: Sequence[str]) -> bool:
    """Return whether a path leads to a value, null included. It may pass through arrays, also by index."""
    if not path:
        return True
    if isinstance(value, Mapping):
        return path[0] in value and has_path(value[path[0]], path[1:])
    if isinstance(value, list):
        if path[0].isdigit() and int(path[0]) < len(value) and has_path(value[int(path[0])], path[1:]):
            return True
        return any(has_path(item, path) for item in value)
    return False


def suggest_path(path: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a hint with the path of ``rows`` that is nearest to a wrong one, or ""."""
    parts = path.split(".")
    near = _sibling(parts, rows) or _elsewhere(parts, rows)
    return f"did you mean `{near}`?" if near else ""


def _sibling(parts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the path with its first wrong part replaced by a field at the same place."""
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
            near = nearest_word(part, keys)
            mended = [*parts[:depth], near, *parts[depth + 1 :]] if near else []
            return ".".join(mended) if mended and any(has_path(row, mended) for row in rows) else ""
        level = [item[part] for item in documents if part in item]
    return ""


def _elsewhere(parts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a path of at most two levels with the ending of the wrong one: ``_id.testname`` for ``testname``."""
    by_last = {field.path.rpartition(".")[2]: field.path for field in reversed(shape_of(rows).fields)}
    near = nearest_word(parts[-1], by_last)
    return by_last[near] if near else ""
