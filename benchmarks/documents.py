"""Result documents as heavy as real ones: what the benchmarks of loading and evaluating measure with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Any

from tests.resultdocuments import result_documents

POINTS, SERIES = 60, 20


def status(seed: int) -> dict[str, Any]:
    """What ``serverStatus`` holds besides the counters that tables read: about 40 KB of BSON."""
    sections = {
        f"section {n}": {f"some counter of section {n}, number {k}": seed * k * 7919 for k in range(16)}
        for n in range(35)
    }
    cache = {
        "pages read into cache": seed * 31,
        **{f"cache counter number {k}": seed + k for k in range(150)},
    }
    return {"host": "localhost", "pid": 1, **sections, "wiredTiger": {"cache": cache, **sections}}


def heavy_documents(number: int) -> list[dict[str, Any]]:
    """``number`` result documents of the eleven experiments, round after round, each about 150 KB of BSON.

    What no table reads is one object in all documents: ten times the documents fit into memory, and no
    evaluator is faster for it.
    """
    ballast = status(1)
    times = [f"2026-03-01T{minute // 60:02}:{minute % 60:02}:00Z" for minute in range(POINTS)]
    return [_heavy(*numbered, ballast, times) for numbered in islice(_rounds(), number)]


def _rounds() -> Iterator[tuple[dict[str, Any], int]]:
    for number in count(1):
        for document in result_documents(number):
            yield document, number


def _heavy(
    document: dict[str, Any], number: int, ballast: dict[str, Any], times: list[str]
) -> dict[str, Any]:
    values = [None, *(minute * 1.37 + number for minute in range(1, POINTS))]  # a rate has no first value
    points = [{"timestamp": at, "value": value} for at, value in zip(times, values, strict=True)]
    measured = document["metrics"]["measurements"]
    document["metrics"]["measurements"] = [
        {**one, "name": f"{one['name']}{suffix}", "dataPoints": points}
        for suffix in ("", *(f"_{copy}" for copy in range(1, SERIES // len(measured))))
        for one in measured
    ]
    for moment in ("before_status", "after_status"):
        tiger = {**ballast["wiredTiger"], **document[moment]["wiredTiger"]}
        document[moment] = {**ballast, **document[moment], "wiredTiger": tiger}
    return {**document, "_id": {**document["_id"], "round": number}}
