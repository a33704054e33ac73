"""The points of series as documents of a collection, so that pages can show them in charts and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from mongo_tables.commands.history.known import Known, find_known
from mongo_tables.results.comparison import PER_SECOND
from mongo_tables.results.history import Change, Point, Series
from mongo_tables.results.intervals import Interval
from mongo_tables.results.verdicts import Verdict, describe_interval

Document = dict[str, Any]


def list_documents(series: Iterable[Series], known: Sequence[Known], measure: str) -> list[Document]:
    """One for each row and campaign, with the change that begins there and what is known of the campaign, or null.

    ``measure`` is what the points are: ``speed`` or ``ratio``.
    """
    return [_describe(one, point, known, measure) for one in series for point in one.points]


def by_experiment(documents: Iterable[Document]) -> dict[str, list[Document]]:
    """The documents of each experiment, in their order."""
    found: dict[str, list[Document]] = {}
    for one in documents:
        found.setdefault(one["experiment"], []).append(one)
    return found


def _describe(series: Series, point: Point, known: Sequence[Known], measure: str) -> Document:
    experiment, _, variant = series.name.partition(": ")
    change = next((one for one in series.changes if one.point.campaign == point.campaign), None)
    why = find_known(series.name, point.campaign, known)
    return {
        "_id": {"row": series.name, "campaign": point.campaign, "of": measure},
        "experiment": experiment,
        "variant": variant,
        **_describe_point(point),
        "change": None if change is None else _describe_change(change, why),
        "known": None if why is None else _describe_known(why),
    }


def _describe_point(point: Point) -> Mapping[str, Any]:
    return {
        "start": point.start,
        "value": point.value,
        "unit": point.unit,
        "low": point.low,
        "high": None if point.high == inf else point.high,
        "program": point.program,
        "server": point.server,
        "machine": point.machine,
        "otherwise": list(point.otherwise),
    }


def _describe_change(change: Change, why: Known | None) -> Mapping[str, Any]:
    ratio = change.ratio
    return {
        "text": say_change(ratio, change.point.unit),
        "ratio": ratio.ratio,
        "low": ratio.low,
        "high": None if ratio.high == inf else ratio.high,
        "p": change.p,
        "reason": why.reason if why else None,
        "ticket": why.ticket if why else None,
    }


def _describe_known(why: Known) -> Mapping[str, str]:
    return {"reason": why.reason, **({"ticket": why.ticket} if why.ticket else {})}


def say_change(ratio: Interval, unit: str = PER_SECOND) -> str:
    """By how much another level is faster or slower, such as ``12 % slower (8 to 15 %)``.

    A change is not found by its interval: one that has no difference in it has signs, ``12 % faster (-5 to +30 %)``.
    What is no speed is higher or lower, with signs.
    """
    if unit != PER_SECOND:
        word = "higher" if ratio.ratio > 1 else "lower"
        low, high = (f"{100 * (end - 1):+.0f}" for end in (ratio.low, min(ratio.high, 1e9)))
        return f"{100 * abs(ratio.ratio - 1):.0f} % {word} ({low} to {high} %)"
    verdict: Verdict = "faster" if ratio.ratio > 1 else "slower"
    if 1 < ratio.low <= ratio.high < inf or 0 < ratio.low <= ratio.high < 1:
        return describe_interval(verdict, *ratio[:3])
    change = f"{100 * abs(ratio.ratio - 1):.0f} % {verdict}"
    low, high = (f"{100 * (end - 1):+.0f}" for end in (ratio.low, ratio.high))
    return f"{change} ({low} to {high} %)" if ratio.high < inf else change
