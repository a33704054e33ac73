"""What was concluded within one campaign, as its rows have it: targets side by side, and each row and its reference.

Where rows have what several campaigns conclude together, that stands in place of what their own campaign does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from preprocessor.results.comparison import (
    SPEED,
    CampaignRatio,
    Comparison,
    Judged,
    Side,
    Sides,
    find_reference,
    put_together,
    side_of_blocks,
)
from preprocessor.results.conclusions import (
    Pairs,
    find_negligible,
    is_same_row,
    pair_blocks,
    pair_with_itself,
)
from preprocessor.results.overcampaigns import COMPARISON, FIELD, find_over_campaigns
from preprocessor.results.verdicts import ITSELF, threshold

Row = Mapping[str, Any]

ROWS: Final = Sides("each row to its reference, in the same block", "of the reference", "of the row")
REFERENCE: Final = Sides("the reference to itself, in the same block", "first", "second")
TARGETS: Final = "targets"
SLICES: Final = "slices"
_HOW: Final = {TARGETS: "in the same block", SLICES: "in slices of the same window"}
_EACH: Final = "each"
"""What is concluded over several campaigns has here what each of them found."""


class _Concluded(NamedTuple):
    """A row, and what its subdocument ``field`` says of it and another row, or several campaigns in its place.

    ``other`` is that row: None where it is not among the rows. ``evidence`` is None where the rows do not have what the
    ratio is of: of slices they have what was concluded alone.
    """

    row: Row
    other: Row | None
    field: str
    sides: Sides
    told: Mapping[str, Any]
    evidence: Pairs | None


def compare_within(rows: Sequence[Row]) -> tuple[Comparison, ...]:
    """Each row of the further targets beside the same one on the first; where there is one target, its reference.

    Where targets took turns in slices too, what that says follows. References stand beside themselves. Rows that were
    measured without blocks are not in it.
    """
    experiments: dict[str, list[Row]] = {}
    for row in rows:
        experiments.setdefault(row["_id"]["testname"], []).append(row)
    return tuple(chain.from_iterable(map(_compare_experiment, experiments.values())))


def _compare_experiment(rows: Sequence[Row]) -> Iterator[Comparison]:
    targets = (*_list_targets(rows, TARGETS), *_list_targets(rows, SLICES))
    for one in targets or _list_references(rows):
        yield _compare(one, _judged(one.told, _list_family(one, rows)))


def _list_targets(rows: Sequence[Row], field: str) -> Iterator[_Concluded]:
    for row in rows:
        told = find_over_campaigns(row, field) or row.get(field)
        if told and told["against"] == ITSELF:
            yield _Concluded(row, row, field, _name_sides(row["_id"]["target"], ITSELF, field), told, None)
        elif told:
            first = next((one for one in rows if _is_on(one, told["against"], row)), None)
            evidence = pair_blocks(row, first) if first is not None and field == TARGETS else None
            sides = _name_sides(row["_id"]["target"], told["against"], field)
            yield _Concluded(row, first, field, sides, told, evidence)


def _name_sides(target: str, against: str, field: str) -> Sides:
    both = ("first", "second") if against == ITSELF else (f"on {against}", f"on {target}")
    return Sides(f"{target} to {against}, {_HOW[field]}", *both)


def _is_on(one: Row, target: str, row: Row) -> bool:
    return one["_id"].get("target") == target and is_same_row(one, row)


def _list_references(rows: Sequence[Row]) -> Iterator[_Concluded]:
    for row in rows:
        told = find_over_campaigns(row, COMPARISON) or row.get(COMPARISON)
        if told and told["against"] == ITSELF:
            yield _Concluded(row, row, COMPARISON, REFERENCE, told, pair_with_itself(row))
        elif told:
            reference = find_reference(row, rows)
            evidence = None if reference is None else pair_blocks(row, reference)
            yield _Concluded(row, reference, COMPARISON, ROWS, told, evidence)


def _list_family(one: _Concluded, rows: Sequence[Row]) -> list[float]:
    """The p-values of the rows that were judged together: those of the target that were compared with as much.

    What several campaigns conclude is judged by itself, and what one does with the rows that others have as well.
    """
    target, against = one.row["_id"].get("target"), one.told["against"]
    told = (
        find_over_campaigns(row, one.field) if _EACH in one.told else row.get(one.field)
        for row in rows
        if row["_id"].get("target") == target
    )
    return [its["p"] for its in told if its and its["against"] == against]


def _compare(found: _Concluded, judged: Judged) -> Comparison:
    """The comparison, with the speeds that the ratio is of where they are there: of the blocks that have both."""
    evidence = found.evidence
    over = found.row[FIELD] if _EACH in found.told else {}
    other = found.row if found.other is None else found.other
    compared = put_together(other, found.row, found.sides, judged, (evidence,) if evidence else ())
    return compared._replace(
        one=side_of_blocks(evidence.references) if evidence else Side(None),
        other=side_of_blocks(evidence.speeds) if evidence else Side(None),
        campaigns=tuple(CampaignRatio(**one) for one in found.told.get(_EACH, ())),
        campaigns_differ={one["field"]: one["values"] for one in over.get("differs", ())},
        is_control=found.told["against"] == ITSELF,
        doubts=tuple(_list_doubts(found.row[SLICES]))
        if found.field == SLICES and SLICES in found.row
        else (),
    )


def _list_doubts(told: Mapping[str, Any]) -> Iterator[str]:
    """What speaks against what slices say, in the campaign that the row is of."""
    if told.get("long_requests"):
        longest = (told.get("mean_latency") or 0) / 1000
        yield (
            f"requests took up to {longest:.1f} ms on average, more than a quarter of a slice: parts of them were "
            "compared"
        )
    if disturbed := told.get("disturbed"):
        yield f"something else used the machine in {disturbed} of {told['blocks']} windows"
    if failed := told.get("failed"):
        yield f"{failed} requests failed"


def _judged(told: Mapping[str, Any], ps: Sequence[float]) -> Judged:
    """What the row says; where it has no ratio, something did nothing, or no block has both."""
    figures = {name: told[name] for name in ("ratio", "low", "high", "p", "blocks", "verdict", "margin")}
    reason = "" if told["ratio"] is not None else "no block has both, or one of both did nothing in a block"
    about: dict[str, Any] = {"threshold": threshold(ps), "rows": len(ps), "negligible": find_negligible(told)}
    return Judged(SPEED, **figures, reason=reason, **about)
