"""JSON and JSON Lines: which documents a text holds, and what is said of each that holds none."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path

import pytest
from bson.int64 import Int64

from tests.results.formats import documents, fault, written

TWO = [{"name": "a", "n": 1}, {"name": "b", "n": 2.5}]
LINES = "".join(f"{json.dumps(one)}\n" for one in TWO)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bench.json", json.dumps(TWO)),
        ("bench.json", f"\ufeff\n{json.dumps(TWO, indent=2)}\r\n"),
        ("bench.json", LINES),
        ("bench.jsonl", LINES),
        ("bench.ndjson", LINES.replace("\n", "\r\n\r\n")),
        ("bench.JSON", json.dumps(TWO)),
    ],
)
def test_a_list_of_objects_and_an_object_in_each_line_are_documents(
    tmp_path: Path, name: str, content: str
) -> None:
    assert documents(written(tmp_path, name, content)) == TWO
    assert documents(written(tmp_path, f"{name}.gz", gzip.compress(content.encode()))) == TWO


def test_one_object_is_one_document(tmp_path: Path) -> None:
    one = {"results": [{"command": "ls", "mean": 0.1}], "machine": {"cpu": "x"}}
    assert documents(written(tmp_path, "bench.json", json.dumps(one))) == [one]
    assert documents(written(tmp_path, "bench.json", json.dumps(one, indent=1))) == [one]


def test_values_are_extended_json_as_in_fixtures(tmp_path: Path) -> None:
    text = '{"at": {"$date": "2026-01-31T00:00:00Z"}, "n": {"$numberLong": "5"}, "big": 5000000000}'
    expected = {"at": datetime(2026, 1, 31), "n": Int64(5), "big": Int64(5_000_000_000)}
    for name in ("bench.json", "bench.jsonl"):
        assert documents(written(tmp_path, name, text)) == [expected]


def test_an_empty_list_has_no_documents(tmp_path: Path) -> None:
    assert documents(written(tmp_path, "bench.json", " [ ] ")) == []


def test_an_object_of_objects_is_one_document_whose_entries_rows_can_be(tmp_path: Path) -> None:
    keyed = {"parse": {"mean": 1}, "render": {"mean": 2}}
    assert documents(written(tmp_path, "bench.json", json.dumps(keyed))) == [keyed]
    assert documents(written(tmp_path, "bench.json", json.dumps([keyed]))) == [keyed]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bench.json", "", "bench.json: the file is empty"),
        ("bench.jsonl", "\n\n", "bench.jsonl: the file is empty"),
        ("bench.json", '[{"a": 1},', "bench.json:1:1: this `[` is never closed"),
        ("bench.json", '[{"a": 1}, 5]', "bench.json:1:12: not a document"),
        ("bench.json", "12", "bench.json:1:1: not a document"),
        ("bench.json", '[{"a": 1}] x', "bench.json:1:12: "),
        ("bench.json", '{"a": 1}\n{"a": }\n', "bench.json:2:7: "),
        ("bench.json", '[\n {"a": NaN}]', "bench.json:2:8: `NaN` is not a JSON number"),
        ("bench.json", '{"a": 1, "a": 2}', "bench.json:1:10: "),
        ("bench.json", '{"at": {"$date": "x"}}', "bench.json:1:18: `$date` is malformed"),
        ("bench.json", "<html></html>", "bench.json:1:1: "),
        ("bench.json", b'{"a": "\xe9"}', "bench.json:1:8: not UTF-8: there is a byte 0xe9 here"),
        ("bench.json", '{"a": 1}'.encode("utf-16"), "bench.json:1:1: UTF-16, not UTF-8"),
        ("bench.jsonl", b'{"a": 1}\n{"a": "\xe9"}', "bench.jsonl:2:8: not UTF-8: there is a byte 0xe9 here"),
        ("bench.json", "[" * 500, "bench.json:1:"),
        ("bench.json", '[{"a\\u0000b": 1}]', "bench.json:1:2: not a BSON document"),
    ],
)
def test_a_text_that_holds_no_documents_is_told_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    assert fault(written(tmp_path, name, content)).startswith(said)


def test_of_faulty_lines_the_first_is_told_with_the_number_of_the_others(tmp_path: Path) -> None:
    told = fault(written(tmp_path, "bench.jsonl", '{"a": 1}\n{"a" 1}\n{"a": 2}\n[]\n'))
    assert told.startswith("bench.jsonl:2:5: ")
    assert ", and 1 more faults" in told
    assert "\n" not in told
