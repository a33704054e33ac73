"""Of the disk under the data is told what the system says, and that it does not say the rest."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

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
