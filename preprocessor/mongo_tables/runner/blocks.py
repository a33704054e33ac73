"""The order of the windows of an experiment: blocks, each of which contains every variant.

Machines drift: a later measurement may be faster or slower for no reason of its own. Within a block the drift is
small, so variants are compared within their block; and since each block has another order, no variant is always the
first. The reference, with which the others are compared, is measured twice in each block: the difference between its
two measurements is the noise between measurements of the same thing.

Windows of updates vary far more than those of other work: about twice as much as reads, on two shared processors.
There a block runs its order forwards and backwards, so that each measurement has two windows, and a linear drift
through the block affects all variants equally; the new random order of each block averages out the rest.

If a window continues from the state that the previous one left, the order is significant, and every block has the
order of the file.
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
"""With fewer blocks there is no meaningful interval, so the reference is not measured twice.

Nor can so few blocks show whether a foreign process disturbed one."""
FOREIGN_CORES = 0.2
"""A window with this many processors more in use than the quietest window of the same work is disturbed."""
SHORTEST_SECONDS = 0.5
"""In a shorter window processor time is not judged: systems count it in hundredths of a second."""
MOST_ATTEMPTS = 3
"""Attempts for a block before a disturbed one is accepted."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One window of a block: the numbers of its target and its variant.

    ``again`` marks the second measurement of the reference, ``back`` the way back through the block.
    """

    target: int
    variant: int
    again: bool = False
    back: bool = False


def measures_twice(kind: Workload, blocks: int) -> bool:
    """Return whether the reference is measured twice: with enough blocks for an interval, and a random order."""
    return blocks >= LEAST_FOR_INTERVAL and not kind.goes_on


def goes_back(kind: Workload, blocks: int, *, compares: bool) -> bool:
    """Return whether blocks run forwards and backwards: for comparisons of work whose windows vary much."""
    return kind.and_back and compares and measures_twice(kind, blocks)


Block = Mapping[Turn, Mapping[str, Any]]
"""The rows of the windows of a block, of one repeat each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a block consists of: the variants of each target, shuffled or in the order of the file.

    With ``and_back`` the shuffled order is repeated backwards.
    """

    variants: Sequence[Sequence[int]]
    reference: int
    twice: bool
    shuffled: bool
    seed: str
    and_back: bool = False
    compares: bool = True
    """Whether speeds carry information: work at a given rate always has that rate."""
    contrasts: Mapping[int, int] = field(default_factory=dict)
    """Variants that are also compared with a variant other than the reference."""

    def turns(self, block: int) -> list[Turn]:
        """Return the windows of a block in order. Those of one variant on several targets are adjacent."""
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
    """Return the processors in foreign use in each attempt of each block, from its worst measurement.

    The processor time that neither servers nor client used is compared with the least such time in any measurement of
    the same work, since a part of it is the system's share in the work. None if it is unknown for a window. Speeds
    are not considered, so that the choice does not bias them.
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
    """The attempt of a block that counts, and its processors in foreign use."""

    block: Block
    excess: float | None


def choose(attempts: Sequence[Sequence[Block]]) -> list[Kept]:
    """Choose, for each block, the attempt with the least foreign use of the machine."""
    return [
        min(map(Kept, some, found), key=lambda one: one.excess or 0.0)
        for some, found in zip(attempts, excesses(attempts), strict=True)
    ]


def is_disturbed(excess: float | None) -> bool:
    """Return whether foreign use of the machine makes the windows unreliable."""
    return excess is not None and excess > FOREIGN_CORES


def count_disturbed(found: Sequence[float | None]) -> int | None:
    """Return the number of disturbed blocks among these excesses, or None if it is unknown.

    It is unknown for few blocks: an excess is relative to the least one, so that of a single block is always 0.
    """
    known = len(found) >= LEAST_FOR_INTERVAL and any(excess is not None for excess in found)
    return sum(map(is_disturbed, found)) if known else None


def _shares(block: Block) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield each measurement's work and foreign use; of two windows, forwards and backwards, the mean."""
    found: dict[Turn, list[float]] = {}
    for turn, row in block.items():
        for share in _used_by_others(row):
            found.setdefault(replace(turn, back=False), []).append(share)
    yield from (((turn.target, turn.variant), fmean(shares)) for turn, shares in found.items())


def _used_by_others(window: Mapping[str, Any]) -> Iterator[float]:
    """Yield the busy processors that belong to neither servers nor client, if known and meaningful."""
    processors = window.get("processors")
    if processors and int(window["duration"]) >= 1000 * SHORTEST_SECONDS:
        yield processors["other"]
