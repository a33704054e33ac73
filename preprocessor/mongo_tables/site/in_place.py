"""Figures written into the page itself, for hosts that show Markdown as it is.

A table or a chart is written under its comment, a value after its comment, between two markers that readers
do not see; the drawing of a chart is a file in the page's folder. The first marker carries a digest of what
is said between the two, so that manual edits are detected before they are overwritten. Figures are compared
by what they say: formatters of Markdown change signs, escapes and blanks. Writing twice changes
nothing, and a figure within its tolerance stays. A table and the values that quote it on a page are written
together, so that they always agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mongo_tables.directives.comments import (
    HTML,
    RAW_HTML,
    Comment,
    Region,
    list_blocks,
    markers,
    place_of,
    read_generated,
    read_signs,
    read_words,
    was_edited,
)
from mongo_tables.directives.specs import PipelineSpec, TableSpec, ValueSpec, may_be_drawn
from mongo_tables.files.folders import shorten
from mongo_tables.findings.rules import finding
from mongo_tables.render.number_text import read_numbers
from mongo_tables.site.figures import KINDS
from mongo_tables.site.markdown import (
    MarkdownContext,
    end_of_line,
    leads_its_line,
    newline_of,
    prefix_lines,
    stands_alone,
)
from mongo_tables.site.snapshot import relative_address

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.directives.specs import Spec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.drawing import DrawnFile
    from mongo_tables.site.pages import AnswersByKey, Page, Tables

FigureState = Literal["not there", "the same", "near", "another"]


class PlacedFigure(NamedTuple):
    """The figure of ``spec``: ``text``, markers included, replaces the page from ``start`` to ``end``.

    ``shown`` is the figure without markers and without the prefix of a container. ``state`` compares the page
    with it. ``is_due``: the figure has to be written.
    """

    spec: Spec
    start: int
    end: int
    text: str
    shown: str
    state: FigureState
    is_due: bool = True


class InPlace(NamedTuple):
    """All figures of a page, in order, and the drawings that belong in its folder."""

    page: Page
    path: Path
    parts: Sequence[PlacedFigure]
    drawings: Sequence[DrawnFile]

    @property
    def text(self) -> str:
        """Return the page with all figures that are due. The rest of it is unchanged."""
        pieces, done = list[str](), 0
        for part in self.parts:
            if part.is_due:
                pieces += (self.page.text[done : part.start], part.text)
                done = part.end
        return "".join([*pieces, self.page.text[done:]])

    @property
    def due_drawings(self) -> list[DrawnFile]:
        """Return the drawings that must match today's rows. Those of an unchanged table stay."""
        staying = {id(part.spec) for part in self.parts if part.state == "near" and not part.is_due}
        return [one for one in self.drawings if id(one.spec) not in staying]

    @property
    def settled_drawings(self) -> list[DrawnFile]:
        """Return the due drawings whose figure in the page is current. The others are already reported."""
        due = {id(part.spec) for part in self.parts if part.is_due}
        return [one for one in self.due_drawings if id(one.spec) not in due]


def compose_in_place(
    page: Page,
    path: Path,
    answers: AnswersByKey,
    tables: Tables,
    address_of: Callable[[Path], str] = relative_address,
) -> InPlace:
    """Compose the figures and drawings of the page at ``path`` from the rows, without writing anything.

    ``address_of`` returns the address of a drawing by its path.

    A comment without a place for its figure is skipped: ``region_findings`` reports it.
    """
    drawings = _draw(page, path, answers, tables, address_of)
    pictures = {id(one.spec): one.markdown for one in drawings}
    context = MarkdownContext(answers, tables, picture=lambda spec: pictures.get(id(spec), ""))
    return InPlace(page, path, _mark_due(list(_list_parts(page, context))), drawings)


def _draw(
    page: Page, path: Path, answers: AnswersByKey, tables: Tables, address_of: Callable[[Path], str]
) -> list[DrawnFile]:
    if not any(may_be_drawn(spec) for spec in page.specs):
        return []
    from mongo_tables.site.drawing import draw_files  # most pages have no drawings

    return draw_files(page, path, answers, tables, address_of)


def _list_parts(page: Page, context: MarkdownContext) -> Iterator[PlacedFigure]:
    for comment, spec in zip(page.comments, page.specs, strict=True):
        place = place_of(comment.keyword)
        if spec is None or place == "either" or _find_no_place(page, comment):
            continue
        if isinstance(spec, PipelineSpec) and not isinstance(context.answers.get(spec.query.key), list):
            continue
        own = context.within(comment)
        lines = KINDS[type(spec)].markdown(spec, own)
        if place == "block":
            yield _part_under(page, comment, spec, lines, own)
        elif lines[0]:  # An empty text means that the value has a fault; other modules report it.
            yield _part_behind(comment, spec, lines[0], own)


def _part_under(
    page: Page, comment: Comment, spec: Spec, lines: Sequence[str], context: MarkdownContext
) -> PlacedFigure:
    newline = newline_of(page.text)
    # Blank lines inside the markers: Python-Markdown recognizes no table directly below another line.
    inner = ["", *lines, ""]
    shown = "\n".join(inner)
    begin, end_marker = markers(shown, comment.marks)
    text = prefix_lines([begin, *inner, end_marker], comment.prefix, newline)
    if comment.region is None:
        end = end_of_line(page.text, comment.end)
        return PlacedFigure(spec, end, end, newline + comment.prefix + text, shown, "not there")
    start, end = comment.region.start, comment.region.end
    state = _state(comment, comment.region, shown, lambda inner: _is_near_figure(inner, spec, context))
    return PlacedFigure(spec, start, end, text, shown, state)


def _state(comment: Comment, region: Region, shown: str, is_near: Callable[[str], bool]) -> FigureState:
    """Compare a region with today's figure by what readers see: formatters of Markdown rewrite the rest."""
    if was_edited(region) or region.marks != comment.marks:
        return "another"
    if region.inner == shown or read_generated(region.inner) == read_generated(shown):
        return "the same"
    return "near" if is_near(region.inner) else "another"


def _is_near_figure(standing: str, spec: Spec, context: MarkdownContext) -> bool:
    if not isinstance(spec, TableSpec) or spec.tolerance is None:
        return False
    from mongo_tables.site.drift import is_near_table  # few tables have a tolerance

    rows = context.answers[spec.query.key]
    return isinstance(rows, list) and is_near_table(
        standing, context.table_lines(spec, told=False), spec, rows
    )


def _part_behind(comment: Comment, spec: Spec, shown: str, context: MarkdownContext) -> PlacedFigure:
    text = shown.join(markers(shown, comment.marks))
    if comment.region is None:
        return PlacedFigure(spec, comment.end, comment.end, text, shown, "not there")
    region = comment.region
    state = _state(comment, region, shown, lambda inner: _is_near_value(inner, shown, spec, context))
    return PlacedFigure(spec, region.start, region.end, text, shown, state)


def _is_near_value(standing: str, shown: str, spec: Spec, context: MarkdownContext) -> bool:
    from mongo_tables.site.drift import is_near_value

    return isinstance(spec, ValueSpec) and is_near_value(standing, shown, spec, context)


def _mark_due(parts: Sequence[PlacedFigure]) -> list[PlacedFigure]:
    """Mark the parts to write: missing and changed ones, and near ones in the same group as such a part."""
    moved = {_group(part) for part in parts if part.state in ("not there", "another")}
    return [
        part._replace(is_due=part.state != "the same" and (part.state != "near" or _group(part) in moved))
        for part in parts
    ]


def _group(part: PlacedFigure) -> str | int:
    """Return the group of a table and its values, the table's id; a unique number for unquoted figures."""
    own = part.spec.id if isinstance(part.spec, TableSpec) else None
    return own or next((one.table for one in part.spec.quotes), id(part.spec))


def region_findings(page: Page) -> list[Finding]:
    """Return the findings about comments without a place for a figure, and about manual edits."""
    found = [_find_no_place(page, comment) or _find_edit(page, comment) for comment in page.comments]
    return [one for one in found if one is not None]


def stale_findings(composed: InPlace, faulty: Collection[int] = ()) -> list[Finding]:
    """Return MT166 for outdated figures in the page. Manual edits have their own message.

    ``faulty`` holds the ids of specs with errors: figures of these, and values of such tables, are not
    reported.
    """
    page, parts = composed.page, {id(part.spec): part for part in composed.parts}
    sound = [part for part in composed.parts if not _comes_of(part.spec, faulty, page)]
    moved = {_group(part) for part in sound if part.state == "another"}
    told = {
        id(part.spec) for part in sound if part.is_due and (part.state != "near" or _group(part) in moved)
    }
    found = []
    for comment, spec in zip(page.comments, page.specs, strict=True):
        if place_of(comment.keyword) != "block" and (shown := _find_no_place(page, comment)):
            found.append(shown)
        elif spec is not None and id(spec) in told:
            part = parts[id(spec)]
            found.append(_find_edit(page, comment, part.shown) or _stale(page, comment, part))
    return found


def _comes_of(spec: Spec, faulty: Collection[int], page: Page) -> bool:
    """Return whether this spec, or the table of the page that it quotes, is one of the ``faulty`` specs."""
    if not faulty or id(spec) in faulty:
        return bool(faulty)
    quoted = {one.table for one in spec.quotes}
    return any(id(table) in faulty for table in page.tables if table.id in quoted)


def _stale(page: Page, comment: Comment, part: PlacedFigure) -> Finding:
    what = "is not written into the page"
    if comment.region is not None:
        how = _describe_change(comment, comment.region.inner, part.shown)
        what = f"differs from the current rows{': ' if how else ''}{how}"
    hint = f"run `mongo-tables render --in-place {page.file}`"
    return finding("MT166", page.file, (comment.line, comment.column), f"{_name(comment)} {what}", hint)


def _describe_change(comment: Comment, standing: str, today: str) -> str:
    from mongo_tables.site.in_place import (  # most written tables are up to date
        describe_change,
        describe_difference,
    )

    if place_of(comment.keyword) != "block":
        return describe_change(standing, today)
    return describe_difference(standing.strip("\n").split("\n"), today.strip("\n").split("\n"))


def _name(comment: Comment) -> str:
    is_block = place_of(comment.keyword) == "block"
    return "the figure under this comment" if is_block else "the value behind this comment"


def _find_edit(page: Page, comment: Comment, today: str | None = None) -> Finding | None:
    """Return MT164 if a figure was edited by hand. The message compares it with ``today``, if given."""
    if comment.region is None or not was_edited(comment.region):
        return None
    how = _describe_change(comment, comment.region.inner, today) if today is not None else ""
    message = (
        f"{_name(comment)} was edited by hand{f', and differs from the current rows: {how}' if how else ''}"
    )
    hint = f"undo the edit, or `mongo-tables render --in-place --force {page.file}` overwrites it"
    return finding("MT164", page.file, (comment.line, comment.column), message, hint)


def _find_no_place(page: Page, comment: Comment) -> Finding | None:
    """Return why nothing can be written after a comment, or why readers would see the comment itself."""
    at = (comment.line, comment.column)
    if place_of(comment.keyword) == "block":
        if stands_alone(page.text, comment) and not comment.inline:
            return None
        message = "a table cannot be written under a comment within a line of text"
        return finding(
            "MT165", page.file, at, message, "give the comment lines of its own, below a blank line"
        )

    shown = find_why_shown(page.text, comment)
    return finding("MT167", page.file, at, *shown) if shown else None


_LINE_END: Final = re.compile(r"[\r\n]")
_BLANK_LINE: Final = re.compile(r"(?:\r\n|\r|\n)[> \t]*[\r\n]")
_TABLE, _HEADING = "a table", "a heading"
_AFTER_WORD: Final = (
    "put a word before it on its line, joined by `&nbsp;`, at which no formatter breaks the line"
)


class ShownReason(NamedTuple):
    """The reason why a host shows a comment, or shows its figure as plain text; and the remedy."""

    reason: str
    hint: str


def find_why_shown(text: str, comment: Comment) -> ShownReason | None:
    """Return why GitHub would show a comment in a sentence, or its line as HTML, or None if it does not.

    In MDX, return why a comment would end the build.
    A statement on lines of its own is in no sentence. ``text`` is the page.
    """
    if place_of(comment.keyword) == "either" and not comment.inline:
        return None
    marks = comment.marks
    written = text[comment.start + len(marks.open) : comment.end - len(marks.close)]
    host = "GitHub" if marks == HTML else "MDX"
    if "--" in written and marks == HTML:
        reason = "GitHub does not hide a comment in a sentence if it contains `--`"
        return ShownReason(reason, r"write -\u002d in a string of JSON")
    if _BLANK_LINE.search(written) or (comment.holder in (_TABLE, _HEADING) and _LINE_END.search(written)):
        return ShownReason(
            f"{host} ends {comment.holder or 'the paragraph'} within this comment", "write it on one line"
        )
    if comment.holder == _TABLE and "|" in written:
        reason = f"{host} ends the cell of a table at a `|`, in a comment as well"
        return ShownReason(reason, r"write \u007c in a string of JSON")
    is_first = marks == HTML and comment.holder != RAW_HTML and leads_its_line(text, comment)
    if is_first and place_of(comment.keyword) == "sentence":
        reason = "GitHub reads a line that begins with a comment as HTML, without Markdown"
        return ShownReason(reason, _AFTER_WORD)
    return None


Cells = Sequence[str]

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_ADDRESS: Final = re.compile(r"\]\([^()\s]*\)")
_NO_DIGITS: Final = str.maketrans("0123456789", "abcdefghij")


class WrittenTable(NamedTuple):
    """The lines of a table by ``pipe_table``: those above it, its headers, alignments and cells.

    All are without escapes. ``below`` has the words of its notes, because their numbers follow from the rows.
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

    @property
    def named_rows(self) -> list[list[str]]:
        """Return the headers, and its rows."""
        return [self.headers, *self.rows]

    @property
    def texts(self) -> list[list[str]]:
        """Return the cells of its rows as readers see them."""
        return [[read_cell(cell) for cell in row] for row in self.rows]


def read_cell(markdown: str) -> str:
    """Return a cell as readers see it, with the digits of addresses replaced, since they are not numbers."""
    return _ADDRESS.sub(lambda found: found[0].translate(_NO_DIGITS), read_words(markdown))


def order_like(rows: Sequence[Cells], others: Sequence[Cells], names: Sequence[int]) -> list[Cells] | None:
    """Return the rows in the order of ``others``, or None if they cannot be matched.

    Rows are matched by their cells at ``names``, ignoring changed ones, as figures do that sort rows; if
    these are not unique, by all cells that are equal in both tables.
    """
    settled = [at for at in range(min(map(len, rows), default=0)) if _column(rows, at) == _column(others, at)]
    for known in ([at for at in names if at in settled], settled):
        by_name = {tuple(row[at] for at in known): row for row in rows}
        ordered = [by_name.get(tuple(row[at] for at in known)) for row in others]
        if len(by_name) == len(rows) == len(others):
            return None if None in ordered else [row for row in ordered if row is not None]
    return None


def _column(rows: Sequence[Cells], at: int) -> list[str]:
    return sorted(row[at] for row in rows if at < len(row))


def describe_difference(standing: Iterable[str], today: Iterable[str]) -> str:
    """Describe how two tables differ: rows, their order, or a cell before and now, or "" for no tables.

    Of several cells, the one that moved farthest is named: another may be within the tolerance.
    """
    standing, today = list(standing), list(today)
    then, now = WrittenTable.of(standing), WrittenTable.of(today)
    if not then.rows or not now.rows:
        return ""
    if then.headers != now.headers:
        return "its columns are others"
    if len(then.rows) != len(now.rows):
        return f"it has {len(then.rows)} {_rows(len(then.rows))}, and {len(now.rows)} now"
    if sorted(then.rows) == sorted(now.rows):
        return "only the order of its rows is another" if then.rows != now.rows else ""
    rows = order_like(then.rows, now.rows, [0]) or then.rows
    named = _count_names(now.rows)
    differing = [
        (cell, today_cell, header, new[: named if at >= named else 1])
        for old, new in zip(rows, now.rows, strict=True)
        for at, (header, cell, today_cell) in enumerate(zip(now.headers, old, new, strict=False))
        if cell != today_cell
    ]
    if not differing:
        return ""
    farthest = max(differing, key=lambda one: _distance(one[0], one[1]))
    # What is compared has one sign for emphasis; what is quoted has the signs of the rows.
    written = {
        compared: sign
        for lines, table in ((standing, then), (today, now))
        for names, row in zip(table.named_rows, WrittenTable.of(lines, read_signs).named_rows, strict=True)
        for compared, sign in zip(names, row, strict=True)
    }
    *figures, names = farthest
    cell, today_cell, header = (shorten(written[one]) or "nothing" for one in figures)
    name = shorten(", ".join(written[one] for one in names)) or "nothing"
    return f"`{header}` of `{name}` is {cell}, and {today_cell} now"


def _count_names(rows: Sequence[Cells]) -> int:
    """Return how many of the first cells tell the rows apart, or 1 if no two or three do."""
    for count in range(1, min(4, len(rows[0]))):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return 1


def _distance(standing: str, today: str) -> float:
    """Return the relative change of a cell's first number, or infinity if the words differ."""
    then, now = read_numbers(read_cell(standing)), read_numbers(read_cell(today))
    if then.words != now.words or not then.numbers or not then.numbers[0]:
        return inf
    return float(abs(now.numbers[0] - then.numbers[0]) / abs(then.numbers[0]))


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


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"
