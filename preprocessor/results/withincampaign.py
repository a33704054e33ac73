"""What was concluded within one campaign, as its rows have it: targets side by side, and each row and its reference.

Where rows have what several campaigns conclude together, that stands in place of what their own campaign does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from preprocessor.results.comparison import (
    SPEED,
    CampaignRatio,
    Comparison,
    Judged,
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
_EACH: Final = "each"
"""What is concluded over several campaigns has here what each of them found."""


class _Concluded(NamedTuple):
    """Two rows, how they are called, and the subdocument of the second that says what was concluded.

    ``evidence`` is None where rows do not have it: of slices they have what was concluded alone.
    """

    one: Row
    other: Row
    sides: Sides
    told: Mapping[str, Any]
    evidence: Pairs | None


def compare_within(rows: Sequence[Row]) -> tuple[Comparison, ...]:
    """Each row of the further targets beside the same one on the first; where there is one target, its reference.

    Where targets took turns in slices too, what that says follows. References stand beside themselves. Empty where
    nothing was measured in blocks.
    """
    targets = (*_list_targets(rows, "targets"), *_list_targets(rows, "slices"))
    return _put_together(targets) or _put_together(_list_references(rows))


def _list_targets(rows: Sequence[Row], field: str) -> Iterator[_Concluded]:
    for row in rows:
        told = find_over_campaigns(row, field) or row.get(field)
        first = next((one for one in rows if told and _is_on(one, told["against"], row)), None)
        if told and first is not None:
            names = (told["against"], row["_id"]["target"])
            how = "in the same block" if field == "targets" else "in slices of the same window"
            sides = Sides(f"{names[1]} to {names[0]}, {how}", *(f"on {name}" for name in names))
            evidence = pair_blocks(row, first) if field == "targets" else None
            yield _Concluded(first, row, sides, told, evidence)


def _is_on(one: Row, target: str, row: Row) -> bool:
    return one["_id"].get("target") == target and is_same_row(one, row)


def _list_references(rows: Sequence[Row]) -> Iterator[_Concluded]:
    for row in rows:
        told = find_over_campaigns(row, COMPARISON) or row.get(COMPARISON)
        if told and told["against"] == ITSELF:
            yield _Concluded(row, row, REFERENCE, told, pair_with_itself(row))
        elif told and (reference := find_reference(row, rows)):
            yield _Concluded(reference, row, ROWS, told, pair_blocks(row, reference))


def _put_together(concluded: Iterable[_Concluded]) -> tuple[Comparison, ...]:
    """The comparisons, each with the bound for the rows that were judged together."""
    found = list(concluded)
    ps: dict[tuple[Any, ...], list[float]] = {}
    for one in found:
        ps.setdefault(_family(one), []).append(one.told["p"])
    return tuple(_compare(one, _judged(one.told, ps[_family(one)])) for one in found)


def _compare(found: _Concluded, judged: Judged) -> Comparison:
    """The comparison, with the speeds that the ratio is of where they are there: of the blocks that have both."""
    evidence = found.evidence
    over = found.other[FIELD] if _EACH in found.told else {}
    compared = put_together(found.one, found.other, found.sides, judged, (evidence,) if evidence else ())
    if evidence:
        compared = compared._replace(
            one=side_of_blocks(evidence.references), other=side_of_blocks(evidence.speeds)
        )
    return compared._replace(
        campaigns=tuple(CampaignRatio(**one) for one in found.told.get(_EACH, ())),
        campaigns_differ={one["field"]: one["values"] for one in over.get("differs", ())},
    )


def _family(one: _Concluded) -> tuple[Any, ...]:
    """Rows of one experiment on one target are judged together, those of several campaigns by themselves."""
    return one.other["_id"]["testname"], one.other["_id"].get("target", ""), one.sides, _EACH in one.told


def _judged(told: Mapping[str, Any], ps: Sequence[float]) -> Judged:
    """What the row says; where it has no ratio, something did nothing, or no block has both."""
    figures = {name: told[name] for name in ("ratio", "low", "high", "p", "blocks", "verdict", "margin")}
    reason = "" if told["ratio"] is not None else "no block has both, or one of both did nothing in a block"
    about: dict[str, Any] = {"threshold": threshold(ps), "rows": len(ps), "negligible": find_negligible(told)}
    return Judged(SPEED, **figures, reason=reason, **about)
