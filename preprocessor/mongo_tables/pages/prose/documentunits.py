"""The unit that documents of benchmarks carry in a field: that of the columns which show their figures as they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.pages.prose.numbers import Unit, unit_of

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

_FIGURES: Final = ("value", "mean", "median", "min", "max", "stddev", "low", "high")
"""The fields with figures in the unit of the document, whichever tool measured it."""
_TOLD: Final = ("name", "metric", "unit", "tool")
"""What every document of a benchmark has."""
_CHOOSING: Final = ("$match", "$sort", "$limit", "$skip", "$sample", "$unset")
_WRITING: Final = ("$project", "$set", "$addFields")


def carried_unit(spec: PipelineSpec, column: str, rows: Sequence[Mapping[str, Any]]) -> Unit | None:
    """The unit of a column by the documents that its rows are; None where these have several, or none."""
    if column not in _FIGURES or not all(_leaves(stage, column) for stage in spec.pipeline):
        return None
    units = {row["unit"] if is_benchmark(row) else "" for row in rows}
    return unit_of(units.pop()) if len(units) == 1 else None


def is_benchmark(row: Mapping[str, Any]) -> bool:
    """Whether a row is the document of a benchmark."""
    return all(isinstance(row.get(name), str) for name in _TOLD)


def list_hidden(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields with figures of that unit that no column shows."""
    shown = {column for _, column in spec.shown_columns}
    there = [name for name in _FIGURES if name not in shown and any(name in row for row in rows)]
    return [name for name in there if carried_unit(spec, name, rows)]


def _leaves(stage: Mapping[str, Any], column: str) -> bool:
    """Whether a stage leaves a field and its unit as they are."""
    ((operator, argument),) = stage.items()
    if operator in _WRITING:
        return all(argument.get(field, True) in (1, True) for field in (column, "unit"))
    return operator in _CHOOSING
