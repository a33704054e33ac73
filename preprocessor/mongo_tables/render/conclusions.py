"""Conclusions of rows that were measured in blocks: the ratio of a row's speed to the baseline's speed, with its
interval.

In each block of a campaign every variant is measured once and the baseline twice. The ratio of a row is relative to the
baseline in the same block, so that changes from block to block affect neither the ratio nor its interval. The
baseline's own ratio is that of its second measurement to its first.

This module writes conclusions as words, cells, notes under a table and small pictures. It also writes their numbers
into the sentences of authors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import log
from typing import Final, NamedTuple, get_args

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.sayings import Placeholder
from mongo_tables.render.column import Rows, column_value
from mongo_tables.render.markup import text_html, typeset
from mongo_tables.render.number_text import round_decimals, signed_decimals
from mongo_tables.render.values import cell_text, finite_decimal, is_document
from mongo_tables.results import verdicts
from mongo_tables.results.verdicts import (
    CAMPAIGNS_FOR_T,
    ITSELF,
    Verdict,
    choose_form,
    describe_bound,
    describe_interval,
    in_times,
    join_apart,
    judge,
    list_ratios_apart,
    write_sizes,
)


def scale(one: Conclusion, number: Decimal) -> Conclusion:
    """Return the comparison of the data per second instead of the requests per second.

    ``number``: how many times as much data a request of the row carries as a request of the baseline.

    For example, if a row has a tenth of the requests per second, and each carries 400 documents instead of one, the row
    delivers 40 times as many documents. The new verdict follows from the interval alone, without a correction for many
    rows.
    """
    if one.ratio is None or one.interval is None:
        return one
    low, high = one.interval[0] * number, one.interval[1] * number
    verdict = judge(float(low), float(high), True, float(one.margin), float(one.negligible))
    apart = tuple(each * number for each in one.apart)
    return one._replace(ratio=one.ratio * number, interval=(low, high), apart=apart, verdict=verdict)


def figure_text(one: Conclusion, figure: Placeholder) -> str:
    """Return a number of a comparison as text, or "" if the comparison has no ratio or no interval.

    If ``figure`` sets no form, a difference is in per cent, or in times if the speed is at least doubled or halved.
    Bounds are rounded up.

    Example:
        A comparison with the ratio 0.38 has the ``ratio`` "2.6 times" or, in the form ``percent``, "62 %".
    """
    if one.ratio is None or one.interval is None:
        return ""
    ratios, (low, high) = (
        [float(each) for each in one.apart or (one.ratio,)],
        sorted(map(float, one.interval)),
    )
    if figure.name == "bounds":
        return describe_interval("not known", float(one.ratio), low, high)
    bounds = {"slower": min(low, 1.0), "faster": max(high, 1.0), "most": max(high, 1 / low)}
    if figure.name in bounds:
        return describe_bound(bounds[figure.name], figure.form)
    form = figure.form or choose_form(float(one.ratio))
    *each, nearer, farther = write_sizes(ratios, (low, high), form)
    unit = "%" if form == "percent" else "times"
    if figure.name == "ratio":
        return f"{join_apart(each)} {unit}"
    return f"{'depending on the campaign; ' if one.apart else ''}{nearer} to {farther} {unit}"


_SIGNS: Final[Mapping[str, str]] = {"no difference": "=", "not known": "?"}
_MOST_DECIMALS: Final = 3


class Conclusion(NamedTuple):
    """The comparison of a row with the baseline.

    Attributes:
        ratio: The ratio of the speeds. None if there are too few blocks, or if the row did nothing in one of them.
        interval: The 95 % interval of the ratio, or None if ``ratio`` is None. Over a few campaigns, it is the range
            of the campaigns' intervals (``mongo_tables.results.intervals.pool``).
        blocks: The number of blocks.
        margin: Two rows count as equally fast if their speeds differ by at most this share of the baseline's speed.
        against: The row that this row was compared with, or ``ITSELF``.
        verdict: The result of the comparison.
        campaigns: The number of campaigns that the blocks come from.
        negligible: Differences of at most this share of the baseline's speed are ignored.
        apart: The ratio of each campaign, if the intervals of the campaigns do not overlap; else empty.
        few_requests: Whether all blocks together have too few requests for a reliable ratio.
    """

    ratio: Decimal | None
    interval: tuple[Decimal, Decimal] | None
    blocks: int
    margin: Decimal
    against: str
    verdict: Verdict
    campaigns: int = 1
    negligible: Decimal = Decimal(0)
    apart: tuple[Decimal, ...] = ()
    few_requests: bool = False

    @property
    def sign(self) -> str:
        """The sign that a cell ends with if the row is neither faster nor slower, else ""."""
        return _SIGNS.get(self.verdict, "")

    @property
    def figures(self) -> tuple[float, float, float]:
        """The ratio (0 for none) and both ends of its interval (0 and infinity for none)."""
        low, high = self.interval or (Decimal(0), Decimal("Infinity"))
        return float(self.ratio or 0), float(low), float(high)

    def leaves_out(self, negligible: Decimal) -> bool:
        """Return whether the interval contains neither 1 nor any difference up to ``negligible``."""
        return self.interval is not None and verdicts.leaves_out(*self.figures[1:], float(negligible))


def conclusion_of(value: object) -> Conclusion | None:
    """Return the conclusion that a field of a row contains, or None if it contains none."""
    if not is_document(value):
        return None
    names = ("ratio", "blocks", "margin", "low", "high", "count", "negligible")
    ratio, blocks, margin, low, high, count, negligible = (finite_decimal(value.get(name)) for name in names)
    against = value.get("against")
    verdict = next((one for one in get_args(Verdict) if one == value.get("verdict")), None)
    if blocks is None or margin is None or verdict is None or not isinstance(against, str):
        return None
    if ratio is None and (value.get("ratio", MISSING) is not None or verdict != "not known"):
        return None
    return Conclusion(
        ratio,
        (low, high) if low is not None and high is not None and low > 0 else None,
        int(blocks),
        margin,
        against,
        verdict,
        int(count or 1),
        negligible or Decimal(0),
        _list_ratios_apart(value.get("each")),
        value.get("few_requests") is True,
    )


def _list_ratios_apart(each: object) -> tuple[Decimal, ...]:
    """Return the ratio of each campaign if all intervals are known and do not overlap, or else ()."""
    if not isinstance(each, Sequence) or isinstance(each, str):
        return ()
    names = ("ratio", "low", "high")
    figures = ([finite_decimal(one.get(name)) for name in names] for one in each if isinstance(one, Mapping))
    known = [(ratio, low, high) for ratio, low, high in figures if ratio and low and high]
    return list_ratios_apart(known) if len(known) == len(each) else ()


def list_conclusions(field: str, rows: Rows) -> list[Conclusion | None]:
    """Return the conclusion that the field of each row contains, None for none."""
    return [conclusion_of(column_value(row, field)) for row in rows]


def find_contradiction(one: Conclusion) -> str:
    """Return how the verdict of a conclusion contradicts its interval, or "" if it does not."""
    if one.ratio is None or one.interval is None:
        return "" if one.verdict == "not known" else f"has the verdict {one.verdict}, but no interval"
    return verdicts.find_contradiction(one.verdict, *one.figures, float(one.margin), float(one.negligible))


# -- in words --


def words_of(one: Conclusion | None) -> str:
    """Return a conclusion in words: ``7 % slower (5 to 9 %)``, or "" for none.

    For the baseline, which is compared with itself, the words are ``noise -22 to +33 %``.
    """
    if one is None or find_contradiction(one):
        return ""
    told = _in_words(one)
    if one.against == ITSELF:
        told = f"noise {' to '.join(_noise_ends(one.interval))} %" if one.interval else "noise not known"
    return mention_few_requests(told) if one.few_requests else told


def mention_few_requests(text: str) -> str:
    """Return the text with "based on few requests" in its last parentheses, or in parentheses of its own."""
    sentence = text.removesuffix(".")
    own = f"{sentence[:-1]}; " if sentence.endswith(")") else f"{sentence} ("
    return f"{own}based on few requests){text[len(sentence) :]}"


def _noise_ends(interval: tuple[Decimal, Decimal]) -> list[str]:
    """Return the ends of an interval in per cent, with their signs."""
    decimals = _choose_decimals(*interval, as_ratio=False)
    return [_write(end, decimals, as_ratio=False) for end in interval]


def _in_words(one: Conclusion) -> str:
    return verdicts.describe_interval(one.verdict, *one.figures, list(map(float, one.apart)))


def full_words_of(one: Conclusion) -> str:
    """Return the conclusion in words with its number of blocks, or the reason why it is not known."""
    apart = list(map(float, one.apart))
    return verdicts.describe(
        one.verdict, *one.figures, one.blocks, one.campaigns, float(one.negligible), apart
    )


def _say_noise(references: Sequence[Conclusion]) -> str:
    """Return a sentence on the noise of references, or "" if the noise stays within their margin."""
    ends = [
        (in_times(float(end)), float(end), text)
        for one in references
        if one.interval
        for end, text in zip(one.interval, _noise_ends(one.interval), strict=True)
    ]
    noise, end, text = max(ends, default=(1.0, 1.0, ""))
    if noise <= max((1 + float(one.margin) for one in references if one.interval), default=1.0):
        return ""
    reached = f"{text.lstrip('+-')} %" if choose_form(end) == "percent" else describe_bound(end)
    return f" Its noise reaches {reached}, so the ratios are rough."


# -- in a cell --


def ratio_with_interval(one: Conclusion, as_ratio: bool) -> str:
    """Return the ratio with its interval: ``+12 % (+8 to +17)``, ``1.12 (1.08–1.17)``.

    If campaigns disagree, the text has the ratio of each: ``+12 or +31 % (+8 to +35)``. A wider interval gets fewer
    decimals, but enough that neither end is rounded to "no difference".
    """
    unit = "" if as_ratio else " %"
    if one.ratio is None:
        return cell_text(None)
    if one.interval is None:
        return f"{_write(one.ratio, _choose_decimals(one.ratio / 2, one.ratio, as_ratio), as_ratio)}{unit}"
    decimals = _choose_decimals(*one.interval, as_ratio)
    shown = (*(one.apart or (one.ratio,)), *one.interval)
    *ratios, low, high = (_write(number, decimals, as_ratio) for number in shown)
    return f"{join_apart(ratios)}{unit} ({low}{'–' if as_ratio else ' to '}{high})"


def _choose_decimals(low: Decimal, high: Decimal, as_ratio: bool) -> int:
    """Return the least number of decimals with which both ends differ from each other and from "no difference"."""
    least, scale = (0, 100) if not as_ratio else (1 if low >= 10 else 2, 1)
    ends = [(end - 1) * scale for end in (low, high)]
    for decimals in range(least, _MOST_DECIMALS):
        wide = ends[1] - ends[0] >= 2 * Decimal(1).scaleb(-decimals)
        if wide and all(not end or round_decimals(end, decimals) for end in ends):
            return decimals
    return _MOST_DECIMALS


def _write(ratio: Decimal, decimals: int, as_ratio: bool) -> str:
    if as_ratio:
        return format(round_decimals(ratio, decimals), "f")
    return signed_decimals((ratio - 1) * 100, decimals)


# -- in notes --


def notes_on_references(conclusions: Iterable[Conclusion | None]) -> tuple[str, ...]:
    """Return notes on the rows that were compared with themselves: they show how large differences by chance are."""
    found = [one for one in conclusions if one and one.against == ITSELF and one.ratio is not None]
    if not found:
        return ()
    who, it = ("The reference", "It") if len(found) == 1 else ("Each reference", "One")
    note = f"{who} is measured twice in each block, and compared with itself."
    note += _say_noise(found)
    differing = dict.fromkeys(_in_words(one) for one in found if one.verdict in ("faster", "slower"))
    return tuple(
        f"{note} {it} came out {words}, though nothing differs: differences this small mean nothing here."
        for words in differing
    ) or (note,)


def conclusion_notes(
    conclusions: Sequence[Conclusion | None], bases: Collection[int], as_ratio: bool
) -> Iterator[str]:
    """Yield the notes under a table whose rows are compared with the rows ``bases``, counted from 0.

    They say what was compared, in how many blocks, which differences were detectable, and how the baseline compares
    with itself. They explain each sign, with the differences that it excludes.
    """
    others = [one for number, one in enumerate(conclusions) if one is not None and number not in bases]
    if not others:
        return
    compared = _say_what_was_compared(others)
    owns = [one for base in sorted(bases) if (one := conclusions[base]) and one.ratio]
    if owns:
        found = ", ".join(ratio_with_interval(one, as_ratio) for one in owns)
        compared += f" The baseline against itself, measured again in each block: {found}"
        differs = any(
            one.interval is not None and not one.interval[0] <= 1 <= one.interval[1] for one in owns
        )
        compared += (
            ", although both are the same, so differences this small mean nothing in this table."
            if differs
            else "."
        )
    yield compared
    number = sum(bool(one.apart) for one in others)
    if number:
        rows = "One row has" if number == 1 else f"{number} rows have"
        yield f"{rows} the ratio of each campaign, because the intervals of the campaigns do not overlap."
    yield from _explain_signs(others, as_ratio)


def _say_what_was_compared(others: Sequence[Conclusion]) -> str:
    compared = f"Speed against the baseline in the same block, over {say_range([one.blocks for one in others])} blocks"
    campaigns = [one.campaigns for one in others]
    if max(campaigns) > 1:
        compared = f"{compared} of {say_range(campaigns)} campaigns"
    widths = [one.interval[1] / one.interval[0] for one in others if one.interval]
    if not widths:
        return f"{compared}: too few for an interval."
    if max(campaigns) > 1:
        # Intervals over a few campaigns are not 95 % confidence intervals.
        own = "the range of the campaigns' 95 % intervals, from the lowest end to the highest"
        if min(campaigns) >= CAMPAIGNS_FOR_T:
            return f"{compared}, with 95 % intervals."
        if max(campaigns) < CAMPAIGNS_FOR_T:
            return f"{compared}, with {own}."
        return f"{compared}, with 95 % intervals from {CAMPAIGNS_FOR_T} campaigns on, with fewer {own}."
    unseen = (max(widths).sqrt() * (1 + max(one.negligible for one in others)) - 1) * 100
    text = f"{unseen:.0f}" if unseen >= 1 else f"{unseen:.1g}"
    return (
        f"{compared}, with 95 % intervals; where they are widest, a difference below {text} %, judged on its own, "
        f"could not have been seen."
    )


def say_range(numbers: Collection[int]) -> str:
    """Return the least and the greatest number, ``3 to 5``, or a single number if they are equal."""
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


def _explain_signs(others: Sequence[Conclusion], as_ratio: bool) -> Iterator[str]:
    alike = [one for one in others if one.verdict == "no difference"]
    if alike:
        margin = f"{(alike[0].margin * 100).normalize():f}"
        yield f"= no difference larger than {margin} %{_say_what_is_excluded(alike, as_ratio)}."
    unknown = [one for one in others if one.verdict == "not known"]
    if unknown:
        note = "? not known: there may be a difference or none"
        if any(one.leaves_out(one.negligible) for one in unknown):
            note += "; among so many rows, some intervals show a difference by chance"
        # Rows with a difference that is not due to chance, but may be negligible.
        doubtful = (
            one for one in unknown if one.leaves_out(Decimal(0)) and not one.leaves_out(one.negligible)
        )
        if small := next((one.negligible for one in doubtful), None):
            note += f"; two copies of the same data on one server may differ by {100 * small:.0f} %"
        yield f"{note}{_say_what_is_excluded(unknown, as_ratio)}."


def _say_what_is_excluded(some: Sequence[Conclusion], as_ratio: bool) -> str:
    """Return in words which differences the intervals of all these rows exclude, or "" without intervals."""
    intervals = [one.interval for one in some if one.interval is not None]
    if not intervals:
        return ""
    low, high = min(low for low, _ in intervals), max(high for _, high in intervals)
    decimals = _choose_decimals(low, high, as_ratio)
    unit = "" if as_ratio else " %"
    ends = " and above ".join(f"{_write(end, decimals, as_ratio)}{unit}" for end in (low, high))
    return f"; differences below {ends} are excluded"


# -- as a picture: a dot for the ratio, a horizontal line for its interval, a vertical line for no difference --

_WIDTH: Final = 96
_HEIGHT: Final = 14
_MIDDLE: Final = 7
_MOST: Final = 8.0
_MARGIN: Final = 10
_EDGE: Final = 2


def interval_picture(one: Conclusion) -> str:
    """Return a comparison as inline SVG to show after its words, or "" if there is no ratio or no interval.

    All pictures share a logarithmic scale from an eighth to eight times the speed, with a mark at each doubling, so
    that pictures below one another are comparable. An interval that exceeds the scale ends in an arrow at the edge of
    the picture. If campaigns disagree, each has a dot. Screen readers skip the picture, because the words say the same.
    The tooltip is an attribute, which search engines do not index as part of the sentence.
    """
    if one.ratio is None or one.interval is None:
        return ""
    _, low, high = one.figures
    ends = "".join(dict.fromkeys(map(_draw_end, (low, high))))
    dots = "".join(
        f'<circle class="mongo-interval__ratio" cx="{_place(float(ratio)):.1f}" cy="{_MIDDLE}" r="3.5"/>'
        for ratio in one.apart or (one.ratio,)
    )
    scale = "".join(f"M{_place(ratio):.1f} {_HEIGHT}v-2" for ratio in (1 / 8, 1 / 4, 1 / 2, 2, 4, 8))
    return (
        f'<span class="mongo-drawn" title="{text_html(typeset(full_words_of(one)))}">'
        f'<svg class="mongo-interval mongo-interval--{one.verdict.replace(" ", "-")}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">'
        f'<path class="mongo-interval__scale" d="{scale}"/>'
        f'<path class="mongo-interval__one" d="M{_place(1.0):.1f} 0v{_HEIGHT}"/>'
        f'<path class="mongo-interval__range" d="M{_reach(low):.1f} {_MIDDLE}H{_reach(high):.1f}{ends}"/>'
        f"{dots}</svg></span>"
    )


def _place(ratio: float) -> float:
    share = log(max(min(ratio, _MOST), 1 / _MOST)) / log(_MOST)
    return _WIDTH / 2 + share * (_WIDTH / 2 - _MARGIN)


def _reach(end: float) -> float:
    """Return the x-coordinate of an interval's end, or the picture's edge if the end exceeds the scale."""
    if 1 / _MOST <= end <= _MOST:
        return _place(end)
    return _EDGE if end < 1 else _WIDTH - _EDGE


def _draw_end(end: float) -> str:
    """Return the path of a short line across the end, or of an arrowhead if the end exceeds the scale."""
    at = _reach(end)
    if 1 / _MOST <= end <= _MOST:
        return f"M{at:.1f} {_MIDDLE - 3}v6"
    way = 1 if end > 1 else -1
    return f"M{at - way * 3:.1f} {_MIDDLE - 3}l{way * 3} 3l{-way * 3} 3"
