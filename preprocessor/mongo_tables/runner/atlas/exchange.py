"""One request to the Administration API, and its answer."""

from __future__ import annotations

import json
from email.message import Message
from http.client import HTTPException
from typing import IO, Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPRedirectHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from mongo_tables.runner.atlas.credentials import Credentials
from mongo_tables.runner.errors import RunnerError

SECONDS: Final = 60.0
"""For so long an answer is waited for."""
_MOST_BYTES: Final = 16 * 2**20
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts to which secrets may travel unencrypted: they do not leave the machine."""


class Answer(NamedTuple):
    """What came back; ``body`` is what its JSON says, None where it has none."""

    status: int
    headers: Message
    body: Any


class NoAnswer(Exception):
    """Nothing came back that can be read: no connection, one that was cut, or no JSON; the text says which."""


class _NoRedirects(HTTPRedirectHandler):
    """Follow none: the credentials are for one host."""

    def redirect_request(self, *given: Any, **named: Any) -> None:
        return None


def check_base(base: str) -> str:
    """The address of the API without a slash at its end; raises RunnerError where secrets would travel unencrypted."""
    parts = urlsplit(base)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise RunnerError(
            "the Administration API is asked by https alone", "secrets travel with each request"
        )
    return base.rstrip("/")


def open_for(base: str, credentials: Credentials) -> OpenerDirector:
    """What sends requests; it answers challenges where the credentials are a key."""
    if not credentials.digest:
        return build_opener(_NoRedirects)
    known = HTTPPasswordMgrWithDefaultRealm()
    known.add_password(None, base, credentials.name, credentials.secret)
    return build_opener(_NoRedirects, HTTPDigestAuthHandler(known))


def exchange(opener: OpenerDirector, request: Request) -> Answer:
    """Send the request; give the answer, whatever its status. Raises NoAnswer."""
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            return Answer(answer.status, answer.headers, _read(answer))
    except HTTPError as error:
        with error:
            return Answer(error.code, error.headers, _read_error(error))
    except URLError as error:
        raise NoAnswer(f"no connection: {error.reason}") from None
    except ValueError as error:  # a challenge of a kind that the library does not know
        raise NoAnswer(f"the answer cannot be read: {error}") from None
    except (OSError, HTTPException) as error:
        raise NoAnswer(f"the connection was cut: {error or type(error).__name__}") from None


def _read(answer: IO[bytes]) -> Any:
    content = answer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError("too much of it")
    return json.loads(content) if content.strip() else None


def _read_error(answer: HTTPError) -> Any:
    """What an error says; a page for people says nothing."""
    try:
        return _read(answer)
    except (ValueError, OSError, HTTPException):
        return None
