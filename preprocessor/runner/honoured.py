"""What a connection string asks of the load: an option that is not honoured is refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import Kind
from preprocessor.runner.errors import TargetError
from preprocessor.runner.requestoptions import read_selector
from preprocessor.runner.worker import OnError

if TYPE_CHECKING:
    from pymongo import MongoClient


def check_options(client: MongoClient[Any], kind: Kind) -> None:
    """Raise TargetError when the connection string asks for what this kind of client does not do."""
    asked = list(_beyond_wire(client)) if kind == "wire" else []
    if asked:
        message = f"the load would be sent without {', '.join(asked)} of the connection string"
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


def _beyond_wire(client: MongoClient[Any]) -> Iterator[str]:
    compression = client.options.pool_options._compression_settings
    if compression is not None and compression.compressors:
        yield "compressors"
    if client.options.timeout is not None:
        yield "timeoutMS"
