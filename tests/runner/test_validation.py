"""Every field that the runner writes is described, and nothing else is written."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from mongo_tables.directives.schemas import load
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.file_documents import fixture_documents
from mongo_tables.runner.options import PROFILES
from mongo_tables.runner.store import FileStore, check_document
from tests.runner.processes import ROOT, finish, start

SCHEMA = load("result")
FIXTURES = sorted((ROOT / "fixtures" / "results").glob("*.jsonl"))


@pytest.fixture(scope="module")
def row(replica_set, tmp_path_factory):
    """A row as a run writes it now."""
    from tests.runner.processes import TINY

    folder = tmp_path_factory.mktemp("run")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    arguments = ("--target", replica_set.uri, "--output", folder, "--repeats", 1)
    assert finish(start(folder / "tiny.toml", *arguments))[0] == 0
    return FileStore(folder).rows("tiny")[0]


def fields(schema, path=()):
    """Every field that a schema describes, with its description."""
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name), inner
        yield from fields(inner, (*path, name))
    for part in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])):
        yield from fields(part, path)


def test_every_field_has_a_title_and_a_description():
    described = dict(fields(SCHEMA))
    assert len(described) > 120
    assert [
        path for path, field in described.items() if not (field.get("title") and field.get("description"))
    ] == []


def test_every_number_has_a_unit():
    def counts(field):
        kinds = field.get("type", [])
        whole = {"$ref": "#/definitions/whole"} in field.get("allOf", ())
        return whole or {"number", "integer"} & set([kinds] if isinstance(kinds, str) else kinds)

    without = [path[-1] for path, field in fields(SCHEMA) if counts(field) and "unit" not in field]
    assert without == ["seed"]


def test_a_row_of_a_run_is_as_the_schema_says(row):
    check_document("result", row)
    # There is one kind of operation only, no rate, no contrast, one target without shards, one campaign, and no
    # counters that the experiment names.
    absent = {"latencies", "service", "contrast", "targets", "slices", "campaigns", "sharding", "fingerprint"}
    assert set(row) == set(SCHEMA["properties"]) - absent


@pytest.mark.parametrize("profile", PROFILES)
def test_a_row_may_have_been_measured_by_any_profile(row, profile):
    check_document("result", {**row, "experiment": {**row["experiment"], "profile": profile}})


def test_a_row_may_say_what_taking_turns_in_slices_gave(row):
    figures = {name: row["comparison"][name] for name in ("against", "p", "blocks", "margin", "verdict")}
    doubts = {
        "measured_again": 1,
        "disturbed": None,
        "failed": 2,
        "mean_latency": 812.5,
        "long_requests": False,
    }
    check_document("result", {**row, "slices": {**figures, "ratio": 0.9, "low": 0.8, "high": inf, **doubts}})


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"duration": "long"}, "duration"),
        ({"surprise": 1}, "surprise"),
        ({"bench_config": {}}, "bench_config"),
        ({"before_status": {}}, "before_status"),
    ],
)
def test_a_row_that_is_not_is_refused_with_the_place(row, change, where):
    with pytest.raises(CommandError, match=where):
        check_document("result", {**row, **change})


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_committed_results_are_as_the_schema_says_and_name_no_host(path: Path):
    for row in FileStore(ROOT / "fixtures").rows(path.stem):
        check_document("result", row)
        assert row["before_status"]["host"].startswith("localhost:")
    assert list(fixture_documents(path, path.read_bytes()))
