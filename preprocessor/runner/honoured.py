"""What a connection string asks of the load: an option that is not honoured is refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import Kind
from preprocessor.runner.errors import TargetError

if TYPE_CHECKING:
    from pymongo import MongoClient


def check_options(client: MongoClient[Any], kind: Kind) -> None:
    """Raise TargetError when the connection string asks for what this kind of client does not do."""
    asked = list(_beyond_wire(client)) if kind == "wire" else []
    if asked:
        message = f"the load would be sent without {', '.join(asked)} of the connection string"
        raise TargetError(message, "leave it out, or take --client pymongo, which does what it says")


def read_concern(client: MongoClient[Any]) -> dict[str, Any]:
    """The read concern that reads have: of the connection string, else the server's own."""
    return {"level": client.read_concern.level or "local"}


def _beyond_wire(client: MongoClient[Any]) -> Iterator[str]:
    if client.read_preference.mode:
        yield "readPreference"
    if client.read_concern.level not in (None, "local"):
        yield "readConcernLevel"
    compression = client.options.pool_options._compression_settings
    if compression is not None and compression.compressors:
        yield "compressors"
