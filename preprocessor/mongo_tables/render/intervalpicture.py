"""A comparison as a small picture beside its words: a dot for the ratio, a line for its interval, and one for none.

All have one scale, from an eighth to eight times the speed in equal steps of a factor, so that pictures that stand
below one another can be compared; it is marked at each doubling. What lies beyond goes on to the edge of the picture
and ends in an arrow there, which no dot at the end of the scale hides. Campaigns that do not agree have a dot each.
The words say all that the picture does, so screen readers leave it out; who points at it is told the number of blocks
too. That stands in an attribute, which search engines do not take for words of the sentence.
"""

from __future__ import annotations

from math import log
from typing import Final

from mongo_tables.render.conclusions import Conclusion, full_words_of
from mongo_tables.render.markup import text_html, with_minus_signs

_WIDTH: Final = 96
_HEIGHT: Final = 14
_MOST: Final = 8.0
_MARKED: Final = (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)
_MARGIN: Final = 10
_EDGE: Final = 2


def interval_picture(one: Conclusion) -> str:
    """The picture as inline SVG; "" where there is no ratio or no interval."""
    if one.ratio is None or one.interval is None:
        return ""
    ends = [float(end) for end in one.interval]
    low, high = map(_reach, ends)
    middle = _HEIGHT / 2
    across = "".join(dict.fromkeys(map(_draw_end, ends)))
    dots = "".join(
        f'<circle class="mongo-interval__ratio" cx="{_place(float(ratio)):.1f}" cy="{middle:g}" r="3.5"/>'
        for ratio in one.apart or (one.ratio,)
    )
    return (
        f'<span class="mongo-drawn" title="{text_html(with_minus_signs(full_words_of(one)))}">'
        f'<svg class="mongo-interval mongo-interval--{one.verdict.replace(" ", "-")}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">'
        f'<path class="mongo-interval__scale" d="{_SCALE}"/>'
        f'<path class="mongo-interval__one" d="M{_place(1.0):.1f} 0v{_HEIGHT}"/>'
        f'<path class="mongo-interval__range" d="M{low:.1f} {middle:g}H{high:.1f}{across}"/>'
        f"{dots}</svg></span>"
    )


def _place(ratio: float) -> float:
    share = log(max(min(ratio, _MOST), 1 / _MOST)) / log(_MOST)
    return _WIDTH / 2 + share * (_WIDTH / 2 - _MARGIN)


def _reach(end: float) -> float:
    """Where the line of an interval ends: at its end, or where that lies beyond the scale, at the edge."""
    if 1 / _MOST <= end <= _MOST:
        return _place(end)
    return _EDGE if end < 1 else _WIDTH - _EDGE


_SCALE: Final = "".join(f"M{_place(ratio):.1f} {_HEIGHT}v-2" for ratio in _MARKED)


def _draw_end(end: float) -> str:
    """A short line across the end, or the head of an arrow where it lies beyond the scale, to that side."""
    at, middle = _reach(end), _HEIGHT / 2
    if 1 / _MOST <= end <= _MOST:
        return f"M{at:.1f} {middle - 3:g}v6"
    way = 1 if end > 1 else -1
    return f"M{at - way * 3:.1f} {middle - 3:g}l{way * 3} 3l{-way * 3} 3"
