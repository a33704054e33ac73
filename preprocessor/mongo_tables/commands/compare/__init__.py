"""``mongo-tables compare``: compare two campaigns, show the conclusions of one campaign, or pool several campaigns.

``campaigns`` reads, pools and stores rows, ``wording`` formats comparisons.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Final, NamedTuple

DESCRIPTION = (
    "Compare rows of `mongo-tables run`: two campaigns (OLD NEW), or within one campaign (RESULTS) its targets or, if\n"
    "it has only one target, each row with the reference. `mongo-tables diff` compares tables of other documents.\n"
    "\n"
    "With --pool, conclude from several campaigns, each the result of one `mongo-tables run`: a finding needs two at\n"
    "different hours. Rows of RESULTS that another CAMPAIGN also has get the field `campaigns`: ratio, interval or\n"
    "range, and verdict over all campaigns, and the result of each campaign."
)
EPILOG = """\
The verdict of a row follows from the 95 % interval of its ratio over blocks: `faster` or `slower` if the interval
excludes 1, `no difference` if all of it is within 10 % of 1, else `not known`. Rows are judged together: a table
of many rows has few false alarms. Two campaigns were measured at different times, so their rows are compared by the
ratios to their references, and speeds have no verdict. With one campaign on each side, the interval does not include
how the machine varies from hour to hour. To compare servers by speed, measure them side by side:
mongo-tables run NAME --target a=mongodb://… --target b=mongodb://…

With --fail-if, a row meets `slower 5 %` if its verdict is slower and its measured ratio is 5 % slower or more. Rows
that cannot be judged are listed. Rows that are missing in NEW, or did no work, do not pass.

Five or more pooled campaigns have a 95 % interval. Two to four have the range of their 95 % intervals instead: a row is
`faster` or `slower` if it is so in each campaign. --keep stores each campaign in FOLDER/ID/results/NAME.jsonl with only
the fields that pooling needs, because a run replaces the rows of the previous one.

examples:
  mongo-tables compare ../before/fixtures fixtures
  mongo-tables compare HEAD~1:fixtures fixtures --fail-if "slower 5 %"
  mongo-tables compare mongodb://db/january mongodb://db/june --experiment insert_docsize
  mongo-tables compare fixtures                                    targets, or rows and their reference
  mongo-tables compare fixtures --keep fixtures/campaigns          after the first campaign
  mongo-tables compare fixtures --pool fixtures/campaigns/* --keep fixtures/campaigns        and after each further one
  mongo-tables compare fixtures --pool HEAD~1:fixtures             with the results of the last revision

exit status: 0 compared, pooled or kept; 1 a row meets --fail-if; 2 nothing to compare or to pool, campaigns of
different work, rows that are not in the form of `run`, or with --fail-if: no row can be judged, or a row does not pass
"""

_VERDICTS: Final = {
    "slower": ("slower",),
    "faster": ("faster",),
    "different": ("faster", "slower"),
    "not known": ("not known",),
}
_FORM: Final = re.compile(r"(slower|faster|different)(?: +(\d+(?:\.\d+)?) *%)?|not known", re.ASCII)
_ALLOWED: Final = "`slower`, `slower 5 %`, `faster 5 %`, `different 3 %` or `not known`"


class FailCondition(NamedTuple):
    """A condition of ``--fail-if``: verdicts, and the minimum difference in per cent.

    ``text`` is the condition as the user wrote it.
    """

    verdicts: tuple[str, ...]
    percent: float
    text: str


def _condition(text: str) -> FailCondition:
    """Parse a condition such as ``slower 5 %``. Raises the error that argparse shows."""
    asked = " ".join(text.split())
    found = _FORM.fullmatch(asked)
    if found is None:
        raise ArgumentTypeError(f"must be {_ALLOWED}, not {text!r}")
    return FailCondition(_VERDICTS[found[1] or asked], float(found[2] or 0), asked)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the sides, the rows to compare, the failure conditions, the output format, and pooling."""
    sides = "folder of fixtures, REVISION:FOLDER of the Git repository, or connection string"
    parser.add_argument(
        "old",
        metavar="OLD",
        help=f"{sides}; without NEW, these are RESULTS: show the conclusions within them",
    )
    parser.add_argument("new", metavar="NEW", nargs="?", help="as OLD")
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="only this experiment; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON document")
    parser.add_argument(
        "--fail-if", action="append", type=_condition, default=[], metavar="CONDITION",
        help="exit with 1 if a row is, for example, `slower`, at least `slower 5 %%`, `faster 5 %%`, `different 3 %%` "
        "or `not known`; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--pool", nargs="+", default=[], metavar="CAMPAIGN",
        help=f"pool RESULTS with these campaigns, and write the conclusions into the rows of RESULTS; each a {sides}",
    )  # fmt: skip
    parser.add_argument(
        "--keep", metavar="FOLDER",
        help="store RESULTS and all pooled campaigns in this folder, with only the fields that pooling needs",
    )  # fmt: skip
