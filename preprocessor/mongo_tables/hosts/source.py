"""Where a site's results come from: the option, the environment, the folder they are relative to."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.files.environment import results_named
from mongo_tables.results.opening import is_uri, move_source


def results_source(option: str, folder: Path) -> str:
    """The results source to use: what the environment says, otherwise the option.

    The environment comes first so that one configuration serves the author's laptop (fixtures) and a build
    that reads a database. Paths are relative to ``folder``, the one of the configuration file.
    """
    return move_source(results_named() or option.strip(), folder, str)


def find_watched_path(where: str) -> str | None:
    """The file or folder to watch for changes; None for a database, and for a path that does not exist."""
    return where if not is_uri(where) and Path(where).exists() else None
