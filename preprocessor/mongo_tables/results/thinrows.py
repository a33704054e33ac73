"""Rows of a campaign with only what campaigns are compared and pooled by, so that many of them can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
    "bench_config",
    "speed",
    "comparison",
    "contrast",
    "targets",
    "slices",
    "repeats",
)
_KNOWN: Final = ("parameters", "variant")
"""What ``_id`` and the digest of the experiment say already."""
_OF_REPEATS: Final = ("block", "again", "back", "operations_per_second")


def thin_out(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without latency, series, histograms, samples and states of the server; of repeats speed and requests."""
    return {name: _thin_out(name, row[name]) for name in _KEPT if name in row}


def _thin_out(name: str, part: Any) -> Any:
    if name == "experiment":
        return {field: value for field, value in part.items() if field not in _KNOWN}
    if name == "repeats":
        return [_thin_out_repeat(one) for one in part]
    return part


def _thin_out_repeat(repeat: Mapping[str, Any]) -> dict[str, Any]:
    """Its speed, and of its latency how many requests it had."""
    count = repeat.get("latency", {}).get("count")
    latency = {} if count is None else {"latency": {"count": count}}
    return {**{field: repeat[field] for field in _OF_REPEATS if field in repeat}, **latency}
