"""Files are replaced whole, and several of them all or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.files import atomic


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_gets_new_bytes_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    file.chmod(0o640)
    atomic.write(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert names(tmp_path) == ["a"]


def test_a_file_that_nobody_may_write_is_not_replaced(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        atomic.write_all({other: b"new", file: b"new"})
    assert caught.value.filename == str(file)
    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_no_file_is_replaced_when_a_later_one_cannot_be_written(tmp_path: Path) -> None:
    first, folder = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"old")
    folder.mkdir()
    with pytest.raises(OSError, match="Is a directory") as caught:
        atomic.write_all({first: b"new", folder: b"new"})
    assert caught.value.filename == str(folder)
    assert first.read_bytes() == b"old"
    assert names(tmp_path) == ["a", "b"]


def test_the_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        atomic.write(tmp_path / "nowhere" / "a", b"")
    assert caught.value.filename == str(tmp_path / "nowhere" / "a")


def test_a_full_disk_leaves_every_old_file_and_no_other(tmp_path: Path) -> None:
    import resource
    import signal

    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))  # Writing more fails, as on a full disk.
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            atomic.write_all({files[0]: b"new", files[1]: b"n" * 10_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(files[1])
    assert [file.read_bytes() for file in files] == [b"old", b"old"]
    assert names(tmp_path) == ["a", "b"]
