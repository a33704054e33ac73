"""The load generator measures right: what `python -m benchmarks.measuring` promises of its windows holds."""

from __future__ import annotations

import pytest

from benchmarks.measuring import OF_WORK

ROUNDS = 5
"""A neighbour that takes the processor for a moment keeps the pretended server from its times, and the figures of such a
round say nothing of the load generator. What is measured wrongly is wrong in every round."""


EACH_NIGHT = (
    "stalls, a window of 2 s",
    "stalls, a window of 8 s",
    "batches of 1 MB",
    "batches of 12 MB",
    "500 a second",
    "work by amount",
)
"""Others of their kind are held to their promises for each commit."""
WORKS = [pytest.param(work, marks=pytest.mark.exhaustive) if work in EACH_NIGHT else work for work in OF_WORK]


@pytest.mark.alone
@pytest.mark.parametrize("work", WORKS)
def test_figures_are_those_of_the_server(work):
    assert any(all_hold(work) for _ in range(ROUNDS))


def all_hold(work):
    promises = list(OF_WORK[work]())
    print(*promises, sep="\n")  # shown where no round holds
    return all(one.holds for one in promises)
