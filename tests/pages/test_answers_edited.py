"""Answers that are kept between builds are those of files as they are, whatever they were meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.results.model import Query


def test_a_file_that_was_another_one_while_it_was_asked_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "fixtures/runs/a.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"_id": 1, "n": 5}\n')
    asked, query = KeptAnswers(f"{tmp_path}/fixtures"), Query("runs", ())
    asked.refresh()
    file.write_text('{"_id": 1, "n": 7}\n')
    asked.ask([query])
    assert asked.by_key[query.key] == [{"_id": 1, "n": 7}]
    file.write_text('{"_id": 1, "n": 5}\n')
    for ran in (1, 0):
        asked.refresh()
        asked.ask([query])
        assert asked.by_key[query.key] == [{"_id": 1, "n": 5}]
        assert asked.ran == ran


@pytest.mark.parametrize("results", ["latest/fixtures", "latest/bench/runs.json"])
def test_a_link_that_led_elsewhere_while_it_was_asked_is_asked_again(
    results: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for run, number in (("first", 5), ("second", 7)):
        for name, text in (
            ("fixtures/runs/a.jsonl", '{"_id": 1, "n": %d}'),
            ("bench/runs.json", '[{"_id": 1, "n": %d}]'),
        ):
            file = Path(run, name)
            file.parent.mkdir(parents=True)
            file.write_text(text % number)

    def lead_to(run: str) -> None:
        Path("latest").unlink(missing_ok=True)
        Path("latest").symlink_to(run)

    lead_to("first")
    asked, query = KeptAnswers(results), Query("runs", ())
    asked.refresh()
    lead_to("second")
    asked.ask([query])
    assert asked.by_key[query.key] == [{"_id": 1, "n": 7}]
    lead_to("first")
    asked.refresh()
    asked.ask([query])
    assert asked.by_key[query.key] == [{"_id": 1, "n": 5}]
