"""In which order the windows of an experiment are measured: in blocks, each of which has every variant.

Machines drift: what is measured later is faster or slower for no reason of its own. Within a block that is little, so
variants are compared within their block; and since each block has another order, no variant is always the first. The
reference, with which the others are compared, is measured twice in each: what its two measurements differ by is what
measurements of one and the same thing differ by.

Windows of updates differ by far more than those of other work: about twice as much as reads, on two shared processors.
There a block goes through its order and back, so that each measurement has two windows, and an even drift through the
block falls on all variants alike; the order drawn anew evens out the rest over blocks.

Where a window goes on from what the one before left, the order means something, and every block has that of the file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.results.intervals import LEAST_BLOCKS

if TYPE_CHECKING:
    from mongo_tables.runner.workloads import Workload

LEAST_FOR_INTERVAL = LEAST_BLOCKS
"""With fewer blocks no interval means anything, so the reference is not measured twice.

Nor does anybody see by so few whether something else disturbed one.
"""
FOREIGN_CORES = 0.2
"""So many processors more than ever before with the same work, and a window is one that something else disturbed."""
SHORTEST_SECONDS = 0.5
"""In a shorter window it is not counted: systems count processor time in hundredths of a second."""
MOST_ATTEMPTS = 3
"""So often a block is measured before it is taken as it is."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One window of a block: of which target and which variant, both by number.

    ``again`` is that of the second measurement that the reference has. ``back`` is on the way back through the block.
    """

    target: int
    variant: int
    again: bool = False
    back: bool = False


def measures_twice(kind: Workload, blocks: int) -> bool:
    """Whether so many blocks have the reference twice: there are enough for an interval, and the order is drawn."""
    return blocks >= LEAST_FOR_INTERVAL and not kind.goes_on


def goes_back(kind: Workload, blocks: int, *, compares: bool) -> bool:
    """Whether so many blocks go through their order and back: where windows are compared that differ by much."""
    return kind.and_back and compares and measures_twice(kind, blocks)


Block = Mapping[Turn, Mapping[str, Any]]
"""The rows of the windows of a block, of one repeat each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a block is made of: the variants of each target; in the order of the file where they are not shuffled.

    With ``and_back`` the shuffled order is gone through once more from its end.
    """

    variants: Sequence[Sequence[int]]
    reference: int
    twice: bool
    shuffled: bool
    seed: str
    and_back: bool = False
    compares: bool = True
    """Whether speeds say something: those of work at a given rate are that rate."""
    contrasts: Mapping[int, int] = field(default_factory=dict)
    """Variants that are compared with another one than the reference too."""

    def turns(self, block: int) -> list[Turn]:
        """The windows of a block in their order. Those of one variant on several targets follow one another."""
        draw = random.Random(f"{self.seed}/{block}/order")
        if not self.shuffled:
            targets = draw.sample(range(len(self.variants)), len(self.variants))
            return [Turn(target, number) for target in targets for number in self.variants[target]]
        numbers = sorted({number for mine in self.variants for number in mine})
        drawn = [*numbers, *([self.reference] if self.twice else [])]
        draw.shuffle(drawn)
        there = [
            turn
            for place, number in enumerate(drawn)
            for turn in self._side_by_side(number, number in drawn[:place], draw)
        ]
        return [*there, *(replace(turn, back=True) for turn in reversed(there) if self.and_back)]

    def _side_by_side(self, number: int, again: bool, draw: random.Random) -> Iterator[Turn]:
        targets = [target for target, mine in enumerate(self.variants) if number in mine]
        draw.shuffle(targets)
        return (Turn(target, number, again) for target in targets)


def excesses(attempts: Sequence[Sequence[Block]]) -> list[list[float | None]]:
    """How many processors something else used in each attempt of each block, in the measurement where they were most.

    What neither servers nor client used is compared with the least of it in any measurement of the same work: some of
    it is the system's part in the work. None where that is not known of any window. Nobody looks at speeds here.
    """
    shares = [[list(_shares(block)) for block in some] for some in attempts]
    least: dict[tuple[int, int], float] = {}
    for work, share in chain.from_iterable(chain.from_iterable(shares)):
        least[work] = min(share, least.get(work, share))
    return [
        [max((share - least[work] for work, share in block), default=None) for block in some]
        for some in shares
    ]


class Kept(NamedTuple):
    """The attempt of a block that counts, and how many processors something else used in it."""

    block: Block
    excess: float | None


def choose(attempts: Sequence[Sequence[Block]]) -> list[Kept]:
    """Of each block the attempt in which something else used the machine least."""
    return [
        min(map(Kept, some, found), key=lambda one: one.excess or 0.0)
        for some, found in zip(attempts, excesses(attempts), strict=True)
    ]


def is_disturbed(excess: float | None) -> bool:
    """Whether something else used so much that the windows are not to be trusted."""
    return excess is not None and excess > FOREIGN_CORES


def count_disturbed(found: Sequence[float | None]) -> int | None:
    """How many of the blocks with these excesses are disturbed; None where that is not known.

    Of few blocks it is not: an excess is that over the least of them, so of one alone it is 0, whatever else ran.
    """
    known = len(found) >= LEAST_FOR_INTERVAL and any(excess is not None for excess in found)
    return sum(map(is_disturbed, found)) if known else None


def _shares(block: Block) -> Iterator[tuple[tuple[int, int], float]]:
    """What others used in each measurement, with its work: of two windows, there and back, the mean."""
    found: dict[Turn, list[float]] = {}
    for turn, row in block.items():
        for share in _used_by_others(row):
            found.setdefault(replace(turn, back=False), []).append(share)
    yield from (((turn.target, turn.variant), fmean(shares)) for turn, shares in found.items())


def _used_by_others(window: Mapping[str, Any]) -> Iterator[float]:
    """Busy processors that were neither the servers' nor the client's, where that is known and means something."""
    processors = window.get("processors")
    if processors and int(window["duration"]) >= 1000 * SHORTEST_SECONDS:
        yield processors["other"]
