"""The pytest plugin: an option, a setting, a marker, and the fixtures ``mongo_database`` and ``mongo_aggregate``.

A project loads it in its root ``conftest.py``: ``pytest_plugins = ["mongo_tables.results.testing.plugin"]``. It is
loaded in every run there, also if no test requests a fixture, so the fixtures import the modules that they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mongo_tables.results.testing import SETTING, UPDATE

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.mock_database import FixtureDatabase
    from mongo_tables.results.testing.golden_files import GoldenAggregate


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
    from mongo_tables.results.testing.fixture_folder import open_folder

    return open_folder(request, _mongo_sources)


@pytest.fixture
def mongo_database(_mongo_source: FileSource) -> FixtureDatabase:
    """A mongomock database with the documents of the fixture folder. ``aggregate`` gives what a server gives.

    Each test has its own database: its writes are not visible to other tests, and change no file.
    """
    from mongo_tables.results.testing.fixture_folder import open_database

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
