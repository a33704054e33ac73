"""A conclusion in a cell, the sign of one that finds no difference, and the notes under a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from mongo_tables.render.conclusions import Conclusion, conclusion_of, find_contradiction
from mongo_tables.render.rounding import round_decimals, signed_decimals
from mongo_tables.render.values import cell_text
from mongo_tables.results.verdicts import (
    CAMPAIGNS_FOR_T,
    ITSELF,
    describe,
    describe_interval,
    join_apart,
    leaves_out,
)

_NO_DIFFERENCE_SIGN: Final = "="
_NOT_KNOWN_SIGN: Final = "?"
_MOST_DECIMALS: Final = 3


def conclusion_text(one: Conclusion, as_ratio: bool) -> str:
    """The ratio with its interval, such as ``+12 % (+8 to +17)`` or ``1.12 (1.08–1.17)``, and the sign of its verdict.

    Of campaigns that do not agree it has the ratio of each: ``+12 and +31 % (+8 to +35)``.

    It has the digits that its interval leaves it, and as many as it takes that no end looks like no difference.
    """
    sign = sign_of(one)
    text = _ratio_with_interval(one, as_ratio)
    return f"{text} {sign}" if sign else text


def sign_of(one: Conclusion) -> str:
    """The sign behind a row that is neither faster nor slower; "" behind one that is."""
    return {"no difference": _NO_DIFFERENCE_SIGN, "not known": _NOT_KNOWN_SIGN}.get(one.verdict, "")


def sign_in_words(one: Conclusion) -> str:
    """The conclusion in words where its cell has a sign; "" where it has none."""
    return full_words_of(one) if sign_of(one) else ""


def full_words_of(one: Conclusion) -> str:
    """The conclusion in words, with the number of its blocks and, where it is not known, why."""
    low, high = map(float, one.interval or (Decimal(0), Decimal("Infinity")))
    figures = (float(one.ratio or 0), low, high, one.blocks)
    return describe(one.verdict, *figures, one.campaigns, float(one.negligible), list(map(float, one.apart)))


def conclusion_in_words(value: object) -> str:
    """What a field of a row concludes, for a sentence: ``7 % slower (5 to 9 %)``; "" for one that concludes nothing.

    Of the reference it is what its two measurements in each block make of each other: ``with itself: not known``.
    """
    one = conclusion_of(value)
    if one is None or find_contradiction(one):
        return ""
    told = _in_words(one)
    return f"with itself: {told}" if one.against == ITSELF else told


def notes_on_references(values: Iterable[object]) -> tuple[str, ...]:
    """For a field of rows what those of references say of the others; none where no row is compared with itself."""
    found = [
        one for one in map(conclusion_of, values) if one and one.against == ITSELF and one.ratio is not None
    ]
    if not found:
        return ()
    who, it = ("The reference", "It") if len(found) == 1 else ("Each reference", "One")
    note = f"{who} is measured twice in each block, and compared with itself."
    differing = dict.fromkeys(_in_words(one) for one in found if one.verdict in ("faster", "slower"))
    return tuple(
        f"{note} {it} came out {words}, though nothing differs: differences as small mean nothing here."
        for words in differing
    ) or (note,)


def _in_words(one: Conclusion) -> str:
    low, high = map(float, one.interval or (Decimal(0), Decimal("Infinity")))
    told = describe_interval(one.verdict, float(one.ratio or 0), low, high, list(map(float, one.apart)))
    return f"{told}, few requests" if one.few_requests else told


def _ratio_with_interval(one: Conclusion, as_ratio: bool) -> str:
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
    """How many decimals show the width of an interval, and that an end is not that of no difference."""
    least, scale = (0, 100) if not as_ratio else (1 if low >= 10 else 2, 1)
    for decimals in range(least, _MOST_DECIMALS):
        ends = [(end - 1) * scale for end in (low, high)]
        wide = ends[1] - ends[0] >= 2 * Decimal(1).scaleb(-decimals)
        if wide and all(not end or round_decimals(end, decimals) for end in ends):
            return decimals
    return _MOST_DECIMALS


def _write(ratio: Decimal, decimals: int, as_ratio: bool) -> str:
    if as_ratio:
        return format(round_decimals(ratio, decimals), "f")
    return signed_decimals((ratio - 1) * 100, decimals)


def conclusion_notes(conclusions: Sequence[Conclusion | None], base: int, as_ratio: bool) -> list[str]:
    """The notes under a table whose row ``base``, counted from 0, the others are compared with.

    They say what was compared, in how many blocks, what could be seen, what the baseline made of itself, and for each
    sign what it means and which differences are excluded.
    """
    others = [one for number, one in enumerate(conclusions) if one is not None and number != base]
    if not others:
        return []
    own = conclusions[base]
    told = [_say_what_was_compared(others), *([_say_of_itself(own, as_ratio)] if own and own.ratio else [])]
    return [" ".join(told), *_explain_ratios_apart(others), *_explain_signs(others, as_ratio)]


def _say_what_was_compared(others: Sequence[Conclusion]) -> str:
    blocks = _say_range([one.blocks for one in others])
    compared = f"Speed against the baseline in the same block, over {blocks} blocks"
    campaigns = [one.campaigns for one in others]
    if max(campaigns) > 1:
        compared = f"{compared} of {_say_range(campaigns)} campaigns"
    widths = [high / low for low, high in _intervals(others)]
    if not widths:
        return f"{compared}: too few for an interval."
    if max(campaigns) > 1:
        return f"{compared}, {_say_what_campaigns_have(campaigns)}."
    unseen = (max(widths).sqrt() * (1 + max(one.negligible for one in others)) - 1) * 100
    text = f"{unseen:.0f}" if unseen >= 1 else f"{unseen:.1g}"
    return (
        f"{compared}, with 95 % intervals; where they are widest, a difference below {text} %, judged alone, could not "
        "have been seen."
    )


def _say_what_campaigns_have(campaigns: Sequence[int]) -> str:
    """What stands beside a ratio over so many campaigns: over a few no interval of which 95 % hold the truth."""
    own = "the range of the campaigns' 95 % intervals, from the lowest end to the highest"
    if min(campaigns) >= CAMPAIGNS_FOR_T:
        return "with 95 % intervals"
    if max(campaigns) < CAMPAIGNS_FOR_T:
        return f"with {own}"
    return f"with 95 % intervals from {CAMPAIGNS_FOR_T} campaigns on, with fewer {own}"


def _explain_ratios_apart(others: Sequence[Conclusion]) -> Iterator[str]:
    """What several ratios in one cell are; nothing where each cell has one."""
    number = sum(bool(one.apart) for one in others)
    if number:
        rows = "One row has" if number == 1 else f"{number} rows have"
        yield f"{rows} the ratio of each campaign: their intervals do not touch, so no one ratio is that of all."


def _say_range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


def _say_of_itself(own: Conclusion, as_ratio: bool) -> str:
    """What the second measurement of the baseline in each block gave beside its first, where nothing differs."""
    text = f"The baseline against itself, measured again in each block: {_ratio_with_interval(own, as_ratio)}"
    if own.interval is None or own.interval[0] <= 1 <= own.interval[1]:
        return f"{text}."
    return f"{text}, though nothing differs there, so that such differences mean nothing here."


def _explain_signs(others: Sequence[Conclusion], as_ratio: bool) -> Iterator[str]:
    alike = [one for one in others if one.verdict == "no difference"]
    if alike:
        margin = f"{(alike[0].margin * 100).normalize():f}"
        excluded = _say_what_is_excluded(alike, as_ratio)
        yield f"{_NO_DIFFERENCE_SIGN} no difference larger than {margin} %{excluded}."
    unknown = [one for one in others if one.verdict == "not known"]
    if unknown:
        note = f"{_NOT_KNOWN_SIGN} not known: there may be a difference or none"
        if any(map(_is_left_to_chance, unknown)):
            note += ", for among so many rows chance alone makes an interval leave out no difference"
        if small := next((one.negligible for one in unknown if _is_negligible(one)), None):
            note += f", for two copies of the same data on one server may differ by {100 * small:.0f} %"
        yield f"{note}{_say_what_is_excluded(unknown, as_ratio)}."


def _is_negligible(one: Conclusion) -> bool:
    """Whether the interval leaves out no difference, but not what is negligible."""
    return _leaves_out(one, Decimal(0)) and not _is_left_to_chance(one)


def _is_left_to_chance(one: Conclusion) -> bool:
    """Whether the interval leaves out no difference, and what is negligible, and it is not known all the same."""
    return _leaves_out(one, one.negligible)


def _leaves_out(one: Conclusion, negligible: Decimal) -> bool:
    return one.interval is not None and leaves_out(*map(float, (*one.interval, negligible)))


def _say_what_is_excluded(some: Sequence[Conclusion], as_ratio: bool) -> str:
    """The differences that the intervals of all these rows leave out; "" where there are no intervals."""
    intervals = _intervals(some)
    if not intervals:
        return ""
    low, high = min(low for low, _ in intervals), max(high for _, high in intervals)
    decimals = _choose_decimals(low, high, as_ratio)
    unit = "" if as_ratio else " %"
    ends = " and above ".join(f"{_write(end, decimals, as_ratio)}{unit}" for end in (low, high))
    return f"; excluded are differences below {ends}"


def _intervals(some: Sequence[Conclusion]) -> list[tuple[Decimal, Decimal]]:
    return [one.interval for one in some if one.interval is not None]
