"""What rules about the tables of a page need of each: its columns, and where they stand in the page."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from preprocessor.aggregation.values import is_flag
from preprocessor.lint.shape.expressions import Path
from preprocessor.specs.model import PipelineSpec


class HeadedColumn(NamedTuple):
    """A column of a table: its header without stray blanks, what it is computed from, and to how many digits."""

    place: int
    column: str
    header: str
    sources: frozenset[str]
    digits: int | None


class ShownTable(NamedTuple):
    """A table or chart that was looked at, and the columns of a table; a chart has none."""

    spec: PipelineSpec
    columns: tuple[HeadedColumn, ...]


def find_definition(spec: PipelineSpec, name: str) -> Path | None:
    """Where the rows' field ``name`` gets its value: the last stage that computes it, or else includes it."""
    for number, stage in reversed([*enumerate(spec.pipeline)]):
        ((operator, fields),) = stage.items()
        if operator in ("$set", "$addFields", "$project", "$group") and isinstance(fields, Mapping):
            value: Any = fields.get(name)
            if name in fields and not is_flag(value):
                return (number, operator, name)
    return None
