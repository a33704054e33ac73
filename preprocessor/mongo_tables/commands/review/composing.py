"""The comment that tells reviewers which numbers a pull request changes, as Markdown of GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from mongo_tables.commands.diff.comparing import CellChange, TableChange
from mongo_tables.commands.diff.writing import list_notes, say_times
from mongo_tables.commands.review.hostmarkdown import show
from mongo_tables.findings.reporters import format_count

MOST: Final = 60_000
"""Characters of a comment; GitHub takes 65,536."""

_UNFOLDED: Final = 30
"""Lines of changes that a comment shows without a click."""

_HEAD: Final = ("| Row | Column | Before | Now | Now to before |", "| --- | --- | ---: | ---: | ---: |")


def compose(changes: Sequence[TableChange], failed: int, compared: tuple[str, str], marker: str) -> str:
    """The comment: ``marker`` in front, how much changed, then each table with its changed, new and vanished rows.

    ``failed`` counts the tables that have no rows because something is wrong with them; ``compared`` are the names of
    the old and of the new commit. What is longer than a comment may be ends with how much is left out.
    """
    lines = [line for change in changes for line in _describe(change)]
    intro = [
        marker,
        "### Numbers that this pull request changes",
        "",
        f"{_count(changes)}, {_name(compared)}.",
        "",
    ]
    if failed:
        intro += [f"{format_count(failed, 'table')} cannot be compared: the check says what is wrong.", ""]
    kept = _cut(lines, intro)
    if len(lines) <= _UNFOLDED:
        return _join(intro + kept)
    return _join([*intro, "<details><summary>All changes</summary>", "", *kept, "", "</details>"])


def _join(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _count(changes: Sequence[TableChange]) -> str:
    """How much changed, in words."""
    counted = (
        (sum(len(one.cells) for one in changes), "number", "changed"),
        (sum(len(one.came) for one in changes), "row", "new"),
        (sum(len(one.went) for one in changes), "row", "gone"),
        (sum(one.state == "came" for one in changes), "table", "new"),
        (sum(one.state == "went" for one in changes), "table", "gone"),
    )
    said = [f"{format_count(number, noun)} {what}" for number, noun, what in counted if number]
    if said:
        return f"**{', '.join(said)}**"
    return "**No number changed, but other things did**" if changes else "**No number changed**"


def _name(compared: tuple[str, str]) -> str:
    old, new = compared
    return f"at {show(new)}, compared with {show(old)}"


def _describe(change: TableChange) -> Iterator[str]:
    """A heading, a line for each changed cell, then what else there is to say."""
    state = {"came": " (new table)", "went": " (table gone)"}.get(change.state, "")
    line = f", line {change.line}" if change.line else ""
    yield from (f"#### {show(change.name)}{state}, {show(change.page)}{line}", "")
    rows = [*_list_rows(change)]
    if rows:
        yield from (*_HEAD, *rows, "")
    notes = [f"* {show(note)}" for note in list_notes(change, rows=False)]
    yield from [*notes, *([""] if notes else [])]


def _list_rows(change: TableChange) -> Iterator[str]:
    yield from (_row(cell, "") for cell in change.cells)
    yield from _list_whole_rows(change.came, change.came_cells, " **new row**")
    yield from _list_whole_rows(change.went, change.went_cells, " **row gone**")


def _list_whole_rows(labels: Sequence[str], cells: Sequence[CellChange], state: str) -> Iterator[str]:
    for label in labels:
        own = [cell for cell in cells if cell.row == label]
        yield from (_row(cell, state) for cell in own or [CellChange(label, "", "", "", None)])


def _row(cell: CellChange, state: str) -> str:
    ratio = "" if cell.ratio is None else say_times(cell.ratio)
    return (
        "| "
        + " | ".join((show(cell.row) + state, *map(show, (cell.column, cell.old, cell.new, ratio))))
        + " |"
    )


def _cut(lines: Sequence[str], intro: Sequence[str]) -> list[str]:
    """As many lines as a comment takes, and how many more there are."""
    room = MOST - sum(len(line) + 1 for line in intro)
    kept = sum(length <= room for length in accumulate(len(line) + 1 for line in lines))
    if kept == len(lines):
        return [*lines]
    more = format_count(len(lines) - kept, "more line")
    return [*lines[:kept], "", f"{more}: the artifact of this job has all of them, in `changes.json`."]
