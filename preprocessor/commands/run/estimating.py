"""What a run would do, without doing it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from preprocessor.runner.estimate import estimate, local_seconds, table
from preprocessor.runner.experiment import Experiment, scale, scale_of


def print_estimates(arguments: Namespace, wanted: Sequence[Experiment]) -> None:
    """Print documents, bytes and minutes of each experiment, and how long all take on a local replica set."""
    seconds = sum(_print_estimate(arguments, experiment) for experiment in wanted)
    if [named.where for named in arguments.target] == ["local"]:
        print(
            "all on a local replica set with two processors, loading included: "
            f"about {seconds / 60:.0f} minutes"
        )


def _print_estimate(arguments: Namespace, experiment: Experiment) -> float:
    """Print what one experiment does; give the seconds that it takes on a local replica set."""
    repeats = arguments.repeats or experiment.repeats
    factor = scale_of(experiment, arguments.scale)
    scaled = scale(experiment, factor)
    estimates = estimate(scaled, factor, repeats, arguments.seconds)
    print(f"{experiment.name}: {experiment.title}")
    print(f"  {len(experiment.variants)} variants, each measured {repeats} times, at scale {factor:g}")
    for line in table(estimates):
        print(f"  {line}")
    if experiment.published:
        source = experiment.published["source"]
        print(f"  time: of all windows, where it is not given at the speed of {source}")
    return local_seconds(estimates, scaled, arguments.seconds, repeats)
