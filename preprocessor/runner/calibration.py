"""Calibration: workloads of which all variants are the same, measured as any experiment is.

Each workload is a small experiment with one variant, in ``calibrations``. It is measured in groups: a group is an
experiment of equal variants with blocks of its own, as large as those that pages show. So a block lasts as long as
theirs, the pairs of a workload are spread over all the time that is taken, and each group that is done counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from preprocessor.results.calibration import calibrate
from preprocessor.results.conclusions import Pairs, pair_blocks, pair_with_itself
from preprocessor.runner import experiment as experiments
from preprocessor.runner.addresses import shown
from preprocessor.runner.errors import RunnerError
from preprocessor.runner.estimate import estimate, local_seconds
from preprocessor.runner.experiment import Experiment
from preprocessor.runner.lengthening import longest_seconds
from preprocessor.runner.profiles import PROFILES

FOLDER = Path(__file__).with_name("calibrations")
PAIRS = 200
"""Of all workloads together, where nobody says how many."""
PUBLISHED = PROFILES["publish"]
"""Pages rest on windows so long and so many blocks, where nobody says another number."""
PAIRS_IN_A_GROUP = 5
"""So many pairs are ten windows of a block."""


class Task(NamedTuple):
    """What is measured of a workload: how many ``pairs`` each of its groups has, and how long a window is."""

    experiment: Experiment
    pairs: tuple[int, ...]
    seconds: float


class Group(NamedTuple):
    """What was measured of a group of pairs, between ``start`` and ``end``; ``row`` is one of its rows.

    ``measured_again`` is how often a block was, since something else used the machine.
    """

    pairs: Sequence[Pairs]
    start: datetime
    end: datetime
    measured_again: int
    row: Mapping[str, Any]


def names() -> list[str]:
    """Names of the workloads, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Experiment:
    """A workload by its name; raises RunnerError where there is none."""
    if name not in names():
        raise RunnerError(f"no workload {shown(name)!r}", f"known: {', '.join(names())}")
    return experiments.load(str(FOLDER / f"{name}.toml"))


def plan(wanted: Sequence[Experiment], pairs: int | None, seconds: float | None) -> list[Task]:
    """What is measured of each workload: so many pairs, and windows so long; None for what pages are published with."""
    each = pairs or -(-PAIRS // len(names()))
    return [Task(one, _share_out(each), seconds or _window_seconds(one)) for one in wanted]


def list_groups(tasks: Sequence[Task]) -> Iterator[tuple[Task, Experiment]]:
    """The groups of all workloads in the order in which they are measured: the workloads take turns."""
    for number in range(max(len(task.pairs) for task in tasks)):
        for task in tasks:
            if number < len(task.pairs):
                yield task, _repeat_variant(task.experiment, number, task.pairs[number])


def estimate_seconds(task: Task, blocks: int) -> float:
    """How long the pairs of a workload take on a local replica set with two processors, loading included."""
    total = 0.0
    for _, experiment in list_groups([task]):
        found = estimate(experiment, 1.0, blocks, None, task.seconds)
        total += local_seconds(found)
    return total


def _window_seconds(experiment: Experiment) -> float:
    longest = longest_seconds(
        experiment.workload, experiment.parameters, PUBLISHED.seconds, PUBLISHED.batch_seconds
    )
    return longest or PUBLISHED.seconds


def _share_out(pairs: int) -> tuple[int, ...]:
    """How many pairs each group has."""
    full, rest = divmod(pairs, PAIRS_IN_A_GROUP)
    return (PAIRS_IN_A_GROUP,) * full + ((rest,) if rest else ())


def name_group(experiment: Experiment, number: int) -> str:
    """What the group with this number, from 0, is called among experiments."""
    return f"calibrate_{experiment.name}_{number + 1}"


def _repeat_variant(experiment: Experiment, group: int, pairs: int) -> Experiment:
    """The experiment of a group: equal variants, told apart by their order alone.

    The first is the reference, of which each block has two windows, and these are a pair already.
    """
    variants = tuple({"order": number} for number in range(1, 2 * pairs))
    return replace(experiment, name=name_group(experiment, group), variants=variants)


def gather_group(rows: Sequence[Mapping[str, Any]]) -> Group:
    """The pairs of a group, from the rows of its variants."""
    repeats = [repeat for row in rows for repeat in row["repeats"]]
    return Group(
        pairs=list(_pair_up(rows)),
        start=min(repeat["start_time"] for repeat in repeats),
        end=max(repeat["start_time"] + timedelta(milliseconds=repeat["duration"]) for repeat in repeats),
        measured_again=rows[0]["campaign"]["measured_again"],
        row=rows[0],
    )


def _pair_up(rows: Sequence[Mapping[str, Any]]) -> Iterator[Pairs]:
    """No window is in two pairs."""
    yield pair_with_itself(rows[0])
    for one, other in zip(rows[1::2], rows[2::2], strict=True):
        yield pair_blocks(one, other)


def compose(experiment: Experiment, asked: int, groups: Sequence[Group]) -> dict[str, Any]:
    """The document of a workload, of which so many pairs were ``asked`` for; where it ran is taken from a row."""
    row = groups[0].row
    campaign, done = row["campaign"], row["experiment"]
    return {
        "_id": {"campaign": campaign["id"], "workload": experiment.name},
        "workload": experiment.name,
        "title": experiment.title,
        "campaign": {"id": campaign["id"], "start": campaign["start"]},
        "start_time": min(group.start for group in groups),
        "end_time": max(group.end for group in groups),
        "pairs_asked": asked,
        "pairs_together": max(len(group.pairs) for group in groups),
        "blocks": campaign["blocks"],
        "measured_again": sum(group.measured_again for group in groups),
        "window_seconds": done["seconds"],
        "seed": done["seed"],
        "target": done["target"],
        "digest": experiment.digest,
        "parameters": dict(experiment.parameters),
        **calibrate([group.pairs for group in groups]),
        "client": {name: row["client"][name] for name in ("kind", "processes", "connections")},
        **{name: row[name] for name in ("versions", "hardware", "servers", "topology")},
    }
