"""What a run would do, without doing it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

from preprocessor.commands.run.lookingat import list_findings
from preprocessor.commands.run.measuring import read_options
from preprocessor.commands.run.raising import list_raised
from preprocessor.commands.run.sharing import Opened, share_out
from preprocessor.runner.estimate import estimate, local_seconds, table
from preprocessor.runner.experiment import Experiment, scale, scale_of
from preprocessor.runner.lengthening import LEAST_REQUESTS, MOST_TIMES_LONGER, longest_seconds
from preprocessor.runner.localaddress import is_local
from preprocessor.runner.machines import variants_for
from preprocessor.runner.namedtargets import database_on
from preprocessor.runner.profiles import PROFILES, least_batches
from preprocessor.runner.store import open_store
from preprocessor.runner.target import open_target


def print_estimates(arguments: Namespace, wanted: Sequence[Experiment]) -> None:
    """Print documents, bytes and minutes of each experiment, and how long all take on a local replica set.

    Raises RunnerError where the run itself would be refused.
    """
    estimates = [_print_estimate(arguments, experiment) for experiment in wanted]
    local = sum(is_local(named.where) for named in arguments.target)
    if local == len(arguments.target):
        where = "a local replica set" if local == 1 else f"{local} local replica sets"
        minutes = _say_minutes(*(local * sum(seconds) for seconds in zip(*estimates, strict=True)))
        print(f"all on {where} with two processors, loading included: about {minutes}")
    for named in arguments.target:
        databases = {database_on(one, named) for one in wanted if variants_for(one, named)}
        if not is_local(named.where):
            for line in list_findings(named.where, databases):
                print(line)
    _check_obstacles(arguments, wanted, max(1, local))


def _check_obstacles(arguments: Namespace, wanted: Sequence[Experiment], local: int) -> None:
    """Raise RunnerError for what a run would be refused for; print which experiments it would leave out."""
    with ExitStack() as held:
        store = held.enter_context(closing(open_store(arguments.output)))
        opened = [
            Opened(named, held.enter_context(closing(open_target(named.where, local))))
            for named in arguments.target
        ]
        share_out(wanted, read_options(arguments), opened, store, leave_out=arguments.all)


def _say_minutes(least: float, most: float) -> str:
    """How long it takes, of both in seconds."""
    minutes = dict.fromkeys(f"{seconds / 60:.0f}" for seconds in (least, most))
    return f"{' to '.join(minutes)} minutes"


def _print_estimate(arguments: Namespace, experiment: Experiment) -> tuple[float, float]:
    """Print what one experiment does; give the seconds that it takes on a local replica set, the least and the most."""
    repeats = arguments.repeats or experiment.repeats
    factor = scale_of(experiment, arguments.scale)
    scaled = scale(experiment, factor)
    duration = arguments.duration
    first = {**scaled.parameters, **scaled.variants[0]}
    limit = longest_seconds(scaled.workload, first, arguments.seconds, arguments.batch_seconds)
    estimates = estimate(scaled, factor, repeats, limit, duration)
    at_most = estimate(scaled, factor, max(repeats, arguments.most_repeats), limit, duration)
    print(f"{experiment.name}: {experiment.title}")
    up_to = f", up to {arguments.most_repeats}" if arguments.most_repeats > repeats else ""
    print(f"  {len(experiment.variants)} variants, each measured {repeats} times{up_to}, at scale {factor:g}")
    least = least_batches(arguments.profile)
    for line in (*list_raised(experiment, arguments.scale, duration, least), *_list_lengths(arguments)):
        print(f"  {line}")
    for line in table(estimates):
        print(f"  {line}")
    if experiment.published and not duration:
        source = experiment.published["source"]
        print(f"  time: of all windows, where it is not given at the speed of {source}")
    return (
        local_seconds(estimates, scaled, limit, by_time=bool(duration)),
        local_seconds(at_most, scaled, limit, by_time=bool(duration)),
    )


def _list_lengths(arguments: Namespace) -> Iterator[str]:
    """How long windows are, beside what the experiment says."""
    if arguments.profile:
        yield f"{arguments.profile} profile: rows and pages name it"
    if arguments.duration:
        yield f"each window lasts {arguments.duration:g} s, whatever the experiment says"
    if arguments.profile and not PROFILES[arguments.profile].lengthens:
        yield "windows with few requests are not lengthened"
    elif not arguments.rate:
        yield (
            f"a window that time ends before each connection has {LEAST_REQUESTS} requests is lengthened, "
            f"up to {MOST_TIMES_LONGER} times"
        )
