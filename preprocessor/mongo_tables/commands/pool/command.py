"""``mongo-tables pool``: what several campaigns conclude together, written into their rows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mongo_tables.results.overcampaigns import Pooled

DESCRIPTION = (
    "Conclude several campaigns together, each of which is what one `mongo-tables run` measured: a finding needs two\n"
    "at different hours. Rows of RESULTS that another CAMPAIGN has too are given `campaigns`: ratio, its interval or\n"
    "range, and verdict over all of them, and what each of them found. Otherwise they stay as they are."
)
EPILOG = """\
The campaign is a level above the block: what one hour does to a machine is in no interval over blocks. From five
campaigns on there is a 95 % interval, that of Student's t over their ratios. Over two to four there is none, but the
range of the campaigns' 95 % intervals, from the lowest end to the highest: a row is `faster` or `slower` where it is so
in each of them. Where hours differ, it holds the truth less often than in 95 of 100 cases. Rows of one experiment on
one target are judged together (Benjamini and Hochberg).

Campaigns must have measured the same: the definition of the experiment, scale, windows, client, concerns, members
and the row that others are compared with. Where they ran may differ, machines and versions among it;
`campaigns.differs` names it. A campaign that is named twice counts once. Tables, charts and sentences take `campaigns`
as they take `comparison`; `mongo-tables compare RESULTS --explain` has the arithmetic.

A run replaces the rows of the one before. `--keep` keeps each campaign in a folder of its own with no more than pooling
needs, FOLDER/ID/results/NAME.jsonl, which `pool` and `compare` take as any other results.

examples:
  mongo-tables pool fixtures --keep fixtures/campaigns          after the first campaign
  mongo-tables pool fixtures fixtures/campaigns/* --keep fixtures/campaigns        and after each further one
  mongo-tables pool fixtures HEAD~1:fixtures                    the results of the last revision
  mongo-tables pool mongodb://db/june mongodb://db/january --experiment insert_docsize

exit status: 0 pooled or kept, 2 nothing to pool, campaigns that did not measure the same, or rows that `run` did not
write so
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the results, the other campaigns, what of them is pooled, and where they are kept."""
    parser.add_argument(
        "results", metavar="RESULTS", help="folder of fixtures or connection string; its rows are written"
    )
    parser.add_argument(
        "campaigns", metavar="CAMPAIGN", nargs="*",
        help="other results: folder of fixtures, REVISION:FOLDER of the Git repository, or connection string",
    )  # fmt: skip
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="only this one; may be repeated"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep all campaigns that are named there, with only what pooling needs",
    )


def run(arguments: Namespace) -> int:
    """Pool and keep; give 0.

    Raises UsageError or RunnerError where that is impossible, before anything is written.
    """
    from mongo_tables.commands.compare.reading import read_rows
    from mongo_tables.commands.pool.keeping import keep_campaigns
    from mongo_tables.commands.pool.writing import format_kept, format_pooled

    _refuse(arguments)
    rows = read_rows(arguments.results, arguments.experiment)
    others = [row for where in arguments.campaigns for row in read_rows(where, arguments.experiment)]
    pooled = _pool(rows, others) if others else None
    if arguments.keep:
        print("\n".join(format_kept(keep_campaigns(Path(arguments.keep), [*rows, *others]))))
    if pooled is not None:
        _write(arguments.results, rows, pooled.rows)
        print("\n".join(format_pooled(pooled)))
    return 0


def _refuse(arguments: Namespace) -> None:
    """Raise UsageError for what cannot be done as asked."""
    from mongo_tables.findings.usage import UsageError
    from mongo_tables.results.opening import is_uri
    from mongo_tables.results.revisions import is_revision

    if is_revision(arguments.results):
        hint = "name a folder, or a connection string; the other campaigns may be those of a revision"
        raise UsageError(f"{arguments.results}: rows of a revision cannot be written", hint)
    if arguments.keep and is_uri(arguments.keep):
        raise UsageError("--keep takes a folder, not a connection string")
    if not (arguments.campaigns or arguments.keep):
        raise UsageError("one campaign alone is not pooled", "name others beside it, or --keep FOLDER")


def _pool(rows: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> Pooled:
    """The rows with what all campaigns conclude; raises RunnerError where there is none that two of them have."""
    from mongo_tables.results.overcampaigns import FIELD, pool_rows
    from mongo_tables.runner.errors import RunnerError

    pooled = pool_rows(rows, others)
    if not any(FIELD in row for row in pooled.rows):
        raise RunnerError(
            "no row was compared with a reference in two campaigns",
            "rows belong together when experiment and variant are equal",
        )
    return pooled


def _write(where: str, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> None:
    from mongo_tables.runner.store import open_store

    with closing(open_store(where)) as store:
        for before, row in zip(old, new, strict=True):
            if row != before:
                store.put(row)
