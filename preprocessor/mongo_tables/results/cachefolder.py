"""Where copies that only save time are kept: a folder of the user's own, outside of every checkout.

What lies in a checkout came with it, from whoever wrote it; a copy that is believed must have been made here.
So it is kept where the platform keeps such things, and is believed only as far as no other user can have put it there.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from pathlib import Path

VARIABLE = "MONGO_TABLES_CACHE"
"""Environment variable with another folder for the caches of all projects; set but empty, nothing is kept."""

DIGITS = 32
"""So many hexadecimal digits name the cache of one project."""

_NAME = "mongo-tables"
_OWNER_ALONE = 0o700
_OF_OTHERS = 0o077


def folder_for(project: Path) -> Path | None:
    """The cache of a project, which any path of it may stand for as long as it is always the same; None = no cache.

    Whether the folder is there, and is to be believed, is not looked at.
    """
    root = root_folder()
    if root is None:
        return None
    return root / hashlib.sha256(os.fsencode(os.path.realpath(project))).hexdigest()[:DIGITS]


def root_folder() -> Path | None:
    """The folder of all caches: what ``MONGO_TABLES_CACHE`` names, else the platform's; None = no cache."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named).absolute() if named else None
    platform = _platform_folder()
    if platform is None or any((above / ".git").exists() for above in (platform, *platform.parents)):
        return None
    return platform / _NAME


def _platform_folder() -> Path | None:
    """Where programs of this user keep caches, by the customs of the platform; None where there is no such place.

    Done by hand, as importing platformdirs takes longer than a whole cached answer. A path that is not absolute
    would lead into the working folder: https://specifications.freedesktop.org/basedir-spec/latest/.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (pathlib's raises where there is no home)
    if sys.platform == "win32":
        named, usual = os.environ.get("LOCALAPPDATA", ""), home / "AppData/Local"
    elif sys.platform == "darwin":
        named, usual = "", home / "Library/Caches"
    else:
        named, usual = os.environ.get("XDG_CACHE_HOME", ""), home / ".cache"
    found = Path(named) if Path(named).is_absolute() else usual
    return found if found.is_absolute() else None


def prepare(folder: Path) -> None:
    """Make a project's cache, for its owner alone. Raises ``OSError``."""
    folder.parent.mkdir(mode=_OWNER_ALONE, parents=True, exist_ok=True)
    folder.mkdir(mode=_OWNER_ALONE, exist_ok=True)


def is_believed(folder: Path) -> bool:
    """Whether a project's cache is there, and only this user can have put something into it.

    On Windows, which has no numbers of users, it is enough that it is there.
    """
    try:
        status = folder.lstat()
        return (
            stat.S_ISDIR(status.st_mode)
            and is_own(status)
            and is_own(folder.parent.stat())
            and _is_private(status)
        )
    except OSError:
        return False


def is_own(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user."""
    return sys.platform == "win32" or status.st_uid == os.geteuid()


def _is_private(status: os.stat_result) -> bool:
    return sys.platform == "win32" or not status.st_mode & _OF_OTHERS
