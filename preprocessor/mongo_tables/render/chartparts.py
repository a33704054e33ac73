"""What all charts are made of: texts and their room, markers and colours, keys, the marks of an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Final

from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.render.chartdata import Plot, Point, Series
from mongo_tables.render.headers import find_added_unit, with_unit
from mongo_tables.render.numbertext import number_text
from mongo_tables.render.text import display_width, text_html, with_minus_signs
from mongo_tables.render.values import raw_text

WIDTH: Final = 640
NARROW: Final = 360
"""The width of the second drawing of each chart, for phones, on which the first would be too small or cut off."""
_COLOURS: Final = 6
LETTER: Final = 6.8
BOLD: Final = 1.1
"""How much wider the letters of a title are than others."""
LINE: Final = 15
LONGEST: Final = 26
"""Longer names are cut where they stand at ends and under an axis."""


def wrap_text(text: str, room: float) -> list[str]:
    """Break the text at its blanks into lines that fit ``room``; a wider word is a line of its own."""
    return _join_words(text.split(), room)


def break_text(text: str, room: float) -> list[str]:
    """The same, with each word broken that is wider than a line."""
    return _join_words([piece for word in text.split() for piece in _pieces(word, room)], room)


def _pieces(word: str, room: float) -> Iterator[str]:
    while text_width(word) > room:
        widths = accumulate(map(display_width, word))
        kept = max(sum(width * LETTER <= room for width in widths), 1)
        yield word[:kept]
        word = word[kept:]
    yield word


def _join_words(words: Sequence[str], room: float) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and text_width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """The numbers of an axis: all their digits up to a billion, grouped as the column's cells or as need be."""
    return list(map(with_minus_signs, plain_mark_texts(plot, column, values)))


def plain_mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """The same with hyphens, as Markdown has them."""
    form = plot.format.get(column) or ColumnFormat()
    grouped = bool(form.thousands) or max(map(abs, values), default=0) >= 10_000
    written = ColumnFormat(thousands=form.thousands or grouped, locale=form.locale, percent=form.percent)
    return [_mark_text(value, written) for value in values]


def _mark_text(value: float, form: ColumnFormat) -> str:
    text = raw_text(value)
    number = Decimal(text)
    if abs(number) >= 10**9 or (number and abs(number) < Decimal("0.0001")):
        return raw_text(float(f"{value:.3g}")) if "e" in text else f"{number:.3g}".lower().replace("e+", "e")
    return number_text(format(number, "f"), form, whole=True)


def axis_title(plot: Plot, label: str, unit: str, axis: str) -> str:
    """The title of an axis, with its unit."""
    text = with_unit(label, unit)
    return f"{text}, log scale" if axis in plot.log else text


#: Shapes around a point, by the number of the series: circle, square, diamond, triangle.
_SHAPES: Final = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M{x} {y}m-3.5-3.5h7v7h-7z",
    "M{x} {y}m0-5l5 5l-5 5l-5-5z",
    "M{x} {y}m0-5l4.8 8.4h-9.6z",
)


def marker_path(index: int, x: float, y: float) -> str:
    """The outline of a point of the series with this number."""
    return _SHAPES[index % len(_SHAPES)].format(x=coordinate(x), y=coordinate(y))


def summarise_axes(plot: Plot) -> str:
    """What is drawn by what, in words."""
    return f"{', '.join(plot.label(column) for column in plot.y)} by {plot.label(plot.x)}"


def colour_class(index: int) -> str:
    """The class that colours the series with this number."""
    return f"mongo-chart__s{index % _COLOURS}"


def text_width(text: str) -> float:
    """About how wide the text is, in units of the drawing."""
    return display_width(text) * LETTER


def shorten(text: str, most: int = LONGEST) -> str:
    """The text, cut where it is wider than so many letters."""
    return _cut_letters(text, min(most, LONGEST))


def cut(text: str, room: float) -> str:
    """The text, cut where it is wider than the room."""
    return text if text_width(text) <= room else _cut_letters(text, int(room / LETTER))


def _cut_letters(text: str, most: int) -> str:
    """The text, or as much of it as is at most so wide with three dots behind it; one character at least."""
    if display_width(text) <= most:
        return text
    widths = accumulate(map(display_width, text))
    kept = sum(width < most for width in widths)
    return text[: max(kept, 1)] + "…"


def coordinate(value: float) -> str:
    """A coordinate to a tenth of a unit, in as few digits as it takes."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def bar_html(left: float, top: float, width: float, height: float, tip: str) -> str:
    """The rectangle of a bar."""
    sides = {"x": left, "y": top, "width": width, "height": height}
    place = " ".join(f'{name}="{coordinate(value)}"' for name, value in sides.items())
    return area_html("rect", place, tip)


def area_html(tag: str, place: str, tip: str) -> str:
    """A bar or a marker, with its tip, if any."""
    start = f'<{tag} class="mongo-chart__area" {place}'
    return f"{start}>{tip}</{tag}>" if tip else f"{start}/>"


def value_html(text: str, x: float, y: float) -> str:
    """The value of a bar, in the middle above it or below."""
    place = f'x="{coordinate(x)}" y="{coordinate(y)}" text-anchor="middle"'
    return f'<text class="mongo-chart__value" {place}>{text_html(text)}</text>'


def tip_html(plot: Plot, series: Series, point: Point) -> str:
    """What is shown of a point to who points at it: all that is known of it, its unit once."""
    label, unit = plot.label(plot.x), plot.unit_beside(plot.x)
    x = f"{label} {point.x_text} {find_added_unit(label, unit)}".rstrip()
    value = " ".join(filter(None, (point.y_text, point.ends_text, point.unit)))
    total = f"{point.total} in all" if point.total not in ("", point.y_text) else ""
    told = ", ".join(filter(None, (value, point.counted, total)))
    name = "" if series.name == point.unit else f" – {series.name}"
    panel = f" – {series.panel}" if series.panel else ""
    return f"<title>{text_html(f'{x}: {told}{name}{panel}')}</title>"
