"""Conclusions over several campaigns of the same rows, as the subdocument ``campaigns`` of each row.

An interval over the blocks of one campaign does not contain differences between hours, so each campaign counts once
(``mongo_tables.results.intervals.pool``). Rows are judged together like the rows of one campaign
(``mongo_tables.results.conclusions``). Only campaigns that requested the same work are pooled. Their machines may
differ; the result lists the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.comparison import name_row
from mongo_tables.results.conclusions import conclude_intervals, find_negligible
from mongo_tables.results.conditions import list_differences, list_other_work
from mongo_tables.results.intervals import Interval, pool

Row = Mapping[str, Any]
Group = Sequence[Row]
"""The same row in several campaigns, the oldest first."""

FINGERPRINT: Final = "fingerprint"
"""The field with the counters of the server, which the runner computes."""
FIELD: Final = "campaigns"
"""The field with the pooled ``comparison``, which also contains the other pooled conclusions."""
COMPARISON: Final = "comparison"
CONTRAST: Final = "contrast"
_BELOW: Final = (CONTRAST, "targets", "slices")
_INTERFERENCE: Final = ("measured_again", "disturbed")
_MISSING: Final = "not among the rows of the results"
LEAST_CAMPAIGNS: Final = 2
"""Fewer campaigns are not pooled."""


class Pooled(NamedTuple):
    """All rows. Rows of several campaigns have the pooled conclusions.

    ``left_out`` has the names of the rows without pooled conclusions, each with the reason.
    """

    rows: tuple[Row, ...]
    left_out: tuple[tuple[str, str], ...]


def pool_rows(rows: Sequence[Row], others: Sequence[Row]) -> Pooled:
    """Return the rows with conclusions over their own campaign and the campaigns of ``others``.

    A repeated campaign counts once. Earlier pooled conclusions are replaced or removed, except in rows of experiments
    that ``others`` do not have. Raises CommandError if two campaigns measured different work.
    """
    again = {row["_id"]["testname"] for row in others}
    groups = {
        place: _find_group(row, others) for place, row in enumerate(rows) if row["_id"]["testname"] in again
    }
    found = _conclude({place: group for place, group in groups.items() if len(group) >= LEAST_CAMPAIGNS})
    known, missing = [row["_id"] for row in rows], list[Row]()
    for row in others:
        if row["_id"] not in known:
            known.append(row["_id"])
            missing.append(row)
    bare = {place: {name: value for name, value in rows[place].items() if name != FIELD} for place in groups}
    return Pooled(
        tuple(
            {**bare.get(place, row), **({FIELD: found[place]} if place in found else {})}
            for place, row in enumerate(rows)
        ),
        (*_list_alone(rows, groups), *((name_row(row), _MISSING) for row in missing)),
    )


def _find_group(row: Row, others: Sequence[Row]) -> Group:
    """Return the row and the same rows of other campaigns, or nothing if the row has no comparison."""
    if not _is_compared(row):
        return ()
    same = (one for one in others if one["_id"] == row["_id"] and _is_compared(one))
    by_campaign: dict[str, Row] = {}
    for one in chain([row], same):
        by_campaign.setdefault(one["campaign"]["id"], one)
    return sorted(by_campaign.values(), key=lambda one: one["campaign"]["start"])


def _is_compared(row: Row) -> bool:
    return COMPARISON in row and {"id", "start"} <= row.get("campaign", {}).keys()


def _conclude(groups: Mapping[int, Group]) -> dict[int, dict[str, Any]]:
    for group in groups.values():
        _refuse_other_work(group)
    below = {field: _conclude_field(groups, field) for field in _BELOW}
    return {
        place: {
            **told,
            "differs": _list_differing(groups[place]),
            **_count_requests(groups[place]),
            **{field: found[place] for field, found in below.items() if place in found},
        }
        for place, told in _conclude_field(groups, COMPARISON).items()
    }


def _conclude_field(groups: Mapping[int, Group], field: str) -> dict[int, dict[str, Any]]:
    """Return the pooled conclusions of the rows that have the subdocument ``field`` in several campaigns."""
    having = {place: [one for one in group if field in one] for place, group in groups.items()}
    families: dict[tuple[Any, ...], list[int]] = {}
    for place, group in having.items():
        if len(group) >= LEAST_CAMPAIGNS:
            told, key = group[0][field], group[0]["_id"]
            # Contrasts are one family, although they have different reference rows.
            against = "" if field == CONTRAST else told["against"]
            family = key["testname"], key.get("target"), against, told["margin"], find_negligible(told)
            families.setdefault(family, []).append(place)
    return {
        place: told
        for places in families.values()
        for place, told in zip(places, _conclude_family([having[one] for one in places], field), strict=True)
    }


def _conclude_family(groups: Sequence[Group], field: str) -> Iterator[dict[str, Any]]:
    first = groups[0][0][field]
    negligible = find_negligible(first)
    intervals = [_pool([one[field] for one in group], negligible) for group in groups]
    blocks = [sum(one[field]["blocks"] for one in group) for group in groups]
    judged = conclude_intervals(intervals, blocks, first["against"], first["margin"], negligible)
    for told, group in zip(judged, groups, strict=True):
        each = [
            {
                "id": one["campaign"]["id"],
                "start": one["campaign"]["start"],
                **{name: one[field][name] for name in ("ratio", "low", "high", "p", "blocks")},
                **({"speed": one["speed"]["median"]} if "speed" in one else {}),
                **{name: one["campaign"][name] for name in _INTERFERENCE if name in one["campaign"]},
            }
            for one in group
        ]
        yield {**told, "against": group[0][field]["against"], "count": len(group), "each": each}


def _pool(told: Sequence[Mapping[str, Any]], negligible: float) -> Interval | None:
    """Return the interval over campaigns, or None if a campaign has no ratio."""
    if any(one["ratio"] is None for one in told):
        return None
    each = [Interval(one["ratio"], one["low"], one["high"], one["blocks"], one["p"]) for one in told]
    return pool(each, negligible)


def _refuse_other_work(group: Group) -> None:
    """Raise CommandError if a campaign measured other work than the oldest campaign."""
    first = group[0]
    for other in group[1:]:
        for field, (one, another) in _list_incomparable(first, other):
            ids = [row["campaign"]["id"] for row in (first, other)]
            raise CommandError(
                f"{name_row(first)}: the campaigns {ids[0]} and {ids[1]} measured different work: {field} is "
                f"{one} in the first and {another} in the second",
                "pool only campaigns of the same work; --experiment selects experiments",
            )


def _list_incomparable(first: Row, other: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields of the work and of the reference that differ, with both values."""
    yield from list_other_work(first, other)
    widths = [row["campaign"].get("slice_seconds") for row in (first, other) if "slices" in row]
    if len(set(widths)) > 1:
        yield "campaign.slice_seconds", (widths[0], widths[1])
    for field in (COMPARISON, *_BELOW):
        for name in ("against", "margin", "negligible"):
            values = [row[field].get(name, 0) for row in (first, other) if field in row]
            if len(set(values)) > 1:
                yield f"{field}.{name}", (values[0], values[1])


def _list_differing(group: Group) -> list[dict[str, Any]]:
    """Return the fields that differ between campaigns, with their values as texts."""
    found: dict[str, list[Any]] = {}
    for other in group[1:]:
        for field, (one, another) in list_differences(group[0], other):
            values = found.setdefault(field, [one])
            if another not in values:
                values.append(another)
    return [
        {"field": field, "values": [None if one is None else str(one) for one in values]}
        for field, values in found.items()
    ]


def _count_requests(group: Group) -> dict[str, bool]:
    """Return a field that says whether all campaigns together have few requests. It is omitted if this is unknown."""
    counts = [repeat.get("latency", {}).get("count") for row in group for repeat in row.get("repeats", ())]
    connections = [row.get("client", {}).get("connections") for row in group]
    if not counts or None in counts or None in connections:
        return {}
    return {"few_requests": has_few_requests(counts, max(connections))}


def _list_alone(rows: Sequence[Row], groups: Mapping[int, Group]) -> Iterator[tuple[str, str]]:
    for place, group in groups.items():
        if not group:
            nameless = COMPARISON in rows[place]
            why = "it does not name its campaign" if nameless else "it has no comparison with a reference"
            yield name_row(rows[place]), why
        elif len(group) < LEAST_CAMPAIGNS:
            yield name_row(rows[place]), f"only in campaign {group[0]['campaign']['id']}"


LEAST_IN_A_WINDOW: Final = 3
"""The least number of requests per connection in each window."""
LEAST_A_CONNECTION: Final = 30
"""The least number of requests per connection over all windows."""


def has_few_requests(counts: Sequence[float], connections: int) -> bool:
    """Return whether a window, or all windows together, have too few requests for the number of connections.

    ``counts`` are the requests of each window.
    """
    least = min(counts) / LEAST_IN_A_WINDOW, sum(counts) / LEAST_A_CONNECTION
    return min(least) < connections


_KEPT: Final = (
    "_id",
    "start_time",
    "campaign",
    "experiment",
    "client",
    "write_concern",
    "read_concern",
    "read_preference",
    "versions",
    "hardware",
    "servers",
    "topology",
    FINGERPRINT,
    "bench_config",
    "speed",
    "comparison",
    "contrast",
    "targets",
    "slices",
    "repeats",
)
_KNOWN: Final = ("parameters", "variant")
"""Fields of ``experiment`` whose values ``_id`` and the digest of the experiment already contain."""
_OF_REPEATS: Final = ("block", "again", "back", "operations_per_second")


def thin_out(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row without its large parts: latency, series, histograms, samples and states of servers."""
    kept = {name: row[name] for name in _KEPT if name in row}
    if "experiment" in kept:
        kept["experiment"] = {name: value for name, value in row["experiment"].items() if name not in _KNOWN}
    if "repeats" in kept:
        kept["repeats"] = [
            {
                **{field: repeat[field] for field in _OF_REPEATS if field in repeat},
                **({"latency": {"count": count}} if count is not None else {}),
            }
            for repeat in row["repeats"]
            for count in [repeat.get("latency", {}).get("count")]
        ]
    return kept
