"""The pull request that a job of GitHub Actions runs for, as the runner's environment and its event file say.

The fields are those of the webhook: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.files.environment import read_variable
from mongo_tables.findings.usage import UsageError

_SHA: Final = "[0-9a-f]{40,64}"
_REPOSITORY: Final = "[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"


class PullRequest(NamedTuple):
    """A pull request: ``repository`` is the one that it is made to, ``OWNER/NAME``; both commits are full names.

    ``from_fork``: its commits are in another repository, or that one is gone.
    """

    repository: str
    number: int
    base: str
    head: str
    from_fork: bool


def read_pull_request() -> PullRequest | None:
    """The pull request of this job; None where the job runs for another event, or not in GitHub Actions.

    Raises UsageError for ``pull_request_target``, which hands a token with write access to a job that reads what
    anybody proposes, and for an event file that cannot be read.
    """
    name = read_variable("GITHUB_EVENT_NAME")
    if name == "pull_request_target":
        raise UsageError(
            "this job runs for pull_request_target, which gives strangers' pull requests a token that may write",
            "let the workflow run `on: pull_request`",
        )
    return _parse_event(_read_event()) if name == "pull_request" else None


def _read_event() -> Any:
    where = read_variable("GITHUB_EVENT_PATH")
    try:
        return json.loads(Path(where).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"GITHUB_EVENT_PATH: {where or 'not set'}: {error}") from None


def _parse_event(event: Any) -> PullRequest:
    try:
        told = event["pull_request"]
        base, head = told["base"], told["head"]
        repository, number = base["repo"]["full_name"], told["number"]
        origin = (head["repo"] or {}).get("full_name")
        shas = base["sha"], head["sha"]
    except (KeyError, TypeError, AttributeError):
        raise UsageError("the event file lacks fields of a pull request") from None
    known = isinstance(number, int) and re.fullmatch(_REPOSITORY, str(repository))
    if not known or not all(re.fullmatch(_SHA, str(sha)) for sha in shas):
        raise UsageError("the event file has no number, repository and commits of a pull request")
    return PullRequest(repository, number, *shas, from_fork=origin != repository)
