"""Where a series of speeds changes its level: change points, found by seeded binary segmentation.

Stretches of the series are looked at: all of it, then ever shorter ones that overlap (S. Kovács et al., "Seeded binary
segmentation", *Biometrika* 110, 2023). In each the place is taken where Student's t between the values before and
behind it is largest. How probable so large a t is among all places where nothing changes is approximated as E. Gombay
and L. Horváth have it ("On the rate of approximations for maximum likelihood tests in change-point models", *Journal of
Multivariate Analysis* 56, 1996). The least probable is a change, then the least probable of the stretches without a
change in them, and so on. Each has to stand between its neighbours at the end.

Values that follow one another are alike on a machine that drifts, and a t over such values is too large. It is divided
by the root of (1 + r) / (1 - r), r being the correlation of neighbours. That comes from how far values lie apart from
the next and from the next but one, which changes of the level hardly touch (S. Chakar et al., "A robust approach for
estimating change-points in the mean of an AR(1) process", *Bernoulli* 23, 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, exp, fsum, log, pi, sqrt
from statistics import fmean, median
from typing import Final, NamedTuple

SIGNIFICANCE: Final = 0.001
"""How probable a change may be in a series that has none."""
LEAST: Final = 2
"""Values on each side of a change: one alone may be anything."""
_SHORTEST: Final = 2 * LEAST + 1
_SHORTER: Final = sqrt(0.5)
_MOST_ALIKE: Final = 0.95
_LEAST_BOUND: Final = 1.5
"""Below so many standard errors the approximation says nothing."""
_JUMP: Final = 3.5 / 0.6745
"""From so many medians, 3.5 standard deviations of noise, on a distance is a change of the level."""


class ChangePoint(NamedTuple):
    """The first value at another level, by its place, and the probability of such a change where there is none."""

    place: int
    p: float


class _Candidate(NamedTuple):
    p: float
    start: int
    end: int
    place: int


def find_change_points(values: Sequence[float], significance: float = SIGNIFICANCE) -> list[ChangePoint]:
    """The changes of a series, in order; of speeds give the logarithms, for which halves are as far as doubles."""
    if len(values) < _SHORTEST or min(values) == max(values):
        return []
    alike = sqrt(_correlate_neighbours(values))
    places: list[int] = []
    for one in sorted(_list_candidates(values, alike)):
        if one.p <= significance and not any(one.start < place < one.end for place in places):
            places.append(one.place)
    return _keep_standing(values, sorted(places), alike, significance)


def _list_candidates(values: Sequence[float], alike: float) -> Iterator[_Candidate]:
    """The likeliest change of each stretch; p is for all stretches of a length together, and for all lengths."""
    layers = list(_list_stretches(len(values)))
    for stretches in layers:
        for start, end in stretches:
            place, t = _find_largest_t(values[start:end])
            p = min(1.0, len(layers) * _chance(t / alike, end - start))
            yield _Candidate(p, start, end, start + place)


def _list_stretches(count: int) -> Iterator[list[tuple[int, int]]]:
    """From-to places of stretches, length by length; each is half of the next but one, and they overlap by half."""
    layer, length = 0, float(count)
    while length >= _SHORTEST:
        number = 2 * ceil(_SHORTER**-layer) - 1
        step = (count - length) / (number - 1) if number > 1 else 0.0
        starts = [one * step for one in range(number)]
        yield sorted({(int(start), min(count, ceil(start + length))) for start in starts})
        layer, length = layer + 1, length * _SHORTER


def _find_largest_t(values: Sequence[float]) -> tuple[int, float]:
    """The place with the largest t between what is before and what is from there on, and that t."""
    count, mean = len(values), fmean(values)
    squares = fsum((one - mean) ** 2 for one in values)
    largest, place, total = 0.0, LEAST, values[0] - mean
    for number in range(LEAST, count - LEAST + 1):
        total += values[number - 1] - mean
        # The part of the squares that the change explains; t grows with it.
        explained = total * total * count / (number * (count - number))
        if explained > largest:
            largest, place = explained, number
    unexplained = max(squares - largest, squares * 1e-15)
    return place, sqrt(largest * (count - 2) / unexplained) if unexplained else 0.0


def _keep_standing(
    values: Sequence[float], places: list[int], alike: float, significance: float
) -> list[ChangePoint]:
    """The changes that stand between their neighbours, without the least probable to be one, one after the other."""
    while places:
        bounds = [0, *places, len(values)]
        sides = pairwise([values[start:end] for start, end in pairwise(bounds)])
        found = [
            ChangePoint(place, _chance(_t_between(before, behind) / alike, len(before) + len(behind)))
            for place, (before, behind) in zip(places, sides, strict=True)
        ]
        weakest = max(found, key=lambda one: one.p)
        if weakest.p <= significance:
            return found
        places.remove(weakest.place)
    return []


def _t_between(before: Sequence[float], behind: Sequence[float]) -> float:
    """Student's t between two parts, with one variance for both."""
    means = (fmean(before), fmean(behind))
    count = len(before) + len(behind)
    rest = fsum((one - mean) ** 2 for side, mean in zip((before, behind), means, strict=True) for one in side)
    explained = (means[1] - means[0]) ** 2 * len(before) * len(behind) / count
    return sqrt(explained * (count - 2) / max(rest, (rest + explained) * 1e-15))


def _correlate_neighbours(values: Sequence[float]) -> float:
    """How many times the variance of a mean is that of as many values that have nothing to do with each other."""
    next_one = _spread([abs(other - one) for one, other in pairwise(values)])
    next_but_one = _spread([abs(values[number] - values[number - 2]) for number in range(2, len(values))])
    # Less what it may be by chance: of few values it would often be much.
    alike = next_but_one / next_one - 1 - 2 / sqrt(len(values)) if next_one else 0.0
    alike = min(_MOST_ALIKE, max(0.0, alike))
    return (1 + alike) / (1 - alike)


def _spread(distances: Sequence[float]) -> float:
    """The mean square of distances, without those that are changes of the level."""
    most = _JUMP * median(distances)
    return fmean(one * one for one in distances if one <= most)


def _chance(t: float, count: int) -> float:
    """The probability that the largest t of all places of so many values is as large, where nothing changes."""
    if t < _LEAST_BOUND:
        return 1.0  # The bound below is never larger.
    from scipy.special import ndtri, stdtr

    bound = -float(ndtri(max(float(stdtr(count - 2, -t)), 1e-300)))
    if bound < _LEAST_BOUND:
        return 1.0
    edge = min(0.25, log(count) ** 1.5 / count)
    places = 2 * log((1 - edge) / edge)
    return min(1.0, bound * exp(-bound * bound / 2) / sqrt(2 * pi) * (places + 4 / bound**2))
