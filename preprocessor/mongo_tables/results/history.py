"""The speed of each row over campaigns, and its changes.

Each campaign is one point in the series of every row that it measured. A machine drifts between campaigns. Therefore, a
series can show the ratio to the reference, which was measured in the same blocks, instead of the speed. But only the
speed shows a slowdown that also affects the reference.

Changes of the level are found by seeded binary segmentation (S. Kovács et al., "Seeded binary segmentation",
*Biometrika* 110, 2023). The search examines the whole series, then ever shorter stretches that overlap. The candidate
of a stretch is the place with the largest Student's t between the values before and after it. The probability that a
series without a change has such a t at any place is approximated after E. Gombay and L. Horváth ("On the rate of
approximations for maximum likelihood tests in change-point models", *Journal of Multivariate Analysis* 56, 1996). The
least probable candidate is a change. The next change is the least probable candidate of the stretches without a change,
and so on. At the end, each change must be significant between its neighbours.

On a machine that drifts, consecutive values are correlated, and their t is too large. It is divided by the root of (1 +
r) / (1 - r), where r is the correlation of neighbours. This correlation is estimated from the distances of each value
to the next and to the next but one, which changes of the level hardly affect (S. Chakar et al., "A robust approach for
estimating change-points in the mean of an AR(1) process", *Bernoulli* 23, 2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import ceil, exp, fsum, log, pi, sqrt
from statistics import fmean, median
from typing import Any, Final, NamedTuple

from mongo_tables.results.comparison import PER_SECOND, Side, name_row, side_of_row
from mongo_tables.results.conditions import describe_machine, list_other_series
from mongo_tables.results.intervals import Interval, interval_between
from mongo_tables.results.verdicts import ITSELF

Row = Mapping[str, Any]
_HARNESS: Final = "mongo-tables "


class HistoryPoint(NamedTuple):
    """The measurement of a row in one campaign: a speed in operations per second or a ratio, with an optional interval.

    Attributes:
        value: The speed or the ratio. For a benchmark, it is in the benchmark's own ``unit``.
        program: The version of the measuring program.
        server: The version of the server.
        machine: A description of the servers' machine.
        otherwise: The names of fields that differ from the newest campaign: of the requested work, the processor and
            the cache. Points with such fields are not searched for changes.
    """

    campaign: str
    start: datetime
    value: float
    low: float | None
    high: float | None
    program: str
    server: str
    machine: str = ""
    otherwise: tuple[str, ...] = ()
    unit: str = PER_SECOND


class LevelChange(NamedTuple):
    """The first point at another level than the points before it.

    ``ratio`` is the level from this point to the next change, divided by the level before. A level is a geometric mean.
    """

    point: HistoryPoint
    ratio: Interval
    p: float


class HistorySeries(NamedTuple):
    """The points of a row, the oldest first, and its changes."""

    name: str
    points: tuple[HistoryPoint, ...]
    changes: tuple[LevelChange, ...]


def list_series(rows: Iterable[Row], *, ratios: bool = False) -> list[HistorySeries]:
    """Return the series of each row over all campaigns: speeds or, with ``ratios``, ratios to the reference.

    A repeated campaign counts once. Rows without a speed above 0, or without a ratio, are omitted.
    """
    found: dict[str, dict[str, tuple[HistoryPoint, Row]]] = {}
    for row in rows:
        if (point := _read_point(row, ratios)) is not None:
            found.setdefault(name_row(row), {}).setdefault(point.campaign, (point, row))
    series = []
    for name, by_campaign in found.items():
        measured = sorted(by_campaign.values(), key=lambda one: (one[0].start, one[0].campaign))
        newest = measured[-1][1]
        points = (
            point._replace(otherwise=tuple(field for field, _ in list_other_series(newest, row)))
            for point, row in measured
        )
        series.append(_find_changes(name, tuple(points)))
    return series


def _read_point(row: Row, ratios: bool) -> HistoryPoint | None:
    if ratios:
        told = row.get("comparison")
        if told is None or told["against"] == ITSELF:
            return None
        side = Side(told["ratio"], told["low"], told["high"])
    else:
        side = side_of_row(row)
    if side.speed is None or side.speed <= 0:
        return None
    campaign = row.get("campaign") or {}
    versions = row.get("versions") or {}
    start = campaign.get("start") or row["start_time"]
    return HistoryPoint(
        campaign=str(campaign.get("id") or f"{start:%Y-%m-%dT%H:%M:%SZ}"),
        start=start,
        value=side.speed,
        low=side.low,
        high=side.high,
        program=str(versions.get("harness", "")).removeprefix(_HARNESS),
        server=str(versions.get("server", "")),
        machine=describe_machine(row),
        unit=side.unit,
    )


def _find_changes(name: str, points: tuple[HistoryPoint, ...]) -> HistorySeries:
    alike = [one for one in points if not one.otherwise]
    places = find_change_points([log(one.value) for one in alike])
    bounds = [0, *(one.place for one in places), len(alike)]
    stretches = [alike[start:end] for start, end in pairwise(bounds)]
    changes = (
        LevelChange(
            behind[0],
            interval_between([each.value for each in before], [each.value for each in behind]),
            one.p,
        )
        for one, (before, behind) in zip(places, pairwise(stretches), strict=True)
    )
    return HistorySeries(name, points, tuple(changes))


SIGNIFICANCE: Final = 0.001
"""The largest probability with which a change may be reported in a series that has none."""
LEAST: Final = 2
"""The least number of values on each side of a change, because a single value may be an outlier."""
_SHORTEST: Final = 2 * LEAST + 1
_SHORTER: Final = sqrt(0.5)
_MOST_ALIKE: Final = 0.95
_LEAST_BOUND: Final = 1.5
"""With fewer standard errors, the approximation is invalid."""
_JUMP: Final = 3.5 / 0.6745
"""The multiple of the median distance above which a distance is a change of the level, not noise.

For normal noise, it is 3.5 standard deviations.
"""


class ChangePoint(NamedTuple):
    """The index of the first value at another level, and the probability of such a change in an unchanged series."""

    place: int
    p: float


def find_change_points(values: Sequence[float], significance: float = SIGNIFICANCE) -> list[ChangePoint]:
    """Return the changes of a series, in order. For speeds, pass their logarithms.

    Example:
        >>> [one.place for one in find_change_points([1.0, 1.01, 0.99, 1.0, 1.02, 1.5, 1.51, 1.49, 1.5, 1.52])]
        [5]
    """
    if len(values) < _SHORTEST or min(values) == max(values):
        return []
    alike = sqrt(_correlate_neighbours(values))
    places: list[int] = []
    for p, start, end, likeliest in sorted(_list_candidates(values, alike)):
        if p <= significance and not any(start < place < end for place in places):
            places.append(likeliest)
    return _keep_standing(values, sorted(places), alike, significance)


def _list_candidates(values: Sequence[float], alike: float) -> Iterator[tuple[float, int, int, int]]:
    """Yield the most likely change of each stretch: its p-value, start and end of the stretch, and its place.

    The p-value takes into account that all stretches of a length, and all lengths, are searched.
    """
    layers = list(_list_stretches(len(values)))
    for stretches in layers:
        for start, end in stretches:
            place, t = _find_largest_t(values[start:end])
            p = min(1.0, len(layers) * _chance(t / alike, end - start))
            yield p, start, end, start + place


def _list_stretches(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the start and end indices of all stretches of one length, then of the next shorter length, and so on.

    Each length is the previous length times the root of 1/2. Stretches of one length overlap by half.
    """
    layer, length = 0, float(count)
    while length >= _SHORTEST:
        number = 2 * ceil(_SHORTER**-layer) - 1
        step = (count - length) / (number - 1) if number > 1 else 0.0
        starts = [one * step for one in range(number)]
        yield sorted({(int(start), min(count, ceil(start + length))) for start in starts})
        layer, length = layer + 1, length * _SHORTER


def _find_largest_t(values: Sequence[float]) -> tuple[int, float]:
    """Return the place at which t between the values before it and all later values is largest, and this t."""
    count, mean = len(values), fmean(values)
    squares = fsum((one - mean) ** 2 for one in values)
    largest, place, total = 0.0, LEAST, values[0] - mean
    for number in range(LEAST, count - LEAST + 1):
        total += values[number - 1] - mean
        # The part of the sum of squares that the change explains. It grows with t.
        explained = total * total * count / (number * (count - number))
        if explained > largest:
            largest, place = explained, number
    unexplained = max(squares - largest, squares * 1e-15)
    return place, sqrt(largest * (count - 2) / unexplained) if unexplained else 0.0


def _keep_standing(
    values: Sequence[float], places: list[int], alike: float, significance: float
) -> list[ChangePoint]:
    """Return the changes that are significant between their neighbours.

    The least significant change is removed first. Then all other changes are tested again.
    """
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
    """Return Student's t between two parts with a common variance."""
    means = (fmean(before), fmean(behind))
    count = len(before) + len(behind)
    rest = fsum((one - mean) ** 2 for side, mean in zip((before, behind), means, strict=True) for one in side)
    explained = (means[1] - means[0]) ** 2 * len(before) * len(behind) / count
    return sqrt(explained * (count - 2) / max(rest, (rest + explained) * 1e-15))


def _correlate_neighbours(values: Sequence[float]) -> float:
    """Return the factor by which the correlation of neighbours increases the variance of a mean."""
    next_one = _spread([abs(other - one) for one, other in pairwise(values)])
    next_but_one = _spread([abs(values[number] - values[number - 2]) for number in range(2, len(values))])
    # Subtract the expected error, which is large for few values.
    alike = next_but_one / next_one - 1 - 2 / sqrt(len(values)) if next_one else 0.0
    alike = min(_MOST_ALIKE, max(0.0, alike))
    return (1 + alike) / (1 - alike)


def _spread(distances: Sequence[float]) -> float:
    """Return the mean square of distances, without distances that are changes of the level."""
    most = _JUMP * median(distances)
    return fmean(one * one for one in distances if one <= most)


def _chance(t: float, count: int) -> float:
    """Return the probability that ``count`` values without a change have a t of this size at any place."""
    if t < _LEAST_BOUND:
        return 1.0  # The largest possible bound.
    from scipy.special import ndtri, stdtr

    bound = -float(ndtri(max(float(stdtr(count - 2, -t)), 1e-300)))
    if bound < _LEAST_BOUND:
        return 1.0
    edge = min(0.25, log(count) ** 1.5 / count)
    places = 2 * log((1 - edge) / edge)
    return min(1.0, bound * exp(-bound * bound / 2) / sqrt(2 * pi) * (places + 4 / bound**2))
