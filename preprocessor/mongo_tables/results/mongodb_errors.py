"""Errors of a deployment as one line without user or password.

pymongo's exceptions are never chained to ours: their text may contain the URI.
"""

from __future__ import annotations

import logging
import re
import struct
from typing import Any, Final

from bson.errors import InvalidBSON
from pymongo import errors

from mongo_tables.results.model import Query, ResultsError, unusable
from mongo_tables.results.source_text import redact, scrub

DEFAULT_DATABASE: Final = "performance"
"""The database if the URI names none."""

# Server error codes: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
_AUTHENTICATION: Final = frozenset({18, 8000})
_UNAUTHORIZED: Final = frozenset({13})
_TIME_LIMIT: Final = frozenset({50, 262})

MALFORMED: Final = (struct.error, LookupError, AssertionError)
"""Errors that the driver raises, in addition to its own, if the reply does not come from MongoDB."""
_APPENDED: Final = re.compile(r" \(configured timeouts.*|, Timeout: .*|, full error:.*", re.DOTALL)
"""The driver's suffixes of a message: the configured timeouts, and the full error."""
_PREFIX: Final = re.compile(r"(?:\S+:\d+: )?(?:\[Errno -?\d+\] )?")
"""The prefix of a message of the operating system."""
_URI_HINT: Final = (
    "mongodb://USER:PASSWORD@HOST:PORT/DATABASE; percent-encode : / ? # [ ] @ % in user and password"
)
_LOGGER: Final = "pymongo.client"


def keep_to_one_line() -> None:
    """Silence the tracebacks that the driver prints from its background threads. May be called more than once.

    Users get one line about the failed call; with the driver's log at DEBUG they get both.
    """
    # A repeated call adds nothing: the filter is the same function.
    logging.getLogger(_LOGGER).addFilter(_is_asked_for)


def _is_asked_for(record: logging.LogRecord) -> bool:
    return "background task" not in str(record.msg) or logging.getLogger(_LOGGER).isEnabledFor(logging.DEBUG)


def explain_failure(
    error: BaseException, uri: str, waited_ms: float, time_ms: int, query: Query | None
) -> ResultsError:
    """Convert an error of the driver to one about the source, or about the pipeline of ``query``.

    ``waited_ms`` is the time limit that a missing reply has reached, ``time_ms`` that of a pipeline on the server.
    """
    where = redact(uri)
    if isinstance(error, (InvalidBSON, errors.ProtocolError, UnicodeDecodeError, *MALFORMED)):
        hint = "check that a MongoDB server listens there, and that no proxy changes its answers"
        return unusable(f"no answer from {where}: the answer is not in the protocol of MongoDB", hint)
    if isinstance(error, errors.OperationFailure):
        return _explain_refusal(error, uri, time_ms, query)
    if isinstance(error, (errors.InvalidURI, errors.ConfigurationError, errors.InvalidName)):
        if re.search("SRV|DNS|resolution", str(error)):
            return unusable(f"no DNS record of a deployment was found for {where}", "check the host name")
        # The driver quotes the name of a database, which may be part of a password.
        named = "what follows its / names no database" if "database name" in str(error) else _line(error, uri)
        return unusable(f"{where} is not a usable URI: {named}", _URI_HINT)
    if isinstance(error, (FileNotFoundError, PermissionError)):
        hint = "check tlsCAFile and the like"
        return unusable(f"a file that the URI of {where} names cannot be read", hint)
    if isinstance(error, (errors.NetworkTimeout, TimeoutError, errors.ServerSelectionTimeoutError)):
        return _no_answer(uri, f"nothing within {waited_ms / 1000:g} s")
    if isinstance(error, (errors.ConnectionFailure, OSError)):
        return _no_answer(uri, _line(error, uri))
    if query is not None:
        return ResultsError(f"the pipeline cannot be sent: {_line(error, uri)}")
    return unusable(f"{where} is not a usable URI: {_line(error, uri)}", _URI_HINT)


def _no_answer(uri: str, reason: str) -> ResultsError:
    where = redact(uri)
    hint = "is the server running, the host right, this machine on its access list?"
    if "SSL" in reason or "closed" in reason:
        hint = "check `tls` and `tlsCAFile` in the URI against what the server speaks"
    user, _, _ = uri.partition("://")[2].rpartition("@")
    if re.search(r"[@/?#\[\]]|:.*:", user):  # What follows such a character is taken for the host.
        hint = f"the user or the password has a character that is to be escaped: {_URI_HINT}"
    return unusable(f"no answer from {where}: {reason}", hint)


def _explain_refusal(error: Any, uri: str, time_ms: int, query: Query | None) -> ResultsError:
    where = redact(uri)
    if error.code in _AUTHENTICATION:
        hint = "check both, and authSource, in the URI"
        return unusable(f"{where} refuses the user or the password", hint)
    if error.code in _UNAUTHORIZED and "@" not in uri and "authmechanism" not in uri.lower():
        return unusable(f"{where} asks for a user and a password, and the URI has none", f"give {_URI_HINT}")
    if error.code in _UNAUTHORIZED:
        named = where.partition("://")[2].partition("/")[2]
        told = f"{named!r}" if named else f"{DEFAULT_DATABASE!r}, which is read if the URI names none"
        hint = "grant the role `read` on it" + (
            "" if named else ", or name another one: mongodb://HOST/DATABASE"
        )
        return unusable(f"the user of {where} may not read the database {told}", hint)
    if error.code in _TIME_LIMIT:
        return ResultsError(
            f"the pipeline runs longer than {time_ms / 1000:g} s on the server",
            hint="begin with a $match that an index serves",
        )
    said = scrub(str((error.details or {}).get("errmsg") or error), uri)
    message = " ".join(said.rpartition(" :: caused by :: ")[2].split())
    return ResultsError(message, environment=query is None)


def _line(error: BaseException, uri: str) -> str:
    """Return the driver's message as one line, without its prefix and suffixes."""
    text = _PREFIX.sub("", _APPENDED.sub("", str(error)), count=1)
    line = " ".join(scrub(text, uri).split())[:200]
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]
