"""A replica set for the runner's tests, and a small experiment."""

from __future__ import annotations

import pytest

from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from tests.runner.processes import TINY


@pytest.fixture(scope="session")
def replica_set():
    """One member is enough for everything but the roles of members."""
    running = LocalReplicaSet(LocalAddress(members=1))
    yield running
    running.close()


@pytest.fixture(scope="module")
def three_members():
    """For what depends on the roles of members."""
    running = LocalReplicaSet(LocalAddress(members=3))
    yield running
    running.close()


@pytest.fixture(scope="module")
def crew():
    """Two processes for the work of a module's tests; one that fails in a worker starts a crew of its own."""
    with WorkerPool(2) as running:
        yield running


@pytest.fixture
def tiny(tmp_path):
    """Path of a small experiment file."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path
