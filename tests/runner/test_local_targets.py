"""Several local targets in one run: each is what was asked for, and nothing is left of any."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from pymongo import MongoClient

from mongo_tables.commands.run.targets import share_out
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.comparison import compare
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import find_mongod
from mongo_tables.runner.options import Options
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import open_target
from tests.runner.measured import call, obstacle
from tests.runner.processes import SLOW, children_of, finish, servers_of, start, wait_until
from tests.runner.test_campaign import RECORDS
from tests.runner.test_local_address import script

OTHERWISE = "members=1&cacheGB=0.05&oplogMB=1000&setParameter.ttlMonitorSleepSecs=7"


@pytest.fixture
def other_mongod(tmp_path):
    """Another program than the ``mongod`` that is found, which starts it."""
    return script(tmp_path / "mongod-b", f'exec "{find_mongod()}" "$@"')


@pytest.mark.thorough
def test_two_local_targets_are_measured_side_by_side_and_rows_say_what_differs(tmp_path, other_mongod):
    tiny = tmp_path / "tiny.toml"
    tiny.write_text(RECORDS + "[[variants]]\norder = 1\n", encoding="utf-8")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    code, _, err = finish(
        start(
            tiny, "--target", "a=local?members=1", "--target", f"b=local:{other_mongod}?{OTHERWISE}",
            "--seconds", 0.1, "--output", tmp_path / "out",
            env={**os.environ, "TMPDIR": str(temporary)},
        )
    )  # fmt: skip
    assert code == 0, err
    assert list(temporary.iterdir()) == []
    one, other = FileStore(tmp_path / "out").rows("tiny")
    assert (one["_id"]["target"], other["_id"]["target"]) == ("a", "b")
    assert other["targets"]["against"] == "a"
    assert other["targets"]["blocks"] == 3
    assert one["topology"]["settings"] == {"members": 1}
    assert "program" not in one["topology"]
    assert other["topology"]["program"] == "mongod-b"
    assert other["topology"]["settings"] == {
        "members": 1,
        "cacheGB": 0.05,
        "oplogMB": 1000,
        "setParameter": {"ttlMonitorSleepSecs": "7"},
    }
    assert [member["cache_gib"] for member in other["servers"]["members"]] == [0.05]
    assert other["servers"]["members"][0]["options"]["oplog_size_mb"] == 1000
    assert one["versions"]["server_commit"] == other["versions"]["server_commit"]
    assert str(tmp_path) not in str(one) + str(other)
    (row,) = compare([one], [{**other, "_id": one["_id"]}]).rows
    told = {"topology.program", "topology.settings", "topology.oplog_mb", "topology.cache_gb"}
    assert told <= row.differs.keys()


def test_a_setting_is_one_of_the_server_that_runs(other_mongod):
    with closing(open_target(f"local:{other_mongod}?{OTHERWISE}")) as target:
        machine = target.prepare({}, 0.01)
        target.set_cache()
        assert machine.topology["cache_gb"] == 0.05
        with MongoClient(target.uri) as client:
            asked = client.admin.command("getParameter", ttlMonitorSleepSecs=1)
            status = client.admin.command("serverStatus")
        assert asked["ttlMonitorSleepSecs"] == 7
        assert status["wiredTiger"]["cache"]["maximum bytes configured"] == round(0.05 * 2**30)
        assert machine.pids == (status["pid"],)


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("ttlMonitorSleepSec=7", "Unknown --setParameter 'ttlMonitorSleepSec'"),
        ("ttlMonitorSleepSecs=soon", "Bad value for parameter"),
    ],
)
def test_a_parameter_that_mongod_does_not_take_is_told_in_its_words(parameter, said):
    with (
        closing(open_target(f"local?members=1&setParameter.{parameter}")) as target,
        pytest.raises(TargetError, match="did not start") as caught,
    ):
        target.prepare({}, 0.01)
    assert said in caught.value.message


def test_a_script_that_starts_mongod_beside_itself_is_refused_and_nothing_is_left(tmp_path, monkeypatch):
    beside = script(tmp_path / "mongod-beside", f'"{find_mongod()}" "$@"')
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        closing(open_target(f"local:{beside}?members=1")) as target,
        pytest.raises(TargetError, match="must use exec"),
    ):
        target.prepare({}, 0.01)
    assert list(tmp_path.iterdir()) == [beside]
    commands = [one.info["cmdline"] for one in psutil.process_iter(["cmdline"])]
    assert not [words for words in commands if words and str(tmp_path) in " ".join(words)]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("local:/nowhere/mongod", "there is no /nowhere/mongod"),
        ("local?cacheGB=9999", "caches of 3 members with 9999 GB do not fit"),
        ("local?member=1", "no setting 'member'"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_started(where, said):
    with pytest.raises(CommandError, match=said):
        open_target(where)


def test_local_targets_share_the_memory_of_the_machine():
    memory = psutil.virtual_memory().total / 2**30
    for_one = f"local?members=1&cacheGB={memory * 0.8:.3f}"
    open_target(for_one).close()
    with pytest.raises(TargetError, match="which this machine has for a local target"):
        open_target(for_one, sets=2)


OPTIONS = Options(scale=1.0, seconds=None, repeats=None, seed=1)


@pytest.mark.parametrize(
    ("name", "where", "said"),
    [
        ("failover", "local?members=1", "asks for 3 members, and the target has 1"),
        ("lesson_wtimeout", "local?members=1", "asks for 3 members, and the target has 1"),
        ("failover", "local?members=3", None),
        ("memory_disk", "local?cacheGB=0.5", None),
        ("query_full", "local?members=1&cacheGB=0.02", None),
    ],
)
def test_an_experiment_that_asks_for_another_set_is_refused(name, where, said, tmp_path):
    found = obstacle(experiments.load(name), OPTIONS, open_target(where), FileStore(tmp_path))
    assert (said is None) == (found is None)
    assert found is None or (name in found[0] and said in found[0])


@pytest.mark.parametrize(("name", "refused"), [("x", True), ("y", False)])
def test_a_target_whose_database_has_the_rows_is_refused(name, refused):
    experiment = experiments.load("query_full")
    database = f"{experiment.parameters['database']}_x"
    rows = SimpleNamespace(keeps_in=database.__eq__)
    found = obstacle(experiment, OPTIONS, call(open_target("mongodb://h"), name), rows)
    assert (found is not None and database in found[0]) is refused


@pytest.mark.parametrize(
    ("name", "first", "second", "refused"),
    [
        ("memory_disk", "local?cacheGB=1", "local?cacheGB=0.5", True),
        ("memory_disk", "local", "local?cacheGB=0.5", True),
        ("memory_disk", "local?cacheGB=0.5", "local?cacheGB=0.5&oplogMB=1000", False),
        ("query_full", "local?cacheGB=1", "local?cacheGB=0.5", False),
    ],
)
def test_targets_with_different_caches_are_refused_where_the_data_follows_the_cache(
    name, first, second, refused, tmp_path
):
    experiment = experiments.load(name)
    opened = [call(open_target(where), side, where) for side, where in (("a", first), ("b", second))]
    expected = pytest.raises(TargetError, match="would have different data") if refused else nullcontext()
    with expected:
        assert share_out([experiment], OPTIONS, opened, FileStore(tmp_path), leave_out=False) == [
            (experiment, opened)
        ]


def test_what_a_run_is_gone_on_with_tells_local_targets_apart(tmp_path):
    programs = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        programs.append(script(tmp_path / folder / "mongod", "echo db version v0.0"))
    places = ["local", "local?members=1", "local?members=1&cacheGB=1", *(f"local:{one}" for one in programs)]
    told = [open_target(where).options for where in places]
    assert told[0] == ""
    assert len(set(told)) == len(places)
    assert str(tmp_path) not in "".join(told)


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "ends_with"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_run_that_is_cut_off_leaves_neither_servers_nor_folders_of_two_local_targets(
    tmp_path, other_mongod, number, ends_with
):
    tiny = tmp_path / "tiny.toml"
    tiny.write_text(SLOW.replace("= 1000", "= 50_000_000"), encoding="utf-8")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = start(
        tiny, "--target", "a=local?members=1", "--target", f"b=local:{other_mongod}?members=2",
        "--output", tmp_path / "out", "--repeats", 3, "--seconds", 0.3,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    wait_until(process, lambda: len(servers_of(process)) == 3)
    assert len(list(temporary.glob("mongo-tables-run-*"))) == 2
    children = children_of(process)
    process.send_signal(number)
    assert finish(process)[0] == ends_with
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    assert _is_empty(temporary)


def _is_empty(folder: Path, seconds: float = 60.0) -> bool:
    """Whether it is by then: who ends the servers removes their folders a moment later."""
    deadline = time.monotonic() + seconds
    while (left := list(folder.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left
