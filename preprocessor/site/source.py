"""Where a site's results come from: the option, the environment, the folder they are relative to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from preprocessor.results import URI_SCHEMES

VARIABLE: Final = "MONGO_TABLES_RESULTS"


def results_source(option: str, folder: Path) -> str:
    """The results source to use: what the environment says, otherwise the option.

    The environment comes first so that one configuration serves the author's laptop (fixtures) and a build
    that reads a database. A path is relative to ``folder``, the one of the configuration file.
    """
    where = os.environ.get(VARIABLE, "").strip() or option.strip()
    if where.lower().startswith(URI_SCHEMES) or "://" in where:
        return where
    return str(folder / where)


def watched_folder(where: str) -> str | None:
    """The folder to watch for changed results; None for a database."""
    return where if "://" not in where and Path(where).is_dir() else None
