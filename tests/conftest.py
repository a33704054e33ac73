"""Fixtures that more than one part of the tests needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import mongod as servers
from tests.madeonce import made_once
from tests.markers import markers_of, try_fewer_examples
from tests.ownsite import build_own_site

# While one works on a property: `--hypothesis-profile=dev`. A property that states a number of examples keeps it. Where
# CI is set Hypothesis takes its own profile `ci`, which draws the same examples each time.
settings.register_profile("dev", max_examples=20, deadline=None)
# On a machine that does something else as well a single example may take longer than its usual limit of 0.2 s.
settings.register_profile("patient", deadline=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("patient")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half as many again as processors, and one: much of the time tests wait for windows, servers and browsers."""
    return (os.cpu_count() or 1) * 3 // 2 + 1


def _asks_for_all_examples(config: pytest.Config) -> bool:
    return "exhaustive" in config.option.markexpr.replace("not exhaustive", "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks each test with what it needs, so that ``-m`` can leave it out; files with long tests come first.

    Properties are tried with few examples, but where exhaustive tests are asked for: there they are among them. A long
    test that began last would be waited for by workers that have nothing left.
    """
    exhaustive = _asks_for_all_examples(config)
    for item in items:
        if isinstance(item, pytest.Function):
            for name in markers_of(item, exhaustive):
                item.add_marker(name)
            if not exhaustive:
                try_fewer_examples(item.function)
    long = {item.path for item in items if item.get_closest_marker("thorough")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="session")
def mongod() -> Iterator[servers.Mongod]:
    """A real server, one for the whole session (under xdist: one for each worker)."""
    with servers.running() as server:
        yield server


@pytest.fixture(scope="session")
def mongod_with_password() -> Iterator[servers.Mongod]:
    """A real server that asks for a password: user ``owner``, password ``known-only-to-tests``."""
    with servers.running(auth=True) as server:
        yield server


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this project's own site, built once for all who look at it, in whichever worker."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "own"
    return made_once(folder, lambda: build_own_site(folder, "1"))
