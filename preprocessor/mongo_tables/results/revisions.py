"""Files at a revision of a Git repository, such as ``HEAD~3:fixtures``."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from mongo_tables.findings.usage import CommandError

# A path with an @ could be USER:PASSWORD@HOST, a URI without its scheme.
_REVISION = re.compile(r"(?P<revision>[^:]+):(?P<path>[^:@]+)")
_URI = re.compile(r"mongodb(\+srv)?[:/]|.*://", re.IGNORECASE)
_NAME = re.compile(r"\w[\w./~^@{}-]*")
NO_GIT: Final = 127
"""The exit status of a shell for a command that it does not find."""
_EXAMPLE = "write a revision and a path relative to this folder, such as HEAD~1:fixtures"


def is_revision(where: str) -> bool:
    """Return whether ``where`` is ``REVISION:PATH``, and not an existing file.

    A URI is never a revision, even if it is mistyped, because Git's error message would show its password.
    """
    named = _REVISION.fullmatch(where) is not None and _URI.match(where) is None
    return named and not Path(where).exists()


def names_commit(name: str) -> bool:
    """Return whether Git knows a revision with this name, and there is no file with this name."""
    if not _NAME.fullmatch(name) or Path(name).exists():
        return False
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return run_git(*asked).returncode == 0


@contextmanager
def on_disk(where: str) -> Iterator[str]:
    """Provide a results source for the ``with`` block: ``where``, or a folder with the files of a revision.

    Raises CommandError as ``write_revision`` does.
    """
    if not is_revision(where):
        yield where
        return
    with TemporaryDirectory(prefix="mongo-tables-") as folder:
        yield str(write_revision(where, Path(folder)))


def list_revisions(path: str) -> list[str]:
    """Return ``REVISION:PATH`` for each revision that changed the path and still has it, the newest first.

    ``path`` may be ``REVISION:PATH`` or ``FIRST..LAST:PATH`` to limit the revisions. Raises CommandError with the
    message of Git, or if no revision has the path.
    """
    found = _parts(path if ":" in path else f"HEAD:{path}")
    asked = ("rev-list", "--end-of-options", found["revision"], "--", found["path"])
    revisions = _git(path, *asked).decode("ascii").split()
    listed = (f"{revision}:{found['path']}" for revision in revisions)
    having = [where for where in listed if _git(where, "ls-tree", "--end-of-options", *where.split(":", 1))]
    if not having:
        hint = "name a folder or a file, such as fixtures; v1.0..HEAD:fixtures limits the revisions"
        raise CommandError(f"{path}: no revision has this path", hint)
    return having


def write_revision(where: str, folder: Path) -> Path:
    """Write the files of ``REVISION:PATH`` into ``folder``, and return the path of the files there.

    The files are checked out through a temporary index, because an archive omits files with ``export-ignore``. An empty
    ``.git`` ends the search for the configuration of a site at ``folder``. Raises CommandError with the message of Git
    if revision, path or repository do not exist.
    """
    found = _parts(where)
    place = os.fsdecode(_git(where, "rev-parse", "--show-prefix").rstrip(b"\n"))
    index = {"GIT_INDEX_FILE": str(folder / ".git-index")}
    _git(where, "read-tree", "--end-of-options", found["revision"], more=index)
    names = _git(where, "ls-files", "-z", "--", found["path"], more=index)
    if not names and found["path"] != ".":  # The folder may be newer than the revision.
        raise CommandError(f"{where}: the revision has no files at this path", _EXAMPLE)
    _git(where, "checkout-index", "-z", "--stdin", f"--prefix={folder}{os.sep}", stdin=names, more=index)
    (folder / ".git").touch()
    path = folder / place / found["path"]
    (path if found["path"] == "." else path.parent).mkdir(parents=True, exist_ok=True)
    return path


def _parts(where: str) -> re.Match[str]:
    found = _REVISION.fullmatch(where)
    if found is None:
        raise CommandError(f"{where}: not REVISION:PATH")
    if PurePosixPath(found["path"]).is_absolute():
        # Git would read an absolute path in the work tree, and not in the revision.
        raise CommandError(f"{where}: the path of a revision must be relative", _EXAMPLE)
    return found


def _git(where: str, *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
    done = run_git(*asked, stdin=stdin, more=more)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git {asked[0]} failed"]
        raise CommandError(f"{where}: {said[0]}", _EXAMPLE)
    return done.stdout


def run_git(
    *asked: str, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Git with messages in English, and without prompts for a password. ``more`` are environment variables.

    If Git cannot be run, the result has the exit status ``NO_GIT`` and a message.
    """
    variables = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(more or {})}
    try:
        return subprocess.run(["git", *asked], input=stdin, capture_output=True, check=False, env=variables)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        said = "git is not installed" if is_missing else f"git cannot be run: {error.strerror}"
        return subprocess.CompletedProcess(asked, NO_GIT, b"", said.encode())
