"""What a row that was measured in blocks says of itself: its speed as a ratio to the baseline's, with an interval.

In each block of a campaign every variant is measured once and the baseline twice. The ratio of a row is that to the
baseline in the same block, so that what changes from block to block is in neither the ratio nor its interval; the
baseline's own ratio is that of its second measurement to its first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

from mongo_tables.aggregation.values import MISSING
from mongo_tables.render.column import column_value
from mongo_tables.render.faults import Fault
from mongo_tables.render.values import brief_text, finite_decimal, is_document
from mongo_tables.results import verdicts
from mongo_tables.results.verdicts import ITSELF, Verdict, list_ratios_apart

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

Rows = Sequence[Mapping[str, object]]
_PLACE: Final = ("baseline", "comparison")
_INTERVAL: Final = ("ratio", "low", "high")


class Conclusion(NamedTuple):
    """One row beside the baseline: ``ratio`` of the speeds over so many ``blocks``, and its 95 % interval.

    Over a few campaigns that is the range of theirs (``mongo_tables.results.intervals.pool``).
    Either is None where the blocks give none: there are too few, or one of both did nothing. ``against`` names the row
    that it was measured beside, or is ``ITSELF``. ``margin`` is the part of the baseline's speed up to which two rows
    count as alike, ``negligible`` the part up to which a difference counts for nothing. The blocks are of so many
    ``campaigns``; ``apart`` has the ratio of each where their intervals do not touch, and is empty where they do.
    ``few_requests``: all of them together had fewer requests than a conclusion should rest on.
    """

    ratio: Decimal | None
    interval: tuple[Decimal, Decimal] | None
    blocks: int
    margin: Decimal
    against: str
    verdict: Verdict
    campaigns: int = 1
    negligible: Decimal = Decimal(0)
    apart: tuple[Decimal, ...] = ()
    few_requests: bool = False


def conclusion_of(value: object) -> Conclusion | None:
    """The conclusion that a field of a row holds; None where it holds none."""
    if not is_document(value):
        return None
    ratio, blocks, margin = (finite_decimal(value.get(name)) for name in ("ratio", "blocks", "margin"))
    against = value.get("against")
    verdict = next((one for one in get_args(Verdict) if one == value.get("verdict")), None)
    if blocks is None or margin is None or verdict is None or not isinstance(against, str):
        return None
    if ratio is None and (value.get("ratio", MISSING) is not None or verdict != "not known"):
        return None
    low, high = finite_decimal(value.get("low")), finite_decimal(value.get("high"))
    interval = (low, high) if low is not None and high is not None and low > 0 else None
    campaigns = finite_decimal(value.get("count")) or 1
    negligible = finite_decimal(value.get("negligible")) or Decimal(0)
    return Conclusion(
        ratio,
        interval,
        int(blocks),
        margin,
        against,
        verdict,
        int(campaigns),
        negligible,
        _list_ratios_apart(value.get("each")),
        value.get("few_requests") is True,
    )


def _list_ratios_apart(each: object) -> tuple[Decimal, ...]:
    """The ratios of campaigns whose intervals do not touch; empty where they do, or one of them says too little."""
    if not isinstance(each, Sequence) or isinstance(each, str):
        return ()
    figures = [
        [finite_decimal(one.get(name)) for name in _INTERVAL] for one in each if isinstance(one, Mapping)
    ]
    known = [(ratio, low, high) for ratio, low, high in figures if ratio and low and high]
    return list_ratios_apart(known) if len(known) == len(each) else ()


def list_conclusions(field: str, rows: Rows) -> list[Conclusion | None]:
    """The conclusion of each row, None for one that has none."""
    return [conclusion_of(column_value(row, field)) for row in rows]


def conclusion_faults(spec: TableSpec, rows: Rows, base: int) -> list[Fault]:
    """Why what the rows say cannot stand in the table whose baseline is row ``base``, counted from 0."""
    settings = spec.baseline or {}
    field = settings.get("comparison")
    if field is None:
        return []
    if not isinstance(settings["column"], str) and len(settings["column"]) > 1:
        message = f"`{field}` compares one measure, and {len(settings['column'])} columns are compared"
        return [(_PLACE, message, "compare one column, that of the speed")]
    conclusions = list_conclusions(field, rows)
    return [
        *_find_missing(field, rows, conclusions),
        *_find_other_baseline(conclusions, base),
        *contradiction_faults(_PLACE, conclusions),
    ]


def cell_faults(spec: TableSpec, rows: Rows) -> Iterator[Fault]:
    """Why what a column of comparisons says cannot stand in its cells."""
    for number, column in enumerate(spec.columns):
        if rows and isinstance(column_value(rows[0], column), Mapping):
            concluded = list_conclusions(column, rows)
            yield from contradiction_faults(("columns", number), concluded, f"in `{column}`, ")


def _find_missing(field: str, rows: Rows, conclusions: Sequence[Conclusion | None]) -> Iterator[Fault]:
    """Find rows whose field is not there, or is no conclusion; null is one that there is a reason to have not."""
    values = [column_value(row, field) for row in rows]
    lacking = [
        number
        for number, (value, one) in enumerate(zip(values, conclusions, strict=True))
        if one is None and value is not None
    ]
    if lacking:
        first = lacking[0]
        message = (
            f"{len(lacking)} of {len(rows)} rows have no comparison in `{field}`: row {first + 1} has "
            f"{brief_text(values[first])}"
        )
        hint = (
            "`mongo-tables run` writes `comparison` into rows that it measures in blocks, `mongo-tables compare "
            "--pool` `campaigns` into those of several campaigns; null leaves a row out"
        )
        yield _PLACE, message, hint


def _find_other_baseline(conclusions: Sequence[Conclusion | None], base: int) -> Iterator[Fault]:
    """Find a baseline that is not the row which the others were measured beside."""
    own = conclusions[base]
    if own is None or own.against != ITSELF:
        found = "has no comparison" if own is None else f"was compared with {own.against}"
        message = f"the baseline row {found}, so it is not the row that the intervals are against"
        yield ("baseline", "row"), message, "name the row that was measured twice in each block"
        return
    others = [one for number, one in enumerate(conclusions) if number != base and one is not None]
    names = list(dict.fromkeys(one.against for one in others))
    if ITSELF in names or len(names) > 1:
        message = f"the rows were not all compared with the baseline row, but with {', '.join(names)}"
        yield _PLACE, message, "let the pipeline choose rows that were measured beside one another"


def contradiction_faults(
    place: tuple[str | int, ...], conclusions: Sequence[Conclusion | None], where: str = ""
) -> Iterator[Fault]:
    """The first row whose verdict its own interval contradicts, as in data that somebody edited."""
    for number, one in enumerate(conclusions, 1):
        if one is not None and (fault := find_contradiction(one)):
            hint = "measure it again, or take the documents as they were measured"
            yield place, f"{where}row {number} {fault}", hint
            return


def find_contradiction(one: Conclusion) -> str:
    """What a conclusion says against itself; "" where it is sound."""
    if one.ratio is None or one.interval is None:
        return "" if one.verdict == "not known" else f"is called {one.verdict}, but has no interval"
    figures = map(float, (one.ratio, *one.interval, one.margin, one.negligible))
    return verdicts.find_contradiction(one.verdict, *figures)
