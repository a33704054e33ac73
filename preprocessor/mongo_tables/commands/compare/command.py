"""``mongo-tables compare``: two campaigns row by row, or what was concluded within one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mongo_tables.commands.compare.failing import (
    condition,
    list_controls,
    list_failing,
    list_lost,
    list_not_judged,
)
from mongo_tables.findings.usage import print_error

if TYPE_CHECKING:
    from mongo_tables.results.comparison import Difference

DESCRIPTION = (
    "Compare rows that `mongo-tables run` wrote: two campaigns (OLD NEW), or the targets that one campaign measured\n"
    "side by side (RESULTS), else each of its rows and the reference; over several campaigns where `mongo-tables\n"
    "pool` concluded them. Tables over any documents are compared by `mongo-tables diff`."
)
EPILOG = """\
A verdict rests on a 95 % interval over blocks: `faster` or `slower` where it leaves out 1, also when rows are judged
together (Benjamini and Hochberg; of OLD NEW all rows, else those of an experiment and a target); `no difference` where
all of it is within 10 %; else, and with fewer than three blocks, `not known`. Between two targets up to 2 % is neither
faster nor slower: two copies of the same data on one server may differ by that.
Two campaigns are not paired, and machines drift: their rows are compared by their ratios to their references, which
were measured in the same blocks, and speeds are shown without a verdict. What one hour does to a machine is in no
interval of one campaign a side: a verdict is no finding before other hours repeat it. To compare two servers by their
speeds, measure them side by side: mongo-tables run NAME --target a=mongodb://… --target b=mongodb://…
Rows that were measured without blocks have the ratio of their medians and no verdict, those that were not asked for
alike (another scale, other windows, another definition) none either.

With --fail-if, rows that cannot be judged, as their reference is not there, are named; it is an error if none can be,
and where a row worked on the first side and did nothing on the other, or is gone. What is compared with itself is told,
and meets no condition.
--fail-if is met by the verdict and the measured ratio: `slower 5 %` by a row that is called slower and was measured at
5 % slower or more, even if its interval reaches to 3 %.

examples:
  mongo-tables compare ../before/fixtures fixtures
  mongo-tables compare HEAD~1:fixtures fixtures --fail-if "slower 5 %"
  mongo-tables compare mongodb://db/january mongodb://db/june --experiment insert_docsize
  mongo-tables compare fixtures                                    targets, or rows and their reference
  mongo-tables compare fixtures --explain "insert_docsize: 4 KiB"  the arithmetic, block by block

exit status: 0 compared, 1 a row is as --fail-if says, 2 nothing to compare, rows that `run` did not write so, or with
--fail-if: no row can be judged, or one does nothing any more
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the sides, what of them is compared, when that fails, and how it is said."""
    sides = "folder of fixtures, REVISION:FOLDER of the Git repository, or connection string"
    parser.add_argument("old", metavar="OLD", help=f"{sides}; alone: what was concluded within it")
    parser.add_argument("new", metavar="NEW", nargs="?", help="the same")
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="only this one; may be repeated"
    )
    parser.add_argument(
        "--explain", nargs="?", const="", metavar="ROW",
        help="the arithmetic of the row EXPERIMENT: VARIANT, of an experiment, or of all rows; last on the line",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="everything as one JSON document")
    parser.add_argument(
        "--fail-if", action="append", type=condition, default=[], metavar="CONDITION",
        help="exit with 1 when a row is `slower`, `slower 5 %%` or more, `faster 5 %%`, `different 3 %%`, `not known`; "
        "may be repeated",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Print the comparison; with ``--fail-if`` give 1 when a condition is met, 2 when a row cannot pass, else 0.

    Raises RunnerError when nothing can be compared.
    """
    from mongo_tables.commands.compare.writing import format_json, format_text

    found = _compare(arguments)
    if arguments.json:
        print(format_json(found))
    elif arguments.explain is not None:
        print("\n".join(_explain(found, arguments.explain)))
    else:
        print("\n".join(format_text(found)))
    return _fail(found, arguments)


def _compare(arguments: Namespace) -> Difference:
    from mongo_tables.commands.compare.reading import read_rows
    from mongo_tables.results.betweencampaigns import compare
    from mongo_tables.results.withincampaign import compare_within
    from mongo_tables.runner.errors import RunnerError

    old = read_rows(arguments.old, arguments.experiment)
    if arguments.new is None:
        within = compare_within(old)
        if not within.rows:
            raise RunnerError(
                "nothing was measured in blocks there", "name a second set of results beside it"
            )
        return within
    found = compare(old, read_rows(arguments.new, arguments.experiment))
    if not found.rows:
        raise RunnerError("no row is in both", "rows belong together when experiment and variant are equal")
    return found


def _explain(found: Difference, name: str) -> Iterator[str]:
    """The arithmetic of the rows that are meant; raises RunnerError where there is none."""
    from mongo_tables.commands.compare.explaining import explain
    from mongo_tables.findings.nearest import did_you_mean
    from mongo_tables.runner.errors import RunnerError

    meant = [row for row in found.rows if name in ("", row.name, row.experiment)]
    if not meant:
        known = [row.name for row in found.rows]
        raise RunnerError(f"no row is called `{name}`", did_you_mean(name, known) or "EXPERIMENT: VARIANT")
    for row in meant:
        yield from explain(row)


def _fail(found: Difference, arguments: Namespace) -> int:
    """Say what fails, and what cannot; raises RunnerError where no row can be judged, so that nothing passes unseen."""
    from mongo_tables.runner.errors import RunnerError

    if not arguments.fail_if:
        return 0
    not_judged, lost = list_not_judged(found), list_lost(found)
    if all(row.why_not_judged or row.is_control for row in found.rows):
        controls = [row.why_not_judged or f"{row.name} is compared with itself" for row in found.rows]
        reasons = dict.fromkeys([*not_judged, *lost] or controls)
        hint = "compare results of the same work in blocks, with the rows that theirs were measured beside"
        raise RunnerError(f"no row can fail or pass: {'; '.join(reasons)}", hint)
    for told in not_judged:
        print_error(f"not judged: {told}")
    for told in list_controls(found.rows):
        print_error(f"not counted: {told}")
    for told in lost:
        print_error(f"cannot pass: {told}")
    failing = list_failing(found.rows, arguments.fail_if)
    for asked, name in failing:
        print_error(f"{asked.text}: {name}")
    return 1 if failing else 2 if lost else 0
