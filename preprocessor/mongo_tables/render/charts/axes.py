"""Axes: the coordinate of each value, and the marks with their texts.

Marks are 1, 2 or 5 times a power of ten. They are computed in decimals, so that no axis shows 0.30000000000000004.

Names in the room that a drawing has: what all have in common is left out, and no two become one text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise, takewhile, zip_longest
from typing import Final

from mongo_tables.aggregation.dates import DAY
from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.render.charts.elements import LETTER, LONGEST, break_text, text_width, wrap_text
from mongo_tables.render.charts.plot import Data, Plot
from mongo_tables.render.charts.time_marks import AxisMark, time_marks
from mongo_tables.render.markup import display_width, typeset
from mongo_tables.render.number_text import number_text
from mongo_tables.render.values import raw_text

_SHARES: Final = (0.5, 0.0, 1.0)
"""The share of a cut name that its beginning keeps: cut in the middle, at the beginning, at the end."""
_STAYS: Final = re.compile(r"(?:[\[(]|\w+=)$")
_PART_END: Final = re.compile(r"(?<=[/:_.=,|\[-])(?![/:_.=,|\[-])|(?<=[a-z0-9])(?=[A-Z])")


def fit_names(names: Sequence[str], most: int, *, roomy: int | None = None) -> list[str]:
    """Return the names with at most ``most`` letters each.

    If one is longer (or than ``roomy``), all lose what they begin or end with in common; then long ones are cut where
    they stay apart.

    Example:
        >>> fit_names(["tests/test_codec.py::test_trip[utf8]", "tests/test_codec.py::test_trip[ascii]"], 20)
        ['…[utf8]', '…[ascii]']
    """
    if all(display_width(name) <= (roomy or most) for name in names):
        return list(names)
    short = _without_common(names)
    found = [[_cut(name, most, share) for name in short] for share in _SHARES]
    return next((each for each in found if are_apart(names, each)), found[0])


def are_apart(names: Sequence[str], shown: Sequence[str]) -> bool:
    """Return whether no two different names are shown alike."""
    return len(set(shown)) == len(set(names))


def _without_common(names: Sequence[str]) -> list[str]:
    """Return the names with an ellipsis in place of the words with which all begin or end."""
    if len(set(names)) < 2:
        return list(names)
    start = _end_of_words(_common(names), names)
    rest = [name[start:] for name in names]
    end = _end_of_words(_common([name[::-1] for name in rest]), [name[::-1] for name in rest])
    # A bracket stays, and so does the name of a parameter: `…[utf8]`, `…n=5`.
    if stays := _STAYS.search(names[0][:start]):
        start = stays.start()
    before, after = "…" if start else "", "…" if end > 1 else names[0][len(names[0]) - end :]
    return [f"{before}{name[start : len(name) - end]}{after}" for name in names]


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    return "".join(
        same.pop() for same in takewhile(lambda each: len(each) == 1, map(set, zip(*names, strict=False)))
    )


def _end_of_words(common: str, names: Sequence[str]) -> int:
    """Return how much of a common beginning are whole words of all names, each of which goes on."""
    for at in range(len(common), 0, -1):
        ends_word = not common[at - 1].isalnum() or all(not name[at : at + 1].isalnum() for name in names)
        if ends_word and all(name[at:] for name in names):
            return at
    return 0


def _cut(name: str, most: int, share: float) -> str:
    """Return a name of at most ``most`` letters, with three dots where it is cut; one letter of it remains."""
    if display_width(name) <= most:
        return name
    kept = max(most - 1, 1)
    head = sum(width <= kept * share for width in accumulate(map(display_width, name)))
    room = kept - display_width(name[:head])
    tail = sum(width <= room for width in accumulate(map(display_width, reversed(name))))
    tail = max(tail, 1 - head)
    return f"{name[:head]}…{name[len(name) - tail :]}"


def break_name(name: str, room: float) -> list[str]:
    """Break a name into lines that fit: at blanks, else behind the signs that end parts of paths and identifiers."""
    lines = wrap_text(name, room)
    if all(text_width(line) <= room for line in lines):
        return lines
    lines = [""]
    for piece in (piece for word in re.findall(r"\S+\s*|\s+", name) for piece in _pieces(word, room)):
        if text_width((lines[-1] + piece).rstrip()) <= room or not lines[-1]:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines]
    return lines if all(text_width(line) <= room for line in lines) else break_text(name, room)


def _pieces(word: str, room: float) -> list[str]:
    return [word] if text_width(word) <= room else _PART_END.split(word)


def letters_in(room: float) -> int:
    """Return how many letters fit into a width."""
    return max(int(room / LETTER), 1)


Span = tuple[float, float]
"""Start and end coordinates, from left to right or from top to bottom."""

WIDEST: Final = 1.25
"""Safety factor: how much wider a text may turn out than its estimated width."""
MARGIN: Final = 18
_STEPS: Final = (1, 2, 5, 10)
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13
_MOST_NAME_LINES: Final = 3
_ALL_DIGITS: Final = 17
_BETWEEN: Final = 8
"""The least space between two texts of an axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from the value ``low`` to ``high``, drawn from the coordinate ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high, value = (
            map(math.log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def foot(self, base: float = 0.0) -> float:
        """Return the coordinate where a bar from ``base`` starts, or the low end if ``base`` is not on the axis."""
        return self.start if self.log else self.at(max(self.low, min(base, self.high)))

    def has(self, value: float) -> bool:
        """Return whether the axis can show the value: a logarithmic axis has no place for 0 or less."""
        return value > 0 or not self.log

    def nearest(self, value: float) -> float:
        """Return the coordinate of a value, or the lower end of the axis if the axis cannot show the value."""
        return self.at(value) if self.has(value) else self.start


@dataclass(frozen=True, slots=True)
class Axes:
    """Data with its axes. ``x_marks`` and ``y_marks`` are values on the axes with their texts.

    The frame extends ``margin`` beyond the first and the last place. Texts stay within ``span``. ``told``: points have
    tooltips.
    """

    plot: Plot
    data: Data
    x: Scale
    y: Scale
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    margin: float
    span: Span
    told: bool

    @property
    def band(self) -> float:
        """The width that each name has on the horizontal axis, or each bar on a time axis."""
        if self.data.kind == "time" and self.data.gap:
            return self.x.at(self.x.low + self.data.gap) - self.x.start
        return (self.x.end - self.x.start) / max(len(self.data.x_values), 1)

    @property
    def sides(self) -> Span:
        """The left and right edges of the frame."""
        return self.x.start - self.margin, self.x.end + self.margin


def y_marks(plot: Plot, values: Sequence[float], most: int = 5) -> tuple[AxisMark, ...]:
    """Return about ``most`` round values with their texts: the values of a vertical axis, and zero if it has that."""
    values, log = _list_shown(plot, values, zero=plot.zero), "y" in plot.log
    return with_texts(
        plot, plot.y[0], (log_marks if log else linear_marks)(min(values), max(values), most + log)
    )


def value_axis(
    plot: Plot, values: Sequence[float], sides: Span, span: Span, *, from_zero: bool
) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return a horizontal axis of values with its marks.

    The axis includes zero, except for dots and ranges that lie around a reference.
    """
    values = _list_shown(plot, values, zero=from_zero or (plot.zero and not plot.references))
    log, highest = "y" in plot.log, max(values)
    for most in (5, 3, 2):
        found = (log_marks if log else linear_marks)(min(values), highest, most)
        high = found[-1]
        if most < 5 and not log and len(found) > 2 and high - highest > (high - found[-2]) / 2:
            # Few marks are far apart: the last one would leave bars short.
            found, high = found[:-1], highest
        scale, marks = Scale(found[0], high, *sides, log), with_texts(plot, plot.y[0], found)
        if fit(marks, scale, span, between=4):
            break
    return scale, marks


def _list_shown(plot: Plot, values: Sequence[float], *, zero: bool) -> list[float]:
    """Return the values and reference limits that the axis of values can show; at least one, with ``zero`` that."""
    every = [*values, *(end for one in plot.references for end in (one.low, one.high))]
    if "y" in plot.log:
        return [value for value in every if value > 0] or [1.0, 10.0]
    return [*every, 0.0] if zero or not every else every


def x_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return the horizontal axis between two sides with the marks that fit. Their texts stay within ``span``."""
    left, right = sides
    values = data.x_values or (0.0,)
    if data.kind == "category":
        return Scale(values[0] - 0.5, values[-1] + 0.5, left, right), _name_marks(data, right - left)
    margin = min(float(MARGIN), (right - left) / 20)
    inner = left + margin, right - margin
    if data.kind == "time":
        return _time_axis(plot, data, inner, span)
    scale = Scale(values[0], values[-1], *inner, "x" in plot.log and values[0] > 0)
    marks = with_texts(plot, plot.x, values)
    if len(marks) <= 10 and fit(marks, scale, span):
        return scale, marks
    for most in (8, 5, 3, 2):
        found = (log_marks if scale.log else linear_marks)(scale.low, scale.high, most)
        marks = with_texts(plot, plot.x, [mark for mark in found if scale.low <= mark <= scale.high])
        if fit(marks, scale, span):
            break
    return scale, marks


def _time_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return a time axis to scale. Bars get half a bar's width of extra room at both ends."""
    if not data.x_values:
        return Scale(0, 0, *sides), ()
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if data.banded else 0.0
    scale = Scale(low - half, high + half, *sides)
    most = _MOST_UNDER_BARS if data.banded else _MOST_MOMENTS
    # Month lengths differ by a tenth, day lengths by an hour.
    nearly = data.gap * 0.9
    # Bars: at most one mark for each bar. Otherwise whole days if no two values share a day.
    least = nearly if data.banded else DAY if nearly >= DAY * 0.8 else 0
    marks = time_marks(low, high, most, lambda all: fit(all, scale, span), least)
    return scale, tuple(marks)


def names_below(names: Sequence[str], room: float) -> list[str]:
    """Return the names in lines for the room that each has under an axis, or nothing if they do not fit."""
    room -= _BETWEEN
    lines = [wrap_text(name, room) for name in names]
    fits = all(
        len(each) <= _MOST_NAME_LINES and all(text_width(line) <= room for line in each) for each in lines
    )
    return ["\n".join(each) for each in lines] if fits else []


def _name_marks(data: Data, room: float) -> tuple[AxisMark, ...]:
    """Return the names under an axis.

    Names that do not fit are shortened. If they still do not fit, only every second, third, … name is shown.
    """
    count, names = len(data.x_values), data.x_texts
    if not names_below(names, room / max(count, 1)):
        names = tuple(fit_names(names, LONGEST))
    for every in range(1, count + 1):
        shown = slice(every // 2, max(count - every // 2, every // 2 + 1), every)
        if lines := names_below(names[shown], room * every / count):
            return tuple(zip(data.x_values[shown], lines, strict=True))
    return ()


# -- choice of marks --


def linear_marks(low: float, high: float, most: int) -> list[float]:
    """Return about ``most`` round values, from the last below ``low`` to the first above ``high``.

    There may be one more around zero, because both ends lie beyond the values.

    Example:
        >>> linear_marks(3, 97, 5)
        [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    most += low < 0 < high
    raw = (high - low) / most if high > low else max(abs(high), 1) / most
    power = Decimal(1).scaleb(math.floor(math.log10(raw)) if raw > 0 else 0)
    step = next((factor * power for factor in _STEPS if factor * power >= Decimal(raw)), _STEPS[-1] * power)
    first = math.floor(Decimal(low) / step)
    last = max(math.ceil(Decimal(high) / step), first + 1)
    return [float(number * step) for number in range(first, last + 1)]


def log_marks(low: float, high: float, most: int) -> list[float]:
    """Return the powers of ten around the values. If there are few, also 2 and 5 times each.

    Example:
        >>> log_marks(3, 900, 5)
        [1.0, 10.0, 100.0, 1000.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    if last - first > 2:
        every = math.ceil((last - first) / most)
        return [float(Decimal(1).scaleb(power)) for power in range(first, last + every, every)]
    fine = [float(Decimal(factor).scaleb(power)) for power in range(first, last) for factor in (1, 2, 5)]
    marks = [*fine, float(Decimal(1).scaleb(last))]
    # From the last mark that is not above ``low`` to the first that is not below ``high``.
    start = max((index for index, mark in enumerate(marks) if mark <= low), default=0)
    end = min((index for index, mark in enumerate(marks) if mark >= high), default=len(marks) - 1)
    return marks[start : max(end, start + 1) + 1]


def with_texts(plot: Plot, column: str, values: Sequence[float]) -> tuple[AxisMark, ...]:
    """Return the numbers as marks with the texts that the page shows for them."""
    return tuple(zip(values, map(typeset, mark_texts(plot, column, values)), strict=True))


def mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """Return the texts of the numbers of an axis, with all digits up to a billion.

    Digits are grouped as in the column's cells, or where needed. Negative numbers have a hyphen, as in Markdown.
    """
    form = plot.format.get(column) or ColumnFormat()
    grouped = bool(form.thousands) or max(map(abs, values), default=0) >= 10_000
    written = ColumnFormat(
        thousands=form.thousands or grouped, locale=form.locale, percent=form.percent, duration=form.duration
    )
    texts = [_mark_text(value, written) for value in values]
    if len(set(texts)) == len(set(values)):
        return texts
    # Large values that differ little, on an axis without 0.
    written = written._replace(significant=_ALL_DIGITS if form.duration else None)
    return [number_text(format(Decimal(raw_text(value)), "f"), written, whole=True) for value in values]


def _mark_text(value: float, form: ColumnFormat) -> str:
    text = raw_text(value)
    number = Decimal(text)
    if not form.duration and (abs(number) >= 10**9 or (number and abs(number) < Decimal("0.0001"))):
        return raw_text(float(f"{value:.3g}")) if "e" in text else f"{number:.3g}".lower().replace("e+", "e")
    return number_text(format(number, "f"), form, whole=True)


# -- layout of texts --


def fit(marks: Sequence[AxisMark], scale: Scale, span: Span, between: float = _BETWEEN) -> bool:
    """Return whether neighbouring texts of the same line do not touch."""
    for row in zip_longest(*(text.split("\n") for _, text in marks), fillvalue=""):
        placed = [
            (within(span, scale.at(at), text), text) for (at, _), text in zip(marks, row, strict=True) if text
        ]
        if any(
            right - left < (text_width(one) + text_width(other)) / 2 + between
            for (left, one), (right, other) in pairwise(placed)
        ):
            return False
    return True


def within(span: Span, middle: float, text: str) -> float:
    """Return the middle of a text, shifted as little as needed so that neither end of the span cuts the text."""
    half = text_width(text) * WIDEST / 2
    return max(min(middle, span[1] - half), span[0] + half)


def apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Return the coordinates, moved as little as possible so that neighbours are ``room`` apart within the limits.

    The order stays the same. If they do not all fit, they are spread evenly between the limits.

    Example:
        >>> apart([1, 2, 9], 3, 0, 10)
        [1, 4, 9]
    """
    room = min(room, (high - low) / max(len(at) - 1, 1))
    order = sorted(range(len(at)), key=lambda index: at[index])
    placed = [0.0] * len(at)
    below = low
    for index in order:
        placed[index] = below = max(at[index], below)
        below += room
    above = high
    for index in reversed(order):
        placed[index] = above = min(placed[index], above)
        above -= room
    return placed
