"""The fixture folder of a test, and its documents: read once per run, unchanged for each test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from mongo_tables.files.text import shorten_path
from mongo_tables.results.file_source import FileSource, open_fixtures
from mongo_tables.results.model import ResultsError
from mongo_tables.results.testing import SETTING
from mongo_tables.results.testing.failures import fail, say, say_error

if TYPE_CHECKING:
    from mongo_tables.results.mock_database import FixtureDatabase

_HINT = (
    f"name a folder with a folder of *.jsonl for each collection, by `{SETTING}` in the settings of pytest or by "
    f"@pytest.mark.{SETTING}(…)"
)


class NamedFolder(NamedTuple):
    """A fixture folder, and the place that names it, or "" for the default."""

    folder: Path
    place: str


def open_folder(request: pytest.FixtureRequest, known: dict[Path, FileSource]) -> FileSource:
    """Open the fixture folder of a test as a source of its own. ``known`` are the sources that were read before.

    The test fails if the folder does not exist or has no collections; the message has the place that names it.
    """
    folder, place = find_folder(request)
    if folder not in known:
        if not folder.is_dir():
            message = f"there is no fixture folder {shorten_path(folder)}"
            fail(say(place, message, _HINT))
        source = open_fixtures(folder)
        try:
            source.reach()
        except ResultsError as error:
            fail(say_error(place, error))
        known[folder] = source
    return known[folder].with_own_database()


def open_database(source: FileSource) -> FixtureDatabase:
    """Return the database of a source. If mongomock is missing, the test fails with how to install it."""
    try:
        return source.database
    except ResultsError as error:
        fail(say_error("", error))


def find_folder(request: pytest.FixtureRequest) -> NamedFolder:
    """Return the folder that the marker nearest to the test names, else pytest's setting."""
    marker = request.node.get_closest_marker(SETTING)
    if marker is None:
        config = request.config
        above = config.rootpath if config.inipath is None else config.inipath.parent
        return NamedFolder((above / config.getini(SETTING)).resolve(), _place_of_setting(config.inipath))
    place = f"{shorten_path(request.path)}:{(request.node.location[1] or 0) + 1}:1"
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str | Path):
        fail(say(place, f"the marker `{SETTING}` requires one folder"))
    return NamedFolder((request.path.parent / marker.args[0]).resolve(), place)


def _place_of_setting(file: Path | None) -> str:
    """Return the place in pytest's configuration file that names the folder, or "" if there is none."""
    if file is None:
        return ""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if found := re.match(rf"\s*{SETTING}\s*[=:]", line):
            return f"{shorten_path(file)}:{number}:{found[0].index(SETTING) + 1}"
    return ""
