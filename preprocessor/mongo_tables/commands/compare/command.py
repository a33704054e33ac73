"""The implementation of ``mongo-tables compare``."""

from __future__ import annotations

from argparse import Namespace

from mongo_tables.commands.compare import FailCondition
from mongo_tables.commands.compare.campaigns import pool_campaigns, read_rows
from mongo_tables.commands.compare.wording import format_json, format_text
from mongo_tables.findings.usage import CommandError, print_error
from mongo_tables.results.comparison import Comparison, Difference, compare
from mongo_tables.results.within_campaign import compare_within


def run(arguments: Namespace) -> int:
    """Print the comparison. Return 0 or, with ``--fail-if``, 1 if a row meets a condition and 2 if a row cannot pass.

    Raises CommandError if nothing can be compared or pooled, and for incompatible options.
    """
    if arguments.pool or arguments.keep:
        return _pool(arguments)
    found = _compare(arguments)
    if arguments.json:
        print(format_json(found))
    else:
        print("\n".join(format_text(found)))
    return _fail(found, arguments) if arguments.fail_if else 0


def _pool(arguments: Namespace) -> int:
    """Pool and store campaigns, or raise CommandError before a file is written."""
    if arguments.new is not None:
        raise CommandError(
            "--pool and --keep accept only one RESULTS", "name the other campaigns with --pool"
        )
    if arguments.json or arguments.fail_if:
        raise CommandError(
            "--pool and --keep cannot be combined with --json or --fail-if, because they write rows",
            "compare the rows afterwards",
        )
    for line in pool_campaigns(arguments.old, arguments.pool, arguments.experiment, arguments.keep):
        print(line)
    return 0


def _compare(arguments: Namespace) -> Difference:
    old = read_rows(arguments.old, arguments.experiment)
    if arguments.new is None:
        within = compare_within(old)
        if not within.rows:
            raise CommandError("the results have no measurements in blocks", "name a second set of results")
        return within
    found = compare(old, read_rows(arguments.new, arguments.experiment))
    if not found.rows:
        raise CommandError(
            "no row is in both OLD and NEW", "rows are compared if their experiment and variant are equal"
        )
    return found


def _fail(found: Difference, arguments: Namespace) -> int:
    """Print the rows that meet a condition, cannot pass, or cannot be judged. Return the exit status.

    Raises CommandError if no row can be judged.
    """
    lost = [f"{row.name}: {row.lost}" for row in found.rows if row.lost]
    lost += [*found.gone, *(f"{name}: only in OLD" for name in found.only_old)]
    others = [row for row in found.rows if not (row.is_control or row.lost)]
    not_judged = [f"{row.name}: {row.why_not_judged}" for row in others if row.why_not_judged]
    not_judged += (one for one in found.not_compared if one not in found.gone)
    if all(row.why_not_judged for row in others):
        reasons = dict.fromkeys([*not_judged, *lost]) or ["each is compared with itself"]
        hint = "compare results of the same work in blocks, together with the reference rows"
        raise CommandError(f"--fail-if cannot judge any row: {'; '.join(reasons)}", hint)
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
    """Return whether a row has the verdict of a condition, and a measured ratio beyond its percentage.

    The interval need not be completely beyond the percentage.
    """
    judged = row.judged
    if asked.verdicts == ("not known",):
        return judged.verdict in ("not known", None)
    return (
        judged.verdict in asked.verdicts
        and judged.ratio is not None
        and abs(judged.ratio - 1) * 100 >= asked.percent
    )
