"""What a large fixture takes of memory: little more than its own bytes, however many documents it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import plain_memory
from benchmarks.fixture_memory import PAGE, cost, project

DOCUMENTS = 60_000
# What is asked of a fixture beside the mean by threads of the page.
SELECTED = PAGE.replace('"ok": true', '"name": "insert_docsize_3"')
UNCUT = PAGE.replace('{"$sort": {"_id": 1}}', '{"$sort": {"_id": 1}}, {"$limit": 10}').replace(
    '{"$match": {"ok": true}}', '{"$sort": {"rate": -1, "_id": 1}}, {"$limit": 10}'
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A project with a large fixture, and the bytes of that."""
    folder = tmp_path_factory.mktemp("memory") / "large"
    return folder, project(folder, DOCUMENTS)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The peak of each command where there is one document."""
    folder = tmp_path_factory.mktemp("memory") / "small"
    project(folder, 1)
    return {name: [cost(folder, name) for _ in range(2)][-1].peak for name in ("render", "check")}


@pytest.mark.parametrize(
    ("command", "page"),
    [
        pytest.param("render", PAGE, id="all"),
        pytest.param("render", SELECTED, id="some"),
        pytest.param("render", UNCUT, id="the best"),
        pytest.param("check", PAGE, id="check"),
    ],
)
def test_a_fixture_takes_less_memory_than_two_and_a_half_times_its_bytes_cold_and_warm(
    large: tuple[Path, int], empty: dict[str, int], command: str, page: str
):
    folder, size = large
    (folder / "page.md").write_text(page)
    for entry in folder.glob("cache/*/*"):
        entry.unlink()
    cold, warm = (cost(folder, command).peak - empty[command] for _ in range(2))
    assert list(folder.glob("cache/*/*"))
    assert cold < 2.5 * size
    assert warm < 2.5 * size


@pytest.mark.parametrize("digits", [False, True])
def test_a_large_csv_takes_less_memory_than_twice_its_bytes_cold_and_warm(tmp_path: Path, digits: bool):
    size = 6 * 10**6
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, amount in ((few, 1), (many, size)):
        folder.mkdir()
        plain_memory.project(folder, amount, digits=digits)
    empty = cost(few, "render", plain_memory.RESULTS).peak
    for _ in range(2):
        assert cost(many, "render", plain_memory.RESULTS).peak - empty < 2 * size
