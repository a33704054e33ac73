"""A fake Atlas: the Administration API before one project, over HTTP on loopback, with whatever can go wrong."""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.runner.atlas.project import PROJECT, Project, Refused
from tests.runner.atlas.virtualtime import VirtualTime

CLIENT, SECRET = "mdb_sa_id_known", "mdb_sa_sk_known_to_tests_alone"
ROOT = f"/api/atlas/v2/groups/{PROJECT}/"


class Exchange(NamedTuple):
    """One request with its answer, for those who look at it later."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    status: int
    answer: Any
    media_type: str


@dataclass
class Fault:
    """What is answered in the place of the answer, so many times, to requests that match ``METHOD path``.

    ``done`` is whether the request is done nevertheless. Without a status the connection is cut.
    """

    asked: str
    status: int | None = None
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    done: bool = False
    content: bytes | None = None
    """In the place of JSON."""


class FakeAtlas:
    """The state that all requests share, and what they were."""

    def __init__(self, time: VirtualTime, data: str = "") -> None:
        self.time = time
        self.project = Project(time.now, data)
        self.faults: list[Fault] = []
        self.seen: list[Exchange] = []
        self.token_seconds = 3600.0
        self.alter: Callable[[str, Any], Any] | None = None
        """Changes an answer before it is sent."""
        self.base = ""
        self.faulty = False
        self._tokens: dict[str, datetime] = {}

    @property
    def is_altered(self) -> bool:
        """Whether it says what Atlas would not."""
        return self.faulty or self.alter is not None

    def asked(self) -> list[str]:
        """All requests so far, as ``METHOD path``."""
        return [f"{one.method} {one.path}" for one in self.seen]

    def token(self, authorization: str) -> dict[str, Any]:
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != f"Basic {known}":
            raise Refused(401, "invalid_client", "The client is not known.")
        token = secrets.token_urlsafe(16)
        self._tokens[token] = self.time.now() + timedelta(seconds=self.token_seconds)
        return {"access_token": token, "expires_in": 3600, "token_type": "Bearer"}

    def forget_tokens(self) -> None:
        """As when they were withdrawn before their time."""
        self._tokens.clear()

    def is_known(self, authorization: str) -> bool:
        kind, _, token = authorization.partition(" ")
        return kind == "Bearer" and self._tokens.get(token, self.time.now()) > self.time.now()

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """What the project does, and says. Raises Refused."""
        parts = path.removeprefix(ROOT).split("/")
        if not path.startswith(ROOT):
            raise Refused(404, "GROUP_NOT_FOUND", "No such project.")
        with self.project.lock:
            return self._answer(method, parts, body)

    def _answer(self, method: str, parts: list[str], body: Any) -> tuple[int, Any]:
        for way, pattern, act in self._routes():
            found = re.fullmatch(pattern, "/".join(parts))
            if way == method and found:
                return act([unquote(part) for part in found.groups()], body)
        raise Refused(404, "RESOURCE_NOT_FOUND", f"There is no {'/'.join(parts)}.")

    def _routes(self) -> list[tuple[str, str, Callable[..., tuple[int, Any]]]]:
        """Method, path, and what is done, which is given the parts of the path, and the body."""
        project, one = self.project, "([^/]+)"
        return [
            ("POST", "clusters", lambda p, b: (201, project.create(b))),
            ("GET", f"clusters/{one}", lambda p, b: (200, project.told(*p))),
            ("DELETE", f"clusters/{one}", lambda p, b: (202, project.delete(*p))),
            ("POST", "databaseUsers", lambda p, b: (201, project.make_user(b))),
            ("GET", f"databaseUsers/admin/{one}", lambda p, b: (200, project.user(*p))),
            ("DELETE", f"databaseUsers/admin/{one}", lambda p, b: (204, project.remove_user(*p))),
        ]

    def fault_for(self, asked: str) -> Fault | None:
        for one in self.faults:
            if one.times and re.fullmatch(one.asked, asked):
                one.times -= 1
                return one
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeAtlas

    def log_message(self, *given: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = parse_qs(parts.query)
        asked = f"{self.command} {parts.path.removeprefix(ROOT)}"
        fault = self.fake.fault_for(asked)
        if fault is not None and not fault.done:
            self._fail(fault)
            return
        headers = {"RateLimit-Limit": "100", "RateLimit-Remaining": "99"}
        body = json.loads(content) if content.startswith((b"{", b"[")) else content.decode()
        try:
            status, answer = self._answer(parts.path, body)
            answer = self.fake.alter(asked, answer) if self.fake.alter else answer
        except Refused as error:
            status = error.status
            answer = {"error": status, "errorCode": error.code, "detail": error.detail, "reason": "Refused"}
        if fault is not None:
            self._fail(fault)
            return
        media = "application/json" if status >= 400 else self.headers.get("Accept", "")
        self.fake.seen.append(
            Exchange(self.command, parts.path, query, dict(self.headers.items()), body, status, answer, media)
        )
        self._send(status, b"" if answer is None else json.dumps(answer).encode(), headers, media)

    do_POST = do_DELETE = do_GET

    def _answer(self, path: str, body: Any) -> tuple[int, Any]:
        authorization = self.headers.get("Authorization", "")
        if path == "/api/oauth/token":
            return 200, self.fake.token(authorization)
        if not self.fake.is_known(authorization):
            raise Refused(401, "UNAUTHORIZED", "Who asks is not known, or no longer.")
        if not re.fullmatch(r"application/vnd\.atlas\.\d{4}-\d\d-\d\d\+json", self.headers.get("Accept", "")):
            raise Refused(406, "INVALID_VERSION", "A version has a date.")
        return self.fake.answer(self.command, path, body)

    def _fail(self, fault: Fault) -> None:
        if fault.status is None:
            self.close_connection = True
            return
        content = json.dumps(fault.body).encode() if fault.content is None else fault.content
        self._send(fault.status, content, fault.headers, "application/json")

    def _send(self, status: int, content: bytes, headers: dict[str, str], media: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(data: str = "") -> Iterator[FakeAtlas]:
    """A fake whose clusters are the deployment ``data``, until the block ends."""
    fake = FakeAtlas(VirtualTime(), data)
    handler = type("Handler", (_Handler,), {"fake": fake})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        fake.base = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield fake
        finally:
            fake.project.forget_users()
            server.shutdown()
