"""``mongo-tables explain``: the effect of each stage of a pipeline, the origin of a cell, the meaning of a rule or key.

``explanation`` makes an ``Explanation``, which ``terminal`` prints. ``lineage`` finds the origin of a cell, and
``reference`` explains rules and keys.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.measurement_options import whole_number
from mongo_tables.commands.options import SOURCE, add_options

DESCRIPTION = (
    "Runs the pipeline of a table stage by stage on the results source. Shows the documents before and after each\n"
    "stage, added and removed fields, the first rows, where values became null, which stage lost all rows, and why.\n"
    "For a rule, a comment or a key, shows the meaning and an example."
)
EPILOG = f"""\
{SOURCE}

examples:
  mongo-tables explain docs/speed.md                       every table and chart of a page
  mongo-tables explain docs/speed.md:12 --rows 10          the comment at line 12, with ten rows after each stage
  mongo-tables explain docs/speed.md:12 --cell 3 speed     the documents behind the cell in row 3 of that column
  mongo-tables explain MT411                               a rule, with an example
  mongo-tables explain RESULT_CHART                        the keys of a comment
  mongo-tables explain format.decimals                     a key

exit status: 0 every table has its rows and columns, 1 a table lacks some, 2 wrong usage or nothing to work with"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the place in a page, and the parts of its pipeline to show."""
    parser.add_argument(
        "place",
        metavar="FILE[:LINE]|RULE|KEY",
        help="a page, or the comment at or nearest to a line; or the id of a rule, the keyword of a comment, or a key",
    )
    parser.add_argument(
        "--rows",
        type=whole_number,
        default=3,
        metavar="N",
        help="documents shown after each stage (default: 3)",
    )
    parser.add_argument(
        "--cell",
        nargs=2,
        metavar=("ROW", "COLUMN"),
        help="show the documents, fields and stages from which this cell is computed; ROW is the number of the row or "
        "the text in its first column, COLUMN a name or a header",
    )
    add_options(parser)
