"""What is kept of a large plain file is of that file: not of another in its place, and not where none may be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.results import ownfiles, plaincollections
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.opening import open_source


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plaincollections, "LARGE", 1)


def numbers(source: Path) -> list[int]:
    return [row["n"] for row in open_source(str(source)).aggregate(Query("runs", ()))]


def test_a_large_file_with_its_old_time_again_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept, other = tmp_path / "runs.csv", tmp_path / "kept", tmp_path / "other"
    kept.write_text("id,n\n1,11\n")
    other.write_text("id,n\n1,77\n")
    shutil.copystat(kept, other)
    shutil.copy2(kept, file)
    read = plaincollections._read

    def read_other(given: Any, keep: Callable[..., Any]) -> Any:
        file.write_bytes(other.read_bytes())
        shutil.copystat(kept, file)
        found = read(given, keep)
        file.write_bytes(kept.read_bytes())
        shutil.copystat(kept, file)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(plaincollections, "_read", read_other)
        assert numbers(file) == [77]
    assert numbers(file) == [11]


def test_a_folder_or_a_link_that_was_another_one_meanwhile_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run, number in (("first", 11), ("second", 77)):
        (tmp_path / run).mkdir()
        (tmp_path / run / "runs.csv").write_text(f"id,n\n1,{number}\n")
    latest, read = tmp_path / "latest", plaincollections._read
    latest.symlink_to("first")

    def lead_to(run: str) -> None:
        latest.unlink()
        latest.symlink_to(run)

    def read_other(given: Any, keep: Callable[..., Any]) -> Any:
        lead_to("second")
        found = read(given, keep)
        lead_to("first")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(plaincollections, "_read", read_other)
        assert numbers(latest / "runs.csv") == [77]
    assert numbers(latest / "runs.csv") == [11]


def test_a_file_that_was_moved_out_and_linked_to_is_refused_as_it_would_be_at_first(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "runs.csv").write_text("id,n\n1,11\n")
    assert numbers(folder) == [11]
    (folder / "runs.csv").rename(tmp_path / "runs.csv")
    (folder / "runs.csv").symlink_to("../runs.csv")
    with pytest.raises(ResultsError, match="a link leads out of the folder"):
        numbers(folder)


def test_another_program_reads_a_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("id,n\n1,11\n")
    assert numbers(file) == [11]

    def refuse(*given: Any) -> Any:
        raise ResultsError("it was read")

    monkeypatch.setattr(plaincollections, "_read", refuse)
    assert numbers(file) == [11]
    monkeypatch.setattr(ownfiles, "sign_of_program", lambda: "another one")
    with pytest.raises(ResultsError, match="it was read"):
        numbers(file)
