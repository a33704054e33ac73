"""The speed of each row from campaign to campaign, and where it changed.

A campaign is a point of the series of each row that it measured. A machine drifts from one to the next, so the ratio to
the reference, which was measured in the same blocks, can be asked for in place of the speed; but what makes everything
slower, the reference too, is seen in the speed alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import log
from statistics import median
from typing import Any, Final, NamedTuple

from mongo_tables.results.benchmarks import is_benchmark
from mongo_tables.results.changepoints import find_change_points
from mongo_tables.results.comparison import PER_SECOND, name_row
from mongo_tables.results.conclusions import block_speeds
from mongo_tables.results.conditions import list_other_work
from mongo_tables.results.intervals import Interval, interval_between, speed_interval
from mongo_tables.results.machines import describe_machine
from mongo_tables.results.verdicts import ITSELF

Row = Mapping[str, Any]
_HARNESS: Final = "mongo-tables "


class Point(NamedTuple):
    """What a campaign measured of a row: a speed in operations a second or a ratio, and its interval where it has one.

    Of a benchmark it is the value, in a ``unit`` of its own.

    ``program`` and ``server`` are the versions of the program and of the server that were measured with, ``machine`` is
    that of the servers. ``otherwise`` names the fields by which other work was asked for than in the newest campaign:
    such a point is not compared.
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


class Change(NamedTuple):
    """A point at another level than those before, back to the last change.

    ``ratio`` is that of the geometric mean from here on, up to the next change, to that before, with its interval.
    """

    point: Point
    ratio: Interval
    p: float


class Series(NamedTuple):
    """The points of a row, the oldest first, and where it changed."""

    name: str
    points: tuple[Point, ...]
    changes: tuple[Change, ...]


class _Measured(NamedTuple):
    """A point, and the row that it is read from."""

    point: Point
    row: Row


def list_series(rows: Iterable[Row], *, ratios: bool = False) -> list[Series]:
    """The series of each row over all campaigns that rows are of; of ``ratios`` to the reference, or of speeds.

    A campaign that is there twice counts once. Rows without a speed above 0, or a ratio, are left out.
    """
    found: dict[str, dict[str, _Measured]] = {}
    for row in rows:
        if (point := _read_point(row, ratios)) is not None:
            found.setdefault(name_row(row), {}).setdefault(point.campaign, _Measured(point, row))
    return [_find_changes(name, _compare_work(by_campaign.values())) for name, by_campaign in found.items()]


def _read_point(row: Row, ratios: bool) -> Point | None:
    value, low, high = _read_ratio(row) if ratios else _read_speed(row)
    if value is None or value <= 0:
        return None
    campaign = row.get("campaign") or {}
    versions = row.get("versions") or {}
    start = campaign.get("start") or row["start_time"]
    return Point(
        campaign=str(campaign.get("id") or f"{start:%Y-%m-%dT%H:%M:%SZ}"),
        start=start,
        value=value,
        low=low,
        high=high,
        program=str(versions.get("harness", "")).removeprefix(_HARNESS),
        server=str(versions.get("server", "")),
        machine=describe_machine(row),
        unit=row["unit"] if _is_read_by_value(row) else PER_SECOND,
    )


_Figures = tuple[float | None, float | None, float | None]


def _is_read_by_value(row: Row) -> bool:
    """Whether it is a benchmark without blocks, of which only its own figure is known."""
    return is_benchmark(row) and not block_speeds(row)


def _read_speed(row: Row) -> _Figures:
    """The median over blocks with its interval; of older rows that of the repeats, which have none, as benchmarks."""
    if _is_read_by_value(row):
        return row.get("value"), None, None
    blocks = list(block_speeds(row).values())
    if blocks and min(blocks) > 0:
        return speed_interval(blocks)
    speeds = [repeat["operations_per_second"] for repeat in row.get("repeats", ())]
    return (median(speeds) if speeds else None), None, None


def _read_ratio(row: Row) -> _Figures:
    told = row.get("comparison")
    if told is None or told["against"] == ITSELF or told["ratio"] is None:
        return None, None, None
    return told["ratio"], told["low"], told["high"]


def _compare_work(measured: Iterable[_Measured]) -> tuple[Point, ...]:
    """The points, the oldest first, each with what was asked otherwise in it than in the newest."""
    ordered = sorted(measured, key=lambda one: (one.point.start, one.point.campaign))
    newest = ordered[-1].row
    return tuple(
        point._replace(otherwise=tuple(field for field, _ in list_other_work(newest, row)))
        for point, row in ordered
    )


def _find_changes(name: str, points: tuple[Point, ...]) -> Series:
    alike = [one for one in points if not one.otherwise]
    places = find_change_points([log(one.value) for one in alike])
    bounds = [0, *(one.place for one in places), len(alike)]
    stretches = [alike[start:end] for start, end in pairwise(bounds)]
    changes = (
        Change(behind[0], _compare(before, behind), one.p)
        for one, (before, behind) in zip(places, pairwise(stretches), strict=True)
    )
    return Series(name, points, tuple(changes))


def _compare(before: Sequence[Point], behind: Sequence[Point]) -> Interval:
    return interval_between([one.value for one in before], [one.value for one in behind])
