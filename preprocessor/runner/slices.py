"""Two loads that take turns within one window, in slices of some hundredths of a second, to compare two targets finely.

What the machine does lasts longer than a slice mostly, so it is in both. A pair is one slice of each; which of them is
the first is drawn, as often the one as the other. It needs requests that are much shorter than a slice: one that is
under way when its slice ends runs on in that of the other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

Counts = list[tuple[int, int]]
"""Operations of both loads in each pair."""
CHUNK = 5
"""So many pairs are put together before their ratio is taken: neighbours are alike, and a slice has few requests."""


@dataclass(frozen=True, slots=True)
class Slices:
    """How long a slice is, in nanoseconds, how many pairs there are, and the seed of which load is first in each."""

    width: int
    pairs: int
    seed: str

    def firsts(self) -> bytes:
        """The load that is first, 0 or 1, in each pair; of two pairs that follow one another each is it once."""
        draw = random.Random(f"{self.seed}/firsts")
        drawn = [draw.randrange(2) for _ in range((self.pairs + 1) // 2)]
        return bytes(one for first in drawn for one in (first, 1 - first))[: self.pairs]

    @property
    def length(self) -> int:
        """Nanoseconds of all slices."""
        return 2 * self.width * self.pairs


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


def chunk(counts: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The sums of both loads over ``CHUNK`` pairs each; what is left at the end is no chunk."""
    whole = len(counts) // CHUNK * CHUNK
    return [
        (sum(one for one, _ in some), sum(other for _, other in some))
        for some in (counts[first : first + CHUNK] for first in range(0, whole, CHUNK))
    ]
