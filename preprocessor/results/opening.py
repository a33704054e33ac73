"""Which results source a text names."""

from __future__ import annotations

import re
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from preprocessor.results.model import Limits, ResultsError, ResultsSource

_URI_SCHEMES = ("mongodb://", "mongodb+srv://")


def is_uri(where: str, folder: Path = Path()) -> bool:
    """Whether ``where`` is a URI, or was meant to be one, and so may hold a password; otherwise it is a path.

    A path is relative to ``folder``. What has an ``@``, or begins with ``mongodb``, is a path only as far as
    there is such a file or folder: ``mongodb:/user:password@host`` lacks a slash.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", where.strip()):
        return True
    path = folder / where.strip()
    there = next((place for place in (path, *path.parents) if lexists(place)), Path())
    absent = str(path.relative_to(there)) if path != there else ""
    return "@" in absent or absent.lower().startswith("mongodb")


def open_source(where: str, limits: Limits | None = None) -> ResultsSource:
    """The source that ``where`` names: a ``mongodb://`` or ``mongodb+srv://`` URI, otherwise a fixture
    folder.

    Nothing is connected or read yet. Raises ``ResultsError`` for a URI that cannot be one, and for a blank.
    """
    where, limits = where.strip(), limits or Limits()
    if not where:
        raise ResultsError(
            "an empty text names no results source",
            hint="give mongodb://HOST/DATABASE, or the path of a fixture folder (. for this one)",
            environment=True,
        )
    if where.lower().startswith(_URI_SCHEMES):
        from preprocessor.results.mongodb import MongoSource

        return MongoSource(where, limits)
    if is_uri(where):
        raise ResultsError(
            "the results source mongodb://*** is neither a MongoDB URI nor a folder that is there",
            hint="give mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE, or the path of a fixture folder",
            environment=True,
        )
    from preprocessor.results.fixtures import FixtureSource

    return FixtureSource(Path(where), limits)
