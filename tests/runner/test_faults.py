"""Whatever cuts a run off: no row is lost, none doubled, nothing is left behind, and ``--resume`` finishes it."""

from __future__ import annotations

import random
import signal
import time

import pytest
from pymongo import MongoClient

from preprocessor.runner.store import FileStore
from tests.runner import faults
from tests.runner.faults import Counts
from tests.runner.processes import SLOW, VARIANTS, finish, servers_of, start, wait_until

DATABASE = "mongo_tables_tiny"


@pytest.fixture
def slow(tiny):
    """An experiment whose variants take a moment each."""
    tiny.write_text(SLOW, encoding="utf-8")
    return tiny


def rows(folder):
    return FileStore(folder).rows("tiny")


def test_a_run_that_is_killed_again_and_again_completes_without_losing_or_doubling_a_row(
    replica_set, tmp_path
):
    counts = Counts()
    faults.kill_runners(3, random.Random(20), tmp_path, replica_set.uri, counts)
    assert counts.kills == 3
    assert counts.violations == []
    assert counts.runs >= 1
    assert not (tmp_path / "out" / ".runs").exists()


def test_ctrl_c_on_a_deployment_leaves_no_database_and_says_how_to_go_on(replica_set, slow, tmp_path):
    process = start(slow, "--target", replica_set.uri, "--output", tmp_path / "out")
    wait_until(process, lambda: rows(tmp_path / "out"))
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    code, _, err = finish(process)
    assert time.monotonic() - asked < 3
    assert code == 130
    assert "--resume" in err
    time.sleep(0.5)
    with MongoClient(replica_set.uri) as client:
        assert DATABASE not in client.list_database_names()


def test_other_options_are_not_a_resumed_run(replica_set, slow, tmp_path):
    out = tmp_path / "out"
    process = start(slow, "--target", replica_set.uri, "--output", out)
    wait_until(process, lambda: (out / ".runs" / "tiny.json").exists())
    process.kill()
    finish(process)
    code, _, err = finish(
        start(slow, "--target", replica_set.uri, "--output", out, "--scale", 0.5, "--resume")
    )
    assert code == 2
    assert "had another scale" in err


def test_a_mongod_that_dies_ends_the_run_with_one_line_and_the_rest_can_be_resumed(slow, tmp_path):
    out = tmp_path / "out"
    arguments = (slow, "--output", out, "--scale", 0.3)
    process = start(*arguments)
    wait_until(process, lambda: rows(out))
    members = servers_of(process)
    for member in members:
        member.kill()
    code, _, err = finish(process)
    assert code == 2
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("mongo-tables run:")]) == 1
    assert len(members) == 3
    written = [row["start_time"] for row in rows(out)]
    code, _, err = finish(start(*arguments, "--resume"))
    assert code == 0, err
    assert len(rows(out)) == VARIANTS
    assert [row["start_time"] for row in rows(out)][: len(written)] == written
