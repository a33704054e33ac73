"""The pytest plugin: a setting, a marker, and the fixture ``mongo_database``.

A project loads it in its root ``conftest.py``: ``pytest_plugins = ["mongo_tables.results.testing.plugin"]``. It is
loaded in every run there, also if no test requests a fixture, so the fixtures import the modules that they need.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.mock_database import FixtureDatabase

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
        "the folder with the fixtures of mongo_database, relative to the file with the settings",
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

    Each test has its own database, of the files as they are then: its writes are not visible to other tests, and
    change no file.
    """
    from mongo_tables.files.process import install_command
    from mongo_tables.findings.reporters import escape_control_chars, hint_line
    from mongo_tables.results.model import ResultsError, unusable

    try:
        source = _open(_find_folder(request), _mongo_sources)
        try:
            from mongo_tables.results.mock_database import FixtureDatabase
        except ModuleNotFoundError as error:
            if error.name != "mongomock":
                raise
            message = "files as a database are made by mongomock, which is not installed"
            raise unusable(message, install_command("testing")) from None
        return FixtureDatabase(source)
    except ResultsError as error:
        place = "" if error.findings else _find_place(request)  # Faults of a file have their own places.
        lines = [*map(escape_control_chars, f"{place}{error.message}".split("\n"))]
        text = "\n".join([*lines, *([hint_line(error.hint)] if error.hint else [])])
        raise pytest.fail.Exception(text, pytrace=False) from None


def _open(folder: Path, known: dict[Path, FileSource]) -> FileSource:
    """Return the source over a fixture folder as it is now. Raises ``ResultsError``.

    All tests of the run share it, so that only files that a test changed are decoded again.
    """
    from mongo_tables.files.folders import shorten_path
    from mongo_tables.results.file_source import open_fixtures
    from mongo_tables.results.model import unusable

    if not folder.is_dir():
        raise unusable(f"there is no fixture folder {shorten_path(folder)}", _HINT)
    source = known.setdefault(folder, open_fixtures(folder))
    source.refresh()
    source.reach()
    return source


def _find_folder(request: pytest.FixtureRequest) -> Path:
    """Return the folder that the marker nearest to the test names, else pytest's setting."""
    from mongo_tables.results.model import unusable

    marker = request.node.get_closest_marker(_SETTING)
    if marker is None:
        config = request.config
        above = config.rootpath if config.inipath is None else config.inipath.parent
        return Path(above, config.getini(_SETTING)).resolve()
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str | Path):
        raise unusable(f"the marker `{_SETTING}` requires one folder")
    return (request.path.parent / marker.args[0]).resolve()


def _find_place(request: pytest.FixtureRequest) -> str:
    """Return ``FILE:LINE:COLUMN: `` of the test with the marker, else of pytest's setting, or "" without both."""
    from mongo_tables.files.folders import shorten_path

    if request.node.get_closest_marker(_SETTING):
        return f"{shorten_path(request.path)}:{(request.node.location[1] or 0) + 1}:1: "
    file = request.config.inipath
    lines = file.read_text("utf-8").splitlines() if file else []
    number = next((number for number, line in enumerate(lines, 1) if line.startswith(_SETTING)), 0)
    return f"{shorten_path(file)}:{number}:1: " if file and number else ""
