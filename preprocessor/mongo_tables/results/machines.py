"""The machines behind a row: that of its servers and that of its client, in documents of any age.

``hardware`` is the client's, and the servers' too where a run started them itself; what servers elsewhere say of theirs
is in ``servers.members``. Older documents have no ``servers``: of theirs elsewhere nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

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
