"""The elements that all drawings share: texts and their estimated widths, bars, markers and tooltips.

The parts of a stacked bar differ in their stripes as well as in their colour. The stripes are the dashes of a line that
is as wide as the part, because an SVG pattern would need an id that is unique on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from mongo_tables.render.charts.plot import Plot, PlotPoint, Series
from mongo_tables.render.column import find_added_unit
from mongo_tables.render.markup import display_width, text_html

WIDTH: Final = 640
NARROW: Final = 360
"""The width of the second drawing of each chart, which is for phones."""
LETTER: Final = 6.8
BOLD: Final = 1.1
"""The width of a bold letter, relative to a normal one."""
LINE: Final = 15
LONGEST: Final = 26
"""The largest width, in letters, of a name at the end of a line or under an axis."""
_BREAKS: Final = re.compile(r"(?<!\d) | (?!(?:[^\W\d_]{1,3}|%)(?![^\s,;.)]))")
"""Blanks at which a line may end. A number and a short word after it, such as its unit, stay together."""
_PART_END: Final = re.compile(r"(?<=[/:_.=,|\[-])(?![/:_.=,|\[-])|(?<=[a-z0-9])(?=[A-Z])")
_COLOURS: Final = 6
_LEAST_SIDE: Final = 6
"""The smallest side of a bar part with stripes."""
_LEAST_HEIGHT: Final = 13
"""A part of a bar shows its value only if it is at least this high."""


def coordinate(value: float) -> str:
    """Return the text of a coordinate, rounded to a tenth."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


# -- texts --


def text_width(text: str) -> float:
    """Return the estimated width of the text, in units of the drawing."""
    return display_width(text) * LETTER


def wrap_text(text: str, room: float) -> list[str]:
    """Break the text at blanks into lines that fit into ``room``. A wider word is a line of its own.

    Example:
        >>> wrap_text("election timeout of 2 s", room=text_width("election timeout of 2"))
        ['election timeout of', '2 s']
    """
    return _fill_lines(_words(text), room)


def break_text(text: str, room: float) -> list[str]:
    """Break the text into lines that fit into ``room``. Wider words are split."""
    return _fill_lines((piece for word in _words(text) for piece in _pieces(word, room)), room)


def break_name(name: str, room: float) -> list[str]:
    """Break a name into lines that fit into ``room``: at blanks or, if that is not enough, after parts of paths and
    identifiers.
    """
    words = re.findall(r"\S+\s*|\s+", name)
    parts = (
        part for word in words for part in (_PART_END.split(word) if text_width(word) > room else [word])
    )
    for lines in (wrap_text(name, room), _fill_lines(parts, room)):
        if all(text_width(line) <= room for line in lines):
            return lines
    return break_text(name, room)


def _words(text: str) -> list[str]:
    return [f"{word} " for word in _BREAKS.split(" ".join(text.split()))]


def _fill_lines(pieces: Iterable[str], room: float) -> list[str]:
    """Return lines of pieces, which include the blanks between them."""
    lines: list[str] = []
    for piece in pieces:
        if lines and text_width((lines[-1] + piece).rstrip()) <= room:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.strip() for line in lines]


def _pieces(word: str, room: float) -> Iterator[str]:
    while text_width(word) > room:
        kept = max(sum(width * LETTER <= room for width in accumulate(map(display_width, word))), 1)
        yield word[:kept].rstrip()
        word = word[kept:].lstrip()
    yield word


def draw_text(
    text: str, x: float, y: float, look: str = "", anchor: str = "", *, middle: bool = False
) -> str:
    """Return a text element.

    ``x`` is the place of its left end or of its ``anchor``; ``y`` is the place of its base line or, with
    ``middle``, of its middle.
    """
    attributes = f' class="{look}"' if look else ""
    attributes += f' x="{coordinate(x)}" y="{coordinate(y)}"'
    attributes += ' dy=".32em"' if middle else ""
    attributes += f' text-anchor="{anchor}"' if anchor else ""
    return f"<text{attributes}>{text_html(text)}</text>"


def draw_lines(
    lines: Sequence[str], x: float, y: float, look: str, anchor: str = "", *, middle: bool = False
) -> Iterator[str]:
    """Yield lines of text below one another. The first line is at ``x`` and ``y``."""
    for number, line in enumerate(lines):
        yield draw_text(line, x, y + LINE * number, look, anchor, middle=middle)


def as_axis(elements: Iterable[str]) -> list[str]:
    """Return the elements in a group that is marked as an axis."""
    return ['<g class="mongo-chart__axis">', *elements, "</g>"]


def draw_title(
    lines: Sequence[str], sides: tuple[float, float], width: float, first: float, wider: float
) -> list[str]:
    """Return the title of a horizontal axis, centred between its sides unless the edge of the drawing would cut it.

    ``first`` is the y-coordinate of its first line. A text may be ``wider`` times as wide as estimated.
    """
    half = max(map(text_width, lines)) * wider / 2
    middle = max(min(sum(sides) / 2, width - half), half)
    return list(draw_lines(lines, middle, first, "mongo-chart__name", "middle"))


# -- bars and markers --


class Box(NamedTuple):
    """A rectangle, by its upper left corner, its width and its height."""

    x: float
    y: float
    width: float
    height: float


def draw_bar(box: Box, tip: str) -> str:
    """Return a bar. ``tip`` is its tooltip, or ""."""
    place = " ".join(f'{name}="{coordinate(value)}"' for name, value in box._asdict().items())
    return draw_area("rect", place, tip)


def draw_area(tag: str, place: str, tip: str) -> str:
    """Return an element of a bar or a marker. ``place`` has the attributes of its place; ``tip`` is its tooltip, or
    "".
    """
    start = f'<{tag} class="mongo-chart__area" {place}'
    return f"{start}>{tip}</{tag}>" if tip else f"{start}/>"


def dress_part(index: int, value: str, box: Box) -> Iterator[str]:
    """Yield the stripes of a part of a stacked bar and, if there is room, its value."""
    yield from draw_stripes(index, box)
    if box.height >= _LEAST_HEIGHT and text_width(value) <= box.width - 6:
        middle = coordinate(box.y + box.height / 2)
        if index % 4:  # A ground under the value hides the stripes of the part.
            width = text_width(value)
            path = f"M{coordinate(box.x + (box.width - width) / 2)} {middle}h{coordinate(width)}"
            yield f'<path class="mongo-chart__ground" d="{path}" stroke-width="{coordinate(box.height - 1)}"/>'
        place = f'x="{coordinate(box.x + box.width / 2)}" y="{middle}"'
        look = 'class="mongo-chart__inside" dy=".32em" text-anchor="middle"'
        yield f"<text {look} {place}>{text_html(value)}</text>"


def draw_stripes(index: int, box: Box) -> Iterator[str]:
    """Yield the stripes of a part. They repeat every four series: no stripes, then three different patterns."""
    if min(box.width, box.height) < _LEAST_SIDE:
        return
    left, top, width, height = map(coordinate, box)
    if index % 4 in (1, 3):
        path = f"M{coordinate(box.x + box.width / 2)} {top}v{height}"
        yield f'<path class="mongo-chart__stripes" d="{path}" stroke-width="{width}"/>'
    if index % 4 in (2, 3):
        path = f"M{left} {coordinate(box.y + box.height / 2)}h{width}"
        yield f'<path class="mongo-chart__stripes" d="{path}" stroke-width="{height}"/>'


# A circle, a square, a diamond and a triangle around a point.
_SHAPES: Final = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M{x} {y}m-3.5-3.5h7v7h-7z",
    "M{x} {y}m0-5l5 5l-5 5l-5-5z",
    "M{x} {y}m0-5l4.8 8.4h-9.6z",
)


def marker_path(index: int, x: float, y: float) -> str:
    """Return the outline of a marker of the series with this number."""
    return _SHAPES[index % len(_SHAPES)].format(x=coordinate(x), y=coordinate(y))


def colour_class(index: int) -> str:
    """Return the class that colours the series with this number."""
    return f"mongo-chart__s{index % _COLOURS}"


def dashed_class(index: int) -> str:
    """Return the classes that colour and dash the series with this number."""
    return f"{colour_class(index)} mongo-chart__d{index % 4}"


def tip_html(plot: Plot, series: Series, point: PlotPoint) -> str:
    """Return the tooltip of a point, with all that is known about it."""
    label, unit = plot.label(plot.x), plot.unit_beside(plot.x)
    x = f"{label} {point.x_text} {find_added_unit(label, unit)}".rstrip()
    value = " ".join(filter(None, (point.y_text, point.ends_text, point.unit)))
    total = f"{point.total} in all" if point.total not in ("", point.y_text) else ""
    values = ", ".join(filter(None, (value, point.counted, total)))
    name = "" if series.name == point.unit else f" – {series.name}"
    panel = f" – {series.panel}" if series.panel else ""
    return f"<title>{text_html(f'{x}: {values}{name}{panel}')}</title>"
