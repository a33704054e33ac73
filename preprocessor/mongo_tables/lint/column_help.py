"""Help texts of table columns, shown when readers point at a header.

A column of a pipeline over benchmark results is traced to its source fields, which the schema of results describes. A
column without a described field has no text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import bson

from mongo_tables.aggregation.fields import Gives, record_of
from mongo_tables.directives.schemas import ResultField, field_at
from mongo_tables.lint.rule_context import load_result_shape
from mongo_tables.lint.shape.expressions import Around, Walk
from mongo_tables.lint.shape.flow import flow_of, read_stage
from mongo_tables.lint.shape.values import column_shape

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.lint.shape.expressions import Infer
    from mongo_tables.lint.shape.values import Shape


_COUNT: Final = "1"
_WORD: Final = re.compile(r"'([^']+)'")


def column_meanings(spec: TableSpec) -> dict[str, str]:
    """Return a help text for each column that comes from fields of a result document, by the column's name.

    Valid only for a table whose documents are results (``Provenance.results``).
    """
    # Stages that only choose or sort documents do not change the source fields.
    stages = tuple(bson.encode(stage) for stage in spec.pipeline if not _only_chooses(stage))
    if not (any(map(_leads_to_fields, spec.columns)) or any(map(_reads_fields, stages))):
        return {}
    rows = _trace_rows(stages, spec.let)
    traits = {name: column_shape(rows, name).traits for name in spec.columns}
    texts = {name: _meaning(one.path, one.sources) for name, one in traits.items()}
    return {name: text for name, text in texts.items() if text}


def _only_chooses(stage: Mapping[str, Any]) -> bool:
    record = record_of(next(iter(stage)))
    return record is not None and record.gives in (Gives.CHOSEN, Gives.BY_PLACE)


def _trace_rows(stages: tuple[bytes, ...], variables: Mapping[str, Any]) -> Shape:
    """Return the shape of the rows that the stages make from benchmark results."""
    if not variables:
        return _behind(stages)
    return flow_of([bson.decode(stage) for stage in stages], load_result_shape(), variables).rows


@lru_cache(maxsize=1024)
def _behind(stages: tuple[bytes, ...]) -> Shape:
    """Return the shape of benchmark results after some stages. Tables with the same first stages share the cached
    result.
    """
    return (
        _reader(stages[-1])(Walk(_behind(stages[:-1]), defaultdict(list))) if stages else load_result_shape()
    )


@lru_cache(maxsize=1024)
def _reader(stage: bytes) -> Infer:
    """Return the function that infers the shape of documents after a stage. Tables with this stage share the cached
    result.
    """
    ((name, argument),) = bson.decode(stage).items()
    return read_stage(name, argument, Around((0, name), []))


@lru_cache(maxsize=1024)
def _reads_fields(stage: bytes) -> bool:
    """Return whether a stage contains the path of a described field."""
    words = _WORD.findall(repr(bson.decode(stage)))
    return any(map(_leads_to_fields, words))


def _leads_to_fields(word: str) -> bool:
    if word == "_id":  # Nearly every pipeline contains this key.
        return False
    return "ROOT" in word or "CURRENT" in word or field_at(word.lstrip("$")) is not None


@lru_cache(maxsize=4096)
def _meaning(path: str | None, sources: frozenset[str]) -> str:
    """Return the meaning of a value that is the field at ``path`` or was computed from the fields ``sources``."""
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
    """Return the sources that do not contain another source. For example, drop an array if one of its elements is a
    source.
    """
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


def _unit(field: ResultField) -> str:
    return "" if field.unit == _COUNT else field.unit


def _join_names(names: Iterable[str]) -> str:
    """Return ``a and b``, or ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
