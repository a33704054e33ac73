"""Changes as a terminal or a page of changes shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mongo_tables.commands.diff.comparing import CellChange, TableChange
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.render.markdownescape import escape_cell

NOT_THE_SAME_TEST = "the experiment itself changed: these are not figures of the same test, and have no ratio"


def text(changes: Sequence[TableChange]) -> Iterator[str]:
    """Lines for a terminal; one when nothing changed."""
    if not changes:
        yield "nothing changed"
    for change in changes:
        yield from map(escape_control_chars, _describe(change))


def _describe(change: TableChange) -> Iterator[str]:
    state = "" if change.state == "changed" else f" {change.state}"
    yield f"{_place(change)}: {change.name}{state}"
    yield from (f"  {line}" for line in list_notes(change))
    yield from (f"  {cell.row}, {cell.column}: {_arrow(cell)}" for cell in change.cells)


def markdown(changes: Sequence[TableChange]) -> Iterator[str]:
    """Lines of Markdown: a heading for each table, what was measured otherwise, a table of cells."""
    for change in changes:
        state = "" if change.state == "changed" else f" {change.state}"
        yield from (f"### {escape_cell(change.name)}{state}", "", f"Page `{change.page}`.", "")
        notes = [f"* {escape_cell(line)}" for line in list_notes(change)]
        yield from [*notes, *([""] if notes else [])]
        if change.cells:
            yield from ("| Row | Column | Old | New | New to old |", "| --- | --- | ---: | ---: | ---: |")
            yield from map(_line, change.cells)
            yield ""


def _place(change: TableChange) -> str:
    return f"{change.page}:{change.line}" if change.line else change.page


def list_notes(change: TableChange, *, rows: bool = True) -> Iterator[str]:
    """What there is to say of a table beside its cells, a line each; with ``rows``, which of them came and went."""
    for name, (old, new) in (change.measured or {}).items():
        yield f"measured otherwise: {name} {old} → {new}"
    if change.retested:
        yield NOT_THE_SAME_TEST
    for side, failed in zip(("old", "new"), change.failed, strict=True):
        if failed:
            yield f"the {side} has no rows: {failed}"
    named = (
        ("row came", change.came if rows else ()),
        ("row went", change.went if rows else ()),
        ("column came", change.columns_came),
        ("column went", change.columns_went),
    )
    yield from (f"{what}: {one}" for what, ones in named for one in ones)
    for label in change.unclear:
        yield f"nothing tells the rows {label} apart: they are paired in their order where they are as many"
    if change.reordered:
        yield "the rows are in another order"


def _arrow(cell: CellChange) -> str:
    return f"{cell.old} → {cell.new}" + ("" if cell.ratio is None else f" ({say_times(cell.ratio)})")


def _line(cell: CellChange) -> str:
    ratio = "" if cell.ratio is None else say_times(cell.ratio)
    return "| " + " | ".join(map(escape_cell, (cell.row, cell.column, cell.old, cell.new, ratio))) + " |"


def say_times(ratio: float) -> str:
    """A ratio in words, with three significant digits."""
    return f"{ratio:.3g} times"
