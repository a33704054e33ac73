"""Results that are edited before, between and during answers: each file is used as one whole content."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.results.answers import Answers
from mongo_tables.results.file_listing import ResultsFile
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.model import Query, ResultsError, Rows

FILES = ("runs/a.jsonl", "runs/b.jsonl", "others/c.jsonl")
CONTENTS = ('{"_id":"%s","n":1}\n', '{"_id":"%s","n":2}\n{"_id":"%s more"}\n', "", '{"_id":"%s",')
QUERIES = (
    Query("runs", ()),
    Query("runs", ({"$match": {"n": 1}},)),
    Query("others", ({"$group": {"_id": None, "n": {"$sum": "$n"}}},)),
    Query("runs", ({"$unionWith": "others"}, {"$sort": {"_id": -1}})),
    Query("runs", ({"$lookup": {"from": "others", "localField": "n", "foreignField": "n", "as": "o"}},)),
)

EDITS = st.tuples(st.sampled_from(FILES), st.sampled_from(CONTENTS))
STEPS = st.one_of(
    st.tuples(st.just("edit"), EDITS),
    st.tuples(st.just("edit at the next read"), EDITS),
    st.tuples(st.just("ask"), st.lists(st.sampled_from(QUERIES), min_size=1)),
    st.tuples(st.just("build"), st.none()),
)


def write(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content.replace("%s", name))


def plain(answer: Rows | ResultsError) -> str:
    return f"error {answer.path}" if isinstance(answer, ResultsError) else repr(answer)


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=150, deadline=None)
def test_a_build_uses_each_file_as_one_whole_content_and_answers_as_a_fresh_process(
    steps: list[tuple[str, object]],
) -> None:
    with tempfile.TemporaryDirectory() as temporary, pytest.MonkeyPatch.context() as patch:
        folder, copy = Path(temporary, "fixtures"), Path(temporary, "copy")
        for name in FILES:
            write(folder, name, CONTENTS[0])
        read_file = ResultsFile.read
        waiting: list[tuple[str, str]] = []
        seen: dict[str, bytes] = {}

        def read(file: ResultsFile) -> bytes:
            path, content = file.path, read_file(file)
            if path.is_relative_to(folder):
                # What is read for the faults of all files is not what answers are made of.
                seen.setdefault(path.relative_to(folder).as_posix(), content)
                while waiting:
                    write(folder, *waiting.pop())
            return content

        patch.setattr(ResultsFile, "read", read)
        answers = Answers(str(folder))
        for what, given_value in steps:
            _take(what, given_value, folder, answers, waiting, seen, lambda: _copy(copy, seen))


def _take(
    what: str,
    value: object,
    folder: Path,
    answers: Answers,
    waiting: list[tuple[str, str]],
    seen: dict[str, bytes],
    copy: Callable[[], Path],
) -> None:
    if what == "edit" and isinstance(value, tuple):
        write(folder, *value)
    elif isinstance(value, tuple):
        waiting.append(value)
    elif isinstance(value, list):
        answers.answer({query.key: query for query in value})
        fresh = open_fixtures(copy())
        for query in value:
            answer = answers.by_key[query.key]
            if isinstance(answer, ResultsError) and answer.environment:
                continue
            assert plain(answer) == repr(fresh.aggregate(query))
    else:
        answers.refresh()
        seen.clear()


def _copy(copy: Path, seen: dict[str, bytes]) -> Path:
    """A folder with the files as they were read in this build."""
    for name in FILES:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if name in seen:
            path.write_bytes(seen[name])
    return copy


def test_a_file_that_changed_back_is_answered_as_at_first(tmp_path: Path) -> None:
    file, query = tmp_path / "runs/a.jsonl", QUERIES[0]
    file.parent.mkdir()
    answers = Answers(str(tmp_path))
    for number in (5, 7, 5):
        file.write_text(f'{{"_id": 1, "n": {number}}}\n')
        answers.refresh()
        answers.answer({query.key: query})
        assert answers.by_key[query.key] == [{"_id": 1, "n": number}]


def test_a_build_that_changed_nothing_runs_no_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.jsonl").write_text('{"_id": 1}\n')
    answers = Answers(str(tmp_path))
    answers.answer({QUERIES[0].key: QUERIES[0]})
    answers.refresh()
    monkeypatch.setattr("mongo_tables.results.file_source.aggregate", pytest.fail)
    answers.answer({QUERIES[0].key: QUERIES[0]})
    assert answers.by_key[QUERIES[0].key] == [{"_id": 1}]
