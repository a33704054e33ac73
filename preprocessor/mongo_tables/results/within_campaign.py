"""Conclusions within one campaign, from its rows: targets against each other, and rows against their reference.

If rows have pooled conclusions over several campaigns, these replace the conclusions of their own campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from mongo_tables.results.comparison import (
    SPEED,
    CampaignRatio,
    Comparison,
    Difference,
    Judged,
    Side,
    Sides,
    find_reference,
    name_row,
    put_together,
    say_what_stopped,
    side_of_blocks,
)
from mongo_tables.results.conclusions import (
    Pairs,
    block_speeds,
    find_negligible,
    is_same_row,
    name_of,
    pair_blocks,
    pair_with_itself,
)
from mongo_tables.results.intervals import LEAST_BLOCKS
from mongo_tables.results.pooling import COMPARISON, CONTRAST, FIELD
from mongo_tables.results.row_names import is_benchmark
from mongo_tables.results.verdicts import ITSELF

Row = Mapping[str, Any]

ROWS: Final = Sides("each row to its reference, in the same block", "of the reference", "of the row")
CONTRASTS: Final = Sides(
    "each row to another one that the experiment names, in the same block", "of the other", "of the row"
)
REFERENCE: Final = Sides("the reference to itself, in the same block", "first", "second")
TARGETS: Final = "targets"
SLICES: Final = "slices"
_HOW: Final = {TARGETS: "in the same block", SLICES: "in slices of the same window"}
_FIGURES: Final = ("ratio", "low", "high", "p", "blocks", "verdict", "margin")
_NO_RATIO: Final = "no block has both rows, or one of them did no work in a block"
_GONE: Final = "no other target has such a row"
_EACH: Final = "each"
"""The field of a pooled conclusion that has the results of each campaign."""


class _Concluded(NamedTuple):
    """The conclusion about two rows: the subdocument ``field`` of ``row`` or, if it has one, the pooled conclusion.

    ``other`` is None if the other row is not among the rows. In that case, ``missing`` says so. ``evidence`` is None if
    the rows do not have the data behind the ratio, for example for slices.
    """

    row: Row
    other: Row | None
    field: str
    sides: Sides
    told: Mapping[str, Any]
    evidence: Pairs | None
    missing: str = ""


def compare_within(rows: Sequence[Row]) -> Difference:
    """Compare each row of the further targets with the same row on the first target.

    With one target, compare each row with its reference. If targets also alternated in slices, the conclusions from the
    slices follow. References are compared with themselves. Rows without a conclusion are named with the reason.
    """
    experiments: dict[str, list[Row]] = {}
    for row in rows:
        experiments.setdefault(row["_id"]["testname"], []).append(row)
    found = []
    for some in experiments.values():
        targets = [*_list_field(some, TARGETS), *_list_field(some, SLICES)]
        others: list[_Concluded] = []
        if all(one.told["against"] == ITSELF for one in targets):
            others = [*_list_field(some, COMPARISON), *_list_field(some, CONTRAST)]
        found.append((some, [*others, *targets]))
    rest = [
        (name_row(row), _say_why_alone(row, concluded))
        for some, concluded in found
        for row in some
        if not any(row is other for one in concluded for other in (one.row, one.other))
    ]
    return Difference(
        rows=tuple(_compare(one) for _, concluded in found for one in concluded),
        not_compared=tuple(f"{name}: {reason}" for name, reason in rest),
        gone=tuple(f"{name}: {reason}" for name, reason in rest if reason == _GONE),
    )


def _list_field(rows: Sequence[Row], field: str) -> Iterator[_Concluded]:
    """Yield the conclusions in the subdocuments ``field``, or the pooled conclusions that replace them."""
    for row in rows:
        over = row.get(FIELD, {})
        told = (over if field == COMPARISON else over.get(field)) or row.get(field)
        if told is None:
            continue
        against, target = told["against"], _target_of(row)
        missing = f"there is no row of {against}"
        if field == COMPARISON and against == ITSELF:
            twice = pair_with_itself(row)
            if twice.blocks or not is_benchmark(row):  # A benchmark tool measures everything once in a block.
                yield _Concluded(row, row, field, REFERENCE, told, twice)
            continue
        if field == COMPARISON:
            other, sides = find_reference(row, rows), ROWS
            missing = f"its reference, {against}, is missing"
        elif field == CONTRAST:
            beside = (one for one in rows if _target_of(one) == target and name_of(one) == against)
            other, sides = next(beside, None), CONTRASTS
        else:
            alike = (one for one in rows if _target_of(one) == against and is_same_row(one, row))
            other = row if against == ITSELF else next(alike, None)
            both = ("first", "second") if against == ITSELF else (f"on {against}", f"on {target}")
            sides = Sides(f"{target} to {against}, {_HOW[field]}", *both)
        evidence = pair_blocks(row, other) if other is not None and field != SLICES else None
        yield _Concluded(row, other, field, sides, told, evidence, "" if other is not None else missing)


def _target_of(row: Row) -> str:
    return str(row["_id"].get("target", ""))


def _say_why_alone(row: Row, concluded: Sequence[_Concluded]) -> str:
    first = {one.told["against"] for one in concluded if one.field == TARGETS}
    if not block_speeds(row):
        return "measured without blocks"
    if not first:
        return "it has no conclusion"
    if _target_of(row) in first:
        return _GONE
    return f"{' or '.join(sorted(first))} has no such row"


def _compare(found: _Concluded) -> Comparison:
    """Return the comparison, with the speeds of the blocks that have both rows."""
    evidence = found.evidence if found.evidence is not None and found.evidence.blocks else None
    told = found.told
    over = found.row[FIELD] if _EACH in told else {}
    other = found.row if found.other is None else found.other
    figures = {name: told[name] for name in _FIGURES}
    # Earlier versions of the program judged two blocks.
    if told["blocks"] < LEAST_BLOCKS and _EACH not in told:
        figures |= {"low": 0.0, "high": inf, "p": 1.0, "verdict": "not known"}
    judged = Judged(
        SPEED,
        **figures,
        # Without a ratio, no block has both rows, or a speed was 0.
        reason="" if told["ratio"] is not None else _NO_RATIO,
        negligible=find_negligible(told),
    )
    compared = put_together(other, found.row, found.sides, judged, (evidence,) if evidence else ())
    return compared._replace(
        one=side_of_blocks(evidence.references) if evidence else Side(None),
        other=side_of_blocks(evidence.speeds) if evidence else Side(None),
        campaigns=tuple(
            CampaignRatio(*(one[name] for name in CampaignRatio._fields)) for one in told.get(_EACH, ())
        ),
        campaigns_differ={one["field"]: one["values"] for one in over.get("differs", ())},
        is_control=told["against"] == ITSELF,
        missing=found.missing,
        doubts=tuple(_list_doubts(found)),
        lost=say_what_stopped(other, found.row) if told["ratio"] is None else "",
    )


def _list_doubts(found: _Concluded) -> Iterator[str]:
    told = found.row.get(SLICES) if found.field == SLICES else None
    if told is None:
        return
    if told.get("long_requests"):
        longest = (told.get("mean_latency") or 0) / 1000
        yield (
            f"requests took up to {longest:.1f} ms on average, more than a quarter of a slice: parts of them were "
            "compared"
        )
    if disturbed := told.get("disturbed"):
        yield f"other programs used the machine in {disturbed} of {told['blocks']} windows"
    if failed := told.get("failed"):
        yield f"{failed} requests failed"
