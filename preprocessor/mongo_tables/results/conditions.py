"""Differences in how two rows were measured: machines, versions, and requested work.

``hardware`` describes the client's machine, which is also the servers' machine if the run started them. Servers on
other machines are described by ``servers.members``. Older documents have no ``servers``, so their remote machines are
unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mongo_tables.results.provenance import LOCAL

Row = Mapping[str, Any]

SERVERS: Final = "servers."
"""The prefix of fields of the servers' machines."""
CLIENT: Final = "hardware."
"""The prefix of fields of the client's machine."""
PROVENANCE = (
    "versions",
    "hardware",
    "topology",
    "write_concern",
    "read_concern",
    "read_preference",
    "bench_config",
)
"""The parts of a row that describe where and with what it was measured."""
_ASKED = ("digest", "scale", "seconds", "warm", "in_turn", "and_back", "target", "varied")
_CLIENT = ("kind", "rate", "processes", "scheduling", "connections", "sessions", "retryable_writes")
_WHERE = (
    "experiment.in_turn",
    "experiment.and_back",
    "experiment.target",
    "client.processes",
    "client.scheduling",
)
_WORK = ("experiment", "client", "write_concern", "read_concern", "read_preference")
"""The parts that describe the work that was requested from the servers."""
_PROCESSOR: Final = f"{SERVERS}cpu"
_CACHE: Final = "topology.cache_gb"
CACHE_TOLERANCE: Final = 0.1
"""The largest relative difference between the caches of rows of one series."""
_MEMBERS = "topology.members"
"""The number of members is a part of the work: each member repeats all writes, and a majority of one waits for no other
member.
"""


def list_differences(old: Row, new: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields that differ, with both values.

    Fields of the servers' machines come first, then fields of the client's machine, then others.
    """
    before, after = dict(_provenance(old)), dict(_provenance(new))
    if share_machine(old) and share_machine(new):  # otherwise the machine would be listed twice
        before, after = (
            {field: value for field, value in one.items() if not field.startswith(SERVERS)}
            for one in (before, after)
        )
    for field in sorted(
        before.keys() | after.keys(),
        key=lambda field: (not field.startswith(SERVERS), not field.startswith(CLIENT), field),
    ):
        if before.get(field) != after.get(field):
            yield field, (before.get(field), after.get(field))


def list_other_work(old: Row, new: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields of the requested work that differ, with both values."""
    for field, values in list_differences(old, new):
        if field == _MEMBERS or (field.partition(".")[0] in _WORK and field not in _WHERE):
            yield field, values


def list_other_series(old: Row, new: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields that prevent two rows from being points of one series, with both values.

    These are the fields of ``list_other_work``, the processor of the servers and the size of their cache. An unknown
    processor or cache does not count as different.
    """
    yield from list_other_work(old, new)
    before, after = (dict(_provenance(row)).get(_PROCESSOR) for row in (old, new))
    if None not in (before, after) and before != after:
        yield _PROCESSOR, (before, after)
    small, large = sorted((_cache_of(old), _cache_of(new)))
    if small and large > (1 + CACHE_TOLERANCE) * small:
        yield _CACHE, (_cache_of(old), _cache_of(new))


def _cache_of(row: Row) -> float:
    """Return the cache of a member in GiB: as the run set it, or else the largest of all members, or 0 if unknown."""
    members = row.get("servers", {}).get("members", ())
    told: float | None = row.get("topology", {}).get("cache_gb")
    return told or max((float(member.get("cache_gib", 0)) for member in members), default=0.0)


def _provenance(row: Row) -> Iterator[tuple[str, Any]]:
    # The servers of a local target ran on the machine of the client, also in older rows.
    hardware = ((field, value) for field, value in row.get("hardware", {}).items() if field in FIELDS)
    for field, value in hardware if share_machine(row) else of_servers(row):
        yield f"{SERVERS}{field}", value
    for part in PROVENANCE:
        for field, value in row.get(part, {}).items():
            yield f"{part}.{field}", value
    for part, fields in (("experiment", _ASKED), ("client", _CLIENT)):
        for field in fields:
            yield f"{part}.{field}", row.get(part, {}).get(field)


FIELDS: Final = ("cpu", "cpu_architecture", "cores", "memory_gib", "memory_limit_gib", "kernel", "system")
"""The fields that describe a machine, of a server or of the client."""


def share_machine(row: Mapping[str, Any]) -> bool:
    """Return whether the servers and the client of a row ran on one machine.

    They did so if the run started the servers. Rows of benchmark tools also count, as they name neither experiment nor
    servers.
    """
    if "experiment" not in row and "servers" not in row:
        return True
    return bool(row.get("experiment", {}).get("target") == LOCAL)


def of_servers(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the known fields of the servers' machines. If members differ, the value is a list."""
    members = row.get("servers", {}).get("members", ())
    for field in FIELDS:
        values = list(dict.fromkeys(one[field] for one in members if field in one))
        if values:
            yield field, values[0] if len(values) == 1 else values


def describe_machine(row: Mapping[str, Any]) -> str:
    """Return processor, number of processors and memory of the servers, or "" if one is unknown."""
    members = row.get("servers", {}).get("members")
    target = row.get("experiment", {}).get("target") or (LOCAL if members is None else "")
    machine = row.get("hardware", {})
    if target != LOCAL:  # of the first member that stores data
        machine = next((one for one in members or () if one.get("role") != "mongos"), {})
    parts = (
        machine.get("cpu") or machine.get("cpu_architecture"),
        *map(machine.get, ("cores", "memory_gib")),
    )
    if None in parts:
        return ""
    cpu, cores, memory = parts
    return f"{cpu}, {cores} processors, {memory} GiB"
