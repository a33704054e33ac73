"""``mongo-tables history``: the speed of each row over campaigns, and its changes.

``series`` reads rows and known changes, and formats series as text and documents.
"""

from __future__ import annotations

from argparse import ArgumentParser

DESCRIPTION = (
    "Show the speed of each row over campaigns that `mongo-tables run` measured, and where it changed."
)
EPILOG = """\
A change is a lasting change of level: there are two or more campaigns on each side of it, and five or more in all. A
machine drifts from hour to hour, so --ratio shows the ratio to the reference, which was measured in the same blocks;
but only the speed shows a slowdown of all rows. Campaigns of different work, or with another processor or cache than
the newest one, are not compared with it. Rows that a later run replaced (`results_history`) are also campaigns.

A TOML file of known changes gives the reasons; `row` may be a pattern:

  [[change]]
  row = "insert_docsize: *"
  campaign = "2026-11-22T04:04:02Z"
  reason = "batches are handed out from one counter"
  ticket = "#14"

examples:
  mongo-tables history fixtures                                 all campaigns in this folder
  mongo-tables history fixtures/campaigns/*                     campaigns in several folders
  mongo-tables history fixtures --revisions fixtures            also those in earlier commits
  mongo-tables history fixtures/campaigns/* --experiment insert_docsize --points
  mongo-tables history fixtures/campaigns/* --known changes.toml --fail     for CI
  mongo-tables history fixtures/campaigns/* --write fixtures                for pages to show

exit status: 0 shown, 1 with --fail if a change is not known, 2 nothing to show, or rows not in the form of `run`
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the campaigns, the output, and the condition for failure."""
    parser.add_argument(
        "campaigns", metavar="CAMPAIGN", nargs="*",
        help="folder of fixtures, REVISION:FOLDER of the Git repository, or connection string",
    )  # fmt: skip
    parser.add_argument(
        "--revisions",
        metavar="FOLDER",
        help="also read FOLDER at each commit that changed it; FIRST..LAST:FOLDER limits the commits",
    )
    parser.add_argument(
        "--experiment",
        action="append",
        metavar="NAME",
        help="only this experiment, or a pattern of names; may be repeated",
    )
    parser.add_argument(
        "--ratio", action="store_true", help="show the ratio to the reference instead of the speed"
    )
    parser.add_argument("--points", action="store_true", help="also show the figure of each campaign")
    parser.add_argument("--known", metavar="FILE", help="TOML file of changes with a known reason")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a change has no known reason")
    parser.add_argument(
        "--write", metavar="RESULTS",
        help="write the points into the collection `history` of a folder of fixtures or a database, for pages to show",
    )  # fmt: skip
