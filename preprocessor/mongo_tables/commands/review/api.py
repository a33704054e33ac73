"""The few requests that a comment takes: https://docs.github.com/rest/issues/comments."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Final, NamedTuple

_SECONDS: Final = 30
_A_PAGE: Final = 100
_MOST_PAGES: Final = 30
"""Pages of comments that are looked through: 3,000 comments."""


class ApiError(Exception):
    """What the API refused or did not answer; ``status`` is that of HTTP, 0 without an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Comment(NamedTuple):
    """A comment of a pull request: its number, who wrote it, and its text."""

    number: int
    author: str
    body: str


class Api:
    """The comments of one repository, ``OWNER/NAME``. The token is sent to ``address`` alone, and is in no error."""

    def __init__(self, address: str, repository: str, token: str) -> None:
        self._issues = f"{address.rstrip('/')}/repos/{repository}/issues"
        self._token = token

    def list_comments(self, number: int) -> list[Comment]:
        """All comments of a pull request. Raises ApiError."""
        found: list[Comment] = []
        for page in range(1, _MOST_PAGES + 1):
            told = self._ask("GET", f"{self._issues}/{number}/comments?per_page={_A_PAGE}&page={page}")
            if not isinstance(told, list):
                raise ApiError(0, "the answer is not a list of comments")
            found += (_read_comment(one) for one in told)
            if len(told) < _A_PAGE:
                break
        return found

    def create(self, number: int, body: str) -> None:
        """Add a comment to a pull request. Raises ApiError."""
        self._ask("POST", f"{self._issues}/{number}/comments", {"body": body})

    def edit(self, comment: int, body: str) -> None:
        """Give a comment another text. Raises ApiError."""
        self._ask("PATCH", f"{self._issues}/comments/{comment}", {"body": body})

    def _ask(self, method: str, address: str, content: Any = None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "mongo-tables",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        sent = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(address, sent, headers, method=method)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, f"{method} was answered by {error.code} {error.reason}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise ApiError(0, f"{method} had no answer: {error}") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token would go wherever an answer points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Give nothing to ask instead."""


def _read_comment(told: Any) -> Comment:
    try:
        return Comment(int(told["id"]), str((told["user"] or {}).get("login", "")), str(told["body"] or ""))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ApiError(0, "the answer has a comment without its fields") from None
