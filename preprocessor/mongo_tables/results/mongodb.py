"""A results source for MongoDB deployments, through PyMongo.

Every error becomes one line without user and password. The exceptions of PyMongo are never chained to ours, because
their text may contain the URI.
"""

from __future__ import annotations

import logging
import re
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import bson
import pymongo
from bson.errors import BSONError, InvalidBSON
from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS
from pymongo import errors
from pymongo.errors import ExecutionTimeout, PyMongoError, ServerSelectionTimeoutError

from mongo_tables.results.guards import Limits, guard
from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows, unusable
from mongo_tables.results.rows import CODEC, rows_within, settle_field_order
from mongo_tables.results.source_text import URI_HINT, redact, scrub

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

DEFAULT_DATABASE: Final = "performance"
"""The database that is used if the URI names no database."""

# Server error codes: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
_AUTHENTICATION: Final = frozenset({18, 8000})
_UNAUTHORIZED: Final = frozenset({13})
_TIME_LIMIT: Final = frozenset({50, 262})

MALFORMED: Final = (struct.error, LookupError, AssertionError)
"""Errors that the driver raises for a reply that is not from MongoDB, in addition to its own errors."""
_APPENDED: Final = re.compile(r" \(configured timeouts.*|, Timeout: .*|, full error:.*", re.DOTALL)
"""The text that the driver appends to a message: the configured timeouts, and the full error."""
_PREFIX: Final = re.compile(r"(?:\S+:\d+: )?(?:\[Errno -?\d+\] )?")
"""The text that the driver puts before a message of the operating system."""
_LOGGER: Final = "pymongo.client"


def keep_to_one_line() -> None:
    """Silence the tracebacks that the driver prints from its background threads. Repeated calls have no effect.

    The failed call raises an error anyway. If the driver's log level is DEBUG, the tracebacks are printed.
    """
    # Adding the same filter again has no effect.
    logging.getLogger(_LOGGER).addFilter(_is_asked_for)


def _is_asked_for(record: logging.LogRecord) -> bool:
    return "background task" not in str(record.msg) or logging.getLogger(_LOGGER).isEnabledFor(logging.DEBUG)


def explain_failure(
    error: BaseException, uri: str, waited_ms: float, time_ms: int, query: Query | None
) -> ResultsError:
    """Return our error for an error of the driver, about the source or about the pipeline of ``query``.

    ``waited_ms`` is the time without a reply, ``time_ms`` the time limit of a pipeline on the server.
    """
    where = redact(uri)
    if isinstance(error, (InvalidBSON, errors.ProtocolError, UnicodeDecodeError, *MALFORMED)):
        hint = "check that a MongoDB server listens there, and that no proxy changes its replies"
        return unusable(f"no answer from {where}: the reply is not in the protocol of MongoDB", hint)
    if isinstance(error, errors.OperationFailure):
        return _explain_refusal(error, uri, time_ms, query)
    if isinstance(error, (errors.InvalidURI, errors.ConfigurationError, errors.InvalidName)):
        if re.search("SRV|DNS|resolution", str(error)):
            return unusable(f"no DNS record of a deployment was found for {where}", "check the host name")
        # The driver quotes the name of a database, which may be part of a password.
        named = (
            "the text after its / is not the name of a database"
            if "database name" in str(error)
            else _line(error, uri)
        )
        return unusable(f"{where} is not a usable URI: {named}", URI_HINT)
    if isinstance(error, (FileNotFoundError, PermissionError)):
        hint = "check tlsCAFile and other options that name files"
        return unusable(f"a file in the options of the URI of {where} cannot be read", hint)
    if isinstance(error, (errors.NetworkTimeout, TimeoutError, errors.ServerSelectionTimeoutError)):
        return _no_answer(uri, f"nothing within {waited_ms / 1000:g} s")
    if isinstance(error, (errors.ConnectionFailure, OSError)):
        return _no_answer(uri, _line(error, uri))
    if query is not None:
        return ResultsError(f"the pipeline cannot be sent: {_line(error, uri)}")
    return unusable(f"{where} is not a usable URI: {_line(error, uri)}", URI_HINT)


def _no_answer(uri: str, reason: str) -> ResultsError:
    where = redact(uri)
    hint = "check that the server runs, that the host is correct, and that its access list has this machine"
    if "SSL" in reason or "closed" in reason:
        hint = "check that `tls` and `tlsCAFile` in the URI fit the settings of the server"
    user, _, _ = uri.partition("://")[2].rpartition("@")
    if re.search(r"[@/?#\[\]]|:.*:", user):  # The driver reads the text after such a character as the host.
        hint = f"escape a character of the user or the password: {URI_HINT}"
    return unusable(f"no answer from {where}: {reason}", hint)


def _explain_refusal(error: Any, uri: str, time_ms: int, query: Query | None) -> ResultsError:
    where = redact(uri)
    if error.code in _AUTHENTICATION:
        hint = "check user, password and authSource in the URI"
        return unusable(f"{where} refuses the user or the password", hint)
    if error.code in _UNAUTHORIZED and "@" not in uri and "authmechanism" not in uri.lower():
        return unusable(f"{where} requires a user and a password, and the URI has none", f"write {URI_HINT}")
    if error.code in _UNAUTHORIZED:
        named = where.partition("://")[2].partition("/")[2]
        told = f"{named!r}" if named else f"{DEFAULT_DATABASE!r}, the default for a URI without a database"
        hint = "grant the role `read` on it" + (
            "" if named else ", or name another database: mongodb://HOST/DATABASE"
        )
        return unusable(f"the user of {where} may not read the database {told}", hint)
    if error.code in _TIME_LIMIT:
        return ResultsError(
            f"the pipeline runs longer than {time_ms / 1000:g} s on the server",
            hint="begin with a $match that can use an index",
        )
    said = scrub(str((error.details or {}).get("errmsg") or error), uri)
    message = " ".join(said.rpartition(" :: caused by :: ")[2].split())
    return ResultsError(message, environment=query is None)


def _line(error: BaseException, uri: str) -> str:
    """Return the driver's message as one line, without its prefix and suffixes, and without secrets."""
    text = _PREFIX.sub("", _APPENDED.sub("", str(error)), count=1)
    line = " ".join(scrub(text, uri).split())[:200]
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]


APPLICATION: Final = "mongo-tables"
"""The name of the program in the server's log and in ``currentOp``."""

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
        """Connect, authenticate and ping.

        Raises ``ResultsError`` if there is no answer within ``connect_ms``. A DNS lookup may take as long again.
        """
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
        """Return the server's counts of writes to each collection since the server started."""

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
                # Closing sends a message, which a broken server may answer with anything.
                with suppress(Exception):
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
                    message = f"the collection {collection!r} has more than {self._limits.bytes:,} bytes"
                    raise ResultsError(message)
                found += [bytes(one.raw) for one in bson.decode_all(batch, DEFAULT_RAW_BSON_OPTIONS)]
        return found

    def _collection(self, name: str) -> Collection[Any]:
        found: Collection[Any] = self._database()[name]
        return found

    def _database(self) -> Any:
        # This codec decodes the replies around the documents, which are decoded separately and strictly. A server may
        # cut a text in an error message within a character.
        codec = CODEC.with_options(unicode_decode_error_handler="replace")
        return self._connect_once().get_default_database(DEFAULT_DATABASE, codec_options=codec)

    def _connect_once(self) -> MongoClient[Any]:
        with self._lock:
            if self._client is None:
                self._client = self._attempt(self._connect)
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
            # Without it, each reply of an unresponsive server could take as long as that of a query.
            with pymongo.timeout(self._limits.connect_ms / 1000):
                client.admin.command("ping")
        except BaseException as error:
            # A server that reports a timeout here is too slow to connect to.
            told = TimeoutError() if isinstance(error, ExecutionTimeout) else error_of_server(error, client)
            client.close()
            raise told from None
        return client

    @property
    def _answer_ms(self) -> int:
        """The milliseconds to wait for a reply: the time limit of the server plus one second."""
        return self._limits.time_ms + 1_000

    def _attempt(self, work: Callable[[], _T], query: Query | None = None) -> _T:
        """Return the result of ``work``. Raises ``ResultsError`` without secrets if the driver fails."""
        began = time.monotonic()
        try:
            return work()
        except (PyMongoError, BSONError, ValueError, TypeError, OverflowError, OSError, *MALFORMED) as error:
            waited_ms = (time.monotonic() - began) * 1000
            limit_ms = self._answer_ms if waited_ms >= self._answer_ms else self._limits.connect_ms
            cause = error_of_server(error, self._client)
            failure = explain_failure(cause, self._uri, limit_ms, self._limits.time_ms, query)
        # Outside of ``except``, because the exception of the driver, which may contain the URI, would be its context.
        raise failure


def error_of_server(error: BaseException, client: MongoClient[Any] | None) -> BaseException:
    """Return the error or, if the driver only reports that no server is usable, the first error of a server."""
    if client is None or not isinstance(error, ServerSelectionTimeoutError):
        return error
    servers = client.topology_description.server_descriptions().values()
    return next((server.error for server in servers if server.error), error)
