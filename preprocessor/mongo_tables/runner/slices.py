"""Two loads that take turns within one window, in slices of some hundredths of a second, to compare two targets finely.

What the machine does lasts longer than a slice mostly, so it is in both. A pair is one slice of each; which of them is
the first is drawn, as often the one as the other. It needs requests that are much shorter than a slice: one that is
under way when its slice ends counts with the part before that, and runs on in the slice of the other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SECONDS = 2.0
"""How long two loads take turns in a window, beside what warms."""
SHORTEST_MS = 1.0
"""Of a slice: timers and connections take tenths of that."""
LONGEST_MS = 1000 * SECONDS / 2
"""Of a slice: both loads have one in a window."""
WARMING_SECONDS = 1.4
"""How long they do before, where they are warmed: each has a half of it, as much as a published window is warmed."""
LEAST_LEAD = 2
"""Pairs of slices that count for nothing: in them connections begin."""
LONGEST_PART = 0.25
"""Of a slice: longer requests are counted by part so often that their comparison is that of parts."""


@dataclass(frozen=True, slots=True)
class Slices:
    """How long a slice is, in nanoseconds, how many pairs there are, and the seed of which load is first in each.

    The first ``lead`` of the pairs warm, and count for nothing.
    """

    width: int
    pairs: int
    seed: str
    lead: int = 0

    def firsts(self) -> bytes:
        """The load that is first, 0 or 1, in each pair; of two pairs that follow one another each is it once."""
        draw = random.Random(f"{self.seed}/firsts")
        drawn = [draw.randrange(2) for _ in range((self.pairs + 1) // 2)]
        return bytes(one for first in drawn for one in (first, 1 - first))[: self.pairs]

    @property
    def length(self) -> int:
        """Nanoseconds of all slices."""
        return 2 * self.width * self.pairs

    @property
    def counted_from(self) -> int:
        """So many nanoseconds after the begin is the first slice that counts."""
        return 2 * self.width * self.lead

    @property
    def counted(self) -> int:
        """Nanoseconds of the slices that count."""
        return self.length - self.counted_from


def plan_slices(width: float, seed: str, *, warm: bool) -> Slices:
    """The slices of a window, of so many seconds each; with ``warm`` loads take turns longer before they count."""
    pairs = max(1, round(SECONDS / (2 * width)))
    lead = max(LEAST_LEAD, round(WARMING_SECONDS / (2 * width)) if warm else 0)
    return Slices(round(1e9 * width), lead + pairs, seed, lead)


def wait_for_turn(slices: Slices, firsts: bytes, load: int, since: int) -> int | None:
    """Nanoseconds until this load is to send, 0 where it is its turn; None when all slices are over.

    ``since`` are those from the begin of the first slice.
    """
    pair, within = divmod(since, 2 * slices.width)
    if pair >= slices.pairs:
        return None
    first = firsts[pair] == load
    if first == (within < slices.width):
        return 0
    if within < slices.width:
        return slices.width - within
    until_pair = 2 * slices.width - within
    if pair + 1 >= slices.pairs:
        return until_pair
    return until_pair if firsts[pair + 1] == load else until_pair + slices.width


def part_within(slices: Slices, firsts: bytes, load: int, sent: int, answered: int) -> float:
    """The part of a request's time that lies in slices of its own load, of one that was sent in such a slice."""
    end = (sent // slices.width + 1) * slices.width
    while answered > end and wait_for_turn(slices, firsts, load, end) == 0:
        end += slices.width
    return 1.0 if answered <= end else (end - sent) / (answered - sent)
