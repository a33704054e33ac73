"""``mongo-tables compare``: two sets of results, row by row."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preprocessor.results.comparison import Comparison, Difference

DESCRIPTION = (
    "Compare two sets of rows that `mongo-tables run` wrote: what became faster, what slower, what is noise.\n"
    "Tables over any documents are compared by `mongo-tables diff`."
)
EPILOG = """\
A row is called faster or slower when every repeat of one side is faster than every repeat of the other, and
both have at least three; everything else is noise. "by chance" says how often that would happen to sides that
are alike. The range is that of any repeat of NEW to any of OLD.

examples:
  mongo-tables compare ../before/fixtures fixtures
  mongo-tables compare HEAD~1:fixtures fixtures
  mongo-tables compare mongodb://db/january mongodb://db/june --experiment insert_docsize --fail-if-slower

exit status: 0 compared, 1 a row is slower (with --fail-if-slower), 2 nothing to compare
"""


_HINT = (
    "a folder has them in results/NAME.jsonl; tables over other documents are compared by mongo-tables diff"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the two sides, and what of them is compared."""
    sides = "folder of fixtures, REVISION:FOLDER of the Git repository, or connection string"
    parser.add_argument("old", metavar="OLD", help=sides)
    parser.add_argument("new", metavar="NEW", help="the same")
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="only this one; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="everything as one JSON document")
    parser.add_argument("--fail-if-slower", action="store_true", help="exit with 1 when a row is slower")


def run(arguments: Namespace) -> int:
    """Print the comparison; give 1 when ``--fail-if-slower`` finds a slower row, else 0.

    Raises RunnerError when no row is on both sides.
    """
    from preprocessor.results.comparison import compare
    from preprocessor.runner.errors import RunnerError

    old, new = (_read_rows(where, arguments.experiment) for where in (arguments.old, arguments.new))
    difference = compare(old, new)
    if not difference.rows:
        raise RunnerError("no row is in both", "rows belong together when experiment and variant are equal")
    print(_format_json(difference) if arguments.json else "\n".join(_format_text(difference)))
    slower = any(row.verdict == "slower" for row in difference.rows)
    return 1 if slower and arguments.fail_if_slower else 0


def _read_rows(where: str, names: list[str] | None) -> list[dict[str, Any]]:
    from preprocessor.results.model import Limits
    from preprocessor.results.revisions import on_disk
    from preprocessor.runner.addresses import shown
    from preprocessor.runner.errors import RunnerError
    from preprocessor.runner.store import open_store

    with on_disk(where) as place, closing(open_store(place, Limits().connect_ms)) as store:
        rows = [row for name in names or store.experiments() for row in store.rows(name)]
    if not rows:
        raise RunnerError(f"no rows of `mongo-tables run` in {shown(where)}", _HINT)
    measured = [row for row in rows if isinstance(row.get("_id"), Mapping) and "testname" in row["_id"]]
    if not measured:
        raise RunnerError(f"{shown(where)} has documents, but none that `mongo-tables run` wrote", _HINT)
    return measured


def _format_text(difference: Difference) -> Iterator[str]:
    experiment = ""
    for row in difference.rows:
        if row.experiment != experiment:
            experiment = row.experiment
            yield f"{experiment}: NEW to OLD"
        chance = "" if row.chance is None else f", by chance {row.chance:.1%}"
        ratio, low, high = ("n/a" if one is None else f"{one:.3f}" for one in (row.ratio, row.low, row.high))
        yield f"  {ratio:>7}  ({low} to {high})  {row.verdict}{chance}  {row.variant}"
    for side, rows in (("OLD", difference.only_old), ("NEW", difference.only_new)):
        for name in rows:
            yield f"only in {side}: {name}"
    yield from _list_differences(difference.rows)


def _list_differences(rows: tuple[Comparison, ...]) -> Iterator[str]:
    """Each difference of the provenance once, with the number of rows that have it."""
    counts: dict[str, int] = {}
    for row in rows:
        for field, (old, new) in row.differs.items():
            line = _describe_difference(row, field, old, new)
            counts[line] = counts.get(line, 0) + 1
    if not counts:
        yield "measured alike: no field of the provenance differs"
    for line, count in counts.items():
        yield line + (f" ({count} rows)" if count < len(rows) else "")


def _describe_difference(row: Comparison, field: str, old: Any, new: Any) -> str:
    """The line of a difference; another machine is called that, and whose it is."""
    from preprocessor.results.comparison import CLIENT, SERVERS

    if field.startswith(SERVERS):
        # Where one side did not say, nobody knows whether it is another.
        label = "machine of the servers" if None in (old, new) else "servers on another machine"
        field = field.removeprefix(SERVERS)
    elif field.startswith(CLIENT):
        label = "measured on another machine" if row.shared else "client on another machine"
        field = field.removeprefix(CLIENT)
    else:
        return f"not measured alike: {field}: {old} in OLD, {new} in NEW"
    old, new = ("not known" if one is None else one for one in (old, new))
    return f"{label}: {field}: {old} in OLD, {new} in NEW"


def _format_json(difference: Difference) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(difference), indent=2, ensure_ascii=False, default=str)
