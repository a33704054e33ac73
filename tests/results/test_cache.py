"""The cache of a user: where it lies, that nobody else's is believed, and that it heals and does not grow for ever."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from pathlib import Path

import bson
import pytest

from mongo_tables import cli
from mongo_tables.results import bsoncache, stored
from mongo_tables.results.fixtures import FixtureSource, key_of_documents
from mongo_tables.results.model import Query

TRUE = '{"_id":1,"a":1}\n'
FORGED = bson.encode({"_id": 1, "a": 424242})
ALL = Query("results", ())
PAGE = """\
# Page

<!-- MONGO_TABLE: {"collection": "results", "pipeline": [{"$project": {"a": 1}}], "columns": ["a"], "headers": ["A"]} -->
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout, and a user with a home but without the variable."""
    place = tmp_path / "project"
    (place / "fixtures/results").mkdir(parents=True)
    (place / "fixtures/results/a.jsonl").write_text(TRUE)
    (place / "page.md").write_text(PAGE)
    (tmp_path / "home").mkdir()
    for name in ("MONGO_TABLES_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(place)
    return place


def key(text: str = TRUE) -> str:
    return key_of_documents(".jsonl", hashlib.sha256(text.encode()).digest())


def rows(project: Path) -> list[dict[str, object]]:
    return FixtureSource(project / "fixtures").aggregate(ALL)


def entries(place: Path) -> list[Path]:
    return sorted(place.rglob("*.bson"))


def cache(project: Path) -> Path:
    """The cache of the project, which the first reading makes."""
    assert rows(project) == [{"_id": 1, "a": 1}]
    (entry,) = entries(project.parent)
    return entry.parent


def test_an_entry_of_the_cache_that_comes_with_a_checkout_is_never_believed(
    project: Path, capsys: pytest.CaptureFixture[str]
):
    bsoncache.put(project / ".mongo-tables-cache", {key(): FORGED})
    assert entries(project)
    assert rows(project) == [{"_id": 1, "a": 1}]
    assert cli.main(["render", "page.md", "--results", "fixtures"]) == 0
    shown = capsys.readouterr().out
    assert "424242" not in shown
    assert "| 1 |" in shown.replace("  ", " ").replace("  ", " ")


def test_nothing_is_left_in_a_checkout(project: Path):
    before = sorted(project.rglob("*"))
    rows(project)
    assert sorted(project.rglob("*")) == before


def test_the_cache_of_a_home_that_is_itself_a_checkout_is_not_believed(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    place = cache(project)
    bsoncache.put(place, {key(): FORGED})
    assert rows(project) == [{"_id": 1, "a": 424242}], "else this test forges nothing"
    (project.parent / "home/.git").mkdir()
    assert rows(project) == [{"_id": 1, "a": 1}]


@pytest.mark.parametrize("home", ["", "home", "."])
def test_a_home_that_is_no_absolute_path_leads_to_no_cache(
    project: Path, monkeypatch: pytest.MonkeyPatch, home: str
):
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    rows(project)
    assert entries(project.parent) == []


@pytest.mark.parametrize(
    ("platform", "variable", "usual"),
    [
        ("linux", "XDG_CACHE_HOME", ".cache"),
        ("win32", "LOCALAPPDATA", "AppData/Local"),
        ("darwin", "", "Library/Caches"),
    ],
)
def test_the_cache_lies_where_the_platform_keeps_caches(
    project: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, usual: str
):
    monkeypatch.setattr(sys, "platform", platform)
    rows(project)
    assert len(entries(project.parent / "home" / usual / "mongo-tables")) == 1
    if variable:
        monkeypatch.setenv(variable, str(project.parent / "elsewhere"))
        rows(project)
        assert len(entries(project.parent / "elsewhere/mongo-tables")) == 1


def test_the_variable_moves_the_cache(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(project.parent / "named"))
    rows(project)
    assert len(entries(project.parent / "named")) == 1
    assert entries(project.parent / "home") == []


def test_two_projects_have_two_caches_and_one_project_has_one_by_whatever_path(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    first = cache(project)
    (project.parent / "link").symlink_to(project, target_is_directory=True)
    rows(project.parent / "link")
    rows(Path())
    assert [entry.parent for entry in entries(project.parent / "home")] == [first]
    other = project.parent / "other"
    (other / "fixtures/results").mkdir(parents=True)
    (other / "fixtures/results/a.jsonl").write_text(TRUE)
    rows(other)
    assert len({entry.parent for entry in entries(project.parent / "home")}) == 2


def test_a_cache_is_open_to_its_owner_alone(project: Path):
    place = cache(project)
    for folder in (place, place.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    bsoncache.put(place, {key(): FORGED})
    place.chmod(0o755)
    assert rows(project) == [{"_id": 1, "a": 1}]


def test_the_cache_of_another_user_is_not_believed(project: Path, monkeypatch: pytest.MonkeyPatch):
    place = cache(project)
    bsoncache.put(place, {key(): FORGED})
    nobody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: nobody)
    assert rows(project) == [{"_id": 1, "a": 1}]


def test_an_entry_under_the_name_of_another_one_is_not_believed(project: Path):
    place = cache(project)
    bsoncache.put(place, {key("another file"): FORGED})
    (place / f"{key('another file')}.bson").replace(place / f"{key()}.bson")
    assert rows(project) == [{"_id": 1, "a": 1}]


BROKEN = {
    "four zero bytes": bytes(8),
    "a length below that of an empty document": b"\x04\0\0\0" * 2,
    "a length beyond the end": b"\x40\0\0\0\x10a\0\1\0\0\0\0",
    "less than a length": b"\5\0",
    "no end": bson.encode({"_id": 1})[:-1] + b"\1",
    "a field cut off": bytes.fromhex("10000000 10610001000000 1062000100"),
    "an unknown type": bytes.fromhex("0c000000 6e610001000000 00"),
    "a second document broken": bson.encode({"_id": 1}) + b"\x09\0\0\0\x10a\0\0\0",
    "a text longer than its document": bytes.fromhex("0e000000 025f696400ff0000 00 00"),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("payload", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("query", [ALL, Query("results", ({"$match": {"a": 1}}, {"$project": {"a": 1}}))])
@pytest.mark.parametrize("kept", [-1, None], ids=["read one by one", "kept decoded, as usual"])
def test_a_broken_entry_is_dropped_and_made_anew_without_a_word(
    project: Path,
    payload: bytes,
    query: Query,
    kept: int | None,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    if kept is not None:
        monkeypatch.setattr(stored, "_KEPT", kept)
    place = cache(project)
    sound = entries(place)[0].read_bytes()
    bsoncache.put(place, {key(): payload})
    assert FixtureSource(project / "fixtures").aggregate(query) == [{"_id": 1, "a": 1}]
    assert entries(place)[0].read_bytes() == sound
    bsoncache.put(place, {key(): payload})
    assert list(FixtureSource(project / "fixtures").raws("results")) == [bson.encode({"_id": 1, "a": 1})]
    assert capfd.readouterr() == ("", "")


def _fifo(entry: Path, beside: Path) -> None:
    os.mkfifo(entry)


def _link(entry: Path, beside: Path) -> None:
    bsoncache.put(beside, {key(): FORGED})
    entry.symlink_to(beside / entry.name)


def _folder(entry: Path, beside: Path) -> None:
    entry.mkdir()


def _loop(entry: Path, beside: Path) -> None:
    entry.symlink_to(entry)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", [_fifo, _link, _folder, _loop])
def test_what_stands_in_the_place_of_an_entry_and_is_no_plain_file_does_no_harm(project: Path, put):
    place = cache(project)
    (entry,) = entries(place)
    entry.unlink()
    put(entry, project.parent / "beside")
    kept = {path: path.read_bytes() for path in entries(project.parent / "beside")}
    assert rows(project) == [{"_id": 1, "a": 1}]
    assert rows(project) == [{"_id": 1, "a": 1}]
    assert {path: path.read_bytes() for path in entries(project.parent / "beside")} == kept


def test_a_cache_that_cannot_be_made_is_done_without(project: Path, capfd: pytest.CaptureFixture[str]):
    (project.parent / "home/.cache").write_text("a file in its place")
    assert rows(project) == [{"_id": 1, "a": 1}]
    assert capfd.readouterr() == ("", "")


def test_a_link_in_the_place_of_a_project_s_cache_is_not_followed(project: Path):
    place = cache(project)
    moved = place.rename(project.parent / "moved")
    bsoncache.put(moved, {key(): FORGED})
    place.symlink_to(moved, target_is_directory=True)
    assert rows(project) == [{"_id": 1, "a": 1}]


def test_what_was_not_used_for_a_month_is_dropped_and_with_it_the_folder_of_a_project_that_is_gone(
    project: Path,
):
    gone = cache(project).parent / ("0" * 32)
    bsoncache.put(gone, {"old": b""})
    used = time.time() - 31 * 86_400
    os.utime(gone / "old.bson", (used, used))
    (project / "fixtures/results/b.jsonl").write_text('{"_id":2}\n')
    bsoncache._written.clear()  # as in another process, which looks the first time that it writes
    rows(project)
    assert not gone.exists()
    assert len(entries(project.parent / "home")) == 2


def test_beyond_its_size_a_cache_drops_what_was_not_used_for_longest(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    place = cache(project)
    monkeypatch.setattr(bsoncache, "MAX_BYTES", 1000)
    for number in range(5):
        bsoncache.put(place, {f"{number}": bytes(300)})
        os.utime(place / f"{number}.bson", ns=(number + 1, time.time_ns() + number))
    assert [entry.stem for entry in entries(place)] == ["3", "4"]


def test_stale_entries_are_not_looked_for_at_every_write(project: Path, monkeypatch: pytest.MonkeyPatch):
    looks: list[Path] = []
    monkeypatch.setattr(bsoncache, "_drop_stale", looks.append)
    monkeypatch.setattr(bsoncache, "MAX_BYTES", 64 * 1000)
    place = cache(project)
    for number in range(20):
        bsoncache.put(place, {f"{number}": bytes(100)})
    assert len(looks) == 3  # the first time, and after each thousand bytes: an entry has 153


def test_files_of_others_beside_the_cache_are_not_touched(project: Path, monkeypatch: pytest.MonkeyPatch):
    dump = project.parent / "home/dump/orders.bson"
    dump.parent.mkdir()
    dump.write_bytes(b"mine")
    os.utime(dump, (0, 0))
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(project.parent / "home"))
    monkeypatch.setattr(bsoncache, "MAX_BYTES", 0)
    rows(project)
    assert dump.read_bytes() == b"mine"
