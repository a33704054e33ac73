"""A run that is killed, wherever it was: a sweep finds what it left, and nothing else."""

from __future__ import annotations

import os
import resource
import shutil
import traceback
from contextlib import closing
from math import inf

import pytest

from mongo_tables.runner.atlas import api, clusters
from mongo_tables.runner.atlas.api import open_api
from mongo_tables.runner.atlas.clusters import projects, sweep
from mongo_tables.runner.atlas.costs import read_prices
from mongo_tables.runner.atlas.target import begin_run, open_atlas
from mongo_tables.runner.errors import RunnerError
from tests.runner.atlas.fake import ROOT
from tests.runner.atlas.foreign import add_foreign, check_foreign_alone, foreign_of
from tests.runner.atlas.project import PROJECT
from tests.runner.atlas.test_lifecycle import FASTER, M50, M60, PRICES, RUN, WHERE

JOURNALLED = (
    "let in", "create cluster", "make user", "change cluster", "delete cluster", "create cluster", "make user",
    "delete cluster",
)  # fmt: skip
"""What a run with these three variants writes down."""
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


def killed_run(atlas, prices, dies=None):
    """Have a process do it that is killed; give whether it was. ``dies`` says after which lines of its journal."""
    known, told = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.read(known, 1)  # not before the fake knows whom to kill
            if dies:
                die_behind_line(dies)
            atlas_works(prices)
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


def atlas_works(prices):
    use_three_machines(prices)
    os._exit(0)


def behind_line(patch, act):
    """Have this be done right behind each line of the journal: it is given the journal's path and all actions so far."""
    add, added = clusters.Journal._add, []

    def add_and_act(self, action, what):
        add(self, action, what)
        added.append(action)
        act(self._path, added)

    patch.setattr(clusters.Journal, "_add", add_and_act)


def die_behind_line(number):
    """Kill this process right behind the line of that number, before anything is asked."""

    def die(path, added):
        if len(added) == number:
            os.kill(os.getpid(), 9)

    behind_line(pytest.MonkeyPatch(), die)


def check_sweep(atlas, before):
    """A sweep leaves nothing of ours, everything of others, and no more to pay."""
    sweep(open_api(PROJECT), lambda text: None)
    check_foreign_alone(atlas.project, before)
    assert list(clusters.found()) == []
    assert projects() == []
    assert all(one.paid_until for one in atlas.project.ended)


@pytest.mark.parametrize(
    "line", range(1, len(JOURNALLED) + 1), ids=lambda line: f"{line}-{JOURNALLED[line - 1]}"
)
def test_a_run_killed_behind_any_line_of_its_journal_is_swept(usable, prices, line):
    add_foreign(usable.project)
    before = foreign_of(usable.project)
    assert killed_run(usable, prices, dies=line)
    (written,) = clusters.found()
    assert [one["do"] for one in written.actions] == list(JOURNALLED[:line])
    assert written.is_left
    check_sweep(usable, before)


def removed(path):
    """Somebody removes the folder."""
    shutil.rmtree(path.parent)


def full(path):
    """No line can be added, as on a disk that is full."""
    path.unlink()
    path.symlink_to("/dev/full")


@pytest.mark.parametrize("spoil", [removed, full])
@pytest.mark.parametrize("line", range(1, len(JOURNALLED)), ids=lambda line: f"{line}-{JOURNALLED[line - 1]}")
def test_a_run_that_can_write_nothing_down_any_more_removes_all_that_it_made(
    usable, prices, monkeypatch, line, spoil
):
    add_foreign(usable.project)
    before = foreign_of(usable.project)
    behind_line(monkeypatch, lambda path, added: spoil(path) if len(added) == line else None)
    with pytest.raises(RunnerError, match="cannot be written down") as failed:
        use_three_machines(prices)
    assert "run --sweep" not in failed.value.hint
    check_foreign_alone(usable.project, before)
    assert list(clusters.found()) == []
    assert all(one.paid_until for one in usable.project.ended)
    ordered = usable.asked().count(f"POST {ROOT}clusters")
    assert ordered == JOURNALLED[:line].count("create cluster")


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


def test_a_run_that_nobody_kills_writes_down_what_it_does_and_leaves_nothing(usable, prices, monkeypatch):
    written = []
    behind_line(monkeypatch, lambda path, added: written.append(added[-1]))
    use_three_machines(prices)
    assert tuple(written) == JOURNALLED
    assert not usable.project.clusters
    assert not list(clusters.found())


def test_a_line_that_only_begins_to_fit_is_not_there_and_the_next_one_is_read(account):
    written = clusters.Journal(PROJECT, api.Clock(), RUN)
    written.note("create cluster", name="one")
    (before,) = clusters.found()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (before.path.stat().st_size + 9, limits[1]))
    try:
        written.note_removal("delete cluster", name="one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written down" in written.fault
    written.note("create cluster", name="two")
    (behind,) = clusters.found()
    assert behind.named("create cluster") == ["one", "two"]
    assert behind.named("delete cluster") == []


def test_no_journal_has_a_secret(usable, prices):
    assert killed_run(usable, prices, dies=len(JOURNALLED))
    (written,) = clusters.found()
    text = written.path.read_text("utf-8")
    passwords = [
        one.body["password"] for one in usable.seen if one.path.endswith("databaseUsers") and one.body
    ]
    assert len(passwords) == 2
    assert not any(password in text for password in passwords)
    assert written.path.stat().st_mode & 0o777 == 0o600
    sweep(open_api(PROJECT), lambda text: None)
