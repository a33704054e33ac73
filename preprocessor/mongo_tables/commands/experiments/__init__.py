"""``mongo-tables experiments``: list and describe experiments."""

from __future__ import annotations

from argparse import Namespace

from mongo_tables.findings.usage import require_extra
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.experiment import Experiment


def run(arguments: Namespace) -> int:
    """Print the list or the descriptions, or write published figures or fingerprints. Return 0.

    Raises CommandError for a missing or invalid experiment, or if the figures cannot be written.
    """
    wanted = map(experiments.load, arguments.name or experiments.names())
    if arguments.published or arguments.fingerprint:
        require_extra("experiments --published or --fingerprint", "runner")
        from mongo_tables.commands.experiments.rows import write_rows

        write_rows([*wanted], arguments)
    else:
        for experiment in wanted:
            print(_describe(experiment) if arguments.name else _format_line(experiment))
    return 0


def _format_line(experiment: Experiment) -> str:
    return f"{experiment.name:<22} {len(experiment.variants):>2} variants  {experiment.title}"


def _describe(experiment: Experiment) -> str:
    variants = "\n".join(
        f"  {number}. " + ", ".join(f"{key} {value}" for key, value in variant.items())
        for number, variant in enumerate(experiment.variants, 1)
    )
    source = experiment.published.get("source", "none")
    return f"{_format_line(experiment)}\n\n{experiment.description}\n\n{variants}\n\npublished figures: {source}\n"
