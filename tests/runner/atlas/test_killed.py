"""A run that is killed, wherever it was: a sweep finds what it left, and nothing else."""

from __future__ import annotations

import os
import traceback
from contextlib import closing
from math import inf

import pytest

from mongo_tables.runner.atlas.api import open_api
from mongo_tables.runner.atlas.clusters import sweep
from mongo_tables.runner.atlas.costs import read_prices
from mongo_tables.runner.atlas.target import begin_run, open_atlas
from tests.runner.atlas.foreign import add_foreign, check_foreign_alone, foreign_of
from tests.runner.atlas.project import PROJECT
from tests.runner.atlas.test_lifecycle import FASTER, M50, M60, PRICES, RUN, WHERE

CHANGES = 12
"""So many requests of it make, change or remove something: also users and addresses are removed."""


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    return read_prices(path)


def use_three_machines(prices):
    """A run in small: a cluster, another tier of it, one with another disk."""
    with closing(open_atlas(WHERE, begin_run(prices, inf, RUN), lambda text: None)) as target:
        for machine in (M50, M60, FASTER):
            target.prepare({"instance": machine}, 1.0)


def killed_run(atlas, prices):
    """Have a process do it that is killed; give whether it was."""
    known, told = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.read(known, 1)  # not before the fake knows whom to kill
            use_three_machines(prices)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    atlas.victim = child
    os.write(told, b"!")
    _, status = os.waitpid(child, 0)
    os.close(known)
    os.close(told)
    atlas.victim = None
    return os.WIFSIGNALED(status)


def check_sweep(atlas, before):
    """A sweep leaves nothing of ours, everything of others, and no more to pay."""
    sweep(open_api(PROJECT), lambda text: None)
    check_foreign_alone(atlas.project, before)
    assert all(one.paid_until for one in atlas.project.ended)


def test_a_run_that_is_killed_while_a_cluster_is_made_is_swept(usable, prices):
    add_foreign(usable.project)
    before = foreign_of(usable.project)
    usable.changes, usable.kill_at, usable.kill_when_done = 0, 3, True
    assert killed_run(usable, prices)
    usable.kill_at = 0
    assert usable.project.clusters
    check_sweep(usable, before)


def test_a_run_that_nobody_kills_leaves_nothing(usable, prices):
    use_three_machines(prices)
    assert not (usable.project.clusters or usable.project.users or usable.project.access)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "done",
    [pytest.param(False, id="before", marks=pytest.mark.exhaustive), pytest.param(True, id="behind")],
)
def test_a_run_killed_at_any_change_is_swept_whether_atlas_did_it_or_not(usable, prices, done):
    add_foreign(usable.project)
    before = foreign_of(usable.project)
    killed = 0
    for number in range(1, 99):
        usable.changes, usable.kill_at, usable.kill_when_done = 0, number, done
        was = killed_run(usable, prices)
        usable.kill_at = 0
        if not was:
            break
        killed += 1
        check_sweep(usable, before)
    assert killed == CHANGES
    assert foreign_of(usable.project) == before
