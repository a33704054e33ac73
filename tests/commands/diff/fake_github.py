"""A server that answers as GitHub does where comments are listed, made and edited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghs_known-only-to-tests"
BOT = "github-actions[bot]"
_LIST = re.compile(r"/repos/Codertocat/Hello-World/issues/2/comments")
_ONE = re.compile(r"/repos/Codertocat/Hello-World/issues/comments/(\d+)")


@dataclass
class GitHub:
    """What the server has and was asked. ``write_status`` answers every attempt to write, where it is not 0."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    write_status: int = 0
    read_status: int = 0
    moved_to: str = ""
    address: str = ""

    def add(self, body: str, author: str = "octocat") -> dict[str, Any]:
        self.comments.append({"id": 1000 + len(self.comments), "user": {"login": author}, "body": body})
        return self.comments[-1]

    def bodies(self, author: str = BOT) -> list[str]:
        return [one["body"] for one in self.comments if one["user"]["login"] == author]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """The status and the content of an answer."""
        where = urlsplit(path)
        if method == "GET":
            return self._list(where.path, where.query)
        found = _ONE.fullmatch(where.path)
        edited = [one for one in self.comments if found and one["id"] == int(found[1])]
        known = edited if method == "PATCH" else _LIST.fullmatch(where.path)
        if self.write_status or not known:
            return self.write_status or 404, {"message": "Resource not accessible by integration"}
        text = json.loads(body)["body"]
        if edited:
            edited[0]["body"] = text
            return 200, edited[0]
        return 201, self.add(text, BOT)

    def _list(self, path: str, query: str) -> tuple[int, Any]:
        if self.moved_to:
            return 302, {}
        if self.read_status or not _LIST.fullmatch(path):
            return self.read_status or 404, {"message": "Not Found"}
        asked = parse_qs(query)
        size, page = int(asked["per_page"][0]), int(asked["page"][0])
        return 200, self.comments[size * (page - 1) : size * page]


class _Server(ThreadingHTTPServer):
    def __init__(self, github: GitHub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.github = github


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        github = self.server.github
        github.asked.append((self.command, urlsplit(self.path).path))
        github.tokens.add(self.headers.get("Authorization", "").removeprefix("Bearer "))
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, content = github.answer(self.command, self.path, sent)
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", github.moved_to)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = _answer

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running() -> Iterator[GitHub]:
    """The server, on a free port of this machine, for as long as the block."""
    server = _Server(GitHub())
    server.github.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
