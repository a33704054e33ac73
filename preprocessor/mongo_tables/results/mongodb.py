"""Results from a MongoDB deployment, through pymongo.

Whatever goes wrong becomes one line without user or password. pymongo's own exceptions are never chained to
ours: their text may hold the URI.
"""

from __future__ import annotations

import queue
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from mongo_tables.results.driverlog import keep_to_one_line
from mongo_tables.results.fieldorder import settle_field_order
from mongo_tables.results.limits import OPTIONS, rows_within
from mongo_tables.results.model import Limits, Query, ResultsError, Rows
from mongo_tables.results.running import answer_in_threads, guard
from mongo_tables.results.secrets import redact, scrub
from mongo_tables.results.seedhosts import none_there

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

DEFAULT_DATABASE = "performance"
"""The database when the URI names none."""

APPLICATION = "mongo-tables"
"""How our connections are named in the server's log and in ``currentOp``."""

# Server error codes: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
_AUTHENTICATION = frozenset({18, 8000})
_UNAUTHORIZED = frozenset({13})
_TIME_LIMIT = frozenset({50, 262})

_T = TypeVar("_T")


class MongoSource:
    """A database of a deployment as a results source. Connects when first asked."""

    workers = 4
    local = None

    def __init__(self, uri: str, limits: Limits | None = None) -> None:
        self._uri = uri
        self._limits = limits or Limits()
        self._client: MongoClient[Any] | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The URI without user, password and options."""
        return redact(self._uri)

    def reach(self) -> None:
        """Connect, authenticate and ping. Raises ``ResultsError`` within ``connect_ms`` and a second."""
        self._connect_once()

    def collections(self) -> tuple[str, ...]:
        """Names of the collections of the database, sorted."""
        return self._attempt(lambda: tuple(sorted(self._database().list_collection_names())))

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query. Raises ``ResultsError``, with the path of the culprit where the server names
        it.
        """
        guard(query)
        return self._attempt(lambda: self._rows(query), query)

    def raws(self, collection: str) -> Iterator[bytes]:
        """Every document of a collection as BSON, in no particular order."""
        yield from self._attempt(
            lambda: [raw for batch in self._batches(collection) for raw in _split(batch)]
        )

    def version(self) -> str:
        """The version of the server, as it tells it."""
        return self._attempt(lambda: str(self._connect_once().server_info()["version"]))

    def refresh(self) -> None:
        """Nothing is kept: the server has the documents."""

    def digest(self, collection: str) -> None:
        """Unknown: a deployment has no cheap key of its content."""

    def answer(self, queries: Mapping[str, Query], workers: int) -> dict[str, Rows | ResultsError]:
        """The rows of each query, or its error, by the same keys, some at the same time."""
        return answer_in_threads(self.aggregate, queries, min(workers, self.workers))

    def writes(self) -> str:
        """How often each collection was written to since the server was started, as it counts that for itself."""
        return self._attempt(
            lambda: repr([(name, self._count_writes(name)) for name in self._collection_names()])
        )

    def _collection_names(self) -> list[str]:
        """The names of collections with documents of their own, so without views."""
        return sorted(self._database().list_collection_names(filter={"type": {"$ne": "view"}}))

    def _count_writes(self, name: str) -> list[Any]:
        stages: list[dict[str, Any]] = [{"$collStats": {"latencyStats": {}, "count": {}}}]
        with self._database()[name].aggregate(stages, maxTimeMS=self._limits.time_ms) as shards:
            return [[each.get("count"), each["latencyStats"]["writes"]["ops"]] for each in shards]

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                with suppress(Exception):  # it says goodbye, and a server that is broken may answer anything
                    self._client.close()
                self._client = None

    def _rows(self, query: Query) -> Rows:
        cursor = self._collection(query.collection).aggregate_raw_batches(
            [dict(stage) for stage in query.pipeline],
            let=dict(query.let) or None,
            maxTimeMS=self._limits.time_ms,
            allowDiskUse=False,
        )
        with cursor:
            return settle_field_order(rows_within(cursor, self._limits), query)

    def _batches(self, collection: str) -> Iterator[bytes]:
        size = 0
        with self._collection(collection).find_raw_batches(max_time_ms=self._limits.time_ms) as cursor:
            for batch in cursor:
                size += len(batch)
                if size > self._limits.bytes:
                    raise ResultsError(
                        f"the collection {collection!r} holds more than {self._limits.bytes:,} bytes"
                    )
                yield batch

    def _collection(self, name: str) -> Collection[Any]:
        found: Collection[Any] = self._database()[name]
        return found

    def _database(self) -> Any:
        # Documents are decoded from raw batches, and strictly. What is read here is what the server says, which cuts
        # texts that it quotes in an error by bytes: there half a character is no malformed answer.
        options = OPTIONS.with_options(unicode_decode_error_handler="replace")
        return self._connect_once().get_default_database(DEFAULT_DATABASE, codec_options=options)

    def _connect_once(self) -> MongoClient[Any]:
        with self._lock:
            if self._client is None:
                seconds = self._limits.connect_ms / 1000
                self._client = self._attempt(lambda: _within(seconds + 1, self._connect))
            return self._client

    def _connect(self) -> MongoClient[Any]:
        from pymongo import MongoClient

        keep_to_one_line()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about an option may quote the URI
            self._refuse_what_is_not_there()
            client: MongoClient[Any] = MongoClient(
                self._uri,
                appname=APPLICATION,
                connectTimeoutMS=self._limits.connect_ms,
                serverSelectionTimeoutMS=self._limits.connect_ms,
                socketTimeoutMS=_answer_ms(self._limits),
            )
        try:
            client.admin.command("ping")
        except BaseException:
            client.close()
            raise
        return client

    def _refuse_what_is_not_there(self) -> None:
        seconds = self._limits.connect_ms / 2000  # the driver needs the rest
        with suppress(TimeoutError):
            refusal = _within(seconds, lambda: none_there(self._uri, seconds))
            if refusal is not None:
                raise refusal

    def _attempt(self, work: Callable[[], _T], query: Query | None = None) -> _T:
        """Run ``work`` and give its result. Raises ``ResultsError`` without secrets when the driver fails."""
        from bson.errors import BSONError
        from pymongo.errors import PyMongoError

        began = time.monotonic()
        try:
            return work()
        except (PyMongoError, BSONError, ValueError, TypeError, OverflowError, OSError, *_MALFORMED) as error:
            limit = _find_passed_limit((time.monotonic() - began) * 1000, self._limits)
            failure = _failure(error, self._uri, self._limits, limit, query)
        raise failure


_MALFORMED = (struct.error, LookupError, AssertionError)
"""Errors that the driver raises, beside its own, when the answer does not come from MongoDB."""


def _answer_ms(limits: Limits) -> int:
    """How long one answer is waited for: a second more than the server may work on it."""
    return limits.time_ms + 1_000


def _find_passed_limit(waited_ms: float, limits: Limits) -> float:
    """The time limit that ended the wait, in seconds."""
    return (_answer_ms(limits) if waited_ms >= _answer_ms(limits) else limits.connect_ms) / 1000


def _failure(error: Exception, uri: str, limits: Limits, waited: float, query: Query | None) -> ResultsError:
    from bson.errors import InvalidBSON
    from pymongo import errors

    where = redact(uri)
    if isinstance(error, (InvalidBSON, errors.ProtocolError, UnicodeDecodeError, *_MALFORMED)):
        return _unusable(f"no answer from {where}: {_MALFORMED_SAID}", _MALFORMED_HINT)
    if isinstance(error, errors.OperationFailure):
        return _explain_refusal(error, uri, limits, query)
    if isinstance(error, (errors.InvalidURI, errors.ConfigurationError, errors.InvalidName)):
        if "SRV" in str(error) or "DNS" in str(error) or "resolution" in str(error):
            return _unusable(f"no DNS record of a deployment was found for {where}", "check the host name")
        if "database name" in str(error):  # The driver quotes it, and it may be part of a password.
            return _unusable(f"{where} is not a usable URI: what follows its / names no database", _URI_HINT)
        return _unusable(f"{where} is not a usable URI: {_line(error, uri)}", _URI_HINT)
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return _unusable(
            f"a file that the URI of {where} names cannot be read", "check tlsCAFile and the like"
        )
    if isinstance(error, (errors.ConnectionFailure, errors.ExecutionTimeout, TimeoutError, OSError)):
        return _unusable(f"no answer from {where}: {_reason(error, uri, waited)}", _hint(error))
    if query is not None:
        return ResultsError(f"the pipeline cannot be sent: {_line(error, uri)}")
    return _unusable(f"{where} is not a usable URI: {_line(error, uri)}", _URI_HINT)


_URI_HINT = "mongodb://USER:PASSWORD@HOST:PORT/DATABASE; percent-encode : / ? # [ ] @ % in user and password"


def _explain_refusal(error: Any, uri: str, limits: Limits, query: Query | None) -> ResultsError:
    where = redact(uri)
    if error.code in _AUTHENTICATION:
        return _unusable(
            f"{where} refuses the user or the password", "check both, and authSource, in the URI"
        )
    if error.code in _UNAUTHORIZED:
        if _has_no_user(uri):
            return _unusable(
                f"{where} asks for a user and a password, and the URI has none", f"give {_URI_HINT}"
            )
        database = where.partition("://")[2].partition("/")[2] or DEFAULT_DATABASE
        return _unusable(
            f"the user of {where} may not read the database {database!r}", "grant the role `read` on it"
        )
    if error.code in _TIME_LIMIT:
        return ResultsError(
            f"the pipeline takes longer than {limits.time_ms / 1000:g} s on the server",
            hint="begin with a $match that an index serves",
        )
    said = scrub(str((error.details or {}).get("errmsg") or error), uri)
    message = " ".join(said.rpartition(" :: caused by :: ")[2].split())
    return ResultsError(message, path=_find_named_path(said, query), environment=query is None)


def _has_no_user(uri: str) -> bool:
    """Whether a URI has neither a user nor another way to sign in, such as a certificate."""
    return "@" not in uri and "authmechanism" not in uri.lower()


def _find_named_path(message: str, query: Query | None) -> tuple[str | int, ...] | None:
    """The place in the pipeline that the message speaks of: an operator that it names and that stands there
    once.

    A server tells no path. The most deeply nested of the operators named is the culprit.
    """
    if query is None:
        return None
    places: dict[str, list[tuple[str | int, ...]]] = {}
    for path in _key_paths(list(query.pipeline), ()):
        places.setdefault(str(path[-1]), []).append(path)
    named = [
        paths[0]
        for key, paths in places.items()
        if len(paths) == 1 and key.startswith("$") and _names(message, key)
    ]
    return max(named, key=len, default=None)


def _names(message: str, key: str) -> bool:
    before, found, after = message.partition(key)
    return bool(found) and not after[:1].isalnum() and not before[-1:].isalnum()


def _key_paths(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*path, key)
            yield from _key_paths(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _key_paths(inner, (*path, number))


def _split(batch: bytes) -> Iterator[bytes]:
    """The documents of a batch. Raises ``InvalidBSON``, as the driver does, for what is no BSON."""
    from bson import InvalidBSON

    start = 0
    while start < len(batch):
        end = start + int.from_bytes(batch[start : start + 4], "little")
        if end < start + 5 or end > len(batch) or batch[end - 1]:
            raise InvalidBSON(f"no document begins at byte {start} of {len(batch)}")
        yield batch[start:end]
        start = end


_TOO_LONG = "it took too long"
_MALFORMED_SAID = "the answer is not in the protocol of MongoDB"
_MALFORMED_HINT = "check that a MongoDB server listens there, and that no proxy changes its answers"

_MALFORMED_WORDS = (
    "message length", "response id", "opcode", "bson", "eoo", "unpack",
    "invalid length", "type code", "utf-8", "decode", "objsize",
)  # fmt: skip
"""The driver's messages about such answers, where it hands on only a text."""

# What the driver's or the operating system's text says → what we say. First match wins.
_REASONS = (
    (("certificate", "ssl", "tls"), "the TLS handshake failed"),
    (("refused",), "connection refused"),
    (
        ("name or service", "name resolution", "nodename", "no address associated", "getaddrinfo"),
        "host name not known",
    ),
    (("unreachable", "no route"), "host not reachable"),
    (("no primary", "no replica set members match"), "the replica set has no member to read from"),
    (("timed out", "timeout", "deadline", "found yet"), _TOO_LONG),
    (_MALFORMED_WORDS, _MALFORMED_SAID),
    (("closed", "reset by peer", "broken pipe"), "the connection was closed"),
)


def _reason(error: BaseException, uri: str, waited: float) -> str:
    text = _cause(error).lower()
    reason = next((said for words, said in _REASONS if any(word in text for word in words)), None)
    if reason == _TOO_LONG:
        return f"nothing within {waited:g} s"
    return reason or _line(error, uri)


def _cause(error: BaseException) -> str:
    """The driver's message without what it appends: the configured timeouts, and the full error."""
    text = str(error)
    for added in (" (configured timeouts", ", Timeout: ", ", full error:"):
        text = text.partition(added)[0]
    return text


def _hint(error: BaseException) -> str:
    text = _cause(error).lower()
    if any(word in text for word in _MALFORMED_WORDS):
        return _MALFORMED_HINT
    if any(word in text for word in ("certificate", "ssl", "tls", "closed")):
        return "check `tls` and `tlsCAFile` in the URI against what the server speaks"
    return "is the server running, the host right, this machine on its access list?"


def _line(error: BaseException, uri: str) -> str:
    return " ".join(scrub(_cause(error), uri).split())[:200]


def _unusable(message: str, hint: str) -> ResultsError:
    return ResultsError(message, hint=hint, environment=True)


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Run ``work`` within a time limit, else raise ``TimeoutError``: the driver sets none on resolving host names."""
    done: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((True, work()))
        except BaseException as error:
            done.put((False, error))

    threading.Thread(target=run, name="mongo-tables connect", daemon=True).start()
    with suppress(queue.Empty):
        ok, outcome = done.get(timeout=seconds)
        if ok:
            found: _T = outcome
            return found
        raise outcome
    raise TimeoutError("deadline")
