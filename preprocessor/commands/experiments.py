"""``mongo-tables experiments``: which experiments there are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from preprocessor.runner.complaints import complain
from preprocessor.runner.errors import RunnerError

if TYPE_CHECKING:
    from preprocessor.runner.experiment import Experiment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``experiments`` understands: names to describe, none for the list."""
    parser.description = "List the experiments that come with mongo-tables, or describe those that are named."
    parser.add_argument("name", nargs="*", help="an experiment to describe, or a file *.toml")
    parser.add_argument(
        "--published", action="store_true",
        help="write the figures that others published for these experiments (none named: for all) into the "
        "collection published, where pages find them beside the results; a run does so for its own",
    )  # fmt: skip
    parser.add_argument(
        "--output", default="fixtures", metavar="WHERE",
        help="with --published: folder of fixtures, or connection string of the results database "
        "(default: fixtures)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print the list or the descriptions, or write what was published; 0, or 2 when that is not possible."""
    from preprocessor.runner import experiment as experiments

    try:
        if args.published:
            return _publish(
                [experiments.load(name) for name in args.name or experiments.names()], args.output
            )
        for name in args.name or experiments.names():
            print(_described(experiments.load(name)) if args.name else _line(experiments.load(name)))
    except RunnerError as error:
        return complain(error)
    return 0


def _publish(wanted: Sequence[Experiment], where: str) -> int:
    from contextlib import closing

    from preprocessor.runner import published
    from preprocessor.runner.store import open_store

    with closing(open_store(where)) as store:
        for experiment in wanted:
            print(f"{experiment.name}: {published.write(experiment, store)} published rows")
    return 0


def _line(experiment: Experiment) -> str:
    return f"{experiment.name:<22} {len(experiment.variants):>2} variants  {experiment.title}"


def _described(experiment: Experiment) -> str:
    variants = "\n".join(
        f"  {number}. " + ", ".join(f"{key} {value}" for key, value in variant.items())
        for number, variant in enumerate(experiment.variants, 1)
    )
    source = experiment.published.get("source", "none")
    return f"{_line(experiment)}\n\n{experiment.description}\n\n{variants}\n\npublished figures: {source}\n"
