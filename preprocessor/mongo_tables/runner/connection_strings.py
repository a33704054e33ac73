"""Connection strings from the user, the roles that their database users lack, and the options of requests.

An error message about a connection string is one line without the string's secrets. The roles come from
https://www.mongodb.com/docs/manual/reference/built-in-roles/ and were tested with users of MongoDB 6.0.5. The work
itself needs ``readWriteAnyDatabase``, or ``readWrite`` on the database of the experiment.

The options of requests are concerns, read preference, sessions and retryable writes. They come from the experiment or
from the connection string. A retryable write carries a number (``txnNumber``), by which the server recognises a
repetition. The server stores these numbers, which takes time
(https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md).
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl

from pymongo import MongoClient
from pymongo.errors import (
    ConfigurationError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)
from pymongo.read_preferences import make_read_preference, read_pref_mode_from_name

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.source_text import URI_HINT, redact, scrub
from mongo_tables.runner.errors import TargetError

PATIENCE_MS: Final = 15_000
"""Milliseconds to wait for a results database: longer than an election, so that an election loses no measurements."""
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
"""For each command, the built-in role with the fewest privileges that permits it."""

WORK: Final = "readWrite on that database, or readWriteAnyDatabase,"
"""The role for the commands that are not in ``ROLES``."""
_UNAUTHORIZED: Final = 13
_ATLAS: Final = 8000
"""Atlas's error code for a command that the tier does not have."""
_UNKNOWN: Final = (59, 115, 238)
"""Error codes for a command that the server lacks, as products that emulate MongoDB often do."""
_QUOTED: Final = re.compile(r"not authorized on (\S+) to execute command \{ (\w+):")


def is_refused(error: OperationFailure) -> bool:
    """Return whether the server refuses the command to this user or to all users, or lacks the command."""
    return error.code in (_UNAUTHORIZED, _ATLAS, *_UNKNOWN)


def describe_refusal(error: OperationFailure) -> str | None:
    """Return a message with the refused command and the role that permits it, or None for another kind of error.

    The server's own message is not shown, because it quotes the whole command with its session and signature.
    """
    found = _QUOTED.search(str(error)) if error.code == _UNAUTHORIZED else None
    if found is None:
        return None
    database, command = found.groups()
    role = ROLES.get(command, WORK)
    return f"the user may not {command} in the database {database!r}: the role {role} permits it"


def unknown(what: str, error: OperationFailure | None) -> dict[str, str]:
    """Return what a row records about an unanswered query: the role that the user lacks, or another reason."""
    if error is not None and error.code == _UNAUTHORIZED and what in ROLES:
        return {"what": what, "role": ROLES[what]}
    if error is None:
        return {"what": what, "reason": "no answer"}
    name = (error.details or {}).get("codeName")
    return {"what": what, "reason": str(name or f"error {error.code}")}


T = TypeVar("T")
_MEASURED: Final = (
    "directConnection", "journal", "localThresholdMS", "maxStalenessSeconds", "readConcernLevel", "readPreference",
    "readPreferenceTags", "retryWrites", "socketTimeoutMS", "tls", "w", "wTimeoutMS",
)  # fmt: skip
"""The options of a connection string that change the measured work. No such option is secret."""
ACCEPTED: Final = frozenset(
    {
        *_MEASURED,
        # the run follows these, but they do not change the measured work
        "authMechanism", "authMechanismProperties", "authSource", "connectTimeoutMS", "fsync", "heartbeatFrequencyMS",
        "replicaSet", "serverMonitoringMode", "serverSelectionTimeoutMS", "srvAllowedHostsSuffix", "srvMaxHosts",
        "srvServiceName", "ssl", "tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames", "tlsCAFile",
        "tlsCertificateKeyFile", "tlsCertificateKeyFilePassword", "tlsCRLFile", "tlsDisableOCSPEndpointCheck",
        "tlsInsecure",
        # the run sets these itself, or they do not affect its requests
        "appName", "maxConnecting", "maxIdleTimeMS", "maxPoolSize", "minPoolSize", "uuidRepresentation",
        "waitQueueTimeoutMS", "zlibCompressionLevel",
    }
)  # fmt: skip
"""The options of a connection string (https://www.mongodb.com/docs/manual/reference/connection-string-options/) that a
run accepts. Other options are errors."""
_OF_MONGOS: Final = "topology_type: Sharded"
_FAULT: Final = re.compile(r"""error=\w+\((['"])(?P<fault>.+?)\1\)""")
"""The pattern of the error that the driver's message quotes if no mongos answers."""


def driver_fault(error: PyMongoError, uri: str) -> str:
    """Return the driver's error message in one line without secrets."""
    if isinstance(error, OperationFailure) and (refusal := describe_refusal(error)):
        return refusal
    said = str(error)
    is_late = isinstance(error, ServerSelectionTimeoutError)
    routed = is_late and _OF_MONGOS in said and _FAULT.search(said)
    # The message repeats the error for each mongos.
    text = (routed["fault"] if routed else said).partition(" (configured timeouts")[0]
    text = scrub(text.partition(", full error:")[0].splitlines()[0], uri)
    if is_late:
        return f"{'a mongos does not answer' if routed else 'no primary answers'}: {text}"
    return f"{type(error).__name__}: {text}"


def selection_ms(uri: str, usual: int) -> int:
    """Return the server selection timeout of a connection string in milliseconds, or ``usual`` if it sets none."""
    options = parse_qsl(uri.partition("?")[2].replace(";", "&"))
    given = [value for name, value in options if name.lower() == "serverselectiontimeoutms"]
    return round(float(given[-1])) if given else usual  # the driver accepts fractions


def measured_options(options: Mapping[str, Any]) -> str:
    """Return the options that change the measured work as JSON in a fixed order. PyMongo returned the ``options``."""
    given = {
        name.lower(): value for name, value in options.items()
    }  # PyMongo writes some names in lower case
    found = {name: given[name.lower()] for name in _MEASURED if name.lower() in given}
    return json.dumps(found, sort_keys=True) if found else ""


def check_options(given: Mapping[str, Any]) -> None:
    """Raise TargetError for an option of a connection string that the load generator does not support.

    ``given`` are the string's options as PyMongo returns them, some in lower case. Options that are switched off are
    accepted.
    """
    accepted = {name.lower() for name in ACCEPTED}
    beyond = sorted(name for name, value in given.items() if value and name.lower() not in accepted)
    if beyond:
        message = f"the load generator does not support {', '.join(beyond)} in the connection string"
        raise TargetError(message, "leave it out")


def used(uri: str, what: str, act: Callable[[], T]) -> T:
    """Return the result of ``act``, which passes ``uri`` to the driver. Raises CommandError if ``uri`` is unusable.

    ``what`` is the name of the connection string in the message, such as ``the target``.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # the driver reports ignored options by warnings
            return act()
    except (PyMongoError, ValueError, OSError, UserWarning) as error:
        text = scrub(str(error), uri).partition("\n")[0]
        if "database name" in text:  # the driver quotes the name, which may be part of a password
            text = "the text after its / is not the name of a database"
        raise CommandError(
            f"{what} is not a usable connection string, {redact(uri)}: {text}", URI_HINT
        ) from None


PROJECTION = {"_id": 0, "nofieldsplease": 1}
"""The projection of queries. It returns no fields, so that the search is measured, not the transfer."""


OnError = Literal["stop", "reconnect"]
"""What a run does when a connection breaks."""

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How requests are sent. An empty ``read_concern`` means the server's default, ``local``."""

    write_concern: Mapping[str, Any] = field(default_factory=lambda: {"w": "majority"})
    read_concern: Mapping[str, Any] = field(default_factory=dict)
    read_preference: Mapping[str, Any] = field(default_factory=lambda: {"mode": PRIMARY})
    sessions: bool = True
    retryable_writes: bool = True

    @property
    def acknowledges(self) -> bool:
        """Return whether writes wait for an answer."""
        return self.write_concern.get("w") != 0

    @property
    def reads_primary(self) -> bool:
        """Return whether reads go to the primary, like writes."""
        return bool(self.read_preference["mode"] == PRIMARY)


def request_options(client: MongoClient[Any], config: Mapping[str, Any]) -> RequestOptions:
    """Return the options of requests. An option that ``config`` lacks comes from the connection string or the driver.

    Sessions and retryable writes are off if the deployment does not support them, such as a standalone server.
    ``client`` must be connected.
    """
    deployment = client.topology_description
    concern = config.get("writeConcern") or client.write_concern.document or {"w": "majority"}
    sessions = config.get("session", True) and deployment.logical_session_timeout_minutes is not None
    numbered = any(one.retryable_writes_supported for one in deployment.server_descriptions().values())
    return RequestOptions(
        write_concern=dict(concern),
        read_concern=dict(config.get("readConcern") or client.read_concern.document),
        read_preference=dict(config.get("readPreference") or client.read_preference.document),
        sessions=sessions,
        retryable_writes=sessions
        and numbered
        and bool(config.get("retryableWrites", client.options.retry_writes))
        and concern.get("w") != 0,
    )


def read_selector(preference: Mapping[str, Any]) -> Any:
    """Return the driver's read preference. Raises ConfigurationError if ``preference`` is invalid."""
    mode = read_pref_mode_from_name(preference["mode"])
    return make_read_preference(mode, preference.get("tags"), preference.get("maxStalenessSeconds", -1))


def check_requests(config: Mapping[str, Any]) -> None:
    """Raise TargetError if a variant needs requests that the client cannot send."""
    if config.get("retryableWrites") and not config.get("session", True):
        message = "a write is retryable only in a session"
        raise TargetError(message, "leave out session = false or retryableWrites = true")
    if "readPreference" in config:
        try:
            read_selector(config["readPreference"])
        except (ConfigurationError, TypeError, ValueError) as error:
            raise TargetError(f"readPreference: {error}") from None
