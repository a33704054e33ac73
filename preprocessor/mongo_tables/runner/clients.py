"""The interface through which a connection sends its work; over PyMongo here, over a socket in ``wire``.

Selectors, updates and documents are BSON bytes: encoded once, and sent unchanged by either client. Besides its work
every request carries concerns, the read preference, a session, and a number: a write that a driver may resend has one
in its session (``txnNumber``), by which the server recognises a repetition; the server stores it for that, which costs
work (https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md).

A connection string option that the load does not honour is refused, not ignored
(https://www.mongodb.com/docs/manual/reference/connection-string-options/, and the options of PyMongo).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from mongo_tables.runner.errors import TargetError

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.results import UpdateResult


PROJECTION = {"_id": 0, "nofieldsplease": 1}
"""The projection of queries, which returns nothing: finding is measured, not sending."""


class UnexpectedReply(Exception):
    """An answer of the server that is not the expected one. ``code`` is its error code, or 0."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Client(Protocol):
    """The operations of workloads on one connection and one collection. Each raises if the server refuses.

    With write concern w: 0 writes are not acknowledged: none is refused, and each counts as one matched document.
    """

    sleep: Callable[[float], None]
    """Yields to other connections for this many seconds."""

    def insert(self, documents: Sequence[bytes]) -> None:
        """Insert the documents, in order."""

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Update one document. Return the number of matched or upserted documents."""

    def update_each(self, statements: Sequence[bytes]) -> int:
        """Send many updates in one unordered request. Return the number of matched or upserted documents.

        A statement is the BSON of ``q``, ``u`` (operators or a pipeline) and ``upsert``.
        """

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Update one document and return its new version. Return the number of found or upserted documents."""

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """Fetch all documents with an empty projection. Return their number and their size in bytes."""

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """Fetch the given fields of one document, or all with an empty projection. Return as ``find`` does."""

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """Fetch the fields of up to ``limit`` documents in the order of ``_id``. Return as ``find`` does."""

    def replace(self, selector: bytes, document: bytes) -> int:
        """Replace one document. Return the number of matched documents."""

    def delete(self, selector: bytes) -> int:
        """Delete one document. Return the number of deleted documents."""

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """Run a pipeline, a BSON array, to its end. Return the number of documents and their size in bytes."""

    def close(self) -> None:
        """Give back the connection."""


class PyMongoClient:
    """The reference client: it does what a program with PyMongo does."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], options: RequestOptions, number: int = 0
    ) -> None:
        """``namespace`` is database and collection. With several mongos the driver chooses one for each request.

        Sessions and retryable writes are properties of ``client`` itself.
        """
        from pymongo import ReturnDocument, WriteConcern
        from pymongo.read_concern import ReadConcern

        self.sleep: Callable[[float], None] = time.sleep
        database, name = namespace
        collection = client[database].get_collection(
            name,
            write_concern=WriteConcern(**options.write_concern),
            read_concern=ReadConcern(**options.read_concern),
            read_preference=read_selector(options.read_preference),
        )
        self._collection = collection
        self._raw_collection = collection.with_options(
            codec_options=CodecOptions(document_class=RawBSONDocument)
        )
        self._raw = RawBSONDocument
        self._after = ReturnDocument.AFTER

    def insert(self, documents: Sequence[bytes]) -> None:
        """Call ``insert_many``, or ``insert_one`` for a batch of one."""
        if len(documents) == 1:
            self._collection.insert_one(self._raw(documents[0]))
        else:
            self._collection.insert_many([self._raw(document) for document in documents], ordered=True)

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Call ``update_one``."""
        return _matched(self._collection.update_one(self._raw(selector), self._raw(update), upsert=upsert))

    def update_each(self, statements: Sequence[bytes]) -> int:
        """Call ``bulk_write`` with ``UpdateOne``, unordered."""
        from pymongo import UpdateOne

        decoded = (bson.decode(statement) for statement in statements)
        result = self._collection.bulk_write(
            [UpdateOne(one["q"], one["u"], upsert=one["upsert"]) for one in decoded], ordered=False
        )
        if not result.acknowledged:
            return len(statements)
        return result.matched_count + result.upserted_count

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Call ``find_one_and_update``, which returns the document after the update."""
        found = self._collection.find_one_and_update(
            self._raw(selector), self._raw(update), upsert=upsert, return_document=self._after
        )
        return 0 if found is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """Call ``find`` and drain the cursor. The bytes are those of the documents."""
        return _drained(self._raw_collection.find(self._raw(selector), PROJECTION, limit=limit, skip=skip))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """Do what ``find_one`` does, with its cursor, which knows the number of bytes."""
        return _drained(self._raw_collection.find(self._raw(selector), self._fields(projection), limit=-1))

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """Call ``find`` with ``sort`` and ``limit``, and drain the cursor."""
        fields = self._fields(projection)
        return _drained(self._raw_collection.find(self._raw(selector), fields, limit=limit, sort={"_id": 1}))

    def replace(self, selector: bytes, document: bytes) -> int:
        """Call ``replace_one``."""
        return _matched(self._collection.replace_one(self._raw(selector), self._raw(document)))

    def delete(self, selector: bytes) -> int:
        """Call ``delete_one``."""
        result = self._collection.delete_one(self._raw(selector))
        return result.deleted_count if result.acknowledged else 1

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """Call ``aggregate`` and drain the cursor."""
        return _drained(self._raw_collection.aggregate(list(self._raw(pipeline).values())))

    def close(self) -> None:
        """Do nothing: the pool keeps the connection."""

    def _fields(self, projection: bytes) -> Mapping[str, Any] | None:
        return dict(self._raw(projection)) or None


def _matched(result: UpdateResult) -> int:
    if not result.acknowledged:
        return 1
    return result.matched_count + (1 if result.upserted_id is not None else 0)


def _drained(found: Iterable[Any]) -> tuple[int, int]:
    lengths = [len(document.raw) for document in found]
    return len(lengths), sum(lengths)


Kind = Literal["wire", "pymongo"]
"""Which client sends the load."""

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
