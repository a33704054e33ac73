"""The database of the fixture ``mongo_database``: its folder, its documents, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mongo_tables.files.folders import shorten_path
from mongo_tables.files.process import install_command
from mongo_tables.findings.reporters import escape_control_chars, hint_line
from mongo_tables.results.file_source import FileSource, open_fixtures
from mongo_tables.results.model import ResultsError, unusable

if TYPE_CHECKING:
    from mongo_tables.results.mock_database import FixtureDatabase


def open_database(
    request: pytest.FixtureRequest, known: dict[Path, FileSource], setting: str
) -> FixtureDatabase:
    """Return a new database for a test. If the user made a mistake, the test fails with its place and a hint.

    ``known`` has the sources of this run, so that only changed files are decoded again. ``setting`` is the name of
    pytest's setting for the folder, and of the marker.
    """
    try:
        source = _open(_find_folder(request, setting), known, setting)
        try:
            from mongo_tables.results.mock_database import FixtureDatabase  # mongomock is an extra
        except ModuleNotFoundError as error:
            if error.name != "mongomock":
                raise
            message = "the fixture mongo_database needs mongomock, which is not installed"
            raise unusable(message, install_command("testing")) from None
        return FixtureDatabase(source)
    except ResultsError as error:
        place = "" if error.findings else _find_place(request, setting)  # Findings name their own places.
        lines = [*map(escape_control_chars, f"{place}{error.message}".split("\n"))]
        text = "\n".join([*lines, *([hint_line(error.hint)] if error.hint else [])])
        raise pytest.fail.Exception(text, pytrace=False) from None


def _open(folder: Path, known: dict[Path, FileSource], setting: str) -> FileSource:
    """Return the source of a fixture folder with its current files. Raises ``ResultsError``."""
    if not folder.is_dir():
        raise unusable(
            f"there is no fixture folder {shorten_path(folder)}",
            f"name a folder that has a folder of *.jsonl files for each collection, with `{setting}` in the settings "
            f"of pytest or with @pytest.mark.{setting}(…)",
        )
    source = known.setdefault(folder, open_fixtures(folder))
    source.refresh()
    source.reach()
    return source


def _find_folder(request: pytest.FixtureRequest, setting: str) -> Path:
    """Return the folder that the marker nearest to the test names, or else the folder in pytest's setting."""
    marker = request.node.get_closest_marker(setting)
    if marker is None:
        config = request.config
        above = config.rootpath if config.inipath is None else config.inipath.parent
        return Path(above, config.getini(setting)).resolve()
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str | Path):
        raise unusable(f"the marker `{setting}` requires one folder")
    return (request.path.parent / marker.args[0]).resolve()


def _find_place(request: pytest.FixtureRequest, setting: str) -> str:
    """Return ``FILE:LINE:COLUMN: `` of the test with the marker, or of pytest's setting, or "" if there is neither."""
    if request.node.get_closest_marker(setting):
        return f"{shorten_path(request.path)}:{(request.node.location[1] or 0) + 1}:1: "
    file = request.config.inipath
    lines = file.read_text("utf-8").splitlines() if file else []
    number = next((number for number, line in enumerate(lines, 1) if line.startswith(setting)), 0)
    return f"{shorten_path(file)}:{number}:1: " if file and number else ""
