"""Rules about the rows that came: rows that readers cannot tell apart, rows of benchmarks that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.aggregation.fields import Gives, Order, record_of
from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.specs import TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.lint.documents import Documents, leading_match
from mongo_tables.lint.rulecontext import RuleContext, quote
from mongo_tables.lint.shape.values import member
from mongo_tables.render.column import column_value

FAILED: Final = "failed"
"""The field in which a document of a benchmark tool says what went wrong (``schemas/benchmark.schema.json``)."""

Rows = Sequence[Mapping[str, Any]]


def key_columns(spec: TableSpec) -> tuple[str, ...]:
    """The columns by which readers find a row: those that the rows are sorted by, else the first."""
    for stage in reversed(spec.pipeline):
        if "$sort" in stage:
            sorted_by = [column for column in spec.columns if column in stage["$sort"]]
            if sorted_by:
                return tuple(sorted_by)
    return spec.columns[:1]


def find_naming_columns(spec: TableSpec, rows: Rows) -> tuple[str, ...]:
    """The columns that name a row: by which readers find it, the first, parts of its ``_id``, and all but numbers.

    An element of a set that was made one row of each names its row, too. Other numbers are what was measured: who
    knows what row he looks for does not know them yet.
    """
    keys = {*key_columns(spec), spec.columns[0]}
    return tuple(
        name
        for name in spec.columns
        if name in keys or _is_of_id(spec, name) or _is_of_set(spec, name) or _has_names(name, rows)
    )


def _is_of_id(spec: TableSpec, column: str) -> bool:
    """Whether a column shows the ``_id``, or a part of it, as it is."""
    for stage in reversed(spec.pipeline):
        ((operator, argument),) = stage.items()
        if operator in ("$project", "$set", "$addFields") and (written := argument.get(column)) is not None:
            if isinstance(written, str):
                return written == "$_id" or written.startswith("$_id.")
            if written not in (1, True):
                return False
    return column.partition(".")[0] == "_id"


def _is_of_set(spec: TableSpec, column: str) -> bool:
    """Whether a column shows the elements of an ``$addToSet``, each in a row of its own."""
    field, unwound = column, False
    for stage in reversed(spec.pipeline):
        ((operator, argument),) = stage.items()
        if operator == "$group":
            made = argument.get(field)
            return unwound and isinstance(made, Mapping) and "$addToSet" in made
        if operator == "$unwind":
            path = argument["path"] if isinstance(argument, Mapping) else argument
            unwound = unwound or path == f"${field}"
        elif operator in ("$project", "$set", "$addFields") and (written := argument.get(field)) is not None:
            if isinstance(written, str) and written.startswith("$"):
                field = written[1:]
            elif written not in (1, True):
                return False
    return False


def _has_names(column: str, rows: Rows) -> bool:
    """Whether a column has a text, a date or another value that is no number, list or document."""
    values = (column_value(row, column) for row in rows)
    return any(
        value is not MISSING
        and value is not None
        and not is_number(value)
        and not isinstance(value, (Mapping, list))
        for value in values
    )


def find_repeated_keys(spec: TableSpec, rows: Rows) -> Iterator[Finding]:
    """MT411: two rows have the same name, so that readers cannot know which is which."""
    columns, shown = find_naming_columns(spec, rows), key_columns(spec)
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        first = seen.setdefault(repr([column_value(row, column) for column in columns]), number)
        if first != number:
            values = ", ".join(str(column_value(row, column)) for column in shown)
            yield finding(
                "MT411",
                spec.file,
                spec.locate(("columns", spec.columns.index(shown[0]))),
                f"rows {first} and {number} are both {values} in {quote(shown)}: readers cannot tell them apart",
                "show what differs between them, drop the stale document, or group them",
            )
            return


def find_failed_benchmarks(subject: RuleContext, documents: Documents) -> Iterator[Finding]:
    """MT432: figures come from benchmarks that failed, and no column says that they did.

    A later stage that selects documents may leave them out, so nothing is said of such a pipeline.
    """
    spec = subject.spec
    if member(subject.flow.documents, FAILED).absent or _may_leave_out(subject):
        return
    from mongo_tables.results.benchmarks import is_benchmark  # and with it what compares benchmarks

    failed = [one for one in documents.of(spec).documents if FAILED in one and is_benchmark(one)]
    if failed:
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        yield subject.finding(
            "MT432",
            spec.locate(("collection",)),
            f"a benchmark failed, and its figures are shown: {failed[0].get('name')}: {failed[0][FAILED]}{others}",
            'leave them out with {"failed": {"$exists": false}} in `where`, or in the first `$match`; or show '
            "`failed` in a column",
        )


def _may_leave_out(subject: RuleContext) -> bool:
    """Whether readers see which benchmarks failed, or a stage behind the first ``$match`` may drop these."""
    behind = subject.spec.pipeline[len(leading_match(subject.spec.pipeline)) :]
    if any(_may_choose(*one) for stage in behind for one in stage.items()):
        return True
    return any(FAILED in subject.column(name).traits.sources for name in subject.columns)


def _may_choose(name: str, argument: Any) -> bool:
    record = record_of(name)
    if record is None:
        return True
    return record.gives in (Gives.CHOSEN, Gives.BY_PLACE) and record.order(argument) is not Order.SORTED
