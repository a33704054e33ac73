"""Of a folder it is told whether it is the same, and was in its place all the time, not what comes and goes in it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mongo_tables.files.ways import look_at_ways


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / ".hidden/docs/part").mkdir(parents=True)
    (tmp_path / ".hidden/docs/link").symlink_to("part")
    time.sleep(0.02)  # the clock of a file system goes by ticks
    return tmp_path / ".hidden/docs"


def test_files_and_hidden_folders_that_come_and_go_are_none_of_it(place: Path) -> None:
    seen = dict(look_at_ways(place))
    assert {f"{place}/", f"{place}/part/", f"{place}/link/", f"{place.parent}/"} <= {*seen}
    (place / "part/.page.md.swp").write_text("x")
    (place / "part/.#page.md").symlink_to("nowhere")
    (place / ".cache").mkdir()
    assert dict(look_at_ways(place)) == seen
    (place / "part/.page.md.swp").unlink()
    (place / "page.md").write_text("x")
    assert dict(look_at_ways(place)) == seen


@pytest.mark.parametrize("moved", ["docs/part", "docs/link", "docs", "."])
def test_what_is_renamed_and_back_is_another_way(moved: str, place: Path) -> None:
    seen = dict(look_at_ways(place))
    way = Path(f"{place.parent}/{moved}")
    away = place.parent.parent / "away"
    way.rename(away)
    away.rename(way)
    changed = {each for each, state in look_at_ways(place) if seen[each] != state}
    assert changed == {f"{way}/"}
