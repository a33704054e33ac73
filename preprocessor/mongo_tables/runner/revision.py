"""Which version of the program measures: its number, and the commit that its files are of.

Figures of one number may come from different code while a number lasts. Where the files lie in a Git checkout, that
says the commit; where ``pip`` fetched them from a repository, what it noted does
(https://packaging.python.org/en/latest/specifications/direct-url/).
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import mongo_tables

_PACKAGE = Path(mongo_tables.__file__).parent
_DISTRIBUTION = "mongo-tables"
_DIGITS = 12
"""Of a commit: enough to find it, and the same number on every machine."""


@cache
def harness() -> str:
    """``mongo-tables 0.1.0+gCOMMIT``, with ``.changed`` where files differ from it; the number alone where unknown.

    The form is that of a local version (https://packaging.python.org/en/latest/specifications/version-specifiers/).
    It is asked for once: what a running program was started from does not change.
    """
    commit = _of_checkout(_PACKAGE) or _of_installation(_noted())
    return f"mongo-tables {mongo_tables.__version__}" + (f"+g{commit}" if commit else "")


def _of_checkout(package: Path) -> str:
    """The commit of a package's folder in a work tree; empty where Git does not follow its files."""
    if _git(package, "ls-files", "--", "__init__.py") in (None, ""):
        return ""
    commit = _git(package, "rev-parse", f"--short={_DIGITS}", "HEAD")
    if not commit:
        return ""
    # Results and pages may differ: a run writes some itself.
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return f"{commit}.changed" if changed else commit


def _of_installation(noted: str | None) -> str:
    """The commit in a ``direct_url.json``; empty where there is no such file, or no repository in it."""
    commit = json.loads(noted or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(commit)[:_DIGITS]


def _noted() -> str | None:
    try:
        return metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None


def _git(folder: Path, *asked: str) -> str | None:
    """What Git answers in a folder, None where it cannot."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, check=False, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
