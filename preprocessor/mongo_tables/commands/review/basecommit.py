"""The commit that a pull request is compared with: which one it is, and its files beside the checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from mongo_tables.commands.review.event import PullRequest
from mongo_tables.findings.usage import UsageError


def find_base(request: PullRequest) -> str:
    """The commit that the checkout is compared with, which is there afterwards.

    GitHub checks out what merging would give: then it is the first parent, so that what others changed meanwhile is no
    change of the pull request. Where something else is checked out, it is the commit that both branches go back to, or,
    where the clone is too shallow to know it, the tip of the branch that is merged into.
    Raises UsageError where the commit can be had neither here nor from ``origin``.
    """
    parents = _list_parents()
    merged = len(parents) == 2 and parents[1] == request.head
    base = parents[0] if merged else request.base
    if not _has(base) and _run("fetch", "--quiet", "--no-tags", "--depth=1", "origin", base).returncode:
        raise UsageError(
            f"the commit {base[:12]}, which the pull request is compared with, is not in this clone",
            "give the step `actions/checkout` the setting `fetch-depth: 2`, or 0",
        )
    branched = _run("merge-base", base, "HEAD")
    return base if merged or branched.returncode else branched.stdout.decode("ascii").strip()


def write_files(revision: str, folder: Path) -> Path:
    """Write all files of a revision under ``folder``; give the one there in which we are here.

    They are checked out by an index of their own: an archive would lack what ``export-ignore`` leaves out. An empty
    ``.git`` among them ends the search for a site there. Raises UsageError with what Git says.
    """
    place = os.fsdecode(_git("rev-parse", "--show-prefix").rstrip(b"\n"))
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    files = folder / "files"
    _git("read-tree", f"{_name_commit(revision)}^{{tree}}", more=index)
    _git("checkout-index", "--all", "--quiet", f"--prefix={files}{os.sep}", more=index)
    (files / place).mkdir(parents=True, exist_ok=True)
    (files / ".git").touch()
    return files / place


def _name_commit(revision: str) -> str:
    """The full name of a commit. Raises UsageError where the revision names none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    done = _run(*asked)
    if done.returncode:
        raise UsageError(f"{revision}: this repository has no such revision")
    return done.stdout.decode("ascii").strip()


def _list_parents() -> list[str]:
    """The parents of what is checked out, read from the commit itself: a shallow clone hides them elsewhere."""
    head, _, _ = _git("cat-file", "commit", "HEAD").decode("utf-8", "replace").partition("\n\n")
    return [line.removeprefix("parent ") for line in head.splitlines() if line.startswith("parent ")]


def _has(commit: str) -> bool:
    return _run("cat-file", "-e", f"{commit}^{{tree}}").returncode == 0


def _git(*asked: str, more: Mapping[str, str] | None = None) -> bytes:
    done = _run(*asked, more=more)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise UsageError(f"git: {said[0]}", "run it in a checkout of the repository")
    return done.stdout


def _run(*asked: str, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Git with what was asked; it never waits for somebody to type a password."""
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(more or {})}
    try:
        return subprocess.run(["git", *asked], capture_output=True, check=False, env=environment)
    except FileNotFoundError:
        raise UsageError("git is not installed") from None
