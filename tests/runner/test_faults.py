"""Whatever cuts a run off: no row is lost, none doubled, nothing is left behind, and ``--resume`` finishes it."""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.store import FileStore
from tests.runner import faults
from tests.runner.faults import Counts
from tests.runner.processes import SLOW, VARIANTS, finish, kill, measured, servers_of, start, wait_until

DATABASE = "mongo_tables_tiny"


@pytest.fixture
def slow(tiny):
    """An experiment whose variants take a moment each."""
    tiny.write_text(SLOW, encoding="utf-8")
    return tiny


LASTING_VARIANTS = 3
LASTING = "\n[[variants]]".join(SLOW.split("\n[[variants]]")[: LASTING_VARIANTS + 1]).replace(
    "totalDocsToInsert = 1000", "totalDocsToInsert = 2_000_000\noperationsPerSecond = 300"
)
"""One whose windows last as long as ``SECONDS`` say, so that a run is cut off in the middle for certain."""
SECONDS = ("--seconds", 1)


def rows(folder):
    return FileStore(folder).rows("tiny")


@pytest.mark.exhaustive
def test_a_run_that_is_killed_again_and_again_completes_without_losing_or_doubling_a_row(
    replica_set, tmp_path
):
    counts = Counts()
    chance = random.Random(20)
    faults.kill_runners(1, chance, tmp_path, replica_set.uri, counts)
    faults.kill_runners(1, chance, tmp_path, replica_set.uri, counts, targets=("a", "b"))
    assert counts.kills == 2
    assert counts.violations == []
    assert counts.runs >= 2
    assert not (tmp_path / "out" / ".runs").exists()


def test_ctrl_c_on_a_deployment_leaves_no_database_and_says_how_to_go_on(replica_set, tiny, tmp_path):
    tiny.write_text(SLOW.replace("= 1000", "= 50_000_000"), encoding="utf-8")
    process = start(tiny, "--target", replica_set.uri, "--output", tmp_path / "out")
    with MongoClient(replica_set.uri) as client:
        wait_until(process, lambda: DATABASE in client.list_database_names())
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "--resume" in err
    time.sleep(0.5)
    with MongoClient(replica_set.uri) as client:
        assert DATABASE not in client.list_database_names()


def test_other_options_are_not_a_resumed_run(replica_set, slow, tmp_path):
    out = tmp_path / "out"
    slow.write_text(LASTING, encoding="utf-8")
    arguments = (slow, "--target", replica_set.uri, "--output", out, *SECONDS)
    process = start(*arguments)
    wait_until(process, lambda: measured(out))
    process.kill()
    finish(process)
    code, _, err = finish(start(*arguments, "--scale", 0.5, "--resume"))
    assert code == 2
    assert "differs in scale" in err


@pytest.mark.thorough
def test_a_mongod_that_dies_ends_the_run_with_one_line_and_the_rest_can_be_resumed(slow, tmp_path):
    out = tmp_path / "out"
    slow.write_text(LASTING, encoding="utf-8")
    arguments = (slow, "--output", out, *SECONDS)
    process = start(*arguments)
    wait_until(process, lambda: measured(out))
    members = servers_of(process)
    kill(members)
    code, _, err = finish(process)
    assert code == 2
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("mongo-tables:")]) == 1
    assert len(members) == 3
    kept = measured(out)
    code, _, err = finish(start(*arguments, "--resume"))
    assert code == 0, err
    assert len(rows(out)) == LASTING_VARIANTS
    assert measured(out).items() >= kept.items()


def said(err):
    """What standard error says beside the progress: a line and its hint, and never a traceback."""
    assert "Traceback" not in err
    return [line for line in err.splitlines() if line.startswith(("mongo-tables:", "  hint: "))]


def is_secondary(member):
    words = member.cmdline()
    with MongoClient(port=int(words[words.index("--port") + 1]), directConnection=True) as client:
        return bool(client.admin.command("hello")["secondary"])


@pytest.mark.thorough
def test_a_write_that_needs_a_member_that_died_is_not_waited_for(slow, tmp_path):
    every_member = LASTING.replace("numberOfThreads", "writeConcern = { w = 3 }\nnumberOfThreads")
    slow.write_text(every_member, encoding="utf-8")
    out = tmp_path / "out"
    process = start(slow, "--output", out, *SECONDS)
    wait_until(process, lambda: measured(out))
    kill([next(member for member in servers_of(process) if is_secondary(member))])
    code, _, err = finish(process)
    assert code == 2
    assert "mongod was killed" in said(err)[0]


def on_a_disk_of(size, place, *command):
    """The command, with a small disk of its own mounted at ``place``."""
    mount = f"mount -t tmpfs -o size={size} tmpfs {shlex.quote(str(place))} && exec {shlex.join(command)}"
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]


@pytest.fixture
def small_disk(tmp_path):
    """A place for ``on_a_disk_of``; needs a system where users may have mounts of their own."""
    place = tmp_path / "disk"
    place.mkdir()
    tried = subprocess.run(on_a_disk_of("1m", place, "true"), capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.fail(f"allow user namespaces (sysctl kernel.unprivileged_userns_clone=1): {tried.stderr}")
    return place


def run_on_a_disk_of(size, place, *arguments, **environment):
    command = [sys.executable, "-m", "mongo_tables.cli", "run", *map(str, arguments)]
    return subprocess.run(
        on_a_disk_of(size, place, *command),
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip


def test_a_full_disk_under_the_rows_is_said_in_a_line(replica_set, slow, small_disk):
    done = run_on_a_disk_of(
        "60k", small_disk, slow, "--output", small_disk, MONGO_TABLES_TARGET=replica_set.uri
    )
    first, hint = said(done.stderr)
    assert done.returncode == 2
    assert first.startswith("mongo-tables: cannot write ")
    assert first.endswith("No space left on device")
    assert "--resume" in hint


@pytest.mark.parametrize(
    "size",
    [pytest.param("60m", marks=pytest.mark.thorough), pytest.param("400m", marks=pytest.mark.exhaustive)],
)
def test_a_full_disk_under_the_servers_is_said_in_a_line(slow, small_disk, tmp_path, size):
    # More than fits, whenever the servers make room for their journals.
    slow.write_text(SLOW.replace("totalDocsToInsert = 1000", "totalDocsToInsert = 20000"), encoding="utf-8")
    done = run_on_a_disk_of(size, small_disk, slow, "--output", tmp_path / "out", TMPDIR=str(small_disk))
    first, *_ = said(done.stderr)
    assert done.returncode == 2
    assert f"there is no space left on the disk of {small_disk}" in first


@pytest.mark.exhaustive
def test_a_primary_that_steps_down_ends_the_run_with_a_line_and_the_rest_can_be_resumed(slow, tmp_path):
    out = tmp_path / "out"
    members = LocalReplicaSet(LocalAddress(members=3))
    try:
        arguments = (slow, "--target", members.uri, "--output", out)
        process = start(*arguments)
        wait_until(process, lambda: measured(out))
        with MongoClient(members.uri) as client:
            # Again and again: between two windows a run only waits for the next primary.
            while process.poll() is None:
                with suppress(PyMongoError):
                    client.admin.command("replSetStepDown", 1, secondaryCatchUpPeriodSecs=1)
                time.sleep(0.3)
        code, _, err = finish(process)
        hint = said(err)[-1]
        assert code == 2
        assert "--resume" in hint
        kept = measured(out)
        assert len(kept) < VARIANTS
        code, _, err = finish(start(*arguments, "--resume"))
        assert code == 0, err
        assert len(rows(out)) == VARIANTS
        assert measured(out).items() >= kept.items()
    finally:
        members.close()


def test_a_wrong_password_is_said_in_a_line(mongod_with_password, slow, tmp_path):
    target = mongod_with_password.uri(credentials="owner:Xq7Zk@")
    code, out, err = finish(
        start(slow, "--output", tmp_path, env={**os.environ, "MONGO_TABLES_TARGET": target})
    )
    (line,) = said(err)
    assert code == 2
    assert "Authentication failed" in line
    assert "Xq7Zk" not in out + err
