"""What differs in how two rows were measured: machines, versions, and what was asked of them.

The machines behind a row: that of its servers and that of its client, in documents of any age.

``hardware`` is the client's, and the servers' too where a run started them itself; what servers elsewhere say of theirs
is in ``servers.members``. Older documents have no ``servers``: of theirs elsewhere nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

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
"""Parts that say what was asked of the servers."""
_MEMBERS = "topology.members"
"""Each member does all writes again, and a majority of one waits for nobody."""


def list_differences(old: Row, new: Row) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """The fields that differ, each with both values: of servers first, then of the client's machine, then others."""
    before, after = dict(_provenance(old)), dict(_provenance(new))
    if share_machine(old) and share_machine(new):  # else each machine would be told twice
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
    """The fields that say what was asked for and differ, with both values: such rows are not of the same work.

    Others say where and with what it was measured.
    """
    for field, values in list_differences(old, new):
        if field == _MEMBERS or (field.partition(".")[0] in _WORK and field not in _WHERE):
            yield field, values


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


LOCAL: Final = "local"
"""The target that the program starts itself."""
FIELDS: Final = ("cpu", "cpu_architecture", "cores", "memory_gib", "memory_limit_gib", "kernel", "system")
"""What is said of a machine: the same names for servers and client."""


def share_machine(row: Mapping[str, Any]) -> bool:
    """Whether all of a row ran on one machine: the run started the servers, or it names neither target nor servers.

    What benchmark tools write is of the latter kind.
    """
    if "experiment" not in row and "servers" not in row:
        return True
    return bool(row.get("experiment", {}).get("target") == LOCAL)


def of_servers(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of the servers' machines that are known; a value of each kind where members differ."""
    members = row.get("servers", {}).get("members", ())
    for field in FIELDS:
        values = list(dict.fromkeys(one[field] for one in members if field in one))
        if values:
            yield field, values[0] if len(values) == 1 else values


def describe_machine(row: Mapping[str, Any]) -> str:
    """The processor of the servers, how many and the memory, as pages have it; "" where not all of that is known."""
    machine = _machine_of_servers(row)
    parts = (
        machine.get("cpu") or machine.get("cpu_architecture"),
        *map(machine.get, ("cores", "memory_gib")),
    )
    if None in parts:
        return ""
    cpu, cores, memory = parts
    return f"{cpu}, {cores} processors, {memory} GiB"


def _machine_of_servers(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """That of the first member with data; of a row that does not say where its servers ran, as of a local target."""
    members = row.get("servers", {}).get("members")
    target = row.get("experiment", {}).get("target") or (LOCAL if members is None else "")
    if target == LOCAL:
        found: Mapping[str, Any] = row.get("hardware", {})
        return found
    return next((one for one in members or () if one.get("role") != "mongos"), {})
