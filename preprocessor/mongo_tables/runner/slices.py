"""Two loads that take turns within one window, in slices of some hundredths of a second, for fine comparisons.

Most disturbances of the machine last longer than a slice, so they affect both loads alike. A pair is one slice of each
load. Which load is first in a pair is random, and each load is first equally often. Requests must be much shorter than
a slice: a request in flight at the end of its slice counts with its part before the end, and continues into the slice
of the other load.

Windows in slices are judged like other windows: too many failed requests of a target are an error, and a window in
which other processes used the machine is measured again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mongo_tables.runner.blocks import (
    MOST_ATTEMPTS,
    Block,
    Turn,
    WindowKey,
    choose,
    count_disturbed,
    is_disturbed,
)
from mongo_tables.runner.driving import Failures

SECONDS = 2.0
"""Seconds for which two loads take turns in a window, without warm-up."""
WARMING_SECONDS = 1.4
"""Seconds of the warm-up before ``SECONDS``. Each load has half of this time, the length of a published window."""
LEAST_LEAD = 2
"""The minimum number of pairs that do not count, because connections start in them."""
LONGEST_PART = 0.25
"""The longest request, as a share of a slice. Of longer requests, too many would count only in part."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The slices of a window: the length of a slice in nanoseconds, and the number of pairs.

    ``seed`` determines the first load of each pair. The first ``lead`` pairs are a warm-up and do not count.
    """

    width: int
    pairs: int
    seed: str
    lead: int = 0

    def firsts(self) -> bytes:
        """Return the first load, 0 or 1, of each pair. In pairs 1 and 2, 3 and 4, …, each load is first once."""
        draw = random.Random(f"{self.seed}/firsts")
        drawn = [draw.randrange(2) for _ in range((self.pairs + 1) // 2)]
        return bytes(one for first in drawn for one in (first, 1 - first))[: self.pairs]

    @property
    def length(self) -> int:
        """The length of all slices in nanoseconds."""
        return 2 * self.width * self.pairs

    @property
    def counted_from(self) -> int:
        """The start of the first slice that counts, in nanoseconds after the first slice."""
        return 2 * self.width * self.lead

    @property
    def counted(self) -> int:
        """The length of the slices that count, in nanoseconds."""
        return self.length - self.counted_from


def plan_slices(width: float, seed: str, *, warm: bool) -> Slices:
    """Return the slices of a window, each of ``width`` seconds. With ``warm``, a longer warm-up comes first."""
    pairs = max(1, round(SECONDS / (2 * width)))
    lead = max(LEAST_LEAD, round(WARMING_SECONDS / (2 * width)) if warm else 0)
    return Slices(round(1e9 * width), lead + pairs, seed, lead)


class Turns:
    """The turns of one of the two loads. ``begin`` is the start of the first slice in nanoseconds (monotonic clock)."""

    def __init__(self, slices: Slices, load: int, begin: int = 0, firsts: bytes = b"") -> None:
        """``load`` is 0 or 1. ``firsts`` has the first load of each pair; if it is empty, the seed determines them."""
        self.begin = begin
        self._slices = slices
        self._load = load
        self._firsts = firsts or slices.firsts()

    def wait(self, now: int) -> int | None:
        """Return the nanoseconds until the load may send: 0 in its turn, None after the last slice."""
        width, firsts = self._slices.width, self._firsts
        pair, within = divmod(now - self.begin, 2 * width)
        if pair >= self._slices.pairs:
            return None
        if (firsts[pair] == self._load) == (within < width):
            return 0
        if within < width:
            return width - within
        until_pair = 2 * width - within
        if pair + 1 >= self._slices.pairs or firsts[pair + 1] == self._load:
            return until_pair
        return until_pair + width

    def part(self, sent: int, answered: int) -> float:
        """Return the share of a request's time that lies before the end of the turn in which it was sent."""
        width = self._slices.width
        end = self.begin + ((sent - self.begin) // width + 1) * width
        while answered > end and self.wait(end) == 0:
            end += width
        return 1.0 if answered <= end else (end - sent) / (answered - sent)

    def counts(self, sent: int) -> bool:
        """Return whether a request sent at the moment ``sent`` counts."""
        return sent - self.begin >= self._slices.counted_from


@dataclass(slots=True)
class SideStats:
    """The work of one load in its slices, without the warm-up.

    A request counts in ``operations`` with the share of its time in the load's turn. ``requests`` counts the answered
    requests; ``busy`` is their total time in nanoseconds. ``failures`` are the failed requests. ``gave_up`` is the
    reason why a connection ended early, or "".
    """

    operations: float = 0.0
    requests: int = 0
    busy: int = 0
    failures: Failures = field(default_factory=Failures)
    gave_up: str = ""


Sides = tuple[SideStats, SideStats]
WindowRow = Mapping[str, Any]


def compose(
    place: WindowKey, slices: Slices, sides: Sides, processors: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return a window as it is stored. Each list has the figure of the first target, then of the other target.

    ``processors`` has the number of busy processors, and how many of them other processes used. None means unknown.
    """
    return {
        "_id": str(place),
        "duration": round(slices.counted / 1e6),
        "slice_ms": slices.width / 1e6,
        "operations": [side.operations for side in sides],
        "mean_latency": [(side.busy / side.requests / 1000 if side.requests else None) for side in sides],
        "errors": [side.failures.counts() for side in sides],
        "processors": processors,
    }


def has_long_requests(window: WindowRow) -> bool:
    """Return whether the requests of a target were so long that too many of them count only in part."""
    return any(
        latency is not None and latency > 1000 * LONGEST_PART * window["slice_ms"]
        for latency in window["mean_latency"]
    )


def describe(window: WindowRow, names: tuple[str, str]) -> str:
    """Return one line with the result of a window and the reasons to doubt it. ``names`` are the targets' names."""
    said = [" and ".join(f"{operations:,.0f}" for operations in window["operations"]) + " operations"]
    for name, errors in zip(names, window["errors"], strict=True):
        if errors:
            said.append(f"{sum(errors.values())} errors of {name}")
    if has_long_requests(window):
        longest = max(filter(None, window["mean_latency"])) / 1000
        said.append(
            f"requests take {longest:.1f} ms, more than a quarter of a slice of {window['slice_ms']:g} ms: in longer "
            "slices (--slices), fewer of them would count in part"
        )
    return "; ".join(said)


class Counted(NamedTuple):
    """The attempt at a window that counts, its excess (see ``blocks.excesses``), and the number of attempts."""

    block: int
    window: WindowRow
    excess: float | None
    attempts: int


@dataclass(slots=True)
class SliceWindows:
    """The windows that a campaign measures in slices, with all attempts at each window."""

    attempts: dict[tuple[Turn, int], list[Block]] = field(default_factory=dict)
    """The attempts at each window. A key has the turn of the other target, and the number of the block."""

    def add(self, place: WindowKey, window: WindowRow) -> None:
        """Add a measured window."""
        self.attempts.setdefault((place.turn, place.block), []).append({place.turn: window})

    def counted(self) -> dict[Turn, list[Counted]]:
        """Return the windows of each turn. Of several attempts at a window, the least disturbed one counts."""
        found: dict[Turn, list[Counted]] = {}
        kept = choose(list(self.attempts.values()))
        for ((turn, block), some), (one, excess) in zip(self.attempts.items(), kept, strict=True):
            found.setdefault(turn, []).append(Counted(block, one[turn], excess, len(some)))
        return found

    def next_again(self) -> WindowKey | None:
        """Return the next window to repeat because other processes used the machine, or None."""
        for turn, windows in self.counted().items():
            for one in windows:
                if is_disturbed(one.excess) and one.attempts < MOST_ATTEMPTS:
                    return WindowKey(one.block, one.attempts, turn, slices=True)
        return None


def doubts(windows: Sequence[Counted]) -> dict[str, Any]:
    """Return reasons to doubt the windows of a variant on a target, as fields of a row."""
    latencies = [latency for one in windows for latency in one.window["mean_latency"] if latency is not None]
    return {
        "measured_again": sum(one.attempts - 1 for one in windows),
        "disturbed": count_disturbed([one.excess for one in windows]),
        "failed": sum(sum(errors.values()) for one in windows for errors in one.window["errors"]),
        "mean_latency": max(latencies, default=None),
        "long_requests": any(has_long_requests(one.window) for one in windows),
    }
