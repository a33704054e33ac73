"""Connection strings that people give, and the roles that their users lack.

A complaint about a string is one line without its secrets. The roles are those of
https://www.mongodb.com/docs/manual/reference/built-in-roles/, tried with users of MongoDB 6.0.5. The work itself
needs ``readWriteAnyDatabase``, or ``readWrite`` on the database of the experiment.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl

from mongo_tables.results.secrets import redact, scrub
from mongo_tables.runner.errors import RunnerError

if TYPE_CHECKING:
    from pymongo.errors import OperationFailure, PyMongoError


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


T = TypeVar("T")
HINT = "mongodb://USER:PASSWORD@HOST:PORT/DATABASE; percent-encode : / ? # [ ] @ % in user and password"
_MEASURED: Final = (
    "compressors",
    "directConnection",
    "journal",
    "loadBalanced",
    "localThresholdMS",
    "maxStalenessSeconds",
    "readConcernLevel",
    "readPreference",
    "readPreferenceTags",
    "retryWrites",
    "socketTimeoutMS",
    "timeoutMS",
    "tls",
    "w",
    "wTimeoutMS",
    "zlibCompressionLevel",
)
"""The options of a connection string that change what is measured; none of them holds a secret."""
_OF_MONGOS: Final = "topology_type: Sharded"
_FAULT: Final = re.compile(r"""error=\w+\((['"])(?P<fault>.+?)\1\)""")
"""What the driver says of one of several mongos that does not answer."""


def shown(where: str) -> str:
    """What somebody gave as a place, to be told in a complaint: what may be a connection string without its secrets."""
    return redact(where) if "@" in where or "://" in where else where


def driver_fault(error: PyMongoError, uri: str) -> str:
    """What the driver complains of, in one line without secrets."""
    from pymongo.errors import OperationFailure, ServerSelectionTimeoutError

    if isinstance(error, OperationFailure) and (refusal := describe_refusal(error)):
        return refusal
    said = str(error)
    is_late = isinstance(error, ServerSelectionTimeoutError)
    routed = is_late and _OF_MONGOS in said and _FAULT.search(said)
    # The first server's fault says it; the rest is what the driver knows of all of them.
    text = (routed["fault"] if routed else said).partition(" (configured timeouts")[0]
    text = scrub(text.partition(", full error:")[0].splitlines()[0], uri)
    if is_late:
        return f"{'a mongos does not answer' if routed else 'no primary answers'}: {text}"
    return f"{type(error).__name__}: {text}"


def selection_ms(uri: str, usual: int) -> int:
    """How long a server is waited for, in ms: what the connection string says, which the driver can use, else usual."""
    options = parse_qsl(uri.partition("?")[2].replace(";", "&"))
    given = [value for name, value in options if name.lower() == "serverselectiontimeoutms"]
    return round(float(given[-1])) if given else usual  # the driver takes parts of a millisecond


def measured_options(options: Mapping[str, Any]) -> str:
    """Those of the ``options`` of a connection string that change what is measured: the same text for the same ones.

    ``options`` are as PyMongo gives them.
    """
    given = {name.lower(): value for name, value in options.items()}  # of some it keeps no capitals
    found = {name: given[name.lower()] for name in _MEASURED if name.lower() in given}
    return json.dumps(found, sort_keys=True) if found else ""


def used(uri: str, what: str, act: Callable[[], T]) -> T:
    """What ``act`` gives that hands the string to the driver; raises RunnerError when the driver cannot use it.

    ``what`` is what the string is for.
    """
    from pymongo.errors import PyMongoError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # how the driver tells of options it leaves out
            return act()
    except (PyMongoError, ValueError, OSError, UserWarning) as error:
        text = scrub(str(error), uri).partition("\n")[0]
        if "database name" in text:  # the driver quotes it, and it may be part of a password
            text = "what follows its / names no database"
        raise RunnerError(f"{what} is no usable connection string, {redact(uri)}: {text}", HINT) from None
