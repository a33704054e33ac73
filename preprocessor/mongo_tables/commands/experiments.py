"""``mongo-tables experiments``: list and describe experiments."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mongo_tables.runner.experiment import Experiment

DESCRIPTION = "List the experiments that come with mongo-tables, or describe the named ones."
EPILOG = """\
examples:
  mongo-tables experiments                    a line for each
  mongo-tables experiments insert_docsize     what it measures, and its variants
  mongo-tables experiments --published        what others published for them, into fixtures/
  mongo-tables experiments --fingerprint      their counters and ranges, into the rows in fixtures/"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the experiments to describe (none: all are listed), and the place for published figures."""
    parser.add_argument("name", nargs="*", help="an experiment to describe, or a file *.toml")
    parser.add_argument(
        "--published", action="store_true",
        help="write the figures that others published for these experiments (none named: for all) into the "
        "collection published, where pages find them next to the results, and the effect of each parameter's size into "
        "the collection parameters; a run does this for its experiments",
    )  # fmt: skip
    parser.add_argument(
        "--fingerprint", action="store_true",
        help="compute the fingerprints of rows again, by the current counters and ranges of these experiments "
        "(none named: of all); a run does this for its rows",
    )  # fmt: skip
    parser.add_argument(
        "--output", default="fixtures", metavar="WHERE",
        help="with --published and --fingerprint: folder of fixtures, or connection string of the results database "
        "(default: fixtures)",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Print the list or the descriptions, or write published figures or fingerprints. Return 0.

    Raises CommandError for a missing or invalid experiment, and if the figures cannot be written.
    """
    from mongo_tables.runner import experiment as experiments

    wanted = map(experiments.load, arguments.name or experiments.names())
    if arguments.published or arguments.fingerprint:
        from contextlib import closing

        from mongo_tables.runner.fingerprint import renew
        from mongo_tables.runner.result_rows import row_id, write_published
        from mongo_tables.runner.store import open_store

        loaded = [*wanted]
        loaded += [experiments.control(one) for one in loaded if one.control]
        with closing(open_store(arguments.output)) as store:
            for experiment in loaded:
                if arguments.published and not experiment.control_of:
                    print(f"{experiment.name}: {write_published(experiment, store)} published rows")
                if arguments.fingerprint:
                    ids = [row_id(experiment, number) for number in range(len(experiment.variants))]
                    rows = renew(store.rows(experiment.name), experiment, ids)
                    store.put(*rows)
                    print(f"{experiment.name}: {len(rows)} fingerprints")
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
