"""The documents, fields and stages from which the value of a cell is computed.

The pipeline runs on fewer and fewer documents, until each remaining document is needed for the cell's value (delta
debugging: A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). This works for every
kind of stage, and the last run proves that the remaining documents give the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import NO_EXPRESSION, Parts, effect_of, overlap
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.lint.causes import shorten_json
from mongo_tables.lint.row_rules import find_naming_columns
from mongo_tables.render.column import column_value
from mongo_tables.render.values import json_text
from mongo_tables.results.guards import collections_read
from mongo_tables.results.model import Query, ResultsSource

Row = Mapping[str, Any]
Document = tuple[str, dict[str, Any]]
"""A document and the name of its collection."""

MOST_DOCUMENTS: Final = 20_000
"""The largest number of documents that are read from a database."""
MOST_RUNS: Final = 1_000
"""The largest number of times that the pipeline runs."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that computes the cell's value or an intermediate value. ``number`` counts from 1."""

    number: int
    name: str
    field: str
    expression: Any


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of the value of a cell.

    Attributes:
        row: The number of the row, from 1.
        documents: Documents that give the value without any others.
        minimal: Whether each of these documents is needed.
        read: The number of documents of each collection that the pipeline reads.
        fields: The fields of documents from which the value is computed.
        stages: The stages that compute the value, in order.
    """

    file: str
    line: int
    row: int
    column: str
    value: Any
    documents: tuple[Document, ...]
    minimal: bool
    read: Mapping[str, int]
    fields: tuple[str, ...]
    stages: tuple[Stage, ...]


def trace(spec: PipelineSpec, source: ResultsSource, row: str, column: str, most_runs: int) -> Lineage:
    """Return the lineage of a cell.

    Args:
        row: The number of the row, from 1, or the text of its first column.
        column: The name of the column, or its header.
        most_runs: The maximum number of runs of the pipeline.

    Raises:
        CommandError: If there is no such cell, if the pipeline needs a server, or if each run gives different rows.
    """
    if not spec.is_lasting:
        raise CommandError(
            "the pipeline may give different rows in each run, so a value cannot be traced to documents"
        )
    name = _find_column(spec, column)
    documents = list(_read(spec.query, source))
    rows = _rows(spec.query, documents)
    number = _find_row(spec, rows, row)
    target = rows[number - 1]
    naming = [*(find_naming_columns(spec, rows) if isinstance(spec, TableSpec) else ()), name]
    wanted = _values(target, naming)

    def gives(some: Sequence[Document]) -> bool:
        try:
            found = _rows(spec.query, some)
        except CommandError:
            return False
        return any(_values(one, naming) == wanted for one in found)

    kept, minimal = _minimize(documents, gives, most_runs)
    stages, fields = _trace_fields(spec, name)
    return Lineage(
        file=spec.file,
        line=spec.comment.line,
        row=number,
        column=name,
        value=column_value(target, name),
        documents=tuple(kept),
        minimal=minimal,
        read=Counter(collection for collection, _ in documents),
        fields=fields,
        stages=stages,
    )


def _find_column(spec: PipelineSpec, written: str) -> str:
    names = [name for _, name in spec.shown_columns]
    headers = {header: name for _, name, header in spec.headings}
    if written in names:
        return written
    if written in headers:
        return headers[written]
    hint = (
        did_you_mean(written, [*names, *headers])
        or f"the columns are {', '.join(f'`{one}`' for one in names)}"
    )
    raise CommandError(f"there is no column `{written}`", hint)


def _find_row(spec: PipelineSpec, rows: Sequence[Row], written: str) -> int:
    if not rows:
        raise CommandError("the pipeline gives no rows", "leave out --cell to see which stage lost all rows")
    if written.isdecimal() and 1 <= int(written) <= len(rows):
        return int(written)
    first = spec.shown_columns[0][1]
    texts = [str(column_value(one, first)) for one in rows]
    if written in texts:
        return texts.index(written) + 1
    hint = (
        did_you_mean(written, texts)
        or f"name a row by its number, from 1 to {len(rows)}, or by its `{first}`"
    )
    raise CommandError(f"there is no row `{written}`", hint)


def _read(query: Query, source: ResultsSource) -> Iterator[Document]:
    """Yield the documents that the first ``$match`` selects, and all documents of joined collections."""
    for number, collection in enumerate(collections_read(query)):
        if source.local is not None:
            chosen = source.local.candidates(query) if not number else source.local.documents(collection)
        else:
            first = (
                query.pipeline[:1] if query.pipeline and "$match" in query.pipeline[0] and not number else ()
            )
            asked = replace(query, collection=collection, pipeline=(*first, {"$limit": MOST_DOCUMENTS + 1}))
            chosen = source.aggregate(asked)
            if len(chosen) > MOST_DOCUMENTS:
                raise CommandError(
                    f"`{collection}` has more than {MOST_DOCUMENTS:,} documents for this pipeline",
                    "let a first `$match` select fewer of them",
                )
        for document in chosen:
            yield collection, document


def _rows(query: Query, documents: Sequence[Document]) -> list[dict[str, Any]]:
    joined = collections_read(query)
    by_name = {name: [one for collection, one in documents if collection == name] for name in joined}
    try:
        return aggregate(by_name[query.collection], query.pipeline, collections=by_name, variables=query.let)
    except AggregationError as error:
        raise CommandError(str(error)) from None


def _values(row: Row, names: Sequence[str]) -> str:
    return repr([column_value(row, name) for name in names])


def _minimize(documents: Sequence[Document], gives: Any, most_runs: int) -> tuple[Sequence[Document], bool]:
    """Return documents that give the cell's value, and whether each of them is needed.

    The function removes chunks of documents as long as the value stays the same. The first chunks are half of all
    documents, the last ones single documents.
    """
    runs, size = 0, max(1, len(documents) // 2)
    kept = list(documents)
    while True:
        place, left_out = 0, False
        while place < len(kept):
            if runs == most_runs:
                return kept, False
            runs += 1
            fewer = kept[:place] + kept[place + size :]
            if gives(fewer):
                kept, left_out = fewer, True
            else:
                place += size
        if size == 1 and not left_out:
            return kept, True
        size = max(1, size // 2)


def _trace_fields(spec: PipelineSpec, column: str) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return the stages that compute a column, in order, and the fields of the documents that these stages read."""
    wanted: set[Parts] = {tuple(column.split("."))}
    stages: list[Stage] = []
    for number, stage in reversed([*enumerate(spec.pipeline, 1)]):
        ((operator, argument),) = stage.items()
        for field in effect_of(operator, argument).fields:
            touched = {one for one in wanted if overlap(one, field.parts)}
            if not touched or field.becomes != "made":
                continue
            wanted = (wanted - touched) | {parts for parts in field.reads if parts}
            text = ".".join(field.parts)
            stages.append(Stage(number, spec.name_stage(number - 1), text, field.expression))
    return tuple(stages[::-1]), tuple(sorted(".".join(parts) for parts in wanted))


def lines(told: Lineage, most: int) -> Iterator[str]:
    """Yield the lineage as lines of text, with at most ``most`` documents of each collection."""
    yield f"{told.file}:{told.line}  row {told.row}, column `{told.column}`: {shorten_json(_shown(told.value))}"
    by_name: dict[str, list[Row]] = {}
    for collection, document in told.documents:
        by_name.setdefault(collection, []).append(document)
    for collection, documents in by_name.items():
        of = told.read[collection]
        yield ""
        yield f"  {len(documents):,} of {format_count(of, 'document')} of `{collection}`"
        for one in documents[:most]:
            values = [
                f"{field} {shorten_json(_shown(value), 40)}"
                for field in told.fields
                if field != "_id" and (value := column_value(one, field)) is not MISSING
            ]
            yield f"    _id {json_text(one.get('_id'))}" + "".join(f"  {value}" for value in values)
        if len(documents) > most:
            yield f"    … and {len(documents) - most:,} more: --rows {len(documents)} lists all"
    yield ""
    yield (
        "  these documents give the value, and each of them is needed"
        if told.minimal
        else f"  these documents give the value; after {MOST_RUNS:,} runs it is unknown whether each of them is needed"
    )
    if told.stages:
        yield ""
        for made_by in told.stages:
            made = f" = {shorten_json(made_by.expression)}" if made_by.expression is not NO_EXPRESSION else ""
            yield f"  stage {made_by.number}, {made_by.name}: {made_by.field}{made}"


def _shown(value: Any) -> Any:
    return None if value is MISSING else value
