"""What the system says of files, and of the ways to them, tells whether others were in their place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mongo_tables.files.states import list_all, list_ways


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results behind a link to a folder, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for run in ("first", "second"):
        (tmp_path / "runs" / run / "results/deep").mkdir(parents=True)
        (tmp_path / "runs" / run / "results/deep/a.jsonl").write_text(run)
    (tmp_path / "latest").symlink_to("runs/first")
    (tmp_path / "latest/results/link.jsonl").symlink_to("deep/a.jsonl")
    return tmp_path


def exchange(folder: str) -> Callable[[], None]:
    """Another folder was in the place of one for a moment."""

    def do() -> None:
        Path(folder).rename("aside")
        Path(folder).mkdir()
        Path(folder).rmdir()
        Path("aside").rename(folder)

    return do


def lead_elsewhere(link: str, to: str) -> Callable[[], None]:
    """A link led elsewhere for a moment."""

    def do() -> None:
        before = Path(link).readlink()
        for target in (to, before):
            Path(link).unlink()
            Path(link).symlink_to(target)

    return do


@pytest.mark.parametrize(
    "change",
    [
        lead_elsewhere("latest", "runs/second"),
        lead_elsewhere("latest/results/link.jsonl", "other.jsonl"),
        exchange("runs"),
        exchange("runs/first"),
        exchange("runs/first/results"),
        exchange("runs/first/results/deep"),
    ],
)
def test_whatever_was_another_one_on_the_way_shows(change: Callable[[], None]) -> None:
    for look in (list_ways, list_all):
        before = sorted(look("latest/results"))
        change()
        assert sorted(look("latest/results")) != before
        assert sorted(look("latest/results")) == sorted(look("latest/results"))


@pytest.mark.parametrize("folder", ["runs/first", "runs"])
def test_also_of_folders_that_are_not_in_the_working_folder(
    folder: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "site").mkdir()
    monkeypatch.chdir(place / "site")
    before = sorted(list_ways("../runs/first/results"))
    exchange(f"../{folder}")()
    (place / folder / "neighbour").write_text("")  # which moves its times alike
    moved = sorted(list_ways("../runs/first/results"))
    assert moved != before
    assert moved == sorted(list_ways("../runs/first/results"))


def test_a_file_that_comes_beside_the_way_does_not_show(place: Path) -> None:
    """Others make files in the working folder, and in those around it, all the time."""
    before = sorted(list_ways("latest/results"))
    (place / "mkdocs.yml").write_text("")
    (place.parent / "neighbour").write_text("")
    assert sorted(list_ways("latest/results")) == before


def test_nor_does_one_where_everybody_may_make_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "site").mkdir()
    (place / "runs").chmod(0o1777)
    (place / "runs/first-of-them").write_text("")
    monkeypatch.chdir(place / "site")
    before = sorted(list_ways("../runs/first/results"))
    (place / "runs/neighbour").write_text("")
    assert sorted(list_ways("../runs/first/results")) == before
    exchange("../runs")()
    assert sorted(list_ways("../runs/first/results")) != before


def test_of_files_the_state_is_told_also_of_one_alone() -> None:
    found = dict(list_all("latest/results"))
    files = {os.path.relpath(name, "latest/results") for name in found if not name.endswith("/")}
    assert files == {"deep/a.jsonl", "link.jsonl"}
    assert "latest/results/deep/a.jsonl" in dict(list_all("latest/results/deep/a.jsonl"))


def test_a_link_in_a_circle_ends() -> None:
    Path("circle").symlink_to("circle")
    assert list(list_ways("circle/results"))
    assert not dict(list_all("circle/results")).keys() & {"circle/results"}
