"""``mongo-tables calibrate``: measure equal work in pairs, to learn how reliable verdicts are on a target."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from math import inf
from typing import Any

from mongo_tables.commands.run.targets import describe_machines, fill_in, open_places, read_machines
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError, require_extra
from mongo_tables.results.calibration import JUDGED, Count, Judged, share_of_groups
from mongo_tables.runner import calibration
from mongo_tables.runner.atlas.address import is_atlas
from mongo_tables.runner.blocks import Campaign, find_campaign, open_journal
from mongo_tables.runner.calibration import (
    Group,
    Task,
    compose,
    count_fine_pairs,
    estimate_fine_seconds,
    estimate_seconds,
    gather_group,
    list_groups,
    name_group,
)
from mongo_tables.runner.campaign import left_at_end, measure_rows
from mongo_tables.runner.connection_strings import check_options
from mongo_tables.runner.errors import TimeIsOver
from mongo_tables.runner.estimate import say_duration
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import check_possible, open_run, request
from mongo_tables.runner.store import CALIBRATION, Store, check_document, open_store
from mongo_tables.runner.terminal import Progress, end_in_order


def run(arguments: Namespace) -> int:
    """Calibrate. Return 0 when all pairs are measured, 130 on Ctrl-C.

    Raises CommandError if the pairs cannot be measured.
    """
    if arguments.load_machines:
        require_extra("calibrate --load-machines", "cluster")
    fill_in(arguments)
    progress = Progress(sys.stderr, arguments.progress)
    return end_in_order(progress, partial(_run, arguments, progress))


def _run(arguments: Namespace, progress: Progress) -> None:
    if len(arguments.target) > 1:
        raise CommandError("calibrate measures on one target, but there are several", "name one")
    if is_atlas(arguments.target[0].where):
        raise CommandError("only `mongo-tables run` creates clusters on Atlas", "name an existing deployment")
    wanted = [calibration.load(name) for name in dict.fromkeys(arguments.workload or calibration.names())]
    arguments.blocks = arguments.blocks or calibration.PUBLISHED.repeats
    milliseconds = calibration.SLICE_MS if arguments.slices is None else arguments.slices
    windows = min(calibration.WINDOWS, arguments.blocks)
    fine = calibration.Fine(milliseconds / 1000, windows) if milliseconds else None
    tasks = calibration.plan(wanted, arguments.pairs, arguments.seconds, fine)
    machines = read_machines(arguments)
    if arguments.dry_run:
        print("\n".join(format_plan(tasks, arguments.blocks)))
        if machines is not None:
            print(describe_machines(machines, arguments.processes))
        return
    measure_pairs(arguments, tasks, progress)


Figures = Mapping[str, Any]
"""The results of a workload's pairs: the whole document or, for pairs in slices, its part ``fine``."""


def measure_pairs(arguments: Namespace, tasks: Sequence[Task], progress: Progress) -> None:
    """Measure the pairs of all tasks. Write and print the results, even if the time ends before all are measured.

    Raises CommandError if the measurement is impossible. Finished measurements are kept.
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
            print_found(list(found.values()))
            raise
        # Only at the end: with --resume, finished groups are not measured again.
        _forget(store, tasks)
    print_found(list(found.values()))


def _forget(store: Store, tasks: Sequence[Task]) -> None:
    """Delete the progress of all groups, including groups of an earlier calibration that had more."""
    for task in tasks:
        for number in count():
            name = name_group(task.experiment, number)
            if number >= len(task.pairs) and store.progress(name) is None:
                break
            store.forget_progress(name)


def _calibrate(
    arguments: Namespace, tasks: Sequence[Task], store: Store, campaign: Campaign, progress: Progress
) -> Iterator[dict[str, Any]]:
    """Measure the groups, or read finished ones. Write and yield the document of the workload after each group."""
    ends = time.monotonic() + arguments.time if arguments.time else inf
    groups: dict[str, list[Group]] = {task.experiment.name: [] for task in tasks}
    with ExitStack() as held:
        places = open_places(arguments, held, progress)
        ((target, crew),) = places.crews.items()
        for task, pairs, experiment in list_groups(tasks):
            fine = task.fine
            options = Options(
                repeats=arguments.blocks,
                seed=arguments.seed,
                duration=task.seconds,
                slices=fine and fine.width,
            )
            check_options(target.given)
            check_possible(experiment, options, target, store)
            asked = {
                **request(experiment, options, [str(target)]),
                **places.request,
                "windows": fine and fine.windows,
            }
            journal = open_journal(store, experiment.name, asked, arguments.resume, campaign)
            run = open_run(experiment, options, target, crew, progress)
            with left_at_end([run]):
                rows, in_slices = measure_rows([run], journal, ends, fine.windows if fine else 0)
            done = groups[task.experiment.name]
            done.append(gather_group(pairs, rows, list(in_slices.values())))
            document = compose(task, done)
            check_document("calibration", document)
            store.write(CALIBRATION, document["workload"], [document])
            yield document


# -- text --


def format_plan(tasks: Sequence[Task], blocks: int) -> Iterator[str]:
    """Yield lines about what a calibration would measure, and how long it would take."""
    total, pairs, fine_pairs = 0.0, 0, 0
    for task in tasks:
        seconds, number = estimate_seconds(task, blocks), sum(task.pairs)
        total, pairs = total + seconds, pairs + number
        yield (
            f"{task.experiment.name}: {format_count(number, 'pair')} in {format_count(len(task.pairs), 'group')}, "
            f"each over {blocks} blocks of windows of {task.seconds:g} s, about {say_duration(seconds)}"
        )
        if task.fine:
            seconds, number = estimate_fine_seconds(task), count_fine_pairs(task)
            total, fine_pairs = total + seconds, fine_pairs + number
            slices = _say_slices(task.fine.width, task.fine.windows, task.fine.window_seconds)
            yield f"{task.experiment.name}: {format_count(number, 'pair')} {slices}, about {say_duration(seconds)}"
    in_slices = f" and {fine_pairs} in slices" if fine_pairs else ""
    yield (
        f"all {pairs} pairs{in_slices} on a machine with two processors, loading included: about {say_duration(total)}"
    )


def print_found(documents: Sequence[Mapping[str, Any]]) -> None:
    """Print the results of each workload, and then of all workloads together."""
    print("\n".join(format_found(documents)) or "no group of pairs is measured yet")


def format_found(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines with the number of false alarms and the smallest detected slowdown of each workload."""
    for found in documents:
        asked = f" (of {found['pairs_asked']})" if found["pairs"] < found["pairs_asked"] else ""
        pairs = f"{format_count(found['pairs'], 'pair')}{asked} of equal things"
        windows = f"{found['blocks']} blocks of windows of {found['window_seconds']:g} s"
        yield f"{found['workload']}: {pairs}, each over {windows}, {found['client']['connections']} connections"
        yield from _describe_figures(found)
        if fine := found.get("fine"):
            slices = _say_slices(fine["slice_seconds"], fine["windows"], fine["window_seconds"])
            yield f"{found['workload']} {slices}: {format_count(fine['pairs'], 'pair')} of equal things"
            yield from _describe_figures(fine)
    yield from _describe_all("all workloads", documents)
    fine = [document["fine"] for document in documents if "fine" in document]
    yield from _describe_all("all workloads in slices", fine)


def _describe_all(name: str, found: Sequence[Figures]) -> Iterator[str]:
    """Yield lines with the false alarms of all workloads together, if there are several."""
    if len(found) > 1:
        groups = [group for one in found for group in one["groups"]]
        pairs = sum(one["pairs"] for one in found)
        yield f"{name}: {pairs} pairs of equal things"
        for judged in JUDGED:
            share = share_of_groups([Count(group[judged], group["pairs"]) for group in groups])
            yield _say_false_alarms(judged, pairs, share._asdict())


def _describe_figures(found: Figures) -> Iterator[str]:
    yield from (_say_false_alarms(judged, found["pairs"], found[judged]) for judged in JUDGED)
    yield from (_say_smallest(judged, found[f"smallest_{judged}"]) for judged in JUDGED)


def _say_false_alarms(judged: Judged, pairs: int, share: Mapping[str, Any]) -> str:
    """Return a line with the share of false alarms. Pairs that share measurements have less weight."""
    between = f"{_percent(share['low'])} to {_percent(share['high'])}"
    worth = round(pairs / share["design_effect"])
    counted = f", computed for {format_count(worth, 'independent pair')}" if worth < pairs else ""
    return (
        f"  false alarms, {_how(judged)}: {share['number']} of {pairs}, "
        f"{_percent(share['share'])} (95 % interval {between}{counted})"
    )


def _say_smallest(judged: Judged, smallest: Mapping[str, float | None]) -> str:
    if smallest["slowdown"] is None:
        return f"  smallest slowdown detected in 84 of 100 pairs, {_how(judged)}: none up to 25 %"
    low, high = (smallest[end] for end in ("low", "high"))
    between = f"{_percent(low or 0)} to {'more than 25 %' if high is None else _percent(high)}"
    return (
        f"  smallest slowdown detected in 84 of 100 pairs, {_how(judged)}: {_percent(smallest['slowdown'])} "
        f"({between})"
    )


def _say_slices(width: float, windows: int, seconds: float) -> str:
    return f"in slices of {1000 * width:g} ms, each over {windows} windows of {seconds:g} s"


def _how(judged: Judged) -> str:
    return "judged as the rows of an experiment" if judged == "together" else "each judged by itself"


def _percent(part: float) -> str:
    return f"{100 * part:.1f}".removesuffix(".0") + " %"
