"""``mongo-tables experiments``: which experiments there are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from preprocessor.runner.experiment import Experiment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``experiments`` understands: names to describe, none for the list."""
    parser.description = "List the experiments that come with mongo-tables, or describe those that are named."
    parser.add_argument("name", nargs="*", help="an experiment to describe, or a file *.toml")


def run(args: argparse.Namespace) -> int:
    """Print the list, or the descriptions; 0, or 2 when a name is not known."""
    from preprocessor.runner import experiment as experiments
    from preprocessor.runner.complaints import complain
    from preprocessor.runner.errors import RunnerError

    try:
        for name in args.name or experiments.names():
            print(_described(experiments.load(name)) if args.name else _line(experiments.load(name)))
    except RunnerError as error:
        return complain("experiments", error)
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
