"""Client of the Atlas Administration API: credentials, retries, rate limits, error messages.

See https://www.mongodb.com/docs/api/doc/atlas-admin-api-v2/. The date in a media type selects the version of a
resource. Atlas answers a request for a removed version with status 406. The credentials of a service account come from
the environment only.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.client import HTTPException
from typing import IO, Any, Final, NamedTuple
from urllib.error import URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, Request, build_opener

from mongo_tables.files.process import ATLAS_CLIENT, read_variable
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.source_text import HIDDEN
from mongo_tables.runner.errors import TargetError


class LocalClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Sleep for ``seconds`` seconds."""
        time.sleep(seconds)


def iso(moment: datetime) -> str:
    """Format a time as the API does, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The name and the secret of a service account."""

    name: str = field(repr=False)
    secret: str = field(repr=False)


def read_credentials() -> Credentials:
    """Read the credentials from the environment. Raises CommandError if a variable is missing."""
    found = [read_variable(one) for one in ATLAS_CLIENT]
    if not all(found):
        raise CommandError(
            "there are no credentials for Atlas",
            f"set {' and '.join(ATLAS_CLIENT)} of a service account with the role Project Owner",
        )
    return Credentials(*found)


SECONDS: Final = 60.0
"""The timeout of a request, in seconds."""
_MOST_BYTES: Final = 16 * 2**20
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts that may receive secrets unencrypted: the traffic does not leave this machine."""


class Answer(NamedTuple):
    """An answer of Atlas. ``body`` is the decoded JSON, or None if the answer has no JSON."""

    status: int
    headers: Message
    body: Any


class NoAnswer(Exception):
    """A request got no readable answer: there was no connection, the connection broke, or the answer is not JSON."""


class _AnyStatus(HTTPErrorProcessor):
    """Returns answers with any status. Follows no redirects, because the credentials are for one host."""

    def https_response(self, request: Request, response: Any) -> Any:
        return response

    http_response = https_response


def exchange(opener: OpenerDirector, request: Request) -> Answer:
    """Send the request and return the answer, whatever its status is. Raises NoAnswer."""
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            try:
                body = _read(answer)
            except (ValueError, OSError, HTTPException):
                if answer.status < 300:
                    raise
                body = None  # such as an HTML page
            return Answer(answer.status, answer.headers, body)
    except URLError as error:
        raise NoAnswer(f"no connection: {error.reason}") from None
    except ValueError as error:
        raise NoAnswer(f"the answer cannot be read: {error}") from None
    except (OSError, HTTPException) as error:
        raise NoAnswer(f"the connection was cut: {error or type(error).__name__}") from None


def _read(answer: IO[bytes]) -> Any:
    content = answer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError("the answer is too long")
    return json.loads(content) if content.strip() else None


ADDRESS: Final = "https://cloud.mongodb.com"
TOKEN_PATH: Final = "/api/oauth/token"
VERSIONS: Final = {"clusters": {"GET": "2024-08-05", "POST": "2024-10-23", "DELETE": "2023-02-01"}}
"""The versions of requests by resource and HTTP method. All other requests have the version ``OLDEST``."""
OLDEST: Final = "2023-01-01"
ATTEMPTS: Final = 6
"""The maximum number of attempts at a request that gets no answer or a status of 500 or more."""
LONGEST_WAIT: Final = timedelta(minutes=15)
"""The longest total time of all attempts at a request. Rate limits delay attempts."""
_FIRST_PAUSE: Final = 2.0
_LEFT_OF_TOKEN: Final = timedelta(minutes=2)
"""A token that expires within this time is renewed."""


class ApiError(TargetError):
    """Atlas refused a request or did not answer it. ``status`` is 0 if there was no answer."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


_HINTS: Final = {
    401: "check the service account: it may have expired, or may not belong to this project",
    403: "give the service account the role Project Owner, and add this machine's address to its access list",
    404: "check the id of the project, and that these credentials may see the project",
    402: "add a payment method to the organisation",
    406: "update mongo-tables: Atlas no longer supports this version of the request",
}


class Api:
    """The client for one project. It sends no request before the first call."""

    def __init__(
        self, project: str, credentials: Credentials, clock: LocalClock, base: str = ADDRESS
    ) -> None:
        """``base`` is the address of Atlas. Raises CommandError if connections to it would not be encrypted."""
        self.project = project
        self.clock = clock
        parts = urlsplit(base)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise CommandError(
                "the Administration API requires https", "use https: each request contains secrets"
            )
        self._base = base.rstrip("/")
        self._credentials = credentials
        self._opener = build_opener(_AnyStatus)
        self._token = ""
        self._token_ends = clock.now()
        self._hidden: list[str] = []

    def hide(self, secret: str) -> None:
        """Hide this secret in all messages, even if an answer of Atlas contains it."""
        self._hidden.append(secret)

    def post(self, *path: str, body: Any) -> Any:
        """Create the resource that ``body`` describes. Raises ApiError."""
        return self._call("POST", path, body)

    def delete(self, *path: str) -> None:
        """Delete the resource, if it exists. Raises ApiError."""
        try:
            self._call("DELETE", path)
        except ApiError as error:
            if error.status != 404:
                raise

    def find(self, *path: str) -> Any | None:
        """Return the resource at ``path``, or None if it does not exist. Raises ApiError."""
        try:
            return self._call("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _call(self, method: str, path: Sequence[str], body: Any = None) -> Any:
        asked = f"{method} {'/'.join(path)}"
        dated = f"application/vnd.atlas.{VERSIONS.get(path[0], {}).get(method, OLDEST)}+json"
        url = f"{self._base}/api/atlas/v2/groups/{'/'.join(quote(part, safe='') for part in (self.project, *path))}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": dated, **({"Content-Type": dated} if data else {})}

        def send() -> Answer:
            token = {"Authorization": f"Bearer {self._current_token()}"}
            return exchange(self._opener, Request(url, data, {**headers, **token}, method=method))

        answer = self._insist(asked, send)
        if answer.status == 401:
            self._token = ""  # expired early, or revoked
            answer = self._insist(asked, send)
        if 200 <= answer.status < 300:
            return answer.body
        raise self._refusal(asked, answer)

    def _current_token(self) -> str:
        """Return a valid access token. If the current one expires soon, request a new one."""
        if not self._token or self.clock.now() + _LEFT_OF_TOKEN >= self._token_ends:
            answer = self._insist("POST token", self._ask_token)
            if answer.status != 200:
                raise self._refusal("POST token", answer)
            try:
                self._token = str(answer.body["access_token"])
                self._token_ends = self.clock.now() + timedelta(seconds=float(answer.body["expires_in"]))
            except (KeyError, TypeError, ValueError):
                raise ApiError("the answer to POST token has no token") from None
        return self._token

    def _ask_token(self) -> Answer:
        known = f"{self._credentials.name}:{self._credentials.secret}".encode()
        headers = {
            "Authorization": f"Basic {base64.b64encode(known).decode()}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        data = b"grant_type=client_credentials"
        return exchange(self._opener, Request(self._base + TOKEN_PATH, data, headers, method="POST"))

    def _insist(self, asked: str, send: Callable[[], Answer]) -> Answer:
        """Send the request until Atlas accepts or refuses it, or the attempts are used up. Return the last answer.

        Repeated requests do no harm: if a resource exists, Atlas refuses to create it again (status 409).
        """
        pause, tries, ends = _FIRST_PAUSE, 0, self.clock.now() + LONGEST_WAIT
        while True:
            try:
                answer = send()
                reason = f"status {answer.status}"
                if answer.status != 429 and answer.status < 500:
                    return answer
            except NoAnswer as error:
                answer, reason = None, str(error)
            tries += answer is None or answer.status != 429
            wait = pause if answer is None else _asked_pause(answer) or pause
            if tries >= ATTEMPTS or self.clock.now() + timedelta(seconds=wait) > ends:
                if answer is not None:
                    return answer
                raise ApiError(self._scrub(f"Atlas does not answer {asked}: {reason}"))
            self.clock.sleep(wait)
            pause *= 2

    def _refusal(self, asked: str, answer: Answer) -> ApiError:
        body = answer.body if isinstance(answer.body, Mapping) else {}
        code = str(body.get("errorCode") or body.get("error") or "")
        detail = str(body.get("detail") or body.get("error_description") or body.get("reason") or "").strip()
        # Secrets are removed before the text is shortened, because the rest of a cut secret would not be recognised.
        detail = " ".join(self._scrub(detail).split())[:300]
        said = ": ".join(filter(None, (code if not code.isdigit() else "", detail)))
        return ApiError(
            self._scrub(f"Atlas refuses {asked} with {answer.status}{f', {said}' if said else ''}"),
            _HINTS.get(answer.status, ""),
            answer.status,
        )

    def _scrub(self, text: str) -> str:
        for secret in filter(None, (self._credentials.secret, self._token, *self._hidden)):
            text = text.replace(secret, HIDDEN)
        return text


def _asked_pause(answer: Answer) -> float | None:
    for name in ("Retry-After", "RateLimit-Reset"):
        with suppress(ValueError):
            return max(1.0, float(answer.headers.get(name, "")))
    return None


BASE_VARIABLE: Final = "MONGO_TABLES_ATLAS_API"
"""The environment variable for another address of the Administration API, such as the address of a test server."""


def open_api(project: str) -> Api:
    """Return a client for the project without sending a request. Raises CommandError if there are no credentials."""
    base = read_variable(BASE_VARIABLE) or ADDRESS
    return Api(project, read_credentials(), LocalClock(), base)
