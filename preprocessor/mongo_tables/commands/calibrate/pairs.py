"""Pairs of equal variants, measured group by group, and what is found of them, written as far as it is known."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.commands.calibrate.figures import print_found
from mongo_tables.commands.run.targets import LoadedTarget, open_machines, open_place
from mongo_tables.runner.calibration import Fine, Group, Task, compose, gather_group, list_groups, name_group
from mongo_tables.runner.campaign import Length, left_at_end, measure_rows, measure_with_itself
from mongo_tables.runner.errors import TargetError, TimeIsOver
from mongo_tables.runner.journal import Campaign, find_campaign, open_journal
from mongo_tables.runner.options import Options
from mongo_tables.runner.request_options import check_options
from mongo_tables.runner.runs import obstacle, open_run, request
from mongo_tables.runner.schema_check import check_calibration
from mongo_tables.runner.slice_windows import Counted
from mongo_tables.runner.store import open_store
from mongo_tables.runner.target import open_target

if TYPE_CHECKING:
    from mongo_tables.runner.experiment import Experiment
    from mongo_tables.runner.progress import Progress
    from mongo_tables.runner.store import Store


def measure_pairs(arguments: Namespace, tasks: Sequence[Task], progress: Progress) -> None:
    """Measure the pairs of all tasks, write what is found, and print it; also when the time is over before.

    Raises RunnerError when that is not possible; what is measured until then stays.
    """
    names = [experiment.name for _, _, experiment in list_groups(tasks)]
    with closing(open_store(arguments.output)) as store:
        if not arguments.resume:
            _forget(store, tasks)
        campaign = find_campaign(store, names) or Campaign.new()
        found: dict[str, dict[str, Any]] = {}
        try:
            for document in _calibrate(arguments, tasks, store, campaign, progress):
                found[document["workload"]] = document
        except TimeIsOver:
            print_found(list(found.values()), as_json=arguments.json)
            raise
        # Not before: with --resume, groups that were finished are not measured again.
        _forget(store, tasks)
    print_found(list(found.values()), as_json=arguments.json)


def _forget(store: Store, tasks: Sequence[Task]) -> None:
    """Forget how far the groups have come, and those that an earlier calibration had beside."""
    for task in tasks:
        for number in count():
            name = name_group(task.experiment, number)
            if number >= len(task.pairs) and store.state(name) is None:
                break
            store.keep_state(name, None)


def _calibrate(
    arguments: Namespace, tasks: Sequence[Task], store: Store, campaign: Campaign, progress: Progress
) -> Iterator[dict[str, Any]]:
    """The document of a workload whenever one of its groups is measured, by which it is written."""
    ends = time.monotonic() + arguments.time if arguments.time else inf
    groups: dict[str, list[Group]] = {task.experiment.name: [] for task in tasks}
    with ExitStack() as held:
        named = arguments.target[0]
        places: list[LoadedTarget] = []
        machines = open_machines(arguments, held, places)
        place = open_place(arguments, named, open_target(named.where), held, progress, machines)
        places.append(place)
        loading = machines.count if machines else 0
        around = _Around(store, place, campaign, progress, arguments.resume, loading)
        for task, pairs, experiment in list_groups(tasks):
            options = Options(1.0, None, arguments.blocks, arguments.seed, "wire", duration=task.seconds)
            done = groups[task.experiment.name]
            rows, fine = _measure_group(experiment, options, task.fine, around, ends)
            done.append(gather_group(pairs, rows, fine))
            document = compose(task, done)
            check_calibration(document)
            store.put_calibration(document)
            yield document


class _Around(NamedTuple):
    """Where groups are measured, what they are part of, and where what is measured is kept."""

    store: Store
    place: LoadedTarget
    campaign: Campaign
    progress: Progress
    resume: bool
    machines: int
    """Load machines; 0 where this one loads the target."""


def _measure_group(
    experiment: Experiment, options: Options, fine: Fine | None, around: _Around, ends: float
) -> tuple[list[dict[str, Any]], list[list[Counted]]]:
    """The rows of a group, and its windows in slices; of one that was measured before, from what is kept."""
    place = around.place
    check_options(place.target.given, options.client)
    if found := obstacle(experiment, options, place.target, around.store, place.named):
        raise TargetError(*found)
    asked = {
        **request(experiment, options, [str(place)]),
        "processes": [place.processes],
        **({"load_machines": around.machines} if around.machines else {}),
        "slices": fine and fine.width,
        "windows": fine and fine.windows,
    }
    journal = open_journal(around.store, experiment.name, asked, around.resume, around.campaign)
    run = open_run(experiment, options, place.target, place.crew, around.progress, place.named)
    with left_at_end([run]):
        rows = measure_rows([run], journal, Length(run.repeats, ends=ends))
        pairs = len(rows) + 1  # as many as a block has windows
        its = measure_with_itself(run, pairs, fine.width, fine.windows, journal, ends) if fine else []
        return rows, its
