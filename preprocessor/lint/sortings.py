"""The sort that rows keep to the end: what they are sorted by, and what becomes of that behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from preprocessor.aggregation import AggregationError
from preprocessor.aggregation.sorting import parse
from preprocessor.lint.ordering import By, orders

Stages = Sequence[Mapping[str, Any]]

_ROW_BY_ROW: Final = frozenset(
    {"$project", "$set", "$addFields", "$unset", "$lookup", "$graphLookup", "$limit", "$skip"}
)


class Sorting(NamedTuple):
    """A stage that sorts: its place and name, what it sorts by, and the stages behind it, each row by row."""

    place: int
    name: str
    keys: Mapping[str, Any]
    behind: Stages

    @property
    def seen(self) -> bool:
        """Whether all that is sorted by is in the rows that come out."""
        return all(is_kept(key, self.behind) for key in self.keys)

    def with_key(self, field: str) -> str:
        """The sort with one more key, as it is written."""
        return json.dumps({"$sort": {**self.keys, field: 1}}, ensure_ascii=False, default=str)

    def keys_of(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What each row is sorted by; nothing where only a server can tell."""
        try:
            pattern = parse(self.keys, ())
            return [pattern.keys(row) for row in rows]
        except AggregationError:
            return []


def last_sorting(pipeline: Stages) -> Sorting | None:
    """The sort whose order the rows come in; None where another stage decides it, or makes several rows of one."""
    found = orders(pipeline)
    if not found or found[-1].by is not By.STAGE or len(found[-1].cause) != 2:
        return None
    index, name = found[-1].cause
    if not isinstance(index, int) or name not in ("$sort", "$sortByCount"):
        return None
    behind = pipeline[index + 1 :]
    if not is_row_by_row(behind):
        return None
    keys = pipeline[index]["$sort"] if name == "$sort" else {"count": -1}
    return Sorting(index, str(name), keys, behind)


def is_row_by_row(stages: Stages) -> bool:
    """Whether the stages make one row of each document, in the same order."""
    return all(next(iter(stage)) in _ROW_BY_ROW for stage in stages)


def is_kept(field: str, stages: Stages) -> bool:
    """Whether stages that go row by row leave a field as it is, under its name."""
    return all(_keeps(name, argument, field) for stage in stages for name, argument in stage.items())


def _keeps(name: str, argument: Any, field: str) -> bool:
    if name in ("$limit", "$skip"):
        return True
    if name == "$unset":
        return not _touch(field, [argument] if isinstance(argument, str) else argument)
    if name in ("$lookup", "$graphLookup"):
        return not _touch(field, [str(argument["as"])])
    if _touch(field, (one for one, value in argument.items() if value not in (1, True, f"${one}"))):
        return False
    chooses = name == "$project" and any(value not in (0, False) for value in argument.values())
    return not chooses or field.partition(".")[0] == "_id" or bool(set(argument) & set(_prefixes(field)))


def _prefixes(field: str) -> Iterator[str]:
    parts = field.split(".")
    return (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _touch(field: str, names: Any) -> bool:
    """Whether one of the names is the field, or lies above it or below it."""
    above = set(_prefixes(field))
    return any(name in above or name.startswith(f"{field}.") for name in names)
