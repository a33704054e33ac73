"""What a schema cannot say of totals, groups of rows and headings over several columns: that they fit the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.document import Document

_DOES_NOT_FIT: Final = "MT146"


def layout_findings(document: Document) -> Iterator[Finding]:
    """Complain of what a table cannot have in this place, as far as shapes allow."""
    body = document.parsed.value
    columns = body.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        return
    grouped = body.get("group_rows")
    shown = [one for one in columns if one != grouped]
    if not shown:
        message = "the table has no column but the one that its rows are grouped by"
        yield document.finding(_DOES_NOT_FIT, ("group_rows",), message, "show another column")
        return
    yield from _totals_findings(document, body.get("totals"), shown, grouped)
    yield from _heading_findings(document, body.get("header_groups"), shown, grouped)


def _totals_findings(
    document: Document, totals: Any, shown: Sequence[str], grouped: Any
) -> Iterator[Finding]:
    for column in totals if isinstance(totals, dict) else ():
        path = ("totals", column)
        if column == grouped:
            message = f"`{column}` is no column that is shown: its values stand above the rows of each group"
            yield document.finding(_DOES_NOT_FIT, path, message, "take it out of the totals", key=True)
        elif column == shown[0]:
            message = (
                f"`{column}` is the first column: there stands what the total is, such as “Sum of 12 rows”"
            )
            yield document.finding(_DOES_NOT_FIT, path, message, "show another column before it", key=True)


def _heading_findings(
    document: Document, groups: Any, shown: Sequence[str], grouped: Any
) -> Iterator[Finding]:
    taken: dict[str, str] = {}
    for heading, columns in groups.items() if isinstance(groups, dict) else ():
        if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
            continue
        for index, column in enumerate(columns):
            if fault := _column_fault(column, taken, grouped):
                path = ("header_groups", heading, index)
                yield document.finding(_DOES_NOT_FIT, path, *fault)
            taken.setdefault(column, heading)
        yield from _order_findings(document, heading, columns, shown)


def _column_fault(column: str, taken: Mapping[str, str], grouped: Any) -> tuple[str, str] | None:
    if column in taken:
        return f"`{column}` stands below the heading “{taken[column]}” already", "a column has one heading"
    if column == grouped:
        return f"`{column}` is no column that is shown: rows are grouped by it", "take it out of the heading"
    return None


def _order_findings(
    document: Document, heading: str, columns: Sequence[str], shown: Sequence[str]
) -> Iterator[Finding]:
    if not columns or len(set(columns)) < len(columns) or not set(columns) <= set(shown):
        return  # That is told by itself.
    first = shown.index(columns[0])
    if list(columns) != list(shown[first : first + len(columns)]):
        in_order = [one for one in shown if one in columns]
        message = f"the columns below “{heading}” do not stand beside each other in this order"
        hint = (
            f"in `columns` they stand as {', '.join(f'`{one}`' for one in in_order)}; put them side by side"
        )
        yield document.finding(_DOES_NOT_FIT, ("header_groups", heading), message, hint)
