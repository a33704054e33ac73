"""The Administration API, asked by whom the environment names."""

from __future__ import annotations

from typing import Final

from mongo_tables.files.environment import read_variable
from mongo_tables.runner.atlas import clock as clocks
from mongo_tables.runner.atlas.api import ADDRESS, Api
from mongo_tables.runner.atlas.credentials import read_credentials

BASE_VARIABLE: Final = "MONGO_TABLES_ATLAS_API"
"""Another address of the Administration API: that of a stand-in."""


def open_api(project: str) -> Api:
    """What asks Atlas about the project; nothing is asked yet. Raises RunnerError where nobody says who asks."""
    base = read_variable(BASE_VARIABLE) or ADDRESS
    return Api(project, read_credentials(), clocks.Clock(), base)
