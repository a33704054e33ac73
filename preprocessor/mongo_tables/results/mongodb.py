"""A results source for MongoDB deployments, through pymongo.

Every failure becomes one line without user or password (``mongodb_errors``).
"""

from __future__ import annotations

import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import bson
import pymongo
from bson.errors import BSONError
from pymongo.errors import PyMongoError, ServerSelectionTimeoutError

from mongo_tables.results.guards import Limits, guard
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows
from mongo_tables.results.mongodb_errors import DEFAULT_DATABASE, MALFORMED, explain_failure, keep_to_one_line
from mongo_tables.results.rows import CODEC, rows_within, settle_field_order
from mongo_tables.results.source_text import redact

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

APPLICATION: Final = "mongo-tables"
"""The application name of our connections in the server's log and in ``currentOp``."""

_T = TypeVar("_T")


class MongoSource(ResultsSource):
    """A database of a deployment as a results source. It connects on first use."""

    workers = 4

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
        """Connect, authenticate and ping. Raises ``ResultsError`` within ``connect_ms`` plus one second."""
        self._connect_once()

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections of the database, sorted."""
        return self._attempt(lambda: tuple(sorted(self._database().list_collection_names())))

    def aggregate(self, query: Query) -> Rows:
        """Return the rows of a query. Raises ``ResultsError``."""
        guard(query)
        return self._attempt(lambda: self._rows(query), query)

    def raws(self, collection: str) -> Iterator[bytes]:
        """Yield every document of a collection as BSON, in no particular order."""
        yield from self._attempt(lambda: self._read_raws(collection))

    def version(self) -> str:
        """Return the version that the server reports."""
        return self._attempt(lambda: str(self._connect_once().server_info()["version"]))

    def writes(self) -> str:
        """Return how often each collection was written to since the server started, from the server's own counters."""

        def count() -> str:
            database = self._database()
            # Views have no documents of their own.
            names = sorted(database.list_collection_names(filter={"type": {"$ne": "view"}}))
            stages: list[dict[str, Any]] = [{"$collStats": {"latencyStats": {}, "count": {}}}]
            counts = []
            for name in names:
                with database[name].aggregate(stages, maxTimeMS=self._limits.time_ms) as shards:
                    told = [[each.get("count"), each["latencyStats"]["writes"]["ops"]] for each in shards]
                counts.append((name, told))
            return repr(counts)

        return self._attempt(count)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                with suppress(Exception):  # closing sends a message, and a broken server may answer anything
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

    def _read_raws(self, collection: str) -> list[bytes]:
        size = 0
        found: list[bytes] = []
        with self._collection(collection).find_raw_batches(max_time_ms=self._limits.time_ms) as cursor:
            for batch in cursor:
                size += len(batch)
                if size > self._limits.bytes:
                    message = f"the collection {collection!r} holds more than {self._limits.bytes:,} bytes"
                    raise ResultsError(message)
                found += _split(batch)
        return found

    def _collection(self, name: str) -> Collection[Any]:
        found: Collection[Any] = self._database()[name]
        return found

    def _database(self) -> Any:
        # Documents are decoded from raw batches, strictly. This codec decodes the server's own replies: a server
        # truncates texts that it quotes in an error by bytes, and half a character there does not mean a malformed
        # reply.
        codec = CODEC.with_options(unicode_decode_error_handler="replace")
        return self._connect_once().get_default_database(DEFAULT_DATABASE, codec_options=codec)

    def _connect_once(self) -> MongoClient[Any]:
        with self._lock:
            if self._client is None:
                seconds = self._limits.connect_ms / 1000
                self._client = self._attempt(lambda: _within(seconds + 1, self._connect))
            return self._client

    def _connect(self) -> MongoClient[Any]:
        keep_to_one_line()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about an option may quote the URI
            client: MongoClient[Any] = pymongo.MongoClient(
                self._uri,
                appname=APPLICATION,
                connectTimeoutMS=self._limits.connect_ms,
                serverSelectionTimeoutMS=self._limits.connect_ms,
                socketTimeoutMS=self._answer_ms,
            )
        try:
            client.admin.command("ping")
        except BaseException as error:
            told = _error_of_server(error, client)
            client.close()
            raise told from None
        return client

    @property
    def _answer_ms(self) -> int:
        """The milliseconds to wait for one reply: the server's time limit plus one second."""
        return self._limits.time_ms + 1_000

    def _attempt(self, work: Callable[[], _T], query: Query | None = None) -> _T:
        """Run ``work`` and return its result. Raises ``ResultsError`` without secrets if the driver fails."""
        began = time.monotonic()
        try:
            return work()
        except (PyMongoError, BSONError, ValueError, TypeError, OverflowError, OSError, *MALFORMED) as error:
            waited_ms = (time.monotonic() - began) * 1000
            limit_ms = self._answer_ms if waited_ms >= self._answer_ms else self._limits.connect_ms
            cause = _error_of_server(error, self._client)
            failure = explain_failure(cause, self._uri, limit_ms, self._limits.time_ms, query)
        # Not within ``except``: the driver's own exception, which may hold the URI, must not be its context.
        raise failure


def _error_of_server(error: BaseException, client: MongoClient[Any] | None) -> BaseException:
    """Return the first server's error if the driver only reports that it could select no server."""
    if client is None or not isinstance(error, ServerSelectionTimeoutError):
        return error
    servers = client.topology_description.server_descriptions().values()
    return next((server.error for server in servers if server.error), error)


def _split(batch: bytes) -> Iterator[bytes]:
    """Yield the documents of a batch. Raises ``InvalidBSON``, as the driver does, for malformed BSON."""
    start = 0
    while start < len(batch):
        end = start + int.from_bytes(batch[start : start + 4], "little")
        if end < start + 5 or end > len(batch) or batch[end - 1]:
            raise bson.InvalidBSON(f"no document begins at byte {start} of {len(batch)}")
        yield batch[start:end]
        start = end


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Run ``work`` within a time limit, else raise ``TimeoutError``: the driver sets none for resolving host names."""
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
