"""``mongo-tables compare``: compare two campaigns row by row, show the conclusions of one campaign, or pool several.

``campaigns`` reads, pools and stores rows, ``wording`` formats results.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.findings.usage import CommandError, print_error

if TYPE_CHECKING:
    from mongo_tables.results.comparison import Comparison, Difference

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


def run(arguments: Namespace) -> int:
    """Print the comparison. With ``--fail-if``, return 1 if a condition is met, 2 if a row cannot pass, else 0.

    Raises CommandError if nothing can be compared or pooled, and for incompatible options.
    """
    if arguments.pool or arguments.keep:
        return _pool(arguments)
    from mongo_tables.commands.compare.wording import format_json, format_text

    found = _compare(arguments)
    if arguments.json:
        print(format_json(found))
    else:
        print("\n".join(format_text(found)))
    return _fail(found, arguments) if arguments.fail_if else 0


def _pool(arguments: Namespace) -> int:
    """Pool and store campaigns. Raises CommandError before a file is written."""
    from mongo_tables.commands.compare.campaigns import pool_campaigns

    if arguments.new is not None:
        raise CommandError(
            "--pool and --keep accept only one RESULTS", "name the other campaigns with --pool"
        )
    if arguments.json or arguments.fail_if:
        raise CommandError(
            "--pool and --keep write rows: neither --json nor --fail-if goes with them",
            "compare the rows afterwards",
        )
    for line in pool_campaigns(arguments.old, arguments.pool, arguments.experiment, arguments.keep):
        print(line)
    return 0


def _compare(arguments: Namespace) -> Difference:
    from mongo_tables.commands.compare.campaigns import read_rows
    from mongo_tables.results.comparison import compare
    from mongo_tables.results.within_campaign import compare_within

    old = read_rows(arguments.old, arguments.experiment)
    if arguments.new is None:
        within = compare_within(old)
        if not within.rows:
            raise CommandError("the results have no measurements in blocks", "name a second set of results")
        return within
    found = compare(old, read_rows(arguments.new, arguments.experiment))
    if not found.rows:
        raise CommandError(
            "no row is in both OLD and NEW", "rows belong together when experiment and variant are equal"
        )
    return found


def _fail(found: Difference, arguments: Namespace) -> int:
    """Print the rows that fail, cannot pass, or cannot be judged. Raises CommandError if no row can be judged."""
    lost = [f"{row.name}: {row.lost}" for row in found.rows if row.lost]
    lost += [*found.gone, *(f"{name}: only in OLD" for name in found.only_old)]
    others = [row for row in found.rows if not (row.is_control or row.lost)]
    not_judged = [f"{row.name}: {row.why_not_judged}" for row in others if row.why_not_judged]
    not_judged += (one for one in found.not_compared if one not in found.gone)
    if all(row.why_not_judged for row in others):
        reasons = dict.fromkeys([*not_judged, *lost]) or ["each is compared with itself"]
        hint = "compare results of the same work in blocks, together with the reference rows"
        raise CommandError(f"no row can fail or pass: {'; '.join(reasons)}", hint)
    failing = [
        f"{one.text}: {row.name} ({row.heading})"
        for row in others
        for one in arguments.fail_if
        if _meets(row, one)
    ]
    told = (("not judged: ", not_judged), ("cannot pass: ", lost), ("", failing))
    for line in dict.fromkeys(f"{kind}{one}" for kind, some in told for one in some):
        print_error(line)
    return 1 if failing else 2 if lost else 0


def _meets(row: Comparison, asked: FailCondition) -> bool:
    """Return whether a row meets a condition, by its verdict and its measured ratio.

    The measured ratio counts; the interval need not lie completely beyond the percentage.
    """
    judged = row.judged
    if asked.verdicts == ("not known",):
        return judged.verdict in ("not known", None)
    return (
        judged.verdict in asked.verdicts
        and judged.ratio is not None
        and abs(judged.ratio - 1) * 100 >= asked.percent
    )
