"""The pytest plugin: an option, a setting, a marker, and the fixtures ``mongo_database`` and ``mongo_aggregate``.

A project loads it in its root ``conftest.py``: ``pytest_plugins = ["mongo_tables.results.testing.plugin"]``. It is
loaded in every run there, also if no test requests a fixture, so the fixtures import the modules that they need.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import pytest

from mongo_tables.files.folders import bad_byte, shorten_path
from mongo_tables.findings.reporters import escape_control_chars, hint_line
from mongo_tables.results.file_source import FileSource, open_fixtures
from mongo_tables.results.model import ResultsError, combine_faults, file_fault
from mongo_tables.results.testing import SETTING, UPDATE

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.mock_database import FixtureDatabase
    from mongo_tables.results.testing.golden_files import GoldenAggregate

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


def fail(text: str) -> NoReturn:
    """Fail the test with only this text, without a traceback of this package."""
    raise pytest.fail.Exception(text, pytrace=False) from None


def say(place: str, message: str, hint: str = "") -> str:
    """Return the text of a failure: ``FILE:LINE:COLUMN: message``, and below it the hint. A place may be ""."""
    line = escape_control_chars(f"{place}: {message}" if place else message)
    return f"{line}\n{hint_line(hint)}" if hint else line


def say_error(place: str, error: ResultsError, at: str = "") -> str:
    """Return the text of a failure for an error. Each fault of a file has a line with its own place.

    ``at`` follows the message: the place in a pipeline.
    """
    if not error.findings:
        return say(place, f"{error.message}{at}", error.hint)
    lines = map(escape_control_chars, error.message.split("\n"))
    return "\n".join([*lines, *([hint_line(error.hint)] if error.hint else [])])


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ``ResultsError``, with the place, if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise combine_faults([file_fault(path, (0, 0), f"cannot be read: {error.strerror}")]) from None
    if bad := bad_byte(content):
        raise combine_faults([file_fault(path, (bad.line, bad.column), "not UTF-8")])
    return content.decode("utf-8-sig")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes golden files, and the setting that names the fixture folder."""
    group = parser.getgroup("mongo-tables", "pipelines of MongoDB, by mongo-tables")
    group.addoption(
        UPDATE,
        action="store_true",
        help="write the rows that mongo_aggregate gets into its golden files, and compare nothing",
    )
    parser.addini(
        SETTING,
        "the fixture folder of mongo_database, seen from the file with the settings",
        default="fixtures",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker with pytest."""
    config.addinivalue_line(
        "markers", f"{SETTING}(folder): the fixture folder of mongo_database, seen from the file of the test"
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the header line of a run that writes golden files."""
    return "mongo-tables: golden files are written, not compared" if config.getoption(UPDATE) else None


@pytest.fixture(scope="session")
def _mongo_sources() -> dict[Path, FileSource]:
    """The fixture folders that were read in this run."""
    return {}


@pytest.fixture(scope="session")
def _mongo_golden_files() -> dict[Path, bytes]:
    """The golden files that were written in this run."""
    return {}


@pytest.fixture
def _mongo_source(request: pytest.FixtureRequest, _mongo_sources: dict[Path, FileSource]) -> FileSource:
    from mongo_tables.results.testing.plugin import open_folder

    return open_folder(request, _mongo_sources)


@pytest.fixture
def mongo_database(_mongo_source: FileSource) -> FixtureDatabase:
    """A mongomock database with the documents of the fixture folder. ``aggregate`` gives what a server gives.

    Each test has its own database: its writes are not visible to other tests, and change no file.
    """
    from mongo_tables.results.testing.plugin import open_database

    return open_database(_mongo_source)


@pytest.fixture
def mongo_aggregate(
    request: pytest.FixtureRequest, _mongo_source: FileSource, _mongo_golden_files: dict[Path, bytes]
) -> GoldenAggregate:
    """A function that runs a pipeline on ``mongo_database`` and compares its rows with a golden file.

    ``mongo_aggregate(collection, pipeline, let=None, golden="")`` returns the rows. ``pipeline`` is a list of stages,
    or the path of a JSON file with one, relative to the test file.
    """
    from mongo_tables.results.testing.golden_files import GoldenAggregate

    return GoldenAggregate(request, _mongo_source, _mongo_golden_files)
