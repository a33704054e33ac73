"""Answers that are kept between builds are those of files as they are, whatever they were meanwhile."""

from __future__ import annotations

from pathlib import Path

from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.results.model import Query


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
