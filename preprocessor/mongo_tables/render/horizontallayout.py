"""Where things stand in a horizontal chart: names, bars or dots, and their values, from left to right and downwards.

On a narrow drawing each name stands above its bars, which have the whole width; so do values that are words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mongo_tables.render.chartdata import Data, Plot, Point, Series
from mongo_tables.render.chartparts import LINE, WIDTH, text_width, wrap_text

ROW: Final = 22
"""The height of a bar or a dot with what is around it."""
_BETWEEN: Final = 10
"""Between the rows of two names."""
_WIDEST_NAMES: Final = 210
_WIDEST_VALUES: Final = 240
_LETTER_OF_VALUES: Final = 1.02
_WIDER_CAPITAL: Final = 2.2
_LEAST_ROOM: Final = 150
"""For what is drawn, however long names and values are."""
_SHORT_VALUES: Final = 0.3
"""The part of a narrow drawing that values may take beside their bars; longer ones stand above."""
_AROUND_MARKS: Final = 12
"""Beside an axis that begins at the edge of the drawing: half of the text of its first and last mark."""


class Part(NamedTuple):
    """One value that is drawn, with its series and the number of it."""

    number: int
    series: Series
    point: Point


class Bar(NamedTuple):
    """What stands in one row: a value, or several on one another; and the text at its end."""

    parts: tuple[Part, ...]
    text: str


class Name(NamedTuple):
    """A name with the bars beside it."""

    text: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A bar, its middle, and where its value stands."""

    bar: Bar
    middle: float
    value_at: float


@dataclass(slots=True)
class Rows:
    """All that stands between ``top`` and ``bottom``: ``names`` have their lines and where the first of them stands."""

    top: float
    bottom: float
    rows: list[Row] = field(default_factory=list)
    names: list[tuple[Sequence[str], float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand from left to right: names end or, ``above`` their bars, begin; bars; values.

    ``values_above``: values stand above their bars as well, at the right.
    """

    width: float
    above: bool
    values_above: bool
    left: float
    right: float
    name_room: float

    @classmethod
    def of(cls, names: Sequence[Name], width: float) -> Layout:
        """Beside one another where there is room."""
        texts = [bar.text for name in names for bar in name.bars]
        values = max(map(text_width, texts), default=0) * _LETTER_OF_VALUES
        if width < WIDTH:
            values_above = values > width * _SHORT_VALUES
            right = width - (_AROUND_MARKS if values_above else max(values + 12, _AROUND_MARKS))
            shares_line = values_above and all(len(name.bars) < 2 for name in names)
            room = max(width - values - 16, width / 3) if shares_line else width
            return cls(width, True, values_above, _AROUND_MARKS, right, room)
        left = min(max((_name_width(name.text) for name in names), default=0), _WIDEST_NAMES) + 14
        right = width - min(values, _WIDEST_VALUES, width - left - _LEAST_ROOM) - 12
        return cls(width, False, False, left, right, left - 14)


def _name_width(text: str) -> float:
    """The width of a name that nothing may be cut off from: capitals are wider than most letters."""
    return text_width(text) + _WIDER_CAPITAL * sum(map(str.isupper, text))


def names_of(plot: Plot, data: Data) -> list[Name]:
    """The names with their bars: one for each series or, stacked, one for all of them."""
    names = []
    for place, text in zip(data.x_values, data.x_texts, strict=True):
        parts = tuple(_parts_at(data, place))
        bars = [Bar((one,), value_text(plot, one.point)) for one in parts]
        if plot.stack:
            bars = [Bar(parts, _total_of(plot, parts))]
        names.append(Name(text, tuple(bars)))
    return names


def _parts_at(data: Data, place: float) -> Iterator[Part]:
    for index, series in enumerate(data.series):
        yield from (Part(index, series, point) for point in series.points if point.x == place)


def value_text(plot: Plot, point: Point) -> str:
    """The value in words; its range is drawn, and stands in the tip. A unit of all values stands below the axis."""
    return point.y_text if plot.common_unit else point.in_words


def _total_of(plot: Plot, parts: Sequence[Part]) -> str:
    if any(part.point.total for part in parts):
        return next(part.point.total for part in parts if part.point.total)
    return value_text(plot, parts[0].point) if len(parts) == 1 else ""


def place_rows(names: Sequence[Name], layout: Layout, top: float) -> Rows:
    """The rows of each name below one another, from ``top`` on."""
    place: Callable[..., float] = _place_below_name if layout.above else _place_beside_name
    rows = Rows(top, top)
    for name in names:
        lines = wrap_text(name.text, layout.name_room)
        rows.bottom = place(rows, name.bars, lines, layout)
    return rows


def _place_beside_name(rows: Rows, bars: Sequence[Bar], lines: Sequence[str], _: Layout) -> float:
    """Place a name with its rows beside it; gives where the next name begins."""
    at = rows.bottom
    height = max(ROW * len(bars), LINE * len(lines)) + _BETWEEN
    start = at + (height - ROW * len(bars)) / 2
    for number, bar in enumerate(bars):
        middle = start + ROW * (number + 0.5)
        rows.rows.append(Row(bar, middle, middle))
    rows.names.append((lines, at + height / 2 - LINE * (len(lines) - 1) / 2))
    return at + height


def _place_below_name(rows: Rows, bars: Sequence[Bar], lines: Sequence[str], layout: Layout) -> float:
    """The same with the rows below: a single value above its bar stands in the first line of the name."""
    first_line, at = rows.bottom + LINE / 2, rows.bottom + LINE * len(lines)
    rows.names.append((lines, first_line))
    if layout.values_above and layout.name_room < layout.width:
        rows.rows += [Row(bar, at + ROW / 2, first_line) for bar in bars]
        return at + ROW * len(bars) + _BETWEEN
    step = ROW + (LINE if layout.values_above else 0)
    for number, bar in enumerate(bars):
        middle = at + step * (number + 1) - ROW / 2
        rows.rows.append(Row(bar, middle, middle - ROW / 2 - LINE / 2 if layout.values_above else middle))
    return at + step * len(bars) + _BETWEEN
