"""Whatever cuts a run off: no row is lost, none doubled, nothing is left behind, and ``--resume`` finishes it."""

from __future__ import annotations

import random
import signal
import time

import psutil
import pytest
from pymongo import MongoClient

from preprocessor.runner.store import FileStore
from tests.runner.processes import TINY, finish, start

VARIANTS = 6
SLOW = TINY.split("[[variants]]")[0].replace("repeats = 3", "repeats = 1") + "".join(
    f"\n[[variants]]\ndocSizeKB = {size}.0\ntotalDocsToInsert = 2000\nwriteBatchSize = 3\n"
    for size in range(1, VARIANTS + 1)
)
DATABASE = "mongo_tables_tiny"


@pytest.fixture
def slow(tiny):
    """An experiment whose variants take a moment each."""
    tiny.write_text(SLOW.replace("writeBatchSize = 7\n", ""), encoding="utf-8")
    return tiny


def rows(folder):
    return FileStore(folder).rows("tiny")


def wait_until(process, condition, seconds=90.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, finish(process)
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children_of(process):
    return psutil.Process(process.pid).children(recursive=True)


def test_a_run_that_is_killed_again_and_again_completes_without_losing_or_doubling_a_row(
    replica_set, slow, tmp_path
):
    out = tmp_path / "out"
    arguments = (slow, "--target", replica_set.uri, "--output", out)
    chance = random.Random(20)
    first = []
    for attempt in range(4):
        process = start(*arguments, *(["--resume"] if attempt else []))
        time.sleep(chance.uniform(0.8, 3.0))
        children = children_of(process)
        process.kill()
        finish(process)
        _, alive = psutil.wait_procs(children, timeout=3)
        assert alive == []
        first = first or [row["start_time"] for row in rows(out)]
    code, _, err = finish(start(*arguments, "--resume"))
    assert code == 0, err
    assert [row["variant"]["docSizeKB"] for row in rows(out)] == [float(n) for n in range(1, VARIANTS + 1)]
    assert [row["start_time"] for row in rows(out)][: len(first)] == first
    with MongoClient(replica_set.uri) as client:
        assert DATABASE not in client.list_database_names()
    assert not (out / ".runs").exists()


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
    members = [child for child in children_of(process) if child.name().startswith("mongod")]
    for member in members:
        member.kill()
    died = time.monotonic()
    code, _, err = finish(process)
    assert time.monotonic() - died < 30
    assert code == 2
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("mongo-tables run:")]) == 1
    assert len(members) == 3
    written = [row["start_time"] for row in rows(out)]
    code, _, err = finish(start(*arguments, "--resume"))
    assert code == 0, err
    assert len(rows(out)) == VARIANTS
    assert [row["start_time"] for row in rows(out)][: len(written)] == written
