"""The pull request of a GitHub Actions job: its base, and the one comment with the numbers that it changes.

``report`` reads pages and has no token; ``post`` has a token and reads no pages. The fields of the event are those of
the webhook: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request. The requests are those of
https://docs.github.com/rest/issues/comments.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import urllib.error
import urllib.request
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.commands.diff.changes import TableChange, markdown
from mongo_tables.commands.diff.tables import PageTable, read_checkout
from mongo_tables.files import atomic
from mongo_tables.files.process import read_variable
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.history import on_disk, run_git

_TEXT: Final = "changes.md"
_DATA: Final = "changes.json"
_SHA: Final = "[0-9a-f]{40,64}"
_REPOSITORY: Final = "[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"
_SECONDS: Final = 30
_A_PAGE: Final = 100
_MOST_PAGES: Final = 30
"""The most pages of comments to search: 3,000 comments."""
_REFUSED: Final = (401, 403, 404)
"""GitHub's status for a token that may not write, or may not know of the resource."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request: ``repository`` is its target, ``OWNER/NAME``. Both commits are full hashes.

    ``from_fork``: its commits are in another repository, or that repository is gone.
    """

    repository: str
    number: int
    base: str
    head: str
    from_fork: bool


def read_pull_request() -> PullRequest | None:
    """Return the pull request of this job, or None for another event, or outside GitHub Actions.

    Raises CommandError for ``pull_request_target``, which gives a token with write access to a job that reads untrusted
    proposals, and for an event file that cannot be read.
    """
    name = read_variable("GITHUB_EVENT_NAME")
    if name == "pull_request_target":
        raise CommandError(
            "this job runs for pull_request_target, which gives strangers' pull requests a token that may write",
            "let the workflow run `on: pull_request`",
        )
    if name != "pull_request":
        return None
    where = read_variable("GITHUB_EVENT_PATH")
    try:
        event = json.loads(Path(where).read_bytes())
    except (OSError, ValueError) as error:
        raise CommandError(f"GITHUB_EVENT_PATH: {where or 'not set'}: {error}") from None
    try:
        told = event["pull_request"]
        base, head = told["base"], told["head"]
        repository, number = base["repo"]["full_name"], told["number"]
        origin = (head["repo"] or {}).get("full_name")
        shas = base["sha"], head["sha"]
    except (KeyError, TypeError, AttributeError):
        raise CommandError("the event file lacks fields of a pull request") from None
    known = isinstance(number, int) and re.fullmatch(_REPOSITORY, str(repository))
    if not known or not all(re.fullmatch(_SHA, str(sha)) for sha in shas):
        raise CommandError("the event file has no number, repository and commits of a pull request")
    return PullRequest(repository, number, *shas, from_fork=origin != repository)


# -- what it is compared with --


def read_both(request: PullRequest, asked: Namespace) -> tuple[list[PageTable], list[PageTable], str]:
    """Read the tables of the base and of this checkout. Return them with the commit of the base.

    The base has no tables if its site cannot be read: the pull request may fix that.
    """
    base = _find_base(request)
    with on_disk(f"{base}:.") as folder:
        try:
            old = read_checkout(Path(folder), asked, needs_results=False)
        except CommandError as error:
            print(f"no base to compare with: {escape_control_chars(error.message)}")
            old = []
    return old, read_checkout(Path(), asked), base


def _find_base(request: PullRequest) -> str:
    """Return the commit to compare the checkout with. Fetch it if it is missing.

    GitHub checks out the result of a merge: then it is the first parent, so that others' commits are not changes of
    the pull request. For another checkout it is the merge base, or, if the clone is too shallow to know it, the tip
    of the target branch. Raises CommandError if neither this clone nor ``origin`` has the commit.
    """
    head, _, _ = _git("cat-file", "commit", "HEAD").stdout.decode("utf-8", "replace").partition("\n\n")
    # `git log` hides the parents in a shallow clone.
    parents = [line.removeprefix("parent ") for line in head.splitlines() if line.startswith("parent ")]
    merged = len(parents) == 2 and parents[1] == request.head
    base = parents[0] if merged else request.base
    is_here = _git("cat-file", "-e", f"{base}^{{tree}}", may_fail=True).returncode == 0
    fetch = ("fetch", "--quiet", "--no-tags", "--depth=1", "origin", base)
    if not is_here and _git(*fetch, may_fail=True).returncode:
        raise CommandError(
            f"the commit {base[:12]}, which the pull request is compared with, is not in this clone",
            "give the step `actions/checkout` the setting `fetch-depth: 2`, or 0",
        )
    branched = _git("merge-base", base, "HEAD", may_fail=True)
    return base if merged or branched.returncode else branched.stdout.decode("ascii").strip()


def _git(*asked: str, may_fail: bool = False) -> subprocess.CompletedProcess[bytes]:
    try:
        done = run_git(*asked)
    except FileNotFoundError:
        raise CommandError("git is not installed") from None
    if done.returncode and not may_fail:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise CommandError(f"git: {said[0]}", "run it in a checkout of the repository")
    return done


# -- the report of the job --


def report(
    folder: Path, changes: Sequence[TableChange], failed: int, compared: tuple[str, str], site: str | None
) -> None:
    """Write the changes into ``folder`` as Markdown and JSON, and into the summary and the outputs of the job.

    The first line of the Markdown marks the comment; each file of a ``site`` has its own marker.
    """
    key = hashlib.sha256(site.encode()).hexdigest()[:12] if site else "site"
    written = markdown(changes, compared, failed, f"<!-- mongo-tables review {key} -->")
    data = json.dumps({"tables": [asdict(one) for one in changes]}, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write_all({folder / _TEXT: written.encode("utf-8", "replace"), folder / _DATA: data.encode()})
    _append("GITHUB_STEP_SUMMARY", written.partition("\n")[2] + "\n")
    _append("GITHUB_OUTPUT", f"changed={'true' if changes else 'false'}\n")


def _append(variable: str, text: str) -> None:
    """Append to a file that GitHub Actions names in a variable, if it does."""
    if named := read_variable(variable):
        with Path(named).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)


# -- the comment --


class CommentRefused(Exception):
    """A request that the API refused or did not answer. ``status`` is that of HTTP, 0 without an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class PostedComment(NamedTuple):
    """A comment of a pull request: its number, its author, and its text."""

    number: int
    author: str
    body: str


def post(folder: Path, author: str) -> None:
    """Post the text from ``report`` as the comment of the pull request, or say why that is impossible.

    A token without write access is not an error: pull requests from forks have none, and the summary has the same text.
    Raises CommandError if there is nothing to post, or no token.
    """
    request = read_pull_request()
    if request is None:
        raise CommandError("this job runs for no pull request, which could have a comment")
    try:
        text, data = (folder / _TEXT).read_text("utf-8"), json.loads((folder / _DATA).read_bytes())
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{folder} has no changes to post: {error}", "run it with --report before"
        ) from None
    if not read_variable("GITHUB_TOKEN"):
        raise CommandError("GITHUB_TOKEN is not set", "pass it on: GITHUB_TOKEN: ${{ github.token }}")
    anything = bool(isinstance(data, dict) and data.get("tables"))
    try:
        print(f"comment: {_update_comment(request, text, author, anything=anything)}")
    except CommentRefused as error:
        print(_excuse(error, request))


def _update_comment(request: PullRequest, body: str, author: str, *, anything: bool) -> str:
    """Create or edit the comment. Its first line is the marker by which it is recognised.

    Only a comment of ``author`` is edited, even if others use the same marker. Without ``anything`` to say, none is
    created.
    """
    marker = body.partition("\n")[0]
    comments = _list_comments(request)
    own = next((one for one in comments if one.author == author and one.body.startswith(marker)), None)
    if own is None:
        if anything:
            _ask("POST", f"{request.repository}/issues/{request.number}/comments", {"body": body})
        return "created" if anything else "not needed"
    if own.body.replace("\r\n", "\n").strip() == body.strip():
        return "unchanged"
    _ask("PATCH", f"{request.repository}/issues/comments/{own.number}", {"body": body})
    return "edited"


def _list_comments(request: PullRequest) -> list[PostedComment]:
    found: list[PostedComment] = []
    for page in range(1, _MOST_PAGES + 1):
        query = f"per_page={_A_PAGE}&page={page}"
        told = _ask("GET", f"{request.repository}/issues/{request.number}/comments?{query}")
        if not isinstance(told, list):
            raise CommentRefused(0, "the answer is not a list of comments")
        try:
            for one in told:
                login = (one["user"] or {}).get("login", "")
                found.append(PostedComment(int(one["id"]), str(login), str(one["body"] or "")))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise CommentRefused(0, "the answer has a comment without its fields") from None
        if len(told) < _A_PAGE:
            break
    return found


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirects, which would send the token to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return no request."""


def _ask(method: str, path: str, content: Any = None) -> Any:
    """Send a request to the API, which is the only place that gets the token. Errors do not contain it."""
    address = (read_variable("GITHUB_API_URL") or "https://api.github.com").rstrip("/")
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {read_variable('GITHUB_TOKEN')}",
        "Content-Type": "application/json",
        "User-Agent": "mongo-tables",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    sent = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(f"{address}/repos/{path}", sent, headers, method=method)
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise CommentRefused(error.code, f"{method} was answered by {error.code} {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise CommentRefused(0, f"{method} had no answer: {error}") from None


def _excuse(error: CommentRefused, request: PullRequest) -> str:
    """Return a line that GitHub shows at the job: a notice if no comment can be expected, else a warning."""
    where = "the summary of the job and its artifact have the numbers"
    if error.status in _REFUSED and request.from_fork:
        return f"::notice::no comment: a pull request from a fork has no token that may write; {where}"
    hint = "; let the job have `permissions: pull-requests: write`" if error.status in _REFUSED else ""
    said = escape_control_chars(str(error)).replace("%", "%25")
    return f"::warning::no comment: {said}{hint}; {where}"
