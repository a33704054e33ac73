"""What a large plain file takes of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import plain_memory
from benchmarks.fixture_memory import cost


@pytest.mark.parametrize("digits", [False, True])
def test_a_large_csv_takes_less_memory_than_five_times_its_bytes(tmp_path: Path, digits: bool):
    size = 6 * 10**6
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, amount in ((few, 1), (many, size)):
        folder.mkdir()
        plain_memory.project(folder, amount, digits=digits)
    empty = cost(few, "render", plain_memory.RESULTS).peak
    assert cost(many, "render", plain_memory.RESULTS).peak - empty < 5 * size
