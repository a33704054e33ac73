"""What the columns of a table mean, for readers who point at a header.

A column of a pipeline over the runner's results is traced to the fields that it comes from, and the schema of
results says what those are. Nothing is said of a column of which no field is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from preprocessor.resultfields import Field, field_at

if TYPE_CHECKING:
    from preprocessor.lint.shape.values import Shape, Traits
    from preprocessor.specs import TableSpec

_COUNT: Final = "1"
_CHOOSING: Final = frozenset(("$match", "$sort", "$skip", "$limit", "$sample"))
_WORD: Final = re.compile(r"'([^']+)'")


def column_meanings(spec: TableSpec) -> dict[str, str]:
    """A plain text for each column that comes from fields of a result document, by the column's name."""
    if spec.collection != "results" or not _has_described_fields(spec):
        return {}
    from preprocessor.lint.shape.values import column

    rows = _traced(spec)
    texts = {name: _meaning(column(rows, name).traits) for name in spec.columns}
    return {name: text for name, text in texts.items() if text}


def _traced(spec: TableSpec) -> Shape:
    """What the rows are, as far as it is told of which fields they are made.

    Which documents there are, and in what order, changes nothing of that. Tables that begin with the same stages, as
    those of shared lists do, are traced together that far.
    """
    import bson

    if spec.let:
        from preprocessor.lint.documents import described_results
        from preprocessor.lint.shape.flow import flow_of

        return flow_of(spec.pipeline, described_results(), spec.let).rows
    return _behind(tuple(bson.encode(stage) for stage in spec.pipeline if _CHOOSING.isdisjoint(stage)))


@lru_cache(maxsize=1024)
def _behind(stages: tuple[bytes, ...]) -> Shape:
    import bson

    from preprocessor.lint.documents import described_results
    from preprocessor.lint.shape.flow import flow_of

    return flow_of([bson.decode(stages[-1])], _behind(stages[:-1])).rows if stages else described_results()


def _has_described_fields(spec: TableSpec) -> bool:
    """Whether any word outside ``$match`` is the path of a described field: else to trace columns is in vain."""
    stages = [stage for stage in spec.pipeline if "$match" not in stage]
    words = {*spec.columns, *_WORD.findall(repr(stages))} - {"_id"}  # As a key, _id is in every pipeline.
    return any("ROOT" in word or "CURRENT" in word or field_at(word.lstrip("$")) for word in words)


def _meaning(traits: Traits) -> str:
    same = field_at(traits.path) if traits.path else None
    if same:
        unit = _unit(same)
        return f"{same.title}{f' ({unit})' if unit else ''}: {same.description}"
    sources = _closest(traits.sources)
    known = [field for field in map(field_at, sources) if field]
    if len(sources) == 1 and known:
        return f"From {_named(sources[0])}: {known[0].description}"
    if known or any("[" in source for source in sources):
        return f"From {_listed(map(_named, sources))}."
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


def _named(source: str) -> str:
    field = field_at(source)
    if field:
        unit = _unit(field)
        return f"{field.title} ({source}{f', {unit}' if unit else ''})"
    array, _, name = source.rstrip("]").partition("[")
    return f"{name} ({array})" if name else source


def _unit(field: Field) -> str:
    return "" if field.unit == _COUNT else field.unit


def _listed(names: Iterable[str]) -> str:
    """``a and b``, or ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
