"""The sort that rows keep to the end: what they are sorted by, and what becomes of that behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.aggregation import AggregationError
from mongo_tables.aggregation.fields import Effect, Gives, Parts, effect_of, record_of, split_path
from mongo_tables.aggregation.sorting import parse
from mongo_tables.directives.pipelines import write_sort
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.lint.ordering import By, orders

Stages = Sequence[Mapping[str, Any]]


class Sorting(NamedTuple):
    """A stage that sorts: its place and name, what it sorts by, and the stages behind it, each row by row."""

    place: int
    name: str
    keys: Mapping[str, Any]
    behind: Stages

    @property
    def is_seen(self) -> bool:
        """Whether the rows still have every field that they are sorted by."""
        return all(is_kept(key, self.behind) for key in self.keys)

    def keys_of(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The sort key of each row; empty if only a server can compute the keys."""
        try:
            pattern = parse(self.keys, ())
            return [pattern.keys(row) for row in rows]
        except AggregationError:
            return []

    def first(self, rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
        """The first rows in this order; fewer than ``most`` if only a server can compute the keys."""
        try:
            return parse(self.keys, ()).first(rows, most)
        except AggregationError:
            return []


def write_sorting(spec: PipelineSpec, keys: Mapping[str, Any]) -> str:
    """A sort by these keys as the comment would have it: a stage, or the key ``sort``."""
    if not spec.has_own_pipeline:
        return write_sort(keys)
    return json.dumps({"$sort": keys}, ensure_ascii=False, default=str)


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
    records = [record_of(next(iter(stage))) for stage in stages]
    return all(record and record.gives in (Gives.EACH, Gives.BY_PLACE) for record in records)


def is_kept(field: str, stages: Stages) -> bool:
    """Whether stages that go row by row leave a field as it is, under its name."""
    return all(_keeps(effect_of(*one), split_path(field)) for stage in stages for one in stage.items())


def _keeps(effect: Effect, path: Parts) -> bool:
    same = [
        one for one in effect.fields if one.becomes == "kept" or one.expression == f"${'.'.join(one.parts)}"
    ]
    if any(_touch(one.parts, path) for one in effect.fields if one not in same):
        return False
    return not effect.only or any(path[: len(one.parts)] == one.parts for one in same)


def _touch(one: Parts, other: Parts) -> bool:
    """Whether a path is the other one, or lies above it or below it."""
    return one[: len(other)] == other[: len(one)]
