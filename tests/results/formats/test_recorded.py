"""Files that the tools themselves wrote: each is known, and gives the documents that stand beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from mongo_tables.directives.schemas import load
from mongo_tables.results.formats import FORMATS
from mongo_tables.results.model import ResultsError
from tests.results.formats.reading import format_of, lines_of, read, write

RECORDED = Path(__file__).parent / "recorded"
DOCUMENTS = ".documents.jsonl"
FILES = sorted(
    path
    for path in RECORDED.glob("*/*")
    if path.name != "SOURCE.md" and not path.name.endswith(DOCUMENTS) and not path.name.startswith("private-")
)
NAMES = [path.relative_to(RECORDED).as_posix() for path in FILES]
PIECES = 40


@pytest.fixture(params=FILES, ids=NAMES)
def recorded(request: pytest.FixtureRequest) -> Path:
    return request.param


def beside(path: Path) -> Path:
    return path.with_name(path.name + DOCUMENTS)


def test_each_tool_has_recorded_files_with_their_source():
    tools = {one.name: one.module for one in FORMATS if one.marks}
    assert {path.name for path in RECORDED.iterdir()} == set(tools.values())
    for folder in RECORDED.iterdir():
        source = (folder / "SOURCE.md").read_text("utf-8")
        for path in folder.iterdir():
            assert path.name == "SOURCE.md" or path.name.removesuffix(DOCUMENTS) in source, path


def test_a_recorded_file_is_known_for_its_tools_and_gives_its_documents(recorded):
    found = format_of(recorded)
    assert found is not None
    assert found.module == recorded.parent.name
    assert lines_of(recorded) == beside(recorded).read_text("utf-8")


def test_the_documents_are_what_the_schema_of_benchmarks_says(recorded):
    validator = Draft7Validator(load("benchmark"))
    for line in beside(recorded).read_text("utf-8").splitlines():
        assert [error.message for error in validator.iter_errors(json.loads(line))] == []


def test_a_file_that_is_cut_off_is_refused_in_one_line_or_read_as_far_as_whole_results_go(recorded, tmp_path):
    content = recorded.read_bytes()
    whole = {str(one["_id"]): one for one in read(recorded)}
    for piece in range(1, PIECES):
        cut = write(
            tmp_path, content[: len(content) * piece // PIECES].decode("utf-8", "ignore"), recorded.name
        )
        if format_of(cut) is None or format_of(cut).module != recorded.parent.name:
            continue  # Nothing of it shows what it was to be: no result was written.
        try:
            documents = read(cut)
        except ResultsError as error:
            assert error.message.startswith(f"{cut}")
            assert "\n" not in error.message
            continue
        assert recorded.parent.name in ("criterion", "gobenchmark", "libtest", "ycsb"), (
            "a JSON text has an end"
        )
        assert all(is_begun(one, whole[str(one["_id"])]) for one in documents)


def is_begun(some: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a document has the first samples of the whole one, or its value."""
    begun = some.get("samples", [])
    return begun == whole.get("samples", [])[: len(begun)] and (
        begun != [] or some["value"] == whole["value"]
    )


def test_private_files_of_criterion_are_refused_with_what_to_do_instead(tmp_path):
    table = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\n"
    for path in (*(RECORDED / "criterion").glob("private-*"), write(tmp_path, table, "raw.csv")):
        with pytest.raises(ResultsError, match="Criterion calls this file private") as raised:
            read(path)
        assert "cargo criterion --message-format=json" in raised.value.hint
