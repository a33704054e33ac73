"""``mongo-tables compare``: compare two campaigns row by row, show the conclusions of one campaign, or pool several.

``campaigns`` reads, pools and stores rows, ``wording`` formats results.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Final, NamedTuple

DESCRIPTION = (
    "Compare rows of `mongo-tables run`: two campaigns (OLD NEW), or the targets that one campaign measured side by\n"
    "side (RESULTS), else each of its rows with the reference; over several campaigns if --pool has pooled them.\n"
    "To compare tables of other documents, use `mongo-tables diff`.\n"
    "\n"
    "With --pool, conclude from several campaigns, each the result of one `mongo-tables run`: a finding needs two at\n"
    "different hours. Rows of RESULTS that another CAMPAIGN also has get the field `campaigns`: ratio, interval or\n"
    "range, and verdict over all campaigns, and the result of each. Nothing else in them changes."
)
EPILOG = """\
Rows are judged together, each by a 95 % interval over blocks: `faster` or `slower` if the interval excludes 1,
`no difference` if all of it is within 10 % of 1, else `not known`. Two campaigns are not paired: rows are judged by
their ratios to their references, and speeds have no verdict. With one campaign on each side, no interval includes the
effect of the hour on the machine. To compare servers by speed, measure them side by side:
mongo-tables run NAME --target a=mongodb://… --target b=mongodb://…

With --fail-if, `slower 5 %` is met by a row with the verdict slower and a measured ratio of 5 % slower or more. Rows
that cannot be judged are named, and rows that are gone, or did nothing, do not pass.
From five pooled campaigns on there is a 95 % interval. Over two to four there is none, but the range of the campaigns'
95 % intervals: a row is `faster` or `slower` if it is so in each of them. --keep stores each campaign in its own folder
with only what pooling needs, FOLDER/ID/results/NAME.jsonl: a run replaces the rows of the previous one.

examples:
  mongo-tables compare ../before/fixtures fixtures
  mongo-tables compare HEAD~1:fixtures fixtures --fail-if "slower 5 %"
  mongo-tables compare mongodb://db/january mongodb://db/june --experiment insert_docsize
  mongo-tables compare fixtures                                    targets, or rows and their reference
  mongo-tables compare fixtures --keep fixtures/campaigns          after the first campaign
  mongo-tables compare fixtures --pool fixtures/campaigns/* --keep fixtures/campaigns        and after each further one
  mongo-tables compare fixtures --pool HEAD~1:fixtures             with the results of the last revision

exit status: 0 compared, pooled or kept, 1 a row meets --fail-if, 2 nothing to compare or to pool, campaigns of
different work, rows that are not in the form of `run`, or with --fail-if: no row can be judged, or one does nothing any
more
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
    """A condition: verdicts that fail from a difference of ``percent`` on.

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
        "old", metavar="OLD", help=f"{sides}; without NEW, as RESULTS: the conclusions within it"
    )
    parser.add_argument("new", metavar="NEW", nargs="?", help="as OLD")
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="only this experiment; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON document")
    parser.add_argument(
        "--fail-if", action="append", type=_condition, default=[], metavar="CONDITION",
        help="exit with 1 when a row is `slower`, `slower 5 %%` or more, `faster 5 %%`, `different 3 %%`, `not known`; "
        "may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--pool", nargs="+", default=[], metavar="CAMPAIGN",
        help="pool RESULTS with these campaigns, and write the conclusions into the rows of RESULTS; each is a "
        f"{sides}",
    )  # fmt: skip
    parser.add_argument(
        "--keep", metavar="FOLDER",
        help="store RESULTS and all pooled campaigns in this folder, with only the fields that pooling needs",
    )  # fmt: skip
