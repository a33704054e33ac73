"""The pull request of a GitHub Actions job: its base, and the report of the numbers that it changes.

Another step of the Action posts the report as a comment. Only that step has a token, and it reads no pages. The fields
of the event: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from mongo_tables.commands.diff.changes import TableChange, markdown
from mongo_tables.commands.diff.tables import PageTable, read_checkout
from mongo_tables.files import atomic
from mongo_tables.files.process import read_variable
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.revisions import on_disk, run_git

_TEXT: Final = "changes.md"
_DATA: Final = "changes.json"
_SHA: Final = "[0-9a-f]{40,64}"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The commits of a pull request and of its target branch, as full hashes."""

    base: str
    head: str


def read_pull_request() -> PullRequest | None:
    """Return the pull request of this job, or None for other events and outside GitHub Actions.

    Raises CommandError for an unreadable event file, and for ``pull_request_target``, because such a job has a token
    with write access while it reads untrusted files.
    """
    name = read_variable("GITHUB_EVENT_NAME")
    if name == "pull_request_target":
        raise CommandError(
            "this job runs on pull_request_target, which gives pull requests of strangers a token with write access",
            "run the workflow on `pull_request` instead",
        )
    if name != "pull_request":
        return None
    where = read_variable("GITHUB_EVENT_PATH")
    try:
        event = json.loads(Path(where).read_bytes())
    except (OSError, ValueError) as error:
        raise CommandError(f"GITHUB_EVENT_PATH: {where or 'not set'}: {error}") from None
    try:
        shas = [event["pull_request"][side]["sha"] for side in ("base", "head")]
    except (KeyError, TypeError):
        raise CommandError("the event file lacks fields of a pull request") from None
    if not all(re.fullmatch(_SHA, str(sha)) for sha in shas):
        raise CommandError("the event file has no commits of a pull request")
    return PullRequest(*shas)


# -- what it is compared with --


def read_both(request: PullRequest, asked: Namespace) -> tuple[list[PageTable], list[PageTable], str]:
    """Return the tables of the base and of this checkout, and the commit of the base.

    If the site of the base cannot be read, the base has no tables, because the pull request may fix the site.
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
    """Return the commit to compare the checkout with. Fetch the commit if it is missing.

    If GitHub has checked out a merge of the pull request into the target branch, the base is the first parent. For
    another checkout, the base is the merge base or, if a shallow clone lacks it, the tip of the target branch. Raises
    CommandError if neither this clone nor ``origin`` has the commit.
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
            f"this clone lacks the base of the pull request, the commit {base[:12]}",
            "give the step `actions/checkout` the setting `fetch-depth: 2`, or 0",
        )
    branched = _git("merge-base", base, "HEAD", may_fail=True)
    return base if merged or branched.returncode else branched.stdout.decode("ascii").strip()


def _git(*asked: str, may_fail: bool = False) -> subprocess.CompletedProcess[bytes]:
    done = run_git(*asked)
    if done.returncode and not may_fail:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise CommandError(f"git: {said[0]}", "run it in a checkout of the repository")
    return done


# -- the report of the job --


def report(
    folder: Path, changes: Sequence[TableChange], failed: int, compared: tuple[str, str], site: str | None
) -> None:
    """Write the changes into ``folder`` as Markdown and JSON, and into the summary and the outputs of the job.

    The first line of the Markdown is a marker, by which the Action finds its earlier comment. Each ``site`` file has
    its own marker.
    """
    key = hashlib.sha256(site.encode()).hexdigest()[:12] if site else "site"
    written = markdown(changes, compared, failed, f"<!-- mongo-tables review {key} -->")
    data = json.dumps({"tables": [asdict(one) for one in changes]}, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write_all({folder / _TEXT: written.encode("utf-8", "replace"), folder / _DATA: data.encode()})
    _append("GITHUB_STEP_SUMMARY", written.partition("\n")[2] + "\n")
    _append("GITHUB_OUTPUT", f"changed={'true' if changes else 'false'}\n")


def _append(variable: str, text: str) -> None:
    """Append to the file that GitHub Actions names in ``variable``, if the variable is set."""
    if named := read_variable(variable):
        with Path(named).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
