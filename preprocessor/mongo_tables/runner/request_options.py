"""What every request carries besides its work: concerns, the read preference, a session, a number.

A write that a driver may resend has a number in its session (``txnNumber``), by which the server recognises a
repetition; the server stores it for that, which costs work
(https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md).

A connection string option that the load does not honour is refused, not ignored
(https://www.mongodb.com/docs/manual/reference/connection-string-options/, and the options of PyMongo).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from mongo_tables.runner.errors import TargetError

if TYPE_CHECKING:
    from pymongo import MongoClient


Kind = Literal["wire", "pymongo"]
"""Which client sends the load."""

OnError = Literal["stop", "reconnect"]
"""What happens when a connection breaks."""

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How requests are sent; an empty ``read_concern`` is the server's default, ``local``."""

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
    """Return the driver's read preference; raise ConfigurationError for an invalid one."""
    from pymongo.read_preferences import make_read_preference, read_pref_mode_from_name

    mode = read_pref_mode_from_name(preference["mode"])
    return make_read_preference(mode, preference.get("tags"), preference.get("maxStalenessSeconds", -1))


HONOURED: Final = frozenset(
    {
        "authMechanism", "authMechanismProperties", "authSource", "connectTimeoutMS", "directConnection", "fsync",
        "heartbeatFrequencyMS", "journal", "localThresholdMS", "maxStalenessSeconds", "readConcernLevel",
        "readPreference", "readPreferenceTags", "replicaSet", "retryWrites", "serverMonitoringMode",
        "serverSelectionTimeoutMS", "socketTimeoutMS", "srvAllowedHostsSuffix", "srvMaxHosts", "srvServiceName", "ssl",
        "tls", "tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames", "tlsCAFile", "tlsCertificateKeyFile",
        "tlsCertificateKeyFilePassword", "tlsCRLFile", "tlsDisableOCSPEndpointCheck", "tlsInsecure", "w", "wTimeoutMS",
    }
)  # fmt: skip
"""Options for finding a server and opening a connection, which the driver does, and for what each request carries."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "appName", "maxConnecting", "maxIdleTimeMS", "maxPoolSize", "minPoolSize",
        "uuidRepresentation", "waitQueueTimeoutMS", "zlibCompressionLevel",
    }
)  # fmt: skip
"""Options that a run sets itself, such as the number of connections, or that do not affect its requests."""
_ONLY_DRIVER: Final = (
    "compressors", "enableOverloadRetargeting", "loadBalanced", "maxAdaptiveRetries", "timeoutMS",
)  # fmt: skip
"""Options that prepared messages do not support; behaviour behind a load balancer could not be tested."""
_READS: Final = "retryReads"
_NAMES: Final = {name.lower(): name for name in (*HONOURED, *WITHOUT_EFFECT, *_ONLY_DRIVER, _READS)}
"""PyMongo lowers some names."""


def check_options(given: Mapping[str, Any], kind: Kind) -> None:
    """Raise TargetError if a connection string asks for something that this kind of client does not do.

    ``given`` are its options as PyMongo returns them. An option that is switched off asks for nothing, and neither
    client retries reads: failures are counted.
    """
    asked = {_NAMES.get(name.lower(), name) for name, value in given.items() if value}
    if _READS in asked:
        message = f"{_READS} of the connection string: a read that fails is counted, and not sent again"
        raise TargetError(message, "leave it out")
    beyond = sorted(asked - HONOURED - WITHOUT_EFFECT) if kind == "wire" else []
    if beyond:
        message = f"the load would be sent without {', '.join(beyond)} of the connection string"
        raise TargetError(message, "leave it out, or use --client pymongo, which supports it")


def conflict(config: Mapping[str, Any], kind: Kind, on_error: OnError = "stop") -> tuple[str, str] | None:
    """Return what a variant or an option asks for and this kind of client does not do, and the remedy.

    Return None if it does everything.
    """
    from pymongo.errors import ConfigurationError

    if kind == "pymongo" and on_error == "reconnect":
        return (
            "PyMongo reopens broken connections by itself, so the duration of the failure is unknown",
            "--on-error reconnect is for --client wire",
        )
    session = config.get("session", True)
    if kind == "pymongo" and not session:
        return "PyMongo sends every request in a session", "session = false is for --client wire"
    if config.get("retryableWrites") and not session:
        return "a write is retryable in a session only", "leave out session = false or retryableWrites = true"
    if "readPreference" in config:
        try:
            read_selector(config["readPreference"])
        except (ConfigurationError, TypeError, ValueError) as error:
            return f"readPreference: {error}", ""
    return None
