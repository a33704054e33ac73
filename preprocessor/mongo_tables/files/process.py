"""The process: its environment variables, the current day, its installation, and its garbage collector.

A command needs most of its objects until it ends, and creates few reference cycles. With Python's defaults, the
collector would scan all loaded pages, documents and rows again and again.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any, Final
from urllib.parse import unquote

RESULTS_VARIABLE = "MONGO_TABLES_RESULTS"
TARGET_VARIABLE = "MONGO_TABLES_TARGET"
OUTPUT_VARIABLE = "MONGO_TABLES_OUTPUT"
SERVERS_VARIABLE = "MONGO_TABLES_SERVERS"
ATLAS_CLIENT = ("MONGODB_ATLAS_CLIENT_ID", "MONGODB_ATLAS_CLIENT_SECRET")
"""The variables of an Atlas service account, with the names that Atlas uses in its own examples."""


def read_variable(variable: str) -> str:
    """Return the value of an environment variable, or "" if it is not set or blank."""
    return os.environ.get(variable, "").strip()


def today() -> date:
    """Return the current day in UTC, or the day of ``SOURCE_DATE_EPOCH`` if it is set.

    https://reproducible-builds.org defines that variable.
    """
    try:
        return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), UTC).date()
    except (ValueError, OverflowError, OSError):  # It is not set, or out of range.
        return datetime.now(UTC).date()


_SELDOM: Final = 100_000
"""The number of new objects between two collections. A larger number would need more memory without saving time."""


@contextmanager
def seldom_collected(objects: int = _SELDOM) -> Iterator[None]:
    """Run the garbage collector only after this number of new objects, and not at the end of the process.

    At the end, the operating system frees all objects; Python would first scan them several times.
    """
    often = gc.get_threshold()
    gc.set_threshold(objects, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        atexit.register(gc.freeze)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Disable the collector while many objects are created. Afterwards, only full collections scan these objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
            gc.enable()


def read_origin() -> dict[str, Any]:
    """Return the installer's record of the program's origin, or {} if the program comes from a package index.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found: dict[str, Any] = json.loads(distribution("mongo-tables").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return found


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    If the program does not come from a package index, the command names its origin, because the name of the program
    could belong to another program on the index.
    """
    origin = read_origin()
    url, vcs = origin.get("url", ""), origin.get("vcs_info", {})
    if url.startswith("file://"):
        named = f"{unquote(url.removeprefix('file://'))}[{extra}]"
    else:
        named = f"mongo-tables[{extra}]"
        named += f" @ {vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else f" @ {url}" if url else ""
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{named}'"
