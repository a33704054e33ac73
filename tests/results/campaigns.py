"""Campaigns whose truth is known: speeds of a variant and of its reference in blocks, as machines are known to give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, sqrt
from random import Random
from typing import Final, NamedTuple

NOISE: Final = 0.1
"""Standard deviation of the logarithm of a window's speed, as on two shared processors."""
DRIFT: Final = 0.4
"""By how much the logarithm of the machine's speed changes from the first block to the last."""
KEPT: Final = 0.8
"""How much of a block's state is still there in the next one."""


class Campaign(NamedTuple):
    """Speeds of both, one for each block."""

    speeds: list[float]
    references: list[float]


def normal(random: Random) -> float:
    return random.gauss(0, NOISE)


def heavy_tailed(random: Random) -> float:
    """Student's t with three degrees of freedom, of which some windows are many times as far off as the others."""
    return NOISE * random.gauss(0, 1) / sqrt(random.gammavariate(1.5, 2) / 3)


def steady(random: Random, blocks: int) -> Iterator[tuple[float, float]]:
    return ((0.0, 0.0) for _ in range(blocks))


def drifting(random: Random, blocks: int) -> Iterator[tuple[float, float]]:
    """A machine that slows down steadily; which of both is measured first is drawn in each block."""
    for block in range(blocks):
        turns = [-DRIFT * (block + part) / blocks for part in (0.0, 0.5)]
        random.shuffle(turns)
        yield turns[0], turns[1]


def autocorrelated(random: Random, blocks: int) -> Iterator[tuple[float, float]]:
    """A machine whose state both share within a block, and which hardly changes from block to block."""
    state = random.gauss(0, NOISE)
    for _ in range(blocks):
        yield state, state
        state = KEPT * state + sqrt(1 - KEPT**2) * random.gauss(0, NOISE)


KINDS: Final[dict[str, tuple[Callable, Callable]]] = {
    "normal": (normal, steady),
    "heavy-tailed": (heavy_tailed, steady),
    "drifting": (normal, drifting),
    "autocorrelated": (normal, autocorrelated),
}


def simulate(kind: str, blocks: int, ratio: float, random: Random) -> Campaign:
    """A campaign of a variant that is ``ratio`` times as fast as its reference."""
    noise, machine = KINDS[kind]
    states = list(machine(random, blocks))
    return Campaign(
        [1000 * ratio * exp(state + noise(random)) for state, _ in states],
        [1000 * exp(state + noise(random)) for _, state in states],
    )


def simulate_alike(kind: str, blocks: int, rows: int, random: Random) -> list[list[float]]:
    """The speeds of so many variants that do not differ, measured in the same blocks."""
    noise, machine = KINDS[kind]
    states = [state for state, _ in machine(random, blocks)]
    return [[1000 * exp(state + noise(random)) for state in states] for _ in range(rows)]
