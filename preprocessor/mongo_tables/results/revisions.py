"""Fixtures at a revision of a Git repository: ``HEAD~3:fixtures``."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from mongo_tables.findings.usage import CommandError

# An @ in the path could be that of USER:PASSWORD@HOST, a URI that lacks its scheme.
_REVISION = re.compile(r"(?P<revision>[^:]+):(?P<path>[^:@]+)")
_URI = re.compile(r"mongodb(\+srv)?[:/]|.*://", re.IGNORECASE)
_NAME = re.compile(r"\w[\w./~^@{}-]*")
_EXAMPLE = "name a revision and a path from here: HEAD~1:fixtures"


def is_revision(where: str) -> bool:
    """Return whether ``where`` names a path at a revision: it has a colon, and no such file exists.

    A URI is never a revision, even if mistyped: Git's error message would show the password.
    """
    named = _REVISION.fullmatch(where) is not None and _URI.match(where) is None
    return named and not Path(where).exists()


def names_commit(name: str) -> bool:
    """Return whether Git knows a revision of this name, and no such file exists."""
    if not _NAME.fullmatch(name) or Path(name).exists():
        return False
    asked = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def on_disk(where: str) -> Iterator[str]:
    """Provide a results source for the block: ``where``, or the files of the revision that it names.

    Raises CommandError as ``write_revision`` does.
    """
    if not is_revision(where):
        yield where
        return
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        yield str(write_revision(where, Path(folder)))


def last_change(where: str) -> str:
    """Return the full name of the last revision, up to that of ``REVISION:PATH``, that changed the path.

    Raises CommandError with Git's message.
    """
    found = _parts(where)
    asked = ("rev-list", "--max-count=1", "--end-of-options", found["revision"], "--", found["path"])
    return _git(where, *asked).decode("ascii").strip()


def list_revisions(path: str) -> list[str]:
    """Return this path at each revision that changed it and still has it, ``REVISION:PATH``, the newest first.

    Raises CommandError with Git's message.
    """
    found = _parts(f"HEAD:{path}")
    asked = ("rev-list", "--end-of-options", found["revision"], "--", found["path"])
    revisions = _git(path, *asked).decode("ascii").split()
    listed = (f"{revision}:{path}" for revision in revisions)
    return [where for where in listed if _git(where, "ls-tree", "--end-of-options", *where.split(":", 1))]


def write_revision(where: str, folder: Path) -> Path:
    """Write the files of ``REVISION:PATH`` under ``folder`` and return the path there. Nothing else changes.

    A temporary index checks them out, because an archive omits files with ``export-ignore``. An empty ``.git`` stops
    the search for a site's configuration at the folder. Raises CommandError with Git's message if there is no such
    revision, path or repository.
    """
    found = _parts(where)
    place = os.fsdecode(_git(where, "rev-parse", "--show-prefix").rstrip(b"\n"))
    index = {"GIT_INDEX_FILE": str(folder / ".git-index")}
    _git(where, "read-tree", "--end-of-options", found["revision"], more=index)
    names = _git(where, "ls-files", "-z", "--", found["path"], more=index)
    if not names and found["path"] != ".":  # The folder may be newer than the revision.
        raise CommandError(f"{where}: the path did not match any files of the revision", _EXAMPLE)
    _git(where, "checkout-index", "-z", "--stdin", f"--prefix={folder}{os.sep}", stdin=names, more=index)
    (folder / ".git").touch()
    path = folder / place / found["path"]
    (path if found["path"] == "." else path.parent).mkdir(parents=True, exist_ok=True)
    return path


def _parts(where: str) -> re.Match[str]:
    found = _REVISION.fullmatch(where)
    if found is None:
        raise CommandError(f"{where}: not a revision and a path")
    if PurePosixPath(found["path"]).is_absolute():
        # Git would take it for a path in the work tree, and compare its files with themselves.
        raise CommandError(f"{where}: the path of a revision begins at the folder you are in", _EXAMPLE)
    return found


def _git(where: str, *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
    try:
        done = run_git(*asked, stdin=stdin, more=more)
    except FileNotFoundError:
        raise CommandError(f"{where}: git is not installed") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise CommandError(f"{where}: {said[0]}", _EXAMPLE)
    return done.stdout


def run_git(
    *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Git in English, without a prompt for a password. ``more`` are environment variables.

    Raises FileNotFoundError if Git is not installed.
    """
    variables = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(more or {})}
    return subprocess.run(["git", *asked], input=stdin, capture_output=True, check=False, env=variables)
