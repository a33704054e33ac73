"""A fake Atlas for each test, its clock the one of the program, its account that of the environment."""

from __future__ import annotations

import pytest

from mongo_tables.files.process import ATLAS_CLIENT
from mongo_tables.runner.atlas import api
from mongo_tables.runner.atlas.api import BASE_VARIABLE
from tests.runner.atlas.contract import is_there, violations
from tests.runner.atlas.fake import CLIENT, SECRET, serving


@pytest.fixture
def account(monkeypatch):
    """Who asks."""
    for name, value in zip(ATLAS_CLIENT, (CLIENT, SECRET), strict=True):
        monkeypatch.setenv(name, value)


@pytest.fixture
def atlas(account, monkeypatch):
    """A fake whose clusters nobody can use."""
    with serving() as fake:
        monkeypatch.setenv(BASE_VARIABLE, fake.base)
        monkeypatch.setattr(api, "LocalClock", lambda: fake.time)
        yield fake
        check_contract(fake)


@pytest.fixture
def usable(account, monkeypatch, replica_set):
    """A fake whose clusters are a replica set that runs here."""
    with serving(replica_set.uri) as fake:
        monkeypatch.setenv(BASE_VARIABLE, fake.base)
        monkeypatch.setattr(api, "LocalClock", lambda: fake.time)
        yield fake
        check_contract(fake)


def check_contract(fake):
    """Where the specification is given: every request and every answer is one of it, but for those that a test altered."""
    if is_there() and not fake.is_altered:
        assert [f"{one.method} {one.path}: {fault}" for one in fake.seen for fault in violations(one)] == []
