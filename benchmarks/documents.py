"""Result documents as heavy as real ones: what the benchmarks of loading and evaluating measure with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Any, NamedTuple

from tests.resultdocuments import result_documents

POINTS = 60


class Weight(NamedTuple):
    """What a document is heavy with: sections and cache counters of its two statuses, and series of 60 points."""

    sections: int
    counters: int
    series: int


HEAVY = Weight(sections=35, counters=150, series=20)
"""About 150 KB of BSON."""
LIGHT = Weight(sections=10, counters=60, series=4)
"""About 40 KB of BSON."""


def status(seed: int, weight: Weight = HEAVY) -> dict[str, Any]:
    """What ``serverStatus`` holds besides the counters that tables read: of a heavy document about 40 KB of BSON."""
    sections = {
        f"section {n}": {f"some counter of section {n}, number {k}": seed * k * 7919 for k in range(16)}
        for n in range(weight.sections)
    }
    cache = {
        "pages read into cache": seed * 31,
        **{f"cache counter number {k}": seed + k for k in range(weight.counters)},
    }
    return {"host": "localhost", "pid": 1, **sections, "wiredTiger": {"cache": cache, **sections}}


def make_documents(number: int, weight: Weight = HEAVY) -> Iterator[dict[str, Any]]:
    """``number`` result documents of the eleven experiments, round after round.

    What no table reads is one object in all documents: ten times the documents fit into memory, and no
    evaluator is faster for it.
    """
    ballast = status(1, weight)
    times = [f"2026-03-01T{minute // 60:02}:{minute % 60:02}:00Z" for minute in range(POINTS)]
    for document, round_number in islice(_rounds(), number):
        yield _with_weight(document, round_number, ballast, times, weight.series)


def _rounds() -> Iterator[tuple[dict[str, Any], int]]:
    for number in count(1):
        for document in result_documents(number):
            yield document, number


def _with_weight(
    document: dict[str, Any], number: int, ballast: dict[str, Any], times: list[str], series: int
) -> dict[str, Any]:
    values = [None, *(minute * 1.37 + number for minute in range(1, POINTS))]  # a rate has no first value
    points = [{"timestamp": at, "value": value} for at, value in zip(times, values, strict=True)]
    measured = document["metrics"]["measurements"]
    document["metrics"]["measurements"] = [
        {**one, "name": f"{one['name']}{suffix}", "dataPoints": points}
        for suffix in ("", *(f"_{copy}" for copy in range(1, series // len(measured))))
        for one in measured
    ]
    for moment in ("before_status", "after_status"):
        tiger = {**ballast["wiredTiger"], **document[moment]["wiredTiger"]}
        document[moment] = {**ballast, **document[moment], "wiredTiger": tiger}
    return {**document, "_id": {**document["_id"], "round": number}}
