"""The disk, the program and the machine are told as they are, without names of people.

Of the disk under the data is told what the system says, and that it does not say the rest.

A row says which code measured it: the commit, and whether files differed from it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

import mongo_tables
from mongo_tables.runner import host
from mongo_tables.runner.host import UNKNOWN, describe_disk, hardware, mount_of, whole_disk


@pytest.fixture
def devices(tmp_path):
    """A tree as Linux has it, in which the files of the test are on the first partition of a disk."""
    disk = tmp_path / "devices" / "sda"
    (disk / "sda1").mkdir(parents=True)
    (disk / "sda1" / "partition").write_text("1\n")
    for name, said in (("queue/rotational", "0\n"), ("device/model", "Fast Disk 9000  \n")):
        (disk / name).parent.mkdir()
        (disk / name).write_text(said)
    numbers = tmp_path / "block"
    numbers.mkdir()
    device = tmp_path.stat().st_dev
    (numbers / f"{os.major(device)}:{os.minor(device)}").symlink_to(disk / "sda1")
    return numbers


def test_the_whole_disk_is_described_and_not_its_partition(devices, tmp_path):
    found = describe_disk(tmp_path, devices)
    assert (found["device"], found["kind"], found["model"]) == ("sda", "not rotational", "Fast Disk 9000")


def test_a_disk_that_turns_is_told_as_that(devices, tmp_path):
    (tmp_path / "devices/sda/queue/rotational").write_text("1\n")
    assert describe_disk(tmp_path, devices)["kind"] == "rotational"


def test_what_the_system_does_not_say_is_unknown(devices, tmp_path):
    (tmp_path / "devices/sda/queue/rotational").unlink()
    (tmp_path / "devices/sda/device/model").write_bytes(b"\xff\n")
    found = describe_disk(tmp_path, devices)
    assert (found["device"], found["kind"], found["model"]) == ("sda", UNKNOWN, UNKNOWN)
    assert whole_disk(tmp_path, tmp_path / "nowhere") is None
    nothing = describe_disk(tmp_path, tmp_path / "nowhere")
    assert (nothing["device"], nothing["kind"], nothing["model"]) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_the_file_system_is_that_of_the_innermost_mount(monkeypatch, tmp_path):
    import psutil

    mounts = [
        SimpleNamespace(device="/dev/sdb1", mountpoint=str(tmp_path), fstype="xfs"),
        SimpleNamespace(device="nas.example:/home/me", mountpoint=str(tmp_path), fstype="nfs4"),
        SimpleNamespace(device="/dev/sda1", mountpoint="/", fstype="ext4"),
        SimpleNamespace(device="/dev/sdc1", mountpoint=str(tmp_path / "deeper"), fstype="btrfs"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts if all else mounts[:1] + mounts[2:])
    assert describe_disk(tmp_path)["filesystem"] == "nfs4"  # mounted over the other
    assert "nas" not in repr(describe_disk(tmp_path))
    mount = mount_of(tmp_path, physical=True)
    assert mount is not None
    assert mount.device == "/dev/sdb1"
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [])
    assert describe_disk(tmp_path)["filesystem"] == UNKNOWN


def test_a_machine_has_a_disk_where_the_data_is_on_it(tmp_path):
    assert hardware(tmp_path)["disk"] == describe_disk(tmp_path)
    assert "disk" not in hardware(None)


WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(folder: Path, *asked: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, check=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository of one commit, with results beside it."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, *WHO, "commit", "--quiet", "-m", "Begin")
    return package


def test_files_of_a_commit_are_told_by_it(package: Path) -> None:
    assert host._of_checkout(package) == git(package, "rev-parse", "HEAD")[:12]


def test_changed_files_are_told(package: Path) -> None:
    (package / "__init__.py").write_text("more = 1\n", encoding="utf-8")
    assert host._of_checkout(package).endswith(".changed")


def test_results_that_a_run_wrote_are_no_change_of_the_program(package: Path) -> None:
    (package.parent / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    assert not host._of_checkout(package).endswith(".changed")


def test_an_environment_inside_somebodys_repository_is_not_of_its_commit(package: Path) -> None:
    installed = package.parent / ".venv" / "mongo_tables"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("", encoding="utf-8")
    assert host._of_checkout(installed) == ""


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    assert host._of_checkout(tmp_path) == ""


def test_without_git_nothing_is_said(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(package))
    assert host._of_checkout(package) == ""


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"url": "x", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}, "+g0123456789ab"),
        ({"url": "file:///x", "dir_info": {}}, ""),
        ({}, ""),
    ],
)
def test_what_pip_noted_says_the_commit_where_it_fetched_one(origin, told, monkeypatch) -> None:
    monkeypatch.setattr(host, "read_origin", lambda: origin)
    monkeypatch.setattr(host, "_of_checkout", lambda package: "")
    assert host.harness.__wrapped__() == f"mongo-tables {mongo_tables.__version__}{told}"


def test_the_number_comes_first() -> None:
    assert re.fullmatch(r"mongo-tables \d+\.\d+\.\d+(\+g[0-9a-f]{12}(\.changed)?)?", host.harness())
