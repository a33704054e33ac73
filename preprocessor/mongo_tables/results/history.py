"""The speed of each row over campaigns, and its changes.

Each campaign is one point in the series of every row that it measured. A machine drifts between campaigns, so a series
can show the ratio to the reference, which was measured in the same blocks, in place of the speed. But only the speed
shows a slowdown that also affects the reference.

Changes of the level are change points, found by seeded binary segmentation.

The search examines stretches of the series: the whole series, then ever shorter ones that overlap (S. Kovács et al.,
"Seeded binary segmentation", *Biometrika* 110, 2023). The candidate of a stretch is the place with the largest
Student's t between the values before and after it. The probability of so large a t among all places of an unchanged
series is approximated after E. Gombay and L. Horváth ("On the rate of approximations for maximum likelihood tests in
change-point models", *Journal of Multivariate Analysis* 56, 1996). The least probable candidate is a change, then the
least probable one of the stretches without a change, and so on. At the end, each change must be significant between its
neighbours.

On a machine that drifts, consecutive values are correlated, and a t over such values is too large. It is divided by the
root of (1 + r) / (1 - r), where r is the correlation of neighbours. It is estimated from the distances of each value to
the next and to the next but one, which changes of the level hardly affect (S. Chakar et al., "A robust approach for
estimating change-points in the mean of an AR(1) process", *Bernoulli* 23, 2017).

Fixtures at a revision of a Git repository: ``HEAD~3:fixtures``.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from math import ceil, exp, fsum, log, pi, sqrt
from pathlib import Path, PurePosixPath
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.comparison import PER_SECOND, Side, name_row, side_of_row
from mongo_tables.results.conditions import describe_machine, list_other_series
from mongo_tables.results.intervals import Interval, interval_between
from mongo_tables.results.verdicts import ITSELF

# An @ in the path could be that of USER:PASSWORD@HOST, a URI that lacks its scheme.
_REVISION = re.compile(r"(?P<revision>[^:]+):(?P<path>[^:@]+)")
_URI = re.compile(r"mongodb(\+srv)?[:/]|.*://", re.IGNORECASE)
_NAME = re.compile(r"\w[\w./~^@{}-]*")
NO_GIT: Final = 127
"""The exit status of a shell for a command that it does not find."""
_EXAMPLE = "name a revision and a path from here: HEAD~1:fixtures"


def is_revision(where: str) -> bool:
    """Return whether ``where`` names a path at a revision: it has a colon, and no such file exists.

    A URI is never a revision, even if mistyped: Git's error message would show the password.
    """
    named = _REVISION.fullmatch(where) is not None and _URI.match(where) is None
    return named and not Path(where).exists()


def names_commit(name: str) -> bool:
    """Return whether Git knows a revision of this name, and no such file exists."""
    if not _NAME.fullmatch(name) or Path(name).exists():
        return False
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return run_git(*asked).returncode == 0


@contextmanager
def on_disk(where: str) -> Iterator[str]:
    """Provide a results source for the block: ``where``, or the files of the revision that it names.

    Raises CommandError as ``write_revision`` does.
    """
    if not is_revision(where):
        yield where
        return
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        yield str(write_revision(where, Path(folder)))


def list_revisions(path: str) -> list[str]:
    """Return this path at each revision that changed it and still has it, ``REVISION:PATH``, the newest first.

    ``REVISION:PATH`` or ``FIRST..LAST:PATH`` limits the revisions. Raises CommandError with Git's message, and for a
    path that no revision has.
    """
    found = _parts(path if ":" in path else f"HEAD:{path}")
    asked = ("rev-list", "--end-of-options", found["revision"], "--", found["path"])
    revisions = _git(path, *asked).decode("ascii").split()
    listed = (f"{revision}:{found['path']}" for revision in revisions)
    having = [where for where in listed if _git(where, "ls-tree", "--end-of-options", *where.split(":", 1))]
    if not having:
        hint = "name a folder or a file, such as fixtures, with revisions before it if not all: v1.0..HEAD:fixtures"
        raise CommandError(f"{path}: no revision has this path", hint)
    return having


def write_revision(where: str, folder: Path) -> Path:
    """Write the files of ``REVISION:PATH`` under ``folder`` and return the path there. Nothing else changes.

    A temporary index checks them out, because an archive omits files with ``export-ignore``. An empty ``.git`` stops
    the search for a site's configuration at the folder. Raises CommandError with Git's message if there is no such
    revision, path or repository.
    """
    found = _parts(where)
    place = os.fsdecode(_git(where, "rev-parse", "--show-prefix").rstrip(b"\n"))
    index = {"GIT_INDEX_FILE": str(folder / ".git-index")}
    _git(where, "read-tree", "--end-of-options", found["revision"], more=index)
    names = _git(where, "ls-files", "-z", "--", found["path"], more=index)
    if not names and found["path"] != ".":  # The folder may be newer than the revision.
        raise CommandError(f"{where}: the path did not match any files of the revision", _EXAMPLE)
    _git(where, "checkout-index", "-z", "--stdin", f"--prefix={folder}{os.sep}", stdin=names, more=index)
    (folder / ".git").touch()
    path = folder / place / found["path"]
    (path if found["path"] == "." else path.parent).mkdir(parents=True, exist_ok=True)
    return path


def _parts(where: str) -> re.Match[str]:
    found = _REVISION.fullmatch(where)
    if found is None:
        raise CommandError(f"{where}: not a revision and a path")
    if PurePosixPath(found["path"]).is_absolute():
        # Git would take it for a path in the work tree, and compare its files with themselves.
        raise CommandError(f"{where}: the path of a revision begins at the folder you are in", _EXAMPLE)
    return found


def _git(where: str, *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
    done = run_git(*asked, stdin=stdin, more=more)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise CommandError(f"{where}: {said[0]}", _EXAMPLE)
    return done.stdout


def run_git(
    *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Git in English, without a prompt for a password. ``more`` are environment variables.

    If Git cannot be run, the result is a failure with the exit status ``NO_GIT`` that says why.
    """
    variables = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(more or {})}
    try:
        return subprocess.run(["git", *asked], input=stdin, capture_output=True, check=False, env=variables)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        said = "git is not installed" if is_missing else f"git cannot be run: {error.strerror}"
        return subprocess.CompletedProcess(asked, NO_GIT, b"", said.encode())


Row = Mapping[str, Any]
_HARNESS: Final = "mongo-tables "


class HistoryPoint(NamedTuple):
    """The measurement of a row in one campaign: a speed in operations per second or a ratio, with an optional interval.

    For a benchmark it is the value, in its own ``unit``.

    ``program`` and ``server`` are the versions of the measuring program and of the server, ``machine`` is the servers'
    machine. ``otherwise`` names the fields in which the requested work, the processor or the cache differs from the
    newest campaign: such a point is not compared.
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
    """A point at another level than those before it, back to the last change.

    ``ratio`` divides the geometric mean from here to the next change by the one before, with its interval.
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
    """Return the series of each row over all campaigns of the rows, of speeds or of ``ratios`` to the reference.

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
"""The largest probability of a change in a series that has none."""
LEAST: Final = 2
"""Values on each side of a change: a single value may be an outlier."""
_SHORTEST: Final = 2 * LEAST + 1
_SHORTER: Final = sqrt(0.5)
_MOST_ALIKE: Final = 0.95
_LEAST_BOUND: Final = 1.5
"""Below this number of standard errors the approximation is invalid."""
_JUMP: Final = 3.5 / 0.6745
"""The distance between values, in medians, from which it is a change of the level: 3.5 standard deviations of noise."""


class ChangePoint(NamedTuple):
    """The index of the first value at another level, and the probability of such a change in an unchanged series."""

    place: int
    p: float


def find_change_points(values: Sequence[float], significance: float = SIGNIFICANCE) -> list[ChangePoint]:
    """Return the changes of a series, in order.

    For speeds pass logarithms, in which a halving and a doubling are equally far.

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
    """Yield the p-value of the likeliest change of each stretch, the stretch, and the place of the change.

    The p-value covers all stretches of a length, and all lengths.
    """
    layers = list(_list_stretches(len(values)))
    for stretches in layers:
        for start, end in stretches:
            place, t = _find_largest_t(values[start:end])
            p = min(1.0, len(layers) * _chance(t / alike, end - start))
            yield p, start, end, start + place


def _list_stretches(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the (start, end) indices of stretches, length by length.

    Each length is half of the next but one; stretches overlap by half.
    """
    layer, length = 0, float(count)
    while length >= _SHORTEST:
        number = 2 * ceil(_SHORTER**-layer) - 1
        step = (count - length) / (number - 1) if number > 1 else 0.0
        starts = [one * step for one in range(number)]
        yield sorted({(int(start), min(count, ceil(start + length))) for start in starts})
        layer, length = layer + 1, length * _SHORTER


def _find_largest_t(values: Sequence[float]) -> tuple[int, float]:
    """Return the place with the largest t between the values before it and from it on, and that t."""
    count, mean = len(values), fmean(values)
    squares = fsum((one - mean) ** 2 for one in values)
    largest, place, total = 0.0, LEAST, values[0] - mean
    for number in range(LEAST, count - LEAST + 1):
        total += values[number - 1] - mean
        # The explained part of the sum of squares; t grows with it.
        explained = total * total * count / (number * (count - number))
        if explained > largest:
            largest, place = explained, number
    unexplained = max(squares - largest, squares * 1e-15)
    return place, sqrt(largest * (count - 2) / unexplained) if unexplained else 0.0


def _keep_standing(
    values: Sequence[float], places: list[int], alike: float, significance: float
) -> list[ChangePoint]:
    """Return the changes that are significant between their neighbours, after removing the others one by one.

    The most probable to be chance is removed first.
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
    """Return Student's t between two parts, with a common variance."""
    means = (fmean(before), fmean(behind))
    count = len(before) + len(behind)
    rest = fsum((one - mean) ** 2 for side, mean in zip((before, behind), means, strict=True) for one in side)
    explained = (means[1] - means[0]) ** 2 * len(before) * len(behind) / count
    return sqrt(explained * (count - 2) / max(rest, (rest + explained) * 1e-15))


def _correlate_neighbours(values: Sequence[float]) -> float:
    """Return the ratio of a mean's variance to that of the mean of as many independent values."""
    next_one = _spread([abs(other - one) for one, other in pairwise(values)])
    next_but_one = _spread([abs(values[number] - values[number - 2]) for number in range(2, len(values))])
    # Subtract the expected error, which is large for few values.
    alike = next_but_one / next_one - 1 - 2 / sqrt(len(values)) if next_one else 0.0
    alike = min(_MOST_ALIKE, max(0.0, alike))
    return (1 + alike) / (1 - alike)


def _spread(distances: Sequence[float]) -> float:
    """Return the mean square of distances, without those that are changes of the level."""
    most = _JUMP * median(distances)
    return fmean(one * one for one in distances if one <= most)


def _chance(t: float, count: int) -> float:
    """Return the probability that the largest t of all places of ``count`` values is as large without a change."""
    if t < _LEAST_BOUND:
        return 1.0  # The bound below is not larger.
    from scipy.special import ndtri, stdtr

    bound = -float(ndtri(max(float(stdtr(count - 2, -t)), 1e-300)))
    if bound < _LEAST_BOUND:
        return 1.0
    edge = min(0.25, log(count) ** 1.5 / count)
    places = 2 * log((1 - edge) / edge)
    return min(1.0, bound * exp(-bound * bound / 2) / sqrt(2 * pi) * (places + 4 / bound**2))
