"""Where reads came from, and what the disk does by itself."""

from __future__ import annotations

import os

import pytest

from mongo_tables.runner import host
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.measurement import disk_bytes, reads


def status(requested, read, into_cache, from_files):
    cache = {
        "pages requested from the cache": requested,
        "pages read into cache": read,
        "bytes read into cache": into_cache,
    }
    return {"wiredTiger": {"cache": cache, "block-manager": {"bytes read": from_files}}}


def test_hit_rates_are_of_what_grew_in_the_window():
    found = reads(status(1000, 500, 10, 4000), status(2000, 600, 60, 8000), (100, 1100))
    assert found["cache_hit_rate"] == pytest.approx(0.9)
    assert found["page_cache_hit_rate"] == pytest.approx(0.75)
    assert found["bytes_read_into_cache"] == 50
    assert found["bytes_read_from_disk"] == 1000


def test_a_rate_of_nothing_is_not_known():
    same = status(5, 5, 5, 5)
    found = reads(same, same, (7, 7))
    assert found["cache_hit_rate"] is None
    assert found["page_cache_hit_rate"] is None
    assert found["bytes_read_from_disk"] == 0


def test_without_the_process_the_disk_is_not_known():
    found = reads(status(0, 0, 0, 0), status(9, 3, 9, 9), (None, None))
    assert found["bytes_read_from_disk"] is None
    assert found["page_cache_hit_rate"] is None
    assert found["cache_hit_rate"] == pytest.approx(2 / 3)


def test_read_ahead_makes_no_rate_below_nought():
    assert reads(status(0, 0, 0, 0), status(9, 9, 9, 100), (0, 400))["page_cache_hit_rate"] == 0


def test_what_a_process_has_had_from_disk_is_known_of_ours_alone(tmp_path):
    assert disk_bytes(os.getpid(), []) is None
    before = disk_bytes(os.getpid(), [os.getpid()])
    assert before is not None
    path = tmp_path / "data"
    path.write_bytes(os.urandom(1 << 20))
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.read(handle, 1 << 20)
    finally:
        os.close(handle)
    assert disk_bytes(os.getpid(), [os.getpid()]) >= before


def test_the_disk_by_itself_is_measured_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "SECONDS", 0.2)
    found = host.measure_disk(tmp_path)
    assert list(tmp_path.iterdir()) == []
    if found is not None:  # a file system in memory has no reads past the page cache
        assert found["tool"] == "mongo-tables"
        assert found["block_bytes"] == 4096
        assert 0 < found["p50"] <= found["p99"]
        assert found["iops"] > 10


def test_where_files_cannot_be_read_past_the_page_cache_there_is_no_figure(tmp_path, monkeypatch):
    opened = os.open

    def refused(path, flags, *more, **options):
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return opened(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", refused)
    assert host.measure_disk(tmp_path) is None


def test_counts_of_another_server_are_no_rate():
    found = reads(status(1000, 500, 9, 9), status(2000, 3, 9, 99), (800, 7))
    assert found["cache_hit_rate"] is None
    assert found["page_cache_hit_rate"] is None


def test_a_full_disk_under_the_measurement_is_told(tmp_path, monkeypatch):
    def full(size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(host, "FILE_BYTES", 1 << 20)
    with pytest.raises(TargetError, match="cannot be measured: there is no space left on the disk of"):
        host.measure_disk(tmp_path)
    assert list(tmp_path.iterdir()) == []
