"""What a connection string asks of the load: an option that is not honoured is refused, not ignored.

The options: https://www.mongodb.com/docs/manual/reference/connection-string-options/ and those of PyMongo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mongo_tables.runner.clients import Kind
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.requestoptions import read_selector
from mongo_tables.runner.worker import OnError

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
"""How a server is found and a connection opened, which is the driver's work, and what each request carries."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "appName", "maxConnecting", "maxIdleTimeMS", "maxPoolSize", "minPoolSize",
        "uuidRepresentation", "waitQueueTimeoutMS", "zlibCompressionLevel",
    }
)  # fmt: skip
"""What a run says itself, as how many connections there are, and what means nothing for its requests."""
_ONLY_DRIVER: Final = (
    "compressors", "enableOverloadRetargeting", "loadBalanced", "maxAdaptiveRetries", "timeoutMS",
)  # fmt: skip
"""Nothing of these is in prepared messages; how connections behave behind a load balancer could not be tried."""
_READS: Final = "retryReads"
_NAMES: Final = {name.lower(): name for name in (*HONOURED, *WITHOUT_EFFECT, *_ONLY_DRIVER, _READS)}
"""PyMongo gives some names without capitals."""


def check_options(given: Mapping[str, Any], kind: Kind) -> None:
    """Raise TargetError when a connection string asks for what this kind of client does not do.

    ``given`` are its options as PyMongo gives them. One that is switched off asks for nothing, and neither client sends
    a read again: what failed is counted.
    """
    asked = {_NAMES.get(name.lower(), name) for name, value in given.items() if value}
    if _READS in asked:
        message = f"{_READS} of the connection string: a read that fails is counted, and not sent again"
        raise TargetError(message, "leave it out")
    beyond = sorted(asked - HONOURED - WITHOUT_EFFECT) if kind == "wire" else []
    if beyond:
        message = f"the load would be sent without {', '.join(beyond)} of the connection string"
        raise TargetError(message, "leave it out, or take --client pymongo, which does what it says")


def conflict(config: Mapping[str, Any], kind: Kind, on_error: OnError = "stop") -> tuple[str, str] | None:
    """What a variant or an option asks for that this kind of client does not do, and the remedy.

    None when it does all.
    """
    from pymongo.errors import ConfigurationError

    if kind == "pymongo" and on_error == "reconnect":
        return (
            "PyMongo opens broken connections again by itself: how long there was no service is not known",
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
