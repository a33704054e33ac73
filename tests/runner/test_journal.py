"""What cannot be kept is known in time, and what is lost by it is said as it is."""

from __future__ import annotations

import pytest

from mongo_tables.files import atomic
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.blocks import Campaign, Turn, WindowKey, open_journal
from mongo_tables.runner.errors import KEPT
from mongo_tables.runner.store import FileStore

FIRST = {"_id": {"testname": "reads"}, "speed": 1}


@pytest.fixture
def disk(monkeypatch):
    """A disk with room for so many more files; ``room`` is how many."""

    class Disk:
        room = 1000

    whole = atomic.write

    def write(path, content):
        if not Disk.room:
            raise OSError(28, "No space left on device")
        Disk.room -= 1
        whole(path, content)

    monkeypatch.setattr(atomic, "write", write)
    return Disk


def journal_in(folder, *, resume=False):
    return open_journal(FileStore(folder), "reads", {}, resume, Campaign.new())


def place(number):
    return WindowKey(number, 0, Turn(0, 0))


def test_a_place_that_nothing_can_be_written_to_is_known_before_anything_is_measured(disk, tmp_path):
    disk.room = 0
    with pytest.raises(CommandError, match="No space left on device") as caught:
        journal_in(tmp_path)
    assert caught.value.hint == f"{KEPT}; --output names another place"


def test_a_run_that_does_not_begin_leaves_nothing_of_itself(disk, tmp_path):
    assert not journal_in(tmp_path).kept
    assert list(tmp_path.iterdir()) == []


def test_a_first_window_that_cannot_be_written_is_not_said_to_be_kept(disk, tmp_path):
    journal = journal_in(tmp_path)
    disk.room = 1
    with pytest.raises(CommandError, match="No space left") as caught:
        journal.keep_window(place(0), FIRST)
    assert caught.value.hint == f"{KEPT}; --output names another place"
    assert not journal.kept


def test_of_a_later_window_that_cannot_be_written_only_that_one_is_lost(disk, tmp_path):
    journal = journal_in(tmp_path)
    journal.keep_window(place(0), FIRST)
    disk.room = 0
    with pytest.raises(CommandError, match="No space left") as caught:
        journal.keep_window(place(1), FIRST)
    assert caught.value.hint.startswith(KEPT)
    with pytest.raises(CommandError) as caught:
        journal_in(tmp_path, resume=True)
    assert KEPT in caught.value.hint
    disk.room = 1000
    found = journal_in(tmp_path, resume=True)
    assert found.window(place(0)) == FIRST
    assert found.window(place(1)) is None
