"""Two loads that take turns within one window, in slices of some hundredths of a second, for fine comparisons.

Most disturbances of the machine last longer than a slice, so both loads share them. A pair is one slice of each;
which one comes first is random, each equally often. The method needs requests that are much shorter than a slice: a
request in flight when its slice ends counts with the part before that, and continues into the slice of the other
load.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SECONDS = 2.0
"""Seconds for which two loads take turns in a window, without warm-up."""
SHORTEST_MS = 1.0
"""The shortest slice in seconds: timers and connections take tenths of that."""
LONGEST_MS = 1000 * SECONDS / 2
"""The longest slice in seconds: both loads need one in a window."""
WARMING_SECONDS = 1.4
"""Seconds of turns before that for warm-up: each load has half of it, as much as a published window."""
LEAST_LEAD = 2
"""Pairs of slices that do not count: connections start in them."""
LONGEST_PART = 0.25
"""The longest request, as a share of a slice: longer ones are counted in part so often that only parts are compared."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The length of a slice in nanoseconds, the number of pairs, and the seed for which load is first in each.

    The first ``lead`` pairs are warm-up and do not count.
    """

    width: int
    pairs: int
    seed: str
    lead: int = 0

    def firsts(self) -> bytes:
        """Return the first load, 0 or 1, of each pair; of two adjacent pairs each load is first once."""
        draw = random.Random(f"{self.seed}/firsts")
        drawn = [draw.randrange(2) for _ in range((self.pairs + 1) // 2)]
        return bytes(one for first in drawn for one in (first, 1 - first))[: self.pairs]

    @property
    def length(self) -> int:
        """The length of all slices in nanoseconds."""
        return 2 * self.width * self.pairs

    @property
    def counted_from(self) -> int:
        """The start of the first slice that counts, in nanoseconds after the beginning."""
        return 2 * self.width * self.lead

    @property
    def counted(self) -> int:
        """The length of the slices that count, in nanoseconds."""
        return self.length - self.counted_from


def plan_slices(width: float, seed: str, *, warm: bool) -> Slices:
    """Return a window's slices of ``width`` seconds; with ``warm`` there are more turns before they count."""
    pairs = max(1, round(SECONDS / (2 * width)))
    lead = max(LEAST_LEAD, round(WARMING_SECONDS / (2 * width)) if warm else 0)
    return Slices(round(1e9 * width), lead + pairs, seed, lead)


def wait_for_turn(slices: Slices, firsts: bytes, load: int, since: int) -> int | None:
    """Return the nanoseconds until this load may send, 0 in its turn, or None when all slices are over.

    ``since`` is in nanoseconds from the beginning of the first slice.
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
    """Return the part of a request's time in slices of its own load; the request was sent in such a slice."""
    end = (sent // slices.width + 1) * slices.width
    while answered > end and wait_for_turn(slices, firsts, load, end) == 0:
        end += slices.width
    return 1.0 if answered <= end else (end - sent) / (answered - sent)
