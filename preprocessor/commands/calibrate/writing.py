"""What a calibration would take, and what it found, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preprocessor.results.shares import share_of
from preprocessor.runner.calibration import Task, estimate_seconds

SHOWN = (0.03, 0.05, 0.1, 0.15, 0.2)
"""The slowdowns of which the power is printed; a document has all of them."""


def format_plan(tasks: Sequence[Task], blocks: int) -> Iterator[str]:
    """What would be measured, and how many minutes it takes."""
    total = 0.0
    for task in tasks:
        seconds = estimate_seconds(task, blocks)
        total += seconds
        yield (
            f"{task.experiment.name}: {_count(sum(task.pairs), 'pair')} in {_count(len(task.pairs), 'group')}, "
            f"each over {blocks} blocks of windows of {task.seconds:g} s, about {seconds / 60:.0f} minutes"
        )
    pairs = sum(sum(task.pairs) for task in tasks)
    yield f"all {pairs} pairs on a machine with two processors, loading included: about {total / 60:.0f} minutes"


def print_found(documents: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print what was found of each workload, and of all together."""
    if as_json:
        print(json.dumps({"calibration": documents}, indent=2, ensure_ascii=False, default=str))
    else:
        print("\n".join(format_found(documents)) or "no group of pairs is measured yet")


def format_found(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """In plain words: what was compared, how often it was called different, and how small a slowdown is called."""
    for document in documents:
        yield from _describe(document)
    if len(documents) > 1:
        pairs = sum(document["pairs"] for document in documents)
        yield f"all workloads: {pairs} pairs of equal things"
        for judged in ("together", "alone"):
            number = sum(document[judged]["number"] for document in documents)
            yield _say_false_alarms(judged, pairs, share_of(number, pairs)._asdict())


def _describe(found: Mapping[str, Any]) -> Iterator[str]:
    asked = f" (of {found['pairs_asked']})" if found["pairs"] < found["pairs_asked"] else ""
    pairs = f"{_count(found['pairs'], 'pair')}{asked} of equal things"
    windows = f"{found['blocks']} blocks of windows of {found['window_seconds']:g} s"
    yield f"{found['workload']}: {pairs}, each over {windows}, {found['client']['connections']} connections"
    for judged in ("together", "alone"):
        yield _say_false_alarms(judged, found["pairs"], found[judged])
    for judged in ("together", "alone"):
        yield _say_smallest(judged, found[f"smallest_{judged}"])
    shown = [row for row in found["power"] if row["slowdown"] in SHOWN]
    powers = (f"by {_percent(row['slowdown'])}: {_percent(row['together']['share'])}" for row in shown)
    yield f"  called slower, {_how('together')}, when slowed {', '.join(powers)}"
    if found["half_width"] is not None and found["spread"] is not None:
        yield (
            f"  an interval reaches {_percent(found['half_width'])} to each side (median); from block to block the "
            f"log ratio of two windows has a standard deviation of {found['spread']:.3f}"
        )


def _say_false_alarms(judged: str, pairs: int, share: Mapping[str, Any]) -> str:
    between = f"{_percent(share['low'])} to {_percent(share['high'])}"
    return (
        f"  called different though equal, {_how(judged)}: {share['number']} of {pairs}, "
        f"{_percent(share['share'])} (95 % interval {between})"
    )


def _say_smallest(judged: str, smallest: Mapping[str, float | None]) -> str:
    if smallest["slowdown"] is None:
        return f"  smallest slowdown that is called in 84 of 100, {_how(judged)}: none up to 25 %"
    low, high = (smallest[end] for end in ("low", "high"))
    between = f"{_percent(low or 0)} to {'more than 25 %' if high is None else _percent(high)}"
    return (
        f"  smallest slowdown that is called in 84 of 100, {_how(judged)}: {_percent(smallest['slowdown'])} "
        f"({between})"
    )


def _how(judged: str) -> str:
    return "judged as the rows of a page" if judged == "together" else "each judged by itself"


def _percent(part: float) -> str:
    return f"{100 * part:.1f}".removesuffix(".0") + " %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
