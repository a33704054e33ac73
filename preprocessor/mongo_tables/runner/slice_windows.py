"""Windows in which two targets take turns in slices: the stored form, and the attempt that counts.

They are judged like other windows: a target with too many failed requests has no speed, and a window with foreign use
of the machine is measured again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mongo_tables.runner.alternation import Sides
from mongo_tables.runner.blocks import MOST_ATTEMPTS, Block, Turn, choose, count_disturbed, is_disturbed
from mongo_tables.runner.journal import SlicesPlace
from mongo_tables.runner.slices import LONGEST_PART, Slices

WindowRow = Mapping[str, Any]


class Which(NamedTuple):
    """What takes turns with the first target: a variant on a target, which may be the first one itself."""

    target: int
    variant: int


def compose(
    place: SlicesPlace, slices: Slices, sides: Sides, processors: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return the stored form of a window: of the first target and of the other one, in this order.

    ``processors`` are the busy ones, and the part of foreign processes; None if unknown.
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
    """Return whether requests of either were so long that too many are counted in part."""
    return any(
        latency is not None and latency > 1000 * LONGEST_PART * window["slice_ms"]
        for latency in window["mean_latency"]
    )


def describe(window: WindowRow, names: tuple[str, str]) -> str:
    """Return the result of a window and its doubts in one line; ``names`` are those of the targets."""
    said = [" and ".join(f"{operations:,.0f}" for operations in window["operations"]) + " operations"]
    for name, errors in zip(names, window["errors"], strict=True):
        if errors:
            said.append(f"{sum(errors.values())} errors of {name}")
    if has_long_requests(window):
        longest = max(filter(None, window["mean_latency"])) / 1000
        said.append(
            f"requests take {longest:.1f} ms, more than a quarter of a slice of {window['slice_ms']:g} ms: longer "
            "slices (--slices) would compare more than parts of them"
        )
    return "; ".join(said)


class Counted(NamedTuple):
    """The attempt of a window that counts, its processors in foreign use, and the number of attempts."""

    block: int
    window: WindowRow
    excess: float | None
    attempts: int


@dataclass(slots=True)
class SliceWindows:
    """The windows in slices of a campaign, with all attempts of each."""

    attempts: dict[tuple[Which, int], list[Block]] = field(default_factory=dict)
    """Also keyed by block: for disturbances of the machine, each window is a block of its own."""

    def add(self, place: SlicesPlace, window: WindowRow) -> None:
        """Add a measured window."""
        which = Which(place.targets[1], place.variant)
        self.attempts.setdefault((which, place.block), []).append({Turn(*which): window})

    def counted(self) -> dict[Which, list[Counted]]:
        """Return, for each window, the attempt with the least foreign use of the machine."""
        found: dict[Which, list[Counted]] = {}
        kept = choose(list(self.attempts.values()))
        for ((which, block), some), (one, excess) in zip(self.attempts.items(), kept, strict=True):
            found.setdefault(which, []).append(Counted(block, one[Turn(*which)], excess, len(some)))
        return found

    def next_again(self) -> SlicesPlace | None:
        """Return the next window to repeat because of foreign use of the machine, or None."""
        for which, windows in self.counted().items():
            for one in windows:
                if is_disturbed(one.excess) and one.attempts < MOST_ATTEMPTS:
                    return SlicesPlace(one.block, (0, which.target), which.variant, one.attempts)
        return None


def doubts(windows: Sequence[Counted]) -> dict[str, Any]:
    """Return the doubts about the windows of one variant on one target, in the form of a row."""
    latencies = [latency for one in windows for latency in one.window["mean_latency"] if latency is not None]
    return {
        "measured_again": sum(one.attempts - 1 for one in windows),
        "disturbed": count_disturbed([one.excess for one in windows]),
        "failed": sum(sum(errors.values()) for one in windows for errors in one.window["errors"]),
        "mean_latency": max(latencies, default=None),
        "long_requests": any(has_long_requests(one.window) for one in windows),
    }
