"""Calibration: equal variants are measured like an experiment, to see how much their rows differ by chance.

Each workload is a small experiment with one variant, in ``calibrations``. It is measured in groups. A group is an
experiment of equal variants with its own blocks, so that the pairs of a workload are spread over the whole time, and
each finished group counts. As in any experiment, the reference is measured twice in a block.

A pair compares one measurement of a block (the row) with two others (the reference). So five equal measurements make
ten pairs. With one common reference, as on a page, ten pairs would need twelve measurements. In simulations, 200 such
pairs have as much information as about a hundred independent pairs.

If the workload can be measured in slices, each measurement of a block also alternates with a second run of itself, as
two targets do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, count
from typing import Any, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.calibration import calibrate, find_ratio_of_sides
from mongo_tables.results.conclusions import Pairs, pair_equal_rows
from mongo_tables.results.verdicts import NEGLIGIBLE
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import shown
from mongo_tables.runner.estimate import SlicesEstimate, estimate, local_seconds
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.options import PROFILES, Options, longest_seconds
from mongo_tables.runner.result_rows import pair_slices
from mongo_tables.runner.slices import Counted, Slices, doubts, plan_slices
from mongo_tables.runner.warmup import has_lead

PAIRS = 200
"""The default number of pairs, over all workloads."""
PUBLISHED = PROFILES["publish"]
"""The profile with the default length of windows and number of blocks, as for published pages."""
PAIRS_IN_A_GROUP = 10
"""The number of pairs of a full group, whose blocks have five measurements: four variants, and the reference again."""
REFERENCE_MEASUREMENTS = 2
"""In each block, the reference of a pair has this many measurements, as on a page. The row of a pair has one."""
SLICE_MS = 40.0
"""The default length of a slice, in milliseconds."""
WINDOWS = 8
"""The number of windows that each pair measures in slices: one in each of the first blocks.

A published run has such a window in every block.
"""


class Fine(NamedTuple):
    """How slices are measured: the length of a slice in seconds, and the number of windows of each pair."""

    width: float
    windows: int

    def plan(self, *, warm: bool) -> Slices:
        """Return the slices of a window."""
        return plan_slices(self.width, "", warm=warm)

    @property
    def window_seconds(self) -> float:
        """Return the length in seconds of a window without warm-up. Each side has half of the window."""
        return self.plan(warm=False).counted / 1e9


class Task(NamedTuple):
    """A workload to measure. ``pairs`` has the number of pairs of each group, ``seconds`` is the length of a window.

    ``fine`` is the measurement in slices, or None if slices are impossible or not requested.
    """

    experiment: Experiment
    pairs: tuple[int, ...]
    seconds: float
    fine: Fine | None = None


class Group(NamedTuple):
    """A measured group. ``fine`` has, for each pair, the windows in slices. ``row`` is the row of the first variant."""

    pairs: Sequence[Pairs]
    fine: Sequence[Sequence[Counted]]
    start: datetime
    end: datetime
    row: Mapping[str, Any]


def names() -> list[str]:
    """Return the names of the workloads, sorted."""
    return experiments.names(experiments.CALIBRATIONS)


def load(name: str) -> Experiment:
    """Return a workload by its name. Raise CommandError if there is none."""
    if name not in names():
        raise CommandError(f"no workload {shown(name)!r}", f"known: {', '.join(names())}")
    return experiments.load(str(experiments.CALIBRATIONS / f"{name}.toml"))


def plan(
    wanted: Sequence[Experiment], pairs: int | None, seconds: float | None, fine: Fine | None
) -> list[Task]:
    """Return the task of each workload with ``pairs`` pairs and windows of ``seconds`` seconds. None means the default.

    ``fine`` applies to the workloads that can take turns in slices; None means no slices.
    """
    full, rest = divmod(pairs or -(-PAIRS // len(names())), PAIRS_IN_A_GROUP)
    groups = (PAIRS_IN_A_GROUP,) * full + ((rest,) if rest else ())
    return [
        Task(
            experiment=one,
            pairs=groups,
            seconds=seconds or longest_seconds(one.workload, one.parameters, PUBLISHED) or 0.0,
            fine=fine if has_lead(one.workload, one.parameters) else None,
        )
        for one in wanted
    ]


def list_groups(tasks: Sequence[Task]) -> Iterator[tuple[Task, int, Experiment]]:
    """Yield each group in the order of measurement: its task, its number of pairs, and its experiment.

    The workloads take turns.
    """
    for number in range(max(len(task.pairs) for task in tasks)):
        for task in tasks:
            if number < len(task.pairs):
                pairs, name = task.pairs[number], name_group(task.experiment, number)
                # Equal variants differ only by position.
                variants = tuple({"order": place} for place in range(1, count_measurements(pairs)))
                yield task, pairs, replace(task.experiment, name=name, variants=variants, baseline=0)


def estimate_seconds(task: Task, blocks: int) -> float:
    """Estimate how many seconds the blocks of a workload take on a local replica set with two processors."""
    total = 0.0
    for _, _, experiment in list_groups([task]):
        total += local_seconds(estimate(experiment, blocks, Options(duration=task.seconds)))
    return total


def estimate_fine_seconds(task: Task) -> float:
    """Estimate how many seconds a task's windows in slices take on a local replica set with two processors."""
    if task.fine is None:
        return 0.0
    seconds = task.fine.plan(warm=task.experiment.warm).length / 1e9
    return SlicesEstimate(count_fine_pairs(task), seconds).local_seconds(task.fine.windows)


def count_fine_pairs(task: Task) -> int:
    """Return the number of pairs that are measured in slices: in each group, one for each measurement in a block."""
    return sum(map(count_measurements, task.pairs)) if task.fine else 0


def name_group(experiment: Experiment, number: int) -> str:
    """Return the experiment name of the group with this number, from 0."""
    return f"calibrate_{experiment.name}_{number + 1}"


def count_measurements(pairs: int) -> int:
    """Return the least number of measurements in a block from which this many pairs can be made."""
    return next(number for number in count(3) if number * ((number - 1) // 2) >= pairs)


def gather_group(pairs: int, rows: Sequence[Mapping[str, Any]], fine: Sequence[Sequence[Counted]]) -> Group:
    """Build a group from the rows of its variants, and from the windows that its pairs measured in slices."""
    repeats = [repeat for row in rows for repeat in row["repeats"]]
    return Group(
        pairs=pair_equal_rows(rows)[:pairs],
        fine=fine,
        start=min(repeat["start_time"] for repeat in repeats),
        end=max(repeat["start_time"] + timedelta(milliseconds=repeat["duration"]) for repeat in repeats),
        row=rows[0],
    )


def compose(task: Task, groups: Sequence[Group]) -> dict[str, Any]:
    """Return the document of a workload from its groups. The deployment comes from the row of the first group."""
    experiment, row = task.experiment, groups[0].row
    disturbed = [group.row["campaign"]["disturbed"] for group in groups]
    campaign, done = row["campaign"], row["experiment"]
    return {
        "_id": {"campaign": campaign["id"], "workload": experiment.name},
        "workload": experiment.name,
        "title": experiment.title,
        "campaign": {"id": campaign["id"], "start": campaign["start"]},
        "start_time": min(group.start for group in groups),
        "end_time": max(group.end for group in groups),
        "pairs_asked": sum(task.pairs),
        "pairs_together": max(len(group.pairs) for group in groups),
        "blocks": campaign["blocks"],
        "measured_again": sum(group.row["campaign"]["measured_again"] for group in groups),
        "disturbed": None if None in disturbed else sum(filter(None, disturbed)),
        "window_seconds": done["seconds"],
        "reference_measurements": REFERENCE_MEASUREMENTS,
        "windows_of_a_measurement": 2 if done["and_back"] else 1,
        "seed": done["seed"],
        "target": done["target"],
        "digest": experiment.digest,
        "parameters": dict(experiment.parameters),
        **calibrate([group.pairs for group in groups]),
        **({"fine": _compose_fine(task.fine, groups)} if task.fine else {}),
        "client": {
            **{name: row["client"][name] for name in ("kind", "processes", "connections")},
            **({"load_machines": len(machines)} if (machines := row["client"].get("machines")) else {}),
        },
        **{name: row[name] for name in ("versions", "hardware", "servers", "topology")},
    }


def _compose_fine(fine: Fine, groups: Sequence[Group]) -> dict[str, Any]:
    """Return the result of the pairs in slices. The pairs of a group are judged together, like rows of two targets."""
    pairs = [[pair_slices(windows) for windows in group.fine] for group in groups]
    return {
        "slice_seconds": fine.width,
        "windows": fine.windows,
        "window_seconds": fine.window_seconds,
        **calibrate(pairs, NEGLIGIBLE),
        "second_to_first": find_ratio_of_sides(list(chain.from_iterable(pairs))),
        **doubts([one for group in groups for windows in group.fine for one in windows]),
    }
