"""Sentences of comparisons: the words that an author wrote for the verdict, with the figures of the row in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from mongo_tables.directives.sayings import Placeholder, fill
from mongo_tables.render.conclusions import Conclusion
from mongo_tables.results.verdicts import (
    IN_TIMES_FROM,
    WHOLE_FROM,
    describe_bound,
    describe_interval,
    join_apart,
    judge,
)

_MOST_DECIMALS: Final = 3


def scale(one: Conclusion, number: Decimal) -> Conclusion:
    """Return the comparison of what requests carry, if each of this row carries ``number`` times as much.

    Requests at a tenth of the speed that fetch 400 documents instead of one deliver 40 times as many documents. The
    verdict follows from the interval alone: which rows are discoveries was decided for requests.
    """
    if one.ratio is None or one.interval is None:
        return one
    low, high = one.interval[0] * number, one.interval[1] * number
    verdict = judge(float(low), float(high), True, float(one.margin), float(one.negligible))
    apart = tuple(each * number for each in one.apart)
    return one._replace(ratio=one.ratio * number, interval=(low, high), apart=apart, verdict=verdict)


def say_verdict(say: Mapping[str, str], one: Conclusion, field_text: Callable[[str], str]) -> str:
    """Return the sentence for the verdict. ``field_text`` returns a field of the row as text.

    It ends in "few requests" where these are too few for a conclusion.
    """

    def text_of(placeholder: Placeholder) -> str:
        return figure_text(one, placeholder) if placeholder.is_figure else field_text(placeholder.name)

    sentence = fill(say[one.verdict], text_of)
    if not one.few_requests:
        return sentence
    return f"{sentence.removesuffix('.')}, few requests{'.' if sentence.endswith('.') else ''}"


def figure_text(one: Conclusion, figure: Placeholder) -> str:
    """Return a figure of a comparison in its form, or "" if the blocks do not give it.

    Without a form a difference is in per cent, and in times from twice or half the speed on. Bounds are rounded up.

    Example:
        A ratio of 0.38 with an interval from 0.35 to 0.43 has the ``ratio`` 2.6 times, as ``percent`` 62 %.
    """
    if one.ratio is None or one.interval is None:
        return ""
    ratios, ends = [float(each) for each in one.apart or (one.ratio,)], sorted(map(float, one.interval))
    low, high = ends
    if figure.name == "bounds":
        return describe_interval("not known", float(one.ratio), low, high)
    bounds = {"slower": min(low, 1.0), "faster": max(high, 1.0), "most": max(high, 1 / low)}
    if figure.name in bounds:
        return describe_bound(bounds[figure.name], figure.form)
    form = figure.form or _choose_form(float(one.ratio))
    size = _in_percent if form == "percent" else _in_times
    *each, nearer, farther = _round_alike([*sorted(map(size, ratios)), *sorted(map(size, ends))], form)
    unit = "%" if form == "percent" else "times"
    if figure.name == "ratio":
        return f"{join_apart(each)} {unit}"
    return f"{nearer} to {farther} {unit}{'; campaigns disagree' if one.apart else ''}"


def _choose_form(ratio: float) -> str:
    return "factor" if _in_times(ratio) >= IN_TIMES_FROM else "percent"


def _in_times(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def _in_percent(ratio: float) -> float:
    return 100 * abs(ratio - 1)


def _round_alike(sizes: Sequence[float], form: str) -> list[str]:
    """Return sizes with the fewest decimals that show a difference each, and keep both ends, the last two, apart."""
    least, none = (0, 0.0) if form == "percent" else (1, 1.0)
    texts: list[str] = []
    for decimals in range(least, _MOST_DECIMALS):
        few = (0 if round(size, decimals) >= WHOLE_FROM else decimals for size in sizes)
        texts = [f"{size:,.{each}f}" for size, each in zip(sizes, few, strict=True)]
        if (texts[-1] != texts[-2] or sizes[-1] == sizes[-2]) and all(
            float(text.replace(",", "")) != none for text in texts
        ):
            break
    return texts
