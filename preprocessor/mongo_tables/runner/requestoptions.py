"""What every request carries beside its work: concerns, the read preference, a session, a number to be known again by.

A write that a driver may send again has a number of its own in its session (``txnNumber``), by which the server knows
that it did it already; the server keeps it for that, which is work
(https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymongo import MongoClient

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How requests are sent; an empty ``read_concern`` is the server's own, which is ``local``."""

    write_concern: Mapping[str, Any] = field(default_factory=lambda: {"w": "majority"})
    read_concern: Mapping[str, Any] = field(default_factory=dict)
    read_preference: Mapping[str, Any] = field(default_factory=lambda: {"mode": PRIMARY})
    sessions: bool = True
    retryable_writes: bool = True

    @property
    def acknowledges(self) -> bool:
        """Whether the answer to a write is waited for."""
        return self.write_concern.get("w") != 0

    @property
    def reads_primary(self) -> bool:
        """Whether reads go where writes go."""
        return bool(self.read_preference["mode"] == PRIMARY)


def request_options(client: MongoClient[Any], config: Mapping[str, Any]) -> RequestOptions:
    """What the config of an experiment asks for, else the connection string, else what drivers do by themselves.

    Sessions and retryable writes are off where the deployment has none: a standalone server has no retryable writes.
    ``client`` has talked to it already.
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
        retryable_writes=sessions and numbered and _retries(client, config) and concern.get("w") != 0,
    )


def _retries(client: MongoClient[Any], config: Mapping[str, Any]) -> bool:
    return bool(config.get("retryableWrites", client.options.retry_writes))


def read_selector(preference: Mapping[str, Any]) -> Any:
    """The driver's read preference, which chooses a server; raises ConfigurationError for one that cannot be."""
    from pymongo.read_preferences import make_read_preference, read_pref_mode_from_name

    mode = read_pref_mode_from_name(preference["mode"])
    return make_read_preference(mode, preference.get("tags"), preference.get("maxStalenessSeconds", -1))
