"""The Administration API of Atlas: who asks, what is sent again, what is waited for, and what a refusal says.

https://www.mongodb.com/docs/api/doc/atlas-admin-api-v2/. A media type has a date, which chooses the version of a
resource; a version that Atlas removes is refused with 406, and none of them is the newest by chance. A service account
or a key asks; both come from the environment alone.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.client import HTTPException
from typing import IO, Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import (
    HTTPDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPRedirectHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from mongo_tables.files.environment import ATLAS_CLIENT, ATLAS_KEY, read_variable
from mongo_tables.results.secrets import HIDDEN
from mongo_tables.runner.errors import RunnerError, TargetError


class Clock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait so long."""
        time.sleep(seconds)


def iso(moment: datetime) -> str:
    """The moment as Atlas reads and writes it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A name and its secret; ``digest`` is whether they are a key, used as RFC 7616 says, else a service account."""

    name: str = field(repr=False)
    secret: str = field(repr=False)
    digest: bool

    def scrub(self, text: str, *others: str) -> str:
        """The text without these secrets, wherever it comes from."""
        for secret in filter(None, (self.secret, *others)):
            text = text.replace(secret, HIDDEN)
        return text


def read_credentials() -> Credentials:
    """What the environment has, a service account before a key.

    Raises RunnerError where it has neither, or half of one.
    """
    for (name, secret), digest in ((ATLAS_CLIENT, False), (ATLAS_KEY, True)):
        found = read_variable(name), read_variable(secret)
        if all(found):
            return Credentials(*found, digest)
        if any(found):
            raise RunnerError(f"of {name} and {secret} one is not set", "Atlas asks for both")
    raise RunnerError(
        "nothing says who asks Atlas",
        f"set {' and '.join(ATLAS_CLIENT)} of a service account with the role Project Owner, or "
        f"{' and '.join(ATLAS_KEY)}",
    )


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


ADDRESS: Final = "https://cloud.mongodb.com"
TOKEN_PATH: Final = "/api/oauth/token"
VERSIONS: Final = {
    "clusters": {"GET": "2024-08-05", "POST": "2024-10-23", "PATCH": "2024-10-23", "DELETE": "2023-02-01"}
}
"""The date of a resource where it is another than ``OLDEST``, by the request."""
OLDEST: Final = "2023-01-01"
PAGE: Final = 100
"""So many items are asked for at once."""
MOST_PAGES: Final = 1_000
ATTEMPTS: Final = 6
"""So often a request is sent that has no answer, or one of 5xx."""
LONGEST_WAIT: Final = timedelta(minutes=15)
"""For so long in all a request waits because of limits of rate."""
_FIRST_PAUSE: Final = 2.0
_LEFT_OF_TOKEN: Final = timedelta(minutes=2)
"""A token that ends so soon is not used any more."""


class ApiError(TargetError):
    """A request that Atlas refuses, or does not answer; ``status`` is 0 then."""

    def __init__(self, message: str, hint: str = "", status: int = 0, code: str = "") -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


_HINTS: Final = {
    401: "look at the service account or key: it may have ended, or lack this project",
    403: "give it the role Project Owner, and its access list the address of this machine",
    404: "is the id of the project right, and may these credentials see it?",
    402: "the organisation has no way to pay",
    406: "this version of mongo-tables is too old for the Administration API",
}


class Api:
    """Requests of one project; nothing is sent before the first call."""

    def __init__(self, project: str, credentials: Credentials, clock: Clock, base: str = ADDRESS) -> None:
        """Raises RunnerError when ``base`` is not encrypted."""
        self.project = project
        self.clock = clock
        self._base = check_base(base)
        self._credentials = credentials
        self._opener = open_for(self._base, credentials)
        self._token = ""
        self._token_ends = clock.now()
        self._hidden: list[str] = []

    def hide(self, secret: str) -> None:
        """Have no message show it, whatever an answer repeats."""
        self._hidden.append(secret)

    def get(self, *path: str, query: Sequence[tuple[str, str]] = ()) -> Any:
        """What is at ``path``, below the project. Raises ApiError."""
        return self._call("GET", path, None, query)

    def post(self, *path: str, body: Any) -> Any:
        """Make what the body says. Raises ApiError."""
        return self._call("POST", path, body)

    def patch(self, *path: str, body: Any) -> Any:
        """Change it to what the body says. Raises ApiError."""
        return self._call("PATCH", path, body)

    def delete(self, *path: str) -> None:
        """Remove it. Raises ApiError, also where it is not there."""
        self._call("DELETE", path, None)

    def find(self, *path: str) -> Any | None:
        """What is at ``path``; None where nothing is. Raises ApiError."""
        try:
            return self.get(*path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def pages(self, *path: str) -> Iterator[Any]:
        """The items of all pages. Raises ApiError."""
        for number in range(1, MOST_PAGES + 1):
            found = self.get(*path, query=[("itemsPerPage", str(PAGE)), ("pageNum", str(number))])
            items = found.get("results") if isinstance(found, Mapping) else None
            if not isinstance(items, list):
                raise self._error(f"the answer to GET {_shown(path)} has no results")
            yield from items
            if len(items) < PAGE:
                return
        raise self._error(f"GET {_shown(path)} has no last page")

    def _call(
        self, method: str, path: Sequence[str], body: Any, query: Sequence[tuple[str, str]] = ()
    ) -> Any:
        asked = f"{method} {_shown(path)}"
        dated = f"application/vnd.atlas.{_version(method, path)}+json"
        url = f"{self._base}/api/atlas/v2/groups/{'/'.join(quote(part, safe='') for part in (self.project, *path))}"
        url += f"?{urlencode(query)}" if query else ""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": dated, **({"Content-Type": dated} if data else {})}

        def send() -> Answer:
            return exchange(
                self._opener, Request(url, data, {**headers, **self._authorization()}, method=method)
            )

        answer = self._insist(asked, send)
        if answer.status == 401 and not self._credentials.digest:
            self._token = ""  # it ended before its time, or was withdrawn
            answer = self._insist(asked, send)
        if 200 <= answer.status < 300:
            return answer.body
        raise self._refusal(asked, answer)

    def _authorization(self) -> dict[str, str]:
        return {} if self._credentials.digest else {"Authorization": f"Bearer {self._current_token()}"}

    def _current_token(self) -> str:
        """A token that lasts; Atlas gives one for an hour."""
        if not self._token or self.clock.now() + _LEFT_OF_TOKEN >= self._token_ends:
            answer = self._insist("POST token", self._ask_token)
            if answer.status != 200:
                raise self._refusal("POST token", answer)
            try:
                self._token = str(answer.body["access_token"])
                self._token_ends = self.clock.now() + timedelta(seconds=float(answer.body["expires_in"]))
            except (KeyError, TypeError, ValueError):
                raise self._error("the answer to POST token has no token") from None
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
        """The answer, asked for again while there is none, or one that says to come back later.

        Every request may be sent twice: what is made has a name, and a second one is refused with 409.
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
                raise self._error(f"Atlas does not answer {asked}: {reason}")
            self.clock.sleep(wait)
            pause *= 2

    def _refusal(self, asked: str, answer: Answer) -> ApiError:
        body = answer.body if isinstance(answer.body, Mapping) else {}
        code = str(body.get("errorCode") or body.get("error") or "")
        detail = str(body.get("detail") or body.get("error_description") or body.get("reason") or "").strip()
        # Not cut before its secrets are out: of one at the cut a part would stay.
        detail = " ".join(self._scrub(detail).split())[:300]
        said = ": ".join(filter(None, (code if not code.isdigit() else "", detail)))
        return self._error(
            f"Atlas refuses {asked} with {answer.status}{f', {said}' if said else ''}",
            _HINTS.get(answer.status, ""),
            answer.status,
            code,
        )

    def _error(self, message: str, hint: str = "", status: int = 0, code: str = "") -> ApiError:
        return ApiError(self._scrub(message), hint, status, code)

    def _scrub(self, text: str) -> str:
        return self._credentials.scrub(text, self._token, *self._hidden)


def _asked_pause(answer: Answer) -> float | None:
    """The seconds that an answer says to wait; None where it says nothing."""
    for name in ("Retry-After", "RateLimit-Reset"):
        with suppress(ValueError):
            return max(1.0, float(answer.headers.get(name, "")))
    return None


def _version(method: str, path: Sequence[str]) -> str:
    dates = VERSIONS.get(path[0], {}) if path and len(path) <= 2 else {}
    return dates.get(method, OLDEST)


def _shown(path: Sequence[str]) -> str:
    return "/".join(path) or "the project"


BASE_VARIABLE: Final = "MONGO_TABLES_ATLAS_API"
"""Another address of the Administration API: that of a stand-in."""


def open_api(project: str) -> Api:
    """What asks Atlas about the project; nothing is asked yet. Raises RunnerError where nobody says who asks."""
    base = read_variable(BASE_VARIABLE) or ADDRESS
    return Api(project, read_credentials(), Clock(), base)
