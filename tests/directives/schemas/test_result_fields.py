"""Every field of a result document has a meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.directives.schemas import field_at, fields

RESULTS = sorted((Path(__file__).parents[3] / "fixtures" / "results").glob("*.jsonl"))
SERVERS_OWN = ("before_status", "after_status")
# Filters and pipelines are data of the experiment: the names in them are those of its documents.
AUTHORS_OWN = ("query", "pipeline")


def paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf of a document in Extended JSON, with its path through arrays as through documents."""
    if isinstance(value, dict) and not any(name.startswith("$") for name in value):
        for name, inner in value.items():
            if name not in (*SERVERS_OWN, *AUTHORS_OWN):
                yield from paths(inner, (*path, name))
    elif isinstance(value, list) and value:
        for inner in value:
            yield from paths(inner, path)
    else:
        yield path, value


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_every_field_that_the_runner_wrote_is_described(file):
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    found = {".".join(path) for row in rows for path, _ in paths(row)}
    assert len(found) > 100
    assert sorted(path for path in found if field_at(path) is None) == []


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_every_number_that_the_runner_wrote_has_a_unit(file):
    def is_number(value: Any) -> bool:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        return plain or (isinstance(value, dict) and bool({"$numberLong", "$numberInt"} & set(value)))

    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    numbers = {".".join(path) for row in rows for path, value in paths(row) if is_number(value)}
    without = {path for path in numbers if not (known := field_at(path)) or not known.unit}
    assert without == {"experiment.seed"}  # A seed measures nothing.


def test_every_number_among_the_parameters_of_experiments_has_a_unit():
    schema = json.loads(
        (
            Path(__file__).parents[3] / "preprocessor/mongo_tables/directives/schemas/experiment.schema.json"
        ).read_text("utf-8")
    )
    numbers = [
        name
        for name, one in schema["definitions"].items()
        if one.get("type") in ("integer", "number")
        and name in schema["properties"]["parameters"]["properties"]
    ]
    assert len(numbers) > 10
    assert [name for name in numbers if not field_at(f"variant.{name}").unit] == []


def test_every_field_has_a_title_and_a_sentence():
    for field in fields().values():
        assert field.title.strip() == field.title != "", field
        assert field.description.endswith("."), field


def test_units_of_data_say_what_they_count_by():
    data = [field for field in fields().values() if field.unit in ("KiB", "MiB", "GiB", "KB", "MB", "GB")]
    assert len(data) > 5
    for field in data:
        assert field.unit[1] == "i", field
        assert "1,024" in field.description, field


def test_means_say_how_they_are_taken():
    assert "every request counts once" in fields()["latency.mean"].description
    assert "divided by count" in fields()["collection_stats.avgObjSize"].description
    assert "divided by the length of the window" in fields()["processors"].description


def test_a_parameter_means_the_same_wherever_a_result_repeats_it():
    places = (
        "_id",
        "variant",
        "test_config",
        "test_config.variant",
        "experiment.parameters",
        "experiment.variant",
    )
    texts = {
        (field.title, field.description, field.unit)
        for place in places
        if (field := field_at(f"{place}.docSizeKB"))
    }
    assert texts == {("Size of a document", "Minimum size of a document; 1 KiB is 1,024 bytes.", "KiB")}


def test_what_no_schema_describes_has_no_meaning():
    assert field_at("latency") is not None
    assert field_at("latency.median") is None
    assert field_at("elsewhere") is None
    assert field_at("") is None


def test_a_field_under_a_name_that_no_schema_knows_is_described():
    assert field_at("latencies.read.p99").unit == "microseconds"
    assert field_at("collection_stats.indexSizes.group_1").unit == "bytes"
    assert field_at("latencies.read.p98") is None
