"""Changes as text for a terminal, or as Markdown for a code host.

Text of a pull request, which anybody may write, appears literally in Markdown and has no effect. GitHub turns names
(``@team``), numbers (``#12``), commits and addresses into links after Markdown became HTML, so a reference such as
``&#64;`` does not help: the person is notified all the same. GitHub leaves code alone. So text other than plain words
or numbers is in a ``<code>``, with references for all characters that are special in Markdown.
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from mongo_tables.commands.diff.changes import CellChange, TableChange
from mongo_tables.findings.reporters import escape_control_chars, format_count

MOST: Final = 60_000
"""The most characters of a comment; GitHub accepts 65,536."""
_UNFOLDED: Final = 30
"""The most lines of changes that are visible without a click."""
_HEAD: Final = ("| Row | Column | Before | Now | Now to before |", "| --- | --- | ---: | ---: | ---: |")


def text(changes: Sequence[TableChange]) -> Iterator[str]:
    """Yield lines for a terminal; a single one if nothing changed."""
    if not changes:
        yield "nothing changed"
    for change in changes:
        place = f"{change.page}:{change.line}" if change.line else change.page
        state = "" if change.state == "changed" else f" {change.state}"
        lines = [f"{place}: {change.name}{state}", *(f"  {note}" for note in _notes(change))]
        for cell in change.cells:
            ratio = f" ({_times(cell)})" if cell.ratio is not None else ""
            lines.append(f"  {cell.row}, {cell.column}: {cell.old} → {cell.new}{ratio}")
        yield from map(escape_control_chars, lines)


def _notes(change: TableChange, *, rows: bool = True) -> Iterator[str]:
    """Yield the remarks on a table besides its cells; with ``rows``, which rows were added and removed."""
    for name, (old, new) in (change.measured or {}).items():
        yield f"measured otherwise: {name} {old} → {new}"
    if change.retested:
        yield "the experiment itself changed: these are not figures of the same test, and have no ratio"
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
        yield f"the rows {label} cannot be told apart: they are paired in order if their numbers match"
    if change.reordered:
        yield "the rows are in another order"


def _times(cell: CellChange) -> str:
    """Return a ratio with three significant digits."""
    return "" if cell.ratio is None else f"{cell.ratio:.3g} times"


def markdown(
    changes: Sequence[TableChange], compared: tuple[str, str], failed: int = 0, marker: str = ""
) -> str:
    """Return how much changed, then each table with its changed, new and removed rows.

    ``compared`` names the old and the new; ``failed`` counts the new tables that have no rows because of a fault.
    With a ``marker``, its first line, the text is the comment of a pull request: it is cut to the maximum length, and
    says how much is missing.
    """
    whose = "that this pull request changes" if marker else "that change"
    old, new = map(show, compared)
    intro = [f"### Numbers {whose}", "", f"{_count(changes)}, at {new}, compared with {old}.", ""]
    if marker:
        intro.insert(0, marker)
    if failed:
        intro += [f"{format_count(failed, 'table')} cannot be compared: the check says what is wrong.", ""]
    lines = kept = [line for change in changes for line in _describe(change)]
    room = MOST - sum(len(line) + 1 for line in intro)
    fitting = sum(length <= room for length in accumulate(len(line) + 1 for line in lines))
    if marker and fitting < len(lines):
        more = format_count(len(lines) - fitting, "more line")
        left = f"{more}: the artifact of this job has all of them, in `changes.json`."
        kept = [*lines[:fitting], "", left]
    if len(lines) > _UNFOLDED:
        kept = ["<details><summary>All changes</summary>", "", *kept, "", "</details>"]
    return "\n".join([*intro, *kept]).rstrip() + "\n"


def _count(changes: Sequence[TableChange]) -> str:
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


def _describe(change: TableChange) -> Iterator[str]:
    """Yield a heading, a line for each cell that changed, came or went, then the notes."""
    state = {"came": " (new table)", "went": " (table gone)"}.get(change.state, "")
    line = f", line {change.line}" if change.line else ""
    yield from (f"#### {show(change.name)}{state}, {show(change.page)}{line}", "")
    rows = [_row(cell, "") for cell in change.cells]
    for labels, cells, said in (
        (change.came, change.came_cells, " **new row**"),
        (change.went, change.went_cells, " **row gone**"),
    ):
        for label in labels:
            own = [cell for cell in cells if cell.row == label]
            rows += [_row(cell, said) for cell in own or [CellChange(label, "", "", "", None)]]
    if rows:
        yield from (*_HEAD, *rows, "")
    notes = [f"* {show(note)}" for note in _notes(change, rows=False)]
    yield from [*notes, *([""] if notes else [])]


def _row(cell: CellChange, state: str) -> str:
    cells = (show(cell.row) + state, *map(show, (cell.column, cell.old, cell.new, _times(cell))))
    return f"| {' | '.join(cells)} |"


_LONGEST: Final = 200
"""The most characters of a text that are shown."""
_POINT: Final = r"(?<=[0-9])\.(?=[0-9])"
_PLAIN: Final = rf"(?:[-−](?=[0-9]))?(?:[A-Za-z0-9 ,%()/µ×±→–−]|:(?= )|{_POINT})*"
"""Words and numbers, which have no special meaning in Markdown or on GitHub."""
_SAFE_IN_CODE: Final = re.compile(rf"[^\w ,%()/]|_|(?!{_POINT})\.")


def show(text: str) -> str:
    """Escape a text for a line or a cell of Markdown; cut a very long one."""
    shown = escape_control_chars(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
    if re.fullmatch(_PLAIN, shown):
        return shown
    return f"<code>{_SAFE_IN_CODE.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"
