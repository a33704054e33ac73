"""Two sets of results, row by row: what became faster, what slower, and what is only noise.

The rule is that of ``preprocessor.results.noise``; with each verdict stands how often it would be given to
sides that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, Literal

from preprocessor.results import noise
from preprocessor.results.machines import FIELDS, of_servers, share_machine
from preprocessor.results.variants import variant_name

Verdict = Literal["faster", "slower", "noise", "too few repeats"]
Row = Mapping[str, Any]

SERVERS: Final = "servers."
"""What fields of the servers' machines begin with."""
CLIENT: Final = "hardware."
"""What fields of the client's machine begin with."""
_PROVENANCE = (
    "versions",
    "hardware",
    "topology",
    "write_concern",
    "read_concern",
    "read_preference",
    "bench_config",
)
_ASKED = ("digest", "scale", "seconds", "warm", "in_turn", "target", "varied")
_CLIENT = ("kind", "rate", "processes", "connections", "sessions", "retryable_writes")
_SAID: Final[Mapping[noise.Verdict, Verdict]] = {
    "above": "faster",
    "below": "slower",
    "noise": "noise",
    "too few repeats": "too few repeats",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row in both sets: ``ratio`` of the median speeds, new to old, and the range from ``low`` to ``high``.

    The range is that of any repeat of the new to any of the old; each is None when a side has no repeats, or would
    be divided by a speed of 0. ``chance`` is the probability of the verdict for sides that are alike, None when
    there is none to give. ``differs`` names the fields of the provenance that differ, with both values, those of the
    servers' machines first, then those of the machine of the client. On both sides that is one machine where it is
    ``shared``.
    """

    experiment: str
    variant: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    chance: float | None
    differs: Mapping[str, tuple[Any, Any]]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """All rows that are in both sets, and names of those that are only in one."""

    rows: tuple[Comparison, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]


def compare(old: Sequence[Row], new: Sequence[Row]) -> Difference:
    """Compare the rows of two sets; rows belong together when their ``_id`` is equal."""
    pairs = [(one, other) for one in old for other in new if one["_id"] == other["_id"]]
    common = [one["_id"] for one, _ in pairs]
    return Difference(
        rows=tuple(_compare(one, other) for one, other in pairs),
        only_old=tuple(_name(row) for row in old if row["_id"] not in common),
        only_new=tuple(_name(row) for row in new if row["_id"] not in common),
    )


def _compare(old: Row, new: Row) -> Comparison:
    before, after = _speeds(old), _speeds(new)
    if not before or not after:  # documents of another program
        before = after = [0.0]
    verdict = _SAID[noise.verdict(_range(before), _range(after))]
    chance = noise.chance(len(before), len(after)) if verdict in ("faster", "slower") else None
    return Comparison(
        experiment=new["_id"]["testname"],
        variant=variant_name(new["_id"]),
        ratio=_quotient(median(after), median(before)),
        low=_quotient(min(after), max(before)),
        high=_quotient(max(after), min(before)),
        verdict=verdict,
        chance=chance,
        differs=dict(_differences(old, new)),
        shared=share_machine(old) and share_machine(new),
    )


def _quotient(one: float, other: float) -> float | None:
    return one / other if other else None


def _range(speeds: Sequence[float]) -> noise.Range:
    return noise.Range(min(speeds), max(speeds), len(speeds))


def _speeds(row: Row) -> list[float]:
    return [repeat["operations_per_second"] for repeat in row.get("repeats", ())]


def _name(row: Row) -> str:
    return f"{row['_id']['testname']}: {variant_name(row['_id'])}"


def _differences(old: Row, new: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    before, after = dict(_provenance(old)), dict(_provenance(new))
    if share_machine(old) and share_machine(new):  # else each machine would be told twice
        before, after = (_without_servers(one) for one in (before, after))
    for field in sorted(before.keys() | after.keys(), key=_by_weight):
        if before.get(field) != after.get(field):
            yield field, (before.get(field), after.get(field))


def _without_servers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if not field.startswith(SERVERS)}


def _by_weight(field: str) -> tuple[bool, bool, str]:
    return not field.startswith(SERVERS), not field.startswith(CLIENT), field


def _provenance(row: Row) -> Iterator[tuple[str, Any]]:
    for field, value in _of_servers(row):
        yield f"{SERVERS}{field}", value
    for part in _PROVENANCE:
        for field, value in row.get(part, {}).items():
            yield f"{part}.{field}", value
    for part, fields in (("experiment", _ASKED), ("client", _CLIENT)):
        for field in fields:
            yield f"{part}.{field}", row.get(part, {}).get(field)


def _of_servers(row: Row) -> Iterator[tuple[str, Any]]:
    """The machines of the servers: of an older row of a local target the one that they shared with the client."""
    if share_machine(row):
        return iter((field, value) for field, value in row.get("hardware", {}).items() if field in FIELDS)
    return of_servers(row)
