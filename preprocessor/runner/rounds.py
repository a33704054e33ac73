"""In which order the windows of an experiment are measured.

Machines drift: what is measured later is faster or slower for no reason of its own. Where all repeats of a variant
follow one another, their spread does not have that in it, and two variants that are alike look different. So
variants are measured in rounds, each once before any is measured again, wherever that costs nothing: among neighbours
that run on one deployment and that find the same data, or load theirs for every window anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from itertools import groupby
from typing import Any

from preprocessor.runner.experiment import Experiment
from preprocessor.runner.workingset import sized
from preprocessor.runner.workloads import workload

_SOME_CACHE = 2.0**30


def groups(scaled: Experiment, deployment: Callable[[int], Hashable]) -> list[list[int]]:
    """Numbers of the variants in their order; those in one list are measured in rounds.

    ``deployment`` gives for the number of a variant what it runs on. Raises ExperimentError where a variant cannot be
    loaded.
    """
    if workload(scaled.workload).TRAITS.goes_on:
        return [[number] for number in range(len(scaled.variants))]
    return _neighbours(scaled, deployment)


def to_measure(
    scaled: Experiment, deployment: Callable[[int], Hashable], missing: Collection[int]
) -> Collection[int]:
    """Numbers of the variants to measure where the rows of some are ``missing``.

    Where a window goes on from the one before, the missing ones need what all before them left: their neighbours are
    measured again. Raises as ``groups`` does.
    """
    if not workload(scaled.workload).TRAITS.goes_on:
        return missing
    return [
        number
        for group in _neighbours(scaled, deployment)
        for number in group
        if not set(missing).isdisjoint(group)
    ]


def _neighbours(scaled: Experiment, deployment: Callable[[int], Hashable]) -> list[list[int]]:
    numbers = range(len(scaled.variants))
    return [
        list(group)
        for _, group in groupby(numbers, lambda number: (deployment(number), _found(scaled, number)))
    ]


def _found(scaled: Experiment, number: int) -> Any:
    """What a window of the variant finds loaded when it comes after another; None when it loads its data itself."""
    kind = workload(scaled.workload)
    if not kind.TRAITS.keeps_data:
        return None
    # On one deployment, sizes that follow the cache are equal for any cache when they are for one.
    scaled = sized(scaled, number, lambda: _SOME_CACHE)
    return kind.preload({**scaled.parameters, **scaled.variants[number]})
