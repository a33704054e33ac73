"""The pytest plugin: a setting, a marker, and the fixture ``mongo_database``.

A project loads it in its root ``conftest.py``: ``pytest_plugins = ["mongo_tables.results.testing.plugin"]``. It is
loaded in every run there, also if no test requests a fixture, so the fixtures import the modules that they need.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import pytest

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.mock_database import FixtureDatabase
    from mongo_tables.results.model import ResultsError

_SETTING: Final = "mongo_fixtures"
"""The name of pytest's setting and of the marker for the fixture folder."""
_HINT: Final = (
    f"name a folder with a folder of *.jsonl for each collection, by `{_SETTING}` in the settings of pytest or by "
    f"@pytest.mark.{_SETTING}(…)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting that names the fixture folder."""
    parser.addini(
        _SETTING,
        "the fixture folder of mongo_database, seen from the file with the settings",
        default="fixtures",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker with pytest."""
    config.addinivalue_line(
        "markers", f"{_SETTING}(folder): the fixture folder of mongo_database, seen from the file of the test"
    )


@pytest.fixture(scope="session")
def _mongo_sources() -> dict[Path, FileSource]:
    """The fixture folders that were read in this run."""
    return {}


@pytest.fixture
def mongo_database(request: pytest.FixtureRequest, _mongo_sources: dict[Path, FileSource]) -> FixtureDatabase:
    """A mongomock database with the documents of the fixture folder. ``aggregate`` gives what a server gives.

    Each test has its own database: its writes are not visible to other tests, and change no file.
    """
    from mongo_tables.files.folders import shorten_path
    from mongo_tables.results.file_source import open_fixtures
    from mongo_tables.results.model import ResultsError

    folder, place = _find_folder(request)
    try:
        if folder not in _mongo_sources:
            if not folder.is_dir():
                _fail(place, f"there is no fixture folder {shorten_path(folder)}", _HINT)
            source = open_fixtures(folder)
            source.reach()
            _mongo_sources[folder] = source
        return _mongo_sources[folder].with_own_database().database
    except ResultsError as error:
        _fail_for(place, error)


class _NamedFolder(NamedTuple):
    """A fixture folder, and the place that names it, or "" for the default."""

    folder: Path
    place: str


def _find_folder(request: pytest.FixtureRequest) -> _NamedFolder:
    """Return the folder that the marker nearest to the test names, else pytest's setting."""
    from mongo_tables.files.folders import shorten_path

    marker = request.node.get_closest_marker(_SETTING)
    if marker is None:
        config = request.config
        above = config.rootpath if config.inipath is None else config.inipath.parent
        return _NamedFolder((above / config.getini(_SETTING)).resolve(), _place_of_setting(config.inipath))
    place = f"{shorten_path(request.path)}:{(request.node.location[1] or 0) + 1}:1"
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str | Path):
        _fail(place, f"the marker `{_SETTING}` requires one folder")
    return _NamedFolder((request.path.parent / marker.args[0]).resolve(), place)


def _place_of_setting(file: Path | None) -> str:
    """Return the place in pytest's configuration file that names the folder, or "" if there is none."""
    from mongo_tables.files.folders import shorten_path

    if file is None:
        return ""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if found := re.match(rf"\s*{_SETTING}\s*[=:]", line):
            return f"{shorten_path(file)}:{number}:{found[0].index(_SETTING) + 1}"
    return ""


def _fail(place: str, message: str, hint: str = "") -> NoReturn:
    """Fail the test with ``FILE:LINE:COLUMN: message`` and the hint, without a traceback. A place may be ""."""
    from mongo_tables.findings.reporters import escape_control_chars, hint_line

    lines = map(escape_control_chars, (f"{place}: {message}" if place else message).split("\n"))
    text = "\n".join([*lines, *([hint_line(hint)] if hint else [])])
    raise pytest.fail.Exception(text, pytrace=False) from None


def _fail_for(place: str, error: ResultsError) -> NoReturn:
    """Fail the test for an error. Each fault of a file has a line with its own place."""
    _fail("" if error.findings else place, error.message, error.hint)
