"""How requests are sent: concerns, read preference, sessions, retryable writes; from experiment or connection string.

Besides its work every request carries concerns, the read preference, a session, and a number: a write that a driver
may resend has one in its session (``txnNumber``), by which the server recognises a repetition; the server stores it
for that, which costs work
(https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pymongo import MongoClient


PROJECTION = {"_id": 0, "nofieldsplease": 1}
"""The projection of queries, which returns nothing: finding is measured, not sending."""


class UnexpectedReply(Exception):
    """An answer of the server that is not the expected one. ``code`` is its error code, or 0."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


OnError = Literal["stop", "reconnect"]
"""What happens when a connection breaks."""

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How requests are sent. An empty ``read_concern`` is the server's default, ``local``."""

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
    """Return the options of the experiment's config, else of the connection string, else the drivers' defaults.

    Sessions and retryable writes are off if the deployment lacks them: a standalone server has no retryable writes.
    ``client`` is already connected.
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
    """Return the driver's read preference. Raise ConfigurationError for an invalid one."""
    from pymongo.read_preferences import make_read_preference, read_pref_mode_from_name

    mode = read_pref_mode_from_name(preference["mode"])
    return make_read_preference(mode, preference.get("tags"), preference.get("maxStalenessSeconds", -1))


def conflict(config: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what a variant asks for and the client does not do, and the remedy, or None if it does everything."""
    from pymongo.errors import ConfigurationError

    if config.get("retryableWrites") and not config.get("session", True):
        return "a write is retryable in a session only", "leave out session = false or retryableWrites = true"
    if "readPreference" in config:
        try:
            read_selector(config["readPreference"])
        except (ConfigurationError, TypeError, ValueError) as error:
            return f"readPreference: {error}", ""
    return None
