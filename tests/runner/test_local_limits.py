"""What a variant asks of a machine is imposed where the system permits, and told where not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.runner import local_limits
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_limits import ControlGroup, device_of, open_group
from mongo_tables.runner.local_set import LocalReplicaSet, Settings
from mongo_tables.runner.target import LocalTarget


def permitted(root, name="run-1", files=("io.max", "memory.max", "cgroup.procs"), below=""):
    """A folder that looks as control groups do to somebody who may make one: the kernel fills a new group."""
    (root / "cgroup.controllers").write_text("cpu io memory")
    group = root / below / name
    group.mkdir(parents=True)
    for file in files:
        (group / file).write_text("")
    (root / "self").write_text(f"9:cpu:/elsewhere\n0::/{below}\n")
    return group


def test_a_server_is_put_into_a_group_of_its_own_and_limited(tmp_path):
    group = permitted(tmp_path, below="a.slice")
    opened = open_group("run-1", 4711, tmp_path, tmp_path / "self")
    assert opened is not None
    assert opened.path == group
    assert (group / "cgroup.procs").read_text() == "4711"
    assert opened.limit_memory(600_000_000)
    assert (group / "memory.max").read_text() == "600000000"
    if device_of(tmp_path):
        assert opened.limit_disk(tmp_path, 150)
        assert (group / "io.max").read_text() == f"{device_of(tmp_path)} riops=150 wiops=150"


def test_a_limit_that_is_taken_away_is_the_kernels_word_for_none(tmp_path):
    group = ControlGroup(permitted(tmp_path))
    assert group.limit_memory(None)
    assert (group.path / "memory.max").read_text() == "max"


def test_a_group_without_a_controller_limits_nothing(tmp_path):
    group = ControlGroup(permitted(tmp_path, files=("io.max", "cgroup.procs")))
    assert not group.limit_memory(1)
    assert not (group.path / "memory.max").exists()


def test_a_disk_is_not_limited_where_nobody_knows_whose_the_writes_are(tmp_path):
    group = ControlGroup(permitted(tmp_path, files=("io.max", "cgroup.procs")))
    assert not group.limit_disk(tmp_path, 150)
    assert (group.path / "io.max").read_text() == ""


@pytest.mark.parametrize("files", [(), ("cgroup.procs",), ("io.max",)])
def test_where_no_group_can_be_made_or_used_none_is_left(tmp_path, files):
    group = permitted(tmp_path, files=files)
    for file in files:
        (group / file).unlink()  # the kernel gives none of them
    assert open_group("run-1", os.getpid(), tmp_path, tmp_path / "self") is None
    assert not group.exists()


@pytest.mark.parametrize(
    ("files", "are"), [(("io.max", "memory.max"), True), (("memory.max",), True), ((), False)]
)
def test_it_is_known_beforehand_whether_groups_can_be_made(tmp_path, files, are):
    permitted(tmp_path, name=f"mongo-tables-{os.getpid()}", files=files)
    assert local_limits.are_permitted(tmp_path, tmp_path / "self") is are


def test_control_groups_of_version_1_are_left_alone(tmp_path):
    assert not local_limits.are_permitted(tmp_path, tmp_path / "self")
    assert open_group("run-1", os.getpid(), tmp_path, tmp_path / "self") is None
    assert list(tmp_path.iterdir()) == []


def test_the_disk_of_a_directory_is_a_whole_one():
    device = device_of(Path("/"))
    if device is not None:  # an overlay or a memory file system is on no disk
        assert not (Path("/sys/dev/block") / device / "partition").exists()
        assert (Path("/sys/dev/block") / device).exists()
    assert device_of(Path("/proc")) is None


def test_what_holds_is_told_and_what_was_asked_before_is_lifted(tmp_path):
    groups = [ControlGroup(permitted(tmp_path, f"run-{number}")) for number in (1, 2)]
    asked = {"atlasIOPS": 600, "memoryRatio": 2.0, "addedLatencyMs": 7}
    holds = local_limits.impose(asked, groups, [], tmp_path, 0.25)
    on_a_disk = device_of(tmp_path) is not None
    assert holds == {**({"atlasIOPS": 600} if on_a_disk else {}), "memoryRatio": 2.0}
    assert [(group.path / "memory.max").read_text() for group in groups] == [str(2**29)] * 2
    assert local_limits.impose({}, groups, [], tmp_path, 0.25) == {}
    assert [(group.path / "memory.max").read_text()[:3] for group in groups] == ["max"] * 2


def test_without_groups_nothing_is_said_to_hold(tmp_path):
    assert local_limits.impose({"atlasIOPS": 600, "memoryRatio": 2.0}, [], [], tmp_path, 0.25) == {}


def test_members_get_processors_of_their_own_or_none():
    assert local_limits.divide(3, 2, range(8)) == [{0, 1}, {2, 3}, {4, 5}]
    assert local_limits.divide(3, 2, range(6)) is None  # nothing would be left for the client
    assert local_limits.divide(1, 2, [0, 3, 5]) == [{0, 3}]


def test_a_process_is_pinned_with_all_its_threads_and_let_go():
    here = os.sched_getaffinity(0)
    child = subprocess.Popen(
        [sys.executable, "-c", "import threading; t = threading.Thread(target=input); t.start(); print(1, flush=True)"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdout.readline()
        threads = [int(thread.name) for thread in Path(f"/proc/{child.pid}/task").iterdir()]
        assert len(threads) == 2
        assert local_limits.pin([child.pid], 1) == (len(here) > 1)
        if len(here) > 1:
            assert [os.sched_getaffinity(thread) for thread in threads] == [{min(here)}] * 2
        local_limits.pin([child.pid], None)
        assert [os.sched_getaffinity(thread) for thread in threads] == [here] * 2
    finally:
        child.communicate(b"\n")


def test_a_tier_with_more_processors_than_there_are_is_not_said_to_be_varied(tmp_path):
    assert "processors" not in local_limits.impose(
        {"atlasInstanceType": "M80"}, [], [os.getpid()] * 64, tmp_path, 0.25
    )


def test_groups_of_members_end_with_them(tmp_path, monkeypatch):
    made = []

    def fake(name, pid):
        (tmp_path / name).mkdir()
        made.append((name, pid))
        return ControlGroup(tmp_path / name)

    monkeypatch.setattr("mongo_tables.runner.local_set.open_group", fake)
    running = LocalReplicaSet(Settings(members=1))
    try:
        assert running.groups(make=False) == []
        assert [group.path.name for group in running.groups(make=True)] == [made[0][0]]
        assert running.groups(make=False) == running.groups(make=True)
        assert [pid for _, pid in made] == running.pids
    finally:
        running.close()
    assert list(tmp_path.iterdir()) == []


def test_the_local_target_says_what_of_a_variant_it_gave(monkeypatch, tmp_path):
    group = permitted(tmp_path)
    monkeypatch.setattr("mongo_tables.runner.local_set.open_group", lambda name, pid: ControlGroup(group))
    target = LocalTarget(LocalAddress(members=1))
    try:
        asked = {"members": 1, "workingSetRatio": 0.9, "instance": {"memoryRatio": 2.5, "addedLatencyMs": 7}}
        machine = target.prepare(asked, 0.001)
        assert machine.varied == {"memoryRatio": 2.5}
        assert machine.not_varied == ("addedLatencyMs",)
        assert machine.topology["cache_ratio_kept"] is True
        assert (group / "memory.max").read_text() == str(round(2.5 * 2**28))
        assert target.prepare({}, 0.001).varied == {}
        assert (group / "memory.max").read_text().startswith("max")
    finally:
        target.close()


def test_on_this_machine_what_is_said_to_be_limited_is_limited():
    running = LocalReplicaSet(Settings(members=1))
    try:
        for group in running.groups(make=True):
            assert str(running.pids[0]) in (group.path / "cgroup.procs").read_text().split()
            if group.limit_memory(2**30):
                assert int((group.path / "memory.max").read_text()) == 2**30
            if group.limit_disk(running.directory, 100):
                assert "riops=100" in (group.path / "io.max").read_text()
        held = [group.path for group in running.groups(make=True)]
    finally:
        running.close()
    assert not any(path.exists() for path in held)
    assert local_limits.ROOT.exists() or held == []


def test_a_member_that_has_ended_is_no_obstacle(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert local_limits.impose({}, [], [child.pid], tmp_path, 0.25) == {}
