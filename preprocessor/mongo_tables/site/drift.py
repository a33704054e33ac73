"""The tolerance of written figures: whether a figure in a page may stay although the current rows differ.

The comparison uses the rounded numbers that readers see. A written cell may stay if it is equal to the current cell. It
may also stay if both are numbers in the same words and format, and the number changed by no more than the tolerance.
The tolerance is a share of the written number, a number of percentage points for a column in per cent, or the interval
of the current row. In a value with its range, such as ``120 (110–130)``, only the value counts. Totals, and comparisons
with the baseline, are computed from other cells, so only their words and their sign count. A table may stay if it has
the same number of rows and the same words, and every cell may stay.

The module also describes the differences between two tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.comments import list_blocks, read_signs, read_words
from mongo_tables.directives.specs import Spec, TableSpec, Tolerance, ValueSpec
from mongo_tables.files.folders import shorten
from mongo_tables.findings.reporters import format_count
from mongo_tables.render.column import column_value
from mongo_tables.render.columns import with_few_digits
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.number_text import is_written_by, read_numbers
from mongo_tables.render.table_layout import TableLayout, lay_out
from mongo_tables.render.values import cell_text, finite_decimal
from mongo_tables.results.model import ResultsError, Rows
from mongo_tables.site.statements import quoted_row, value_form

if TYPE_CHECKING:
    from decimal import Decimal

    from mongo_tables.directives.columns import ColumnFormat
    from mongo_tables.site.markdown import MarkdownContext

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_ADDRESS: Final = re.compile(r"\]\([^()\s]*\)")
_GROUP: Final = "Group\n"
"""The header of the column that ``with_groups`` adds. No table has such a header itself."""
_DIGITS: Final = re.compile(r"\d+")
_IN_PERCENT: Final = re.compile(r"#\s?%")
_NO_DIGITS: Final = str.maketrans("0123456789", "abcdefghij")


class WrittenTable(NamedTuple):
    """A table as ``pipe_table`` writes it, parsed and without escapes.

    ``above`` are the lines before the table, ``below`` the notes after it. The signs that number the notes are removed,
    because they follow from the rows.
    """

    above: list[str]
    headers: list[str]
    alignments: list[str]
    rows: list[list[str]]
    below: list[str]

    @classmethod
    def of(cls, lines: Iterable[str], read: Callable[[str], str] = read_words) -> WrittenTable:
        """Parse the lines of a table. ``read`` removes the escapes of a cell."""
        written = list_blocks("\n".join(lines))
        above = list(takewhile(lambda line: not line.startswith("|"), written))
        rows = list(takewhile(lambda line: line.startswith("|"), written[len(above) :]))
        cells = [[*map(read, _BETWEEN_CELLS.split(row[1:].removesuffix("|")))] for row in rows]
        notes = [
            read_numbers(read_cell(read_words(line))).words for line in written[len(above) + len(rows) :]
        ]
        headers, alignments = (cells[at] if len(cells) > at else [] for at in (0, 1))
        return cls([*map(read_words, above)], headers, alignments, cells[2:], notes)

    def with_groups(self) -> WrittenTable:
        """Return the table with a new first column, which has the heading above each row, if there are headings."""
        group, rows = "", []
        for row in self.rows:
            first = row[0].strip()
            if first.startswith("**") and first.endswith("**") and not any(map(str.strip, row[1:])):
                group = first[2:-2]
            else:
                rows.append([group, *row])
        return self._replace(headers=[_GROUP, *self.headers], rows=rows) if group else self

    @property
    def texts(self) -> list[list[str]]:
        """Return the cells of the rows as readers see them."""
        return [[read_cell(cell) for cell in row] for row in self.rows]


def read_cell(markdown: str) -> str:
    """Return a cell as readers see it. Digits of addresses become letters, so that they are not read as numbers."""
    return _ADDRESS.sub(lambda found: found[0].translate(_NO_DIGITS), read_words(markdown))


def describe_difference(standing: Iterable[str], today: Iterable[str]) -> str:
    """Describe how two tables differ: in their rows, in the order of rows, or in a cell.

    If several cells differ, the one with the largest change is described, because the others may be within the
    tolerance. Return "" if there are no tables.
    """
    standing, today = list(standing), list(today)
    then, now = (WrittenTable.of(lines).with_groups() for lines in (standing, today))
    if not then.rows or not now.rows:
        return ""
    if then.headers != now.headers:
        return "its columns changed"
    # Tables are compared with one sign for emphasis, and quoted with the signs that are written.
    quoted = [WrittenTable.of(lines, read_signs).with_groups() for lines in (standing, today)]
    grouped = now.headers[0] == _GROUP
    if grouped and (how := _describe_other_groups(*([row[0] for row in one.rows] for one in quoted))):
        return how
    if how := _describe_other_rows(then.rows, now.rows, [*quoted[0].rows, *quoted[1].rows], 1 + grouped):
        return how
    if len(then.rows) != len(now.rows):
        return f"it has {format_count(len(then.rows), 'row')}, and {len(now.rows)} now"
    if sorted(then.rows) == sorted(now.rows):
        return "only the order of its rows changed" if then.rows != now.rows else ""
    differing = [
        (row, at)
        for row, (old, new) in enumerate(zip(then.rows, now.rows, strict=True))
        for at, (cell, today_cell) in enumerate(zip(old, new, strict=False))
        if cell != today_cell
    ]
    if not differing:
        return ""
    row, at = max(differing, key=lambda one: _distance(then.rows[one[0]][one[1]], now.rows[one[0]][one[1]]))
    then, now = quoted
    named = _count_names(now.rows, 1 + grouped)
    names = ", ".join(now.rows[row][: named if at >= named else 1])
    figures = then.rows[row][at], now.rows[row][at], now.headers[at], names
    cell, today_cell, header, name = (shorten(one) or "nothing" for one in figures)
    return f"`{header}` of `{name}` is {cell}, and {today_cell} now"


def _describe_other_rows(
    then: Sequence[Sequence[str]],
    now: Sequence[Sequence[str]],
    quoted: Sequence[Sequence[str]],
    words: int,
) -> str:
    """Name the rows that are missing now and those that are new, or return "" if all names changed.

    ``quoted`` are the rows of both tables as messages quote them. The first ``words`` cells of a row are not figures.
    """
    named = _count_names(now, words)
    old, new = ([", ".join(row[:named]) for row in some] for some in (then, now))
    names = dict(zip([*old, *new], (", ".join(row[:named]) for row in quoted), strict=True))
    # The name of a total has the number of rows.
    known = [{_DIGITS.sub("#", one) for one in some} for some in (old, new)]
    gone = [one for one in old if one not in new and _DIGITS.sub("#", one) not in known[1]]
    added = [one for one in new if one not in old and _DIGITS.sub("#", one) not in known[0]]
    if len(gone) == len(old) or (named > words and len(gone) == len(added)):
        return ""  # The names themselves changed, for example a figure in them.
    return " and ".join(
        [
            *_name_first([names[one] for one in gone], "in no row now"),
            *_name_first([names[one] for one in added], "new"),
        ]
    )


def _describe_other_groups(then: Sequence[str], now: Sequence[str]) -> str:
    """Name the groups of rows that are missing now and those that are new, or return ""."""
    gone, new = (
        [one for one in dict.fromkeys(some) if one not in other] for some, other in ((then, now), (now, then))
    )
    parts = [*_name_first(gone, "gone"), *_name_first(new, "new")]
    return f"the group {', '.join(parts)}" if parts else ""


def _name_first(some: Sequence[str], what: str) -> list[str]:
    more = f" and {len(some) - 1} more are" if len(some) > 1 else " is"
    return [f"`{shorten(some[0])}`{more} {what}"] if some else []


def _count_names(rows: Sequence[Sequence[str]], least: int) -> int:
    """Return how many cells at the start of each row are needed to distinguish the rows: at least ``least``.

    Return ``least`` if three cells do not distinguish them.
    """
    for count in range(least, min(4, len(rows[0]))):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return least


def _distance(standing: str, today: str) -> float:
    """Return the change of a cell's first number, as a fraction or in percentage points.

    Cells with different words are infinitely far from each other.
    """
    then, now = read_numbers(read_cell(standing)), read_numbers(read_cell(today))
    if then.words != now.words or not then.numbers:
        return inf
    whole = 100 if _IN_PERCENT.match(then.words) else abs(then.numbers[0])
    return float(abs(now.numbers[0] - then.numbers[0]) / whole) if whole else inf


def describe_change(standing: str, today: str) -> str:
    """Describe the change of a value, or return "" if there is none.

    Example:
        >>> describe_change("120 ms", "125 ms")
        'it is 120 ms, and 125 ms now'
    """
    if shorten(read_words(standing)) == shorten(read_words(today)):
        return ""
    then, now = (shorten(read_signs(one)) or "nothing" for one in (standing, today))
    return f"it is {then}, and {now} now"


_VALUE_WITH_RANGE: Final = 3
"""A value with its range, or a comparison with its interval, consists of this many numbers."""


class CurrentCell(NamedTuple):
    """A cell of the current rows: its value, its text without escapes, and its format.

    ``ends`` are the ends of the value's interval as the table shows them, or None. ``follows`` is true if the cell is
    computed from other cells.
    """

    value: object
    text: str
    form: ColumnFormat | None = None
    ends: tuple[str, str] | None = None
    follows: bool = False


def cell_of(
    table: TableSpec, row: Mapping[str, Any], column: str, text: str, form: ColumnFormat | None
) -> CurrentCell:
    """Return the cell that shows a column of a row as ``text``, in the format ``form``."""
    ends = [column_value(row, field) for field in table.spread.get(column, ())[:2]]
    known = len(ends) == 2 and all(finite_decimal(end) is not None for end in ends)
    shown = (cell_text(ends[0], form), cell_text(ends[1], form)) if known else None
    return CurrentCell(column_value(row, column), text, form, shown)


def cell_stays(standing: str, today: CurrentCell, tolerance: Tolerance) -> bool:
    """Return whether the written text, without escapes, may stay in place of the current cell."""
    if standing == today.text:
        return True
    if not is_number(today.value) and conclusion_of(today.value) is None:
        return False
    then, now = read_numbers(standing, today.form), read_numbers(today.text, today.form)
    if then.words != now.words or not then.numbers:
        return False
    # A text in another format than the current one of the column must be written again.
    if not (today.follows or not is_number(today.value) or is_written_by(then.written[0], today.form)):
        return False
    if today.follows:
        return (then.numbers[0] < 0) == (now.numbers[0] < 0)
    if tolerance.share is None:
        # The current interval is the range of the table, or in the text of a comparison.
        ends: Sequence[Decimal] = now.numbers[1:] if len(now.numbers) == _VALUE_WITH_RANGE else ()
        if today.ends:
            ends = [number for end in today.ends for number in read_numbers(end, today.form).numbers]
        return len(ends) == 2 and min(ends) <= then.numbers[0] <= max(ends)
    pairs = list(zip(then.numbers, now.numbers, strict=True))
    counting = pairs[:1] if len(pairs) == _VALUE_WITH_RANGE else pairs
    whole = 100 if today.form and today.form.percent else None
    return all(abs(new - old) <= tolerance.share * (whole or abs(old)) for old, new in counting)


def is_near(standing: str, today: str, spec: Spec, context: MarkdownContext) -> bool:
    """Return whether the written Markdown of a figure may stay in place of the current one."""
    if isinstance(spec, ValueSpec):
        return _is_near_value(standing, today, spec, context)
    return isinstance(spec, TableSpec) and _is_near_table(standing, spec, context)


def _is_near_table(standing: str, spec: TableSpec, context: MarkdownContext) -> bool:
    rows = context.answers[spec.key]
    if spec.tolerance is None or isinstance(rows, ResultsError):
        return False
    then = WrittenTable.of(standing.strip("\n").split("\n"))
    # Without the provenance, which differs with the rows.
    now = WrittenTable.of(context.table_lines(spec, told=False))
    if (then.above, then.headers, then.alignments) != (now.above, now.headers, now.alignments):
        return False
    notes, more = then.below[: len(now.below)], then.below[len(now.below) :]
    if len(then.rows) != len(now.rows) or notes != now.below or (more and not spec.provenance) or not rows:
        return False
    shown = with_few_digits(spec, rows)
    cells = _cells_of(shown, lay_out(shown, rows), rows)
    return all(
        len(row) == len(texts)
        and all(
            cell_stays(cell, kind._replace(text=text), spec.tolerance)
            for cell, text, kind in zip(row, texts, kinds, strict=True)
        )
        for row, texts, kinds in zip(then.texts, now.texts, cells, strict=True)
    )


def _is_near_value(standing: str, today: str, spec: ValueSpec, context: MarkdownContext) -> bool:
    table, row = context.tables[spec.table], quoted_row(spec, context.tables, context.answers)
    tolerance = spec.tolerance or table.tolerance
    if tolerance is None or row is None:
        return False
    form = value_form(spec, context.tables, context.answers)
    cell = cell_of(table, row, spec.column, read_cell(today), form)
    return cell_stays(read_cell(standing), cell, tolerance)


def _cells_of(spec: TableSpec, layout: TableLayout, rows: Rows) -> Iterator[list[CurrentCell]]:
    """Yield the cells of each line of a table, without texts: rows below their headings, then totals."""
    words = CurrentCell("", "")
    for group in layout.groups:
        if group.heading is not None:
            yield [words for _ in layout.columns]
        for number in group.rows:
            yield [
                cell_of(spec, rows[number], column.name, "", spec.form_of(column.name))
                if column.name
                else CurrentCell(column.values[number], "", follows=True)  # a comparison
                for column in layout.columns
            ]
    for total in layout.totals:
        found = [(total.cells.get(column.name), spec.form_of(column.name)) for column in layout.columns]
        yield [CurrentCell(one.value, "", form, follows=True) if one else words for one, form in found]
