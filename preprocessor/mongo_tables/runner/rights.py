"""Which role of MongoDB permits what a run asks for, so that a refusal can be told with its remedy.

By https://www.mongodb.com/docs/manual/reference/built-in-roles/, tried with users of MongoDB 6.0.5. The work itself
needs ``readWriteAnyDatabase``, or ``readWrite`` on the database of the experiment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pymongo.errors import OperationFailure

MONITOR: Final = "clusterMonitor"
ROLES: Final[Mapping[str, str]] = {
    "serverStatus": MONITOR,
    "hostInfo": MONITOR,
    "getCmdLineOpts": MONITOR,
    "getParameter": MONITOR,
    "replSetGetConfig": MONITOR,
    "replSetGetStatus": MONITOR,
    "getDiagnosticData": MONITOR,
    "listShards": MONITOR,
    "fsync": "hostManager",
    "dropDatabase": "dbAdminAnyDatabase",
}
"""The least built-in role by command."""

WORK: Final = "readWrite on that database, or readWriteAnyDatabase,"
"""What permits all that is not in the table."""
_UNAUTHORIZED: Final = 13
_ATLAS: Final = 8000
"""What Atlas answers where a tier does not have a command."""
_UNKNOWN: Final = (59, 115, 238)
"""Codes of a server that does not have the command, or not yet: products that are not MongoDB have few of them."""
_QUOTED: Final = re.compile(r"not authorized on (\S+) to execute command \{ (\w+):")


def is_refused(error: OperationFailure) -> bool:
    """Whether the server does not permit the command, to this user or to any, or has no such command."""
    return error.code in (_UNAUTHORIZED, _ATLAS, *_UNKNOWN)


def describe_refusal(error: OperationFailure) -> str | None:
    """What the user may not do and which role permits it; None where it is not that which the server complains of.

    The server quotes the whole command, with its session and its signature.
    """
    found = _QUOTED.search(str(error)) if error.code == _UNAUTHORIZED else None
    if found is None:
        return None
    database, command = found.groups()
    role = ROLES.get(command, WORK)
    return f"the user may not {command} in the database {database!r}: the role {role} permits it"


def unknown(what: str, error: OperationFailure | None) -> dict[str, str]:
    """What a row says of something that could not be asked: the missing role, or the reason."""
    if error is not None and error.code == _UNAUTHORIZED and what in ROLES:
        return {"what": what, "role": ROLES[what]}
    if error is None:
        return {"what": what, "reason": "no answer"}
    name = (error.details or {}).get("codeName")
    return {"what": what, "reason": str(name or f"error {error.code}")}
