"""What the columns of a table mean, for readers who point at a header.

A column of a pipeline over benchmark results is traced to the fields that it comes from, and the schema of
results says what those are. Nothing is said of a column of which no field is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.fields import Gives, record_of
from mongo_tables.directives.schemas.result_fields import Field, field_at
from mongo_tables.lint.documents import load_result_shape
from mongo_tables.lint.shape.flow import flow_of
from mongo_tables.lint.shape.values import column

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.lint.shape.values import Shape


_COUNT: Final = "1"
_WORD: Final = re.compile(r"'([^']+)'")


def column_meanings(spec: TableSpec) -> dict[str, str]:
    """A plain text for each column that comes from fields of a result document, by the column's name.

    To be asked only of a table whose documents are results (``Provenance.results``).
    """
    import bson

    # Which documents there are, and in what order, changes nothing of what they are made of.
    stages = tuple(bson.encode(stage) for stage in spec.pipeline if not _only_chooses(stage))
    if not (any(map(_leads_to_fields, spec.columns)) or any(map(_reads_fields, stages))):
        return {}
    rows = _trace_rows(stages, spec.let)
    traits = {name: column(rows, name).traits for name in spec.columns}
    texts = {name: _meaning(one.path, one.sources) for name, one in traits.items()}
    return {name: text for name, text in texts.items() if text}


def _only_chooses(stage: Mapping[str, Any]) -> bool:
    record = record_of(next(iter(stage)))
    return record is not None and record.gives in (Gives.CHOSEN, Gives.BY_PLACE)


def _trace_rows(stages: tuple[bytes, ...], variables: Mapping[str, Any]) -> Shape:
    """The shape of the rows, as far as the fields that they are computed from are described."""
    if not variables:
        return _behind(stages)
    import bson

    return flow_of([bson.decode(stage) for stage in stages], load_result_shape(), variables).rows


@lru_cache(maxsize=1024)
def _behind(stages: tuple[bytes, ...]) -> Shape:
    """As ``_trace_rows``: tables that begin with the same stages, as those of shared lists do, go together that far."""
    import bson

    return flow_of([bson.decode(stages[-1])], _behind(stages[:-1])).rows if stages else load_result_shape()


@lru_cache(maxsize=1024)
def _reads_fields(stage: bytes) -> bool:
    """Whether any word of a stage is the path of a described field: else to trace columns is in vain."""
    import bson

    words = _WORD.findall(repr(bson.decode(stage)))
    return any(map(_leads_to_fields, words))


def _leads_to_fields(word: str) -> bool:
    if word == "_id":  # As a key, it is in every pipeline.
        return False
    return "ROOT" in word or "CURRENT" in word or field_at(word.lstrip("$")) is not None


@lru_cache(maxsize=4096)
def _meaning(path: str | None, sources: frozenset[str]) -> str:
    """The meaning of a value that is the field at ``path`` or was computed from the fields ``sources``."""
    same = field_at(path) if path else None
    if same:
        unit = _unit(same)
        return f"{same.title}{f' ({unit})' if unit else ''}: {same.description}"
    closest = _closest(sources)
    known = [field for field in map(field_at, closest) if field]
    if len(closest) == 1 and known:
        return f"Computed from {_describe_source(closest[0])}: {known[0].description}"
    if known or any("[" in source for source in closest):
        return f"Computed from {_join_names(map(_describe_source, closest))}."
    return ""


def _closest(sources: Iterable[str]) -> list[str]:
    """The sources without those that only lead to others: arrays to what is in them, elements to one by name."""
    every = sorted(sources)
    series = tuple(f"{source.partition('[')[0]}." for source in every if "[" in source)
    return [
        source
        for source in every
        if not any(other.startswith((f"{source}.", f"{source}[")) for other in every)
        and not (series and source.startswith(series))
    ]


def _describe_source(source: str) -> str:
    field = field_at(source)
    if field:
        unit = _unit(field)
        return f"{field.title} ({source}{f', {unit}' if unit else ''})"
    array, _, name = source.rstrip("]").partition("[")
    return f"{name} ({array})" if name else source


def _unit(field: Field) -> str:
    return "" if field.unit == _COUNT else field.unit


def _join_names(names: Iterable[str]) -> str:
    """``a and b``, or ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
