"""The pytest plugin: a setting, a marker, and the fixture ``mongo_database``.

A project loads it in its root ``conftest.py``: ``pytest_plugins = ["mongo_tables.results.testing.plugin"]``. pytest
then loads it in every run, even if no test requests the fixture. Therefore, it imports its modules on demand.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.mock_database import FixtureDatabase

SETTING: Final = "mongo_fixtures"
"""The name of pytest's setting for the fixture folder, and of the marker."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting that names the fixture folder."""
    parser.addini(
        SETTING,
        "the fixture folder of mongo_database, relative to the file with this setting",
        default="fixtures",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker with pytest."""
    config.addinivalue_line(
        "markers",
        f"{SETTING}(folder): the fixture folder of mongo_database, relative to the file of the test",
    )


@pytest.fixture(scope="session")
def _mongo_sources() -> dict[Path, FileSource]:
    """The sources of this run, by their folder."""
    return {}


@pytest.fixture
def mongo_database(request: pytest.FixtureRequest, _mongo_sources: dict[Path, FileSource]) -> FixtureDatabase:
    """A mongomock database with the documents of the fixture folder. Its ``aggregate`` returns what a server returns.

    Each test gets a new database with the current files. Its writes change no file, and other tests do not see them.
    """
    from mongo_tables.results.testing.fixture_folder import open_database

    return open_database(request, _mongo_sources, SETTING)
