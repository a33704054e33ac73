"""``mongo-tables compare``: compare two campaigns, show the conclusions of one campaign, or pool several campaigns.

``wording`` formats comparisons.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from mongo_tables.commands.compare.wording import format_json, format_pooled, format_text
from mongo_tables.commands.measure_commands import FailCondition
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError, print_error, require_extra
from mongo_tables.results.benchmark_results import read_benchmarks
from mongo_tables.results.comparison import Comparison, Difference, compare, name_row
from mongo_tables.results.conclusions import block_speeds
from mongo_tables.results.guards import Limits
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import is_uri
from mongo_tables.results.pooling import FIELD, pool_rows, thin_out
from mongo_tables.results.revisions import is_revision, on_disk
from mongo_tables.results.row_check import find_row_fault
from mongo_tables.results.within_campaign import compare_within
from mongo_tables.runner.errors import shown
from mongo_tables.runner.store import FileStore, open_store


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
        hint = "compare results of the same work that were measured in blocks, and include the rows of the references"
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


_HINT: Final = "a run writes results/NAME.jsonl; to compare tables of other documents, use mongo-tables diff"
_ID: Final = re.compile(r"\w[\w.-]*", re.ASCII)

Row = Mapping[str, Any]


def read_rows(
    where: str, names: Sequence[str] | None, *, with_replaced: bool = False
) -> list[dict[str, Any]]:
    """Read the rows of the experiments ``names`` (None: all) from a folder, a folder at a revision, or a database.

    From a file or a folder without rows of a run, read benchmarks of other tools. With ``with_replaced``, also read
    rows that a later run replaced. Raises CommandError if there are no rows, if a row lacks fields that conclusions
    need, or if intervals cannot be computed.
    """
    with on_disk(where) as place:
        rows: list[dict[str, Any]] = []
        if not Path(place).is_file():
            with closing(open_store(place, Limits().connect_ms)) as store:
                for name in names or store.experiments():
                    rows += store.rows(name)
                    rows += store.replaced_rows(name) if with_replaced else []
        if not rows and not is_uri(place) and Path(place).exists():
            rows = _read_benchmarks(place, names)
    if not rows:
        raise CommandError(f"no rows of `mongo-tables run` in {shown(where)}", _HINT)
    measured = [row for row in rows if isinstance(row.get("_id"), Mapping) and "testname" in row["_id"]]
    if not measured:
        raise CommandError(f"{shown(where)} has documents, but none that `mongo-tables run` wrote", _HINT)
    for row in measured:
        if fault := find_row_fault(row):
            hint = "measure it again, restore the row as it was measured, or choose other experiments with --experiment"
            raise CommandError(f"{shown(where)}: {name_row(row)}: {fault}", hint)
    if any(block_speeds(row) for row in measured):
        require_extra("compare", "runner", "scipy")
    return measured


def _read_benchmarks(place: str, names: Sequence[str] | None) -> list[dict[str, Any]]:
    try:
        found = read_benchmarks(place)
    except ResultsError:
        if Path(place).is_file():
            raise
        return []  # the caller reports that the folder has no rows
    return [row for row in found if not names or row["_id"]["testname"] in names]


def pool_campaigns(
    where: str, others: Sequence[str], names: Sequence[str] | None, folder: str | None
) -> Iterator[str]:
    """Pool the rows in ``where`` with those in ``others``, and write the conclusions into the rows in ``where``.

    With ``folder``, store all rows there. Yield a line about each action. Raises CommandError before a file is written.
    """
    if is_revision(where):
        hint = "name a folder or a connection string; only the campaigns of --pool may be revisions"
        raise CommandError(f"{where}: conclusions cannot be written into a revision of Git", hint)
    if folder and is_uri(folder):
        raise CommandError("--keep requires a folder, not a connection string")
    rows = read_rows(where, names)
    added = [row for other in others for row in read_rows(other, names)]
    pooled = pool_rows(rows, added) if added else None
    if pooled is not None and not any(FIELD in row for row in pooled.rows):
        raise CommandError(
            "no row was compared with a reference in two campaigns",
            "rows are pooled if their experiment and variant are equal",
        )
    if folder:
        for place, count in _keep_campaigns(Path(folder), [*rows, *added]).items():
            yield f"kept: {place}: {format_count(count, 'row')}"
    if pooled is None:
        return
    with closing(open_store(where)) as store:
        store.put(*(row for before, row in zip(rows, pooled.rows, strict=True) if row != before))
    yield from format_pooled(pooled)


def _keep_campaigns(folder: Path, rows: Sequence[Row]) -> dict[Path, int]:
    """Write each row into the folder of its campaign. Return the number of rows of each folder.

    Duplicate rows are written once. Raises CommandError if no row belongs to a campaign, if the name of a campaign is
    not valid for a folder, or if a folder cannot be written.
    """
    kept: dict[Path, list[Row]] = {}
    for row in rows:
        campaign = row.get("campaign", {}).get("id")
        if campaign is None:
            continue
        if _ID.fullmatch(campaign) is None:  # documents may come from untrusted authors
            raise CommandError(f"the name of a campaign, {campaign!r}, is not valid as the name of a folder")
        of_campaign = kept.setdefault(folder / campaign, [])
        if row["_id"] not in [one["_id"] for one in of_campaign]:
            of_campaign.append(row)
    if not kept:
        raise CommandError("no row names its campaign", "measure again; --keep cannot store older rows")
    for place, some in kept.items():
        FileStore(place).put(*map(thin_out, some))
    return {place: len(some) for place, some in kept.items()}
