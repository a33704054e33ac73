"""A recorded file with one part of it changed is read, or refused in one line: no reader fails on what it did not expect."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from mongo_tables.directives.schemas import load
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.model import ResultsError
from tests.results.formats.reading import format_of, read, write
from tests.results.formats.test_recorded import FILES, NAMES

JSON = [path for path in FILES if path.suffix == ".json"]
TEXTS = [path for path in FILES if path.suffix != ".json"]
OTHERS = [
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    1e308,
    float("nan"),
    "",
    "x",
    "NaN",
    "\ud800",
    [],
    [1],
    [None],
    {},
    {"a": 1},
    [{}],
]
LINES = ("criterion", "gobenchmark")
VALIDATOR = Draft7Validator(load("benchmark"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each part of a value."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*path, key))


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], other)
    return copy


def texts_of(path: Path) -> list[str]:
    """The JSON texts of a file: one, or one a line."""
    text = path.read_text("utf-8")
    return text.splitlines() if path.parent.name in LINES else [text]


WHOLE = {path: [json.loads(text) for text in texts_of(path)] for path in JSON}
PARTS = {path: list(places(WHOLE[path])) for path in JSON}


def hold(folder: str, text: str, name: str, module: str) -> None:
    """Read a text; what comes of it is what the schema says, or one line."""
    path = write(Path(folder), text, name)
    found = format_of(path)
    if found is None or found.module != module:
        return
    try:
        documents = read(path)
    except ResultsError as error:
        assert "\n" not in error.message
        return
    for one in documents:
        assert [*VALIDATOR.iter_errors(json.loads(write_line(bson.encode(one))))] == []


@given(st.data())
@settings(max_examples=400)
def test_json_with_another_value_somewhere_is_read_or_refused(data):
    path = data.draw(st.sampled_from(JSON))
    place = data.draw(st.sampled_from(PARTS[path]))
    value = changed(WHOLE[path], place, data.draw(st.sampled_from(OTHERS)))
    lines = (
        value
        if isinstance(value, list) and path.parent.name in LINES
        else [value[0] if len(WHOLE[path]) == 1 and isinstance(value, list) and value else value]
    )
    with TemporaryDirectory() as folder:
        text = "\n".join(json.dumps(one, separators=(",", ":")) for one in lines)
        hold(folder, text, path.name, path.parent.name)


@given(st.data())
@settings(max_examples=300)
def test_text_with_other_characters_somewhere_is_read_or_refused(data):
    path = data.draw(st.sampled_from(TEXTS))
    text = path.read_text("utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = start + data.draw(st.integers(0, 20))
    other = data.draw(
        st.sampled_from(
            ["", "\t", "\n", ",", "1", "x", "-", '"', "NaN", "1e999", "\0", "٣", "é", "Benchmark", ": "]
        )
    )
    with TemporaryDirectory() as folder:
        hold(folder, text[:start] + other + text[end:], path.name, path.parent.name)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_packed_file_is_read_as_one_that_is_not(path, tmp_path):
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == read(path)


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("Vitest", '{"files": [{"filepath": "a", "groups": [{"fullName": "a", "benchmarks": [{"id": "1", "name": "x",'
                   ' "rank": 1, "rme": 1, "mean": GONE, "median": 0.5, "min": 0.4, "hz": 9, "sampleCount": 3}]}]}]}'),
        ("hyperfine", '{"results": [{"command": "x", "mean": GONE, "stddev": 0.1, "median": 0.5, "user": 0.1,'
                      ' "system": 0.1, "min": 0.4, "max": 0.6, "times": [0.4, 0.5, 0.6]}]}'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("gone", ["null", "NaN"])
def test_a_lost_mean_is_no_value_and_never_the_median(
    tool: str, text: str, gone: str, tmp_path: Path
) -> None:
    try:
        one = read(write(tmp_path, text.replace("GONE", gone)))[0]
    except ResultsError:
        return  # A refused file shows no wrong value, either.
    assert one["value"] is None
    assert "gives no" in one["failed"], one
