"""``mongo-tables experiments``: list and describe experiments."""

from __future__ import annotations

from argparse import ArgumentParser

DESCRIPTION = "List the experiments that come with mongo-tables, or describe the named ones."
EPILOG = """\
examples:
  mongo-tables experiments                    list all
  mongo-tables experiments insert_docsize     what it measures, and its variants
  mongo-tables experiments --published        what others published for them, into fixtures/
  mongo-tables experiments --fingerprint      their counters and ranges, into the rows in fixtures/"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the experiments to describe, and the options for published figures and fingerprints."""
    parser.add_argument("name", nargs="*", help="an experiment to describe, or a file *.toml")
    parser.add_argument(
        "--published", action="store_true",
        help="write the figures that others published for the named experiments (default: for all) into the collection "
        "published, for pages to compare with, and the effect of each parameter's size into the collection "
        "parameters; a run does this for its experiments",
    )  # fmt: skip
    parser.add_argument(
        "--fingerprint", action="store_true",
        help="compute the fingerprints of rows again, with the current counters and ranges of the named experiments "
        "(default: of all); a run does this for its rows",
    )  # fmt: skip
    parser.add_argument(
        "--output", default="fixtures", metavar="WHERE",
        help="with --published and --fingerprint: folder of fixtures, or connection string of the results database "
        "(default: fixtures)",
    )  # fmt: skip
