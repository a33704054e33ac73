"""Fingerprints are what the states of the server say, and a regime what published figures make of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.cli import main
from mongo_tables.directives.schemas import load as load_schema
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.fingerprint import COUNTERS, find_ranges, renew, take_fingerprint
from mongo_tables.runner.servers import KEPT

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "fixtures" / "results").glob("*.jsonl"))
FILES = ROOT / "preprocessor" / "mongo_tables" / "runner" / "experiments"
WITH_COUNTERS = {
    path.stem for path in FILES.glob("*.toml") if "fingerprint" in tomllib.loads(path.read_text("utf-8"))
}
CACHE, LOG, EXECUTOR = ("wiredTiger", "cache"), ("wiredTiger", "log"), ("metrics", "queryExecutor")
PLACES: dict[str, list[tuple[str, ...]]] = {
    "pages_read": [(*CACHE, "pages read into cache")],
    "pages_written": [(*CACHE, "pages written from cache")],
    "pages_evicted_by_writers": [(*CACHE, "modified pages evicted by application threads")],
    "bytes_read": [(*CACHE, "bytes read into cache")],
    "bytes_written": [("wiredTiger", "block-manager", "bytes written")],
    "journal_syncs": [(*LOG, "log sync operations")],
    "journal_bytes": [(*LOG, "log bytes written")],
    "keys_examined": [(*EXECUTOR, "scanned")],
    "documents_examined": [(*EXECUTOR, "scannedObjects")],
    "documents_returned": [("metrics", "document", "returned")],
    "write_conflicts": [("metrics", "operation", "writeConflicts")],
    "requests": [("network", "numRequests")],
    "bytes_sent": [("network", "bytesOut")],
    "processor_microseconds": [("extra_info", "user_time_us"), ("extra_info", "system_time_us")],
}


def of_control(file: Path) -> str:
    """The name of the experiment that a file is of, or of whose control."""
    return file.stem.removesuffix("_control")


def number(value: Any) -> float:
    """A number of Extended JSON."""
    return float(next(iter(value.values())) if isinstance(value, dict) else value)


def count(row: dict[str, Any], counter: str) -> float:
    """The difference between the states of a row in its file, per operation."""
    return sum(rise(row, path) for path in PLACES[counter]) / number(row["fingerprint"]["operations"])


def rise(row: dict[str, Any], path: tuple[str, ...]) -> float:
    """The difference of a counter between the states of a row in its file."""
    ends: list[Any] = [row["before_status"], row["after_status"]]
    for name in path:
        ends = [end[name] for end in ends]
    return number(ends[1]) - number(ends[0])


def at_full_size(row: dict[str, Any], counter: str) -> float:
    """The published figure of the row, per operation."""
    name = row["_id"]["testname"].removesuffix("_control")
    published = (ROOT / "fixtures" / "published" / f"{name}.jsonl").read_text("utf-8").splitlines()
    of = {**row["_id"], "testname": name}
    (figures,) = (one["figures"] for one in map(json.loads, published) if one.get("result_id") == of)
    if counter == "write_conflicts":
        return float(figures["writeConflicts"] / row["experiment"]["variant"]["nUpdates"])
    speed = figures.get("DocsPerSecond") or figures["qps"]
    kb = {"bytes_written": "compressedDataPerSecondKB", "journal_bytes": "journalPerSecondKB"}
    if counter in kb:
        return float(figures[kb[counter]] * 1024 / speed)
    assert counter == "pages_read"
    return float(figures["cachePageReadPerSecondKB"] / speed)


@pytest.mark.parametrize("file", RESULTS, ids=lambda path: path.stem)
def test_published_counters_and_regimes_are_what_the_states_in_the_same_row_say(file: Path) -> None:
    asked = tomllib.loads((FILES / f"{of_control(file)}.toml").read_text("utf-8"))
    entries = asked.get("full_size", [])
    for row in map(json.loads, file.read_text("utf-8").splitlines()):
        found = row.get("fingerprint", {"counters": []})
        assert [one["counter"] for one in found["counters"]] == asked.get("fingerprint", [])
        for one in found["counters"]:
            assert one["value"] == pytest.approx(count(row, one["counter"]), rel=1e-12)
            assert ("least" in one) == ("most" in one) == ("inside" in one)
            if "most" in one:
                assert one["inside"] == (one["least"] <= one["value"] <= one["most"])
                by_factor = [
                    entry
                    for entry in entries
                    if entry["counter"] == one["counter"] and "most" in entry and entry["most"] == one["most"]
                ] == []
                if by_factor:
                    # A stored key begins with no dollar sign.
                    variant = json.loads(json.dumps(row["experiment"]["variant"]).replace('"_$', '"$'))
                    number = asked["variants"].index(variant) + 1
                    *_, entry = (
                        entry
                        for entry in entries
                        if entry["counter"] == one["counter"]
                        and "factor" in entry
                        and number in entry.get("variants", [number])
                    )
                    there, none = at_full_size(row, one["counter"]), entry.get("negligible", 0)
                    assert one["most"] == pytest.approx(max(there * entry["factor"], none))
                    assert one["least"] == pytest.approx(there / entry["factor"] if there > none else 0)
        if found["counters"]:
            inside = [one["inside"] for one in found["counters"] if "inside" in one]
            assert found["regime"] == ("unknown" if not inside else "same" if all(inside) else "other")


def test_every_experiment_that_has_a_page_of_counters_names_them() -> None:
    assert set(map(of_control, RESULTS)) - WITH_COUNTERS == {"failover"}


def test_the_schema_the_pipeline_and_the_program_know_the_same_counters() -> None:
    schema = load_schema("experiment")["properties"]["fingerprint"]["items"]
    assert schema["enum"] == list(COUNTERS) == list(PLACES)
    pipeline = json.loads((ROOT / "docs" / "pipelines" / "fingerprint.json").read_text("utf-8"))
    assert [*COUNTERS, "regime", "differs"] == list(pipeline["fields"])


def test_a_row_keeps_every_counter_that_an_experiment_can_name() -> None:
    def is_kept(path: str) -> bool:
        kept: Any = KEPT
        for name in path.split("."):
            if kept == {}:
                return True
            if name not in kept:
                return False
            kept = kept[name]
        return True

    paths = [path for counter in COUNTERS.values() for path in counter.paths]
    assert [path for path in paths if not is_kept(path)] == []


FILE = """
name = "tiny"
title = "Tiny"
workload = "insert"
fingerprint = ["pages_read", "requests"]
[parameters]
database = "mongo_tables_tiny"
collection = "tiny"
numberOfThreads = 1
initialDocsToInsert = 10
totalDocsToInsert = 10
docSizeKB = 1.0
writeBatchSize = 10
nSecondaryIndexes = 0
[[variants]]
idType = "UUID"
[[variants]]
idType = "OBJECT_ID"
[[full_size]]
counter = "pages_read"
factor = 2
negligible = 0.02
why = "as an example"
[[full_size]]
counter = "requests"
variants = [2]
least = 0.5
most = 1.5
why = "as an example"
[published]
source = "an example"
[[published.rows]]
DocsPerSecond = 10
cachePageReadPerSecondKB = 1
[[published.rows]]
DocsPerSecond = 100
cachePageReadPerSecondKB = 1
"""
TINY = experiments.read(FILE.encode(), "tiny.toml")


def state(pages: int, requests: int | None = 0) -> dict[str, Any]:
    found = {"wiredTiger": {"cache": {"pages read into cache": pages}}}
    return found if requests is None else {**found, "network": {"numRequests": requests}}


def regime(variant: int, before: dict[str, Any], after: dict[str, Any], done: float = 100) -> str:
    row = {"work": {"operations": done}, "before_status": before, "after_status": after}
    return str(take_fingerprint(row, TINY, variant)["regime"])


def operations(name: str, before: dict[str, Any], after: dict[str, Any], **row: Any) -> float:
    """What the counters of a row of the first variant of an experiment are divided by, if the client counted 90."""
    row = {"work": {"operations": 90}, "before_status": before, "after_status": after, **row}
    return float(take_fingerprint(row, experiments.load(name), 0)["operations"])


def test_counters_are_divided_by_the_operations_that_the_server_counted_between_the_same_states() -> None:
    def answered(reads: int, writes: int, getmore: int = 0, insert: int = 0) -> dict[str, Any]:
        return {
            "opLatencies": {"reads": {"ops": reads}, "writes": {"ops": writes}},
            "opcounters": {"getmore": getmore, "insert": insert},
        }

    assert operations("insert_idtype", answered(0, 1, insert=7), answered(0, 2, insert=107)) == 100
    assert operations("update", answered(5, 0), answered(5, 100)) == 100
    assert operations("tencentdb", answered(0, 0), answered(60, 50, getmore=10)) == 100
    assert operations("updateapi", answered(0, 0), answered(0, 150, insert=50)) == 100
    assert operations("schema_storage", answered(0, 0), answered(500, 0)) == 100
    assert experiments.load("aggregate_group").variants[0]["limit"] == 10
    returned = [{"metrics": {"document": {"returned": count}}} for count in (3, 1003)]
    assert operations("aggregate_group", *returned) == 100


def test_the_client_counts_where_the_server_does_not_or_where_other_members_answer() -> None:
    states = [{"opcounters": {"insert": count}} for count in (0, 100)]
    assert operations("insert_idtype", *states) == 100
    assert operations("insert_idtype", *states, read_preference={"mode": "secondary"}) == 90
    assert operations("insert_idtype", {}, {}) == operations("insert_idtype", states[0], states[0]) == 90
    assert operations("failover", *states) == 90


def test_a_query_with_a_limit_examines_no_part_of_a_document_in_committed_rows() -> None:
    for row in map(json.loads, (RESULTS[0].parent / "query_fetch_io.jsonl").read_text("utf-8").splitlines()):
        (examined,) = (
            one["value"] for one in row["fingerprint"]["counters"] if one["counter"] == "documents_examined"
        )
        assert examined == pytest.approx(row["_id"]["limit"], rel=0.001)


def test_a_range_is_the_published_value_by_the_factor_and_what_is_negligible_counts_as_none() -> None:
    assert find_ranges(TINY, 0) == {"pages_read": (0.05, 0.2), "requests": None}
    assert find_ranges(TINY, 1) == {"pages_read": (0, 0.02), "requests": (0.5, 1.5)}


@pytest.mark.parametrize(("pages", "expected"), [(4, "other"), (5, "same"), (20, "same"), (21, "other")])
def test_a_row_is_of_the_published_regime_while_its_counter_is_in_the_range(
    pages: int, expected: str
) -> None:
    assert regime(0, state(7), state(7 + pages)) == expected


def test_one_counter_outside_makes_another_regime_and_one_that_is_not_reported_an_unknown_one() -> None:
    assert regime(1, state(0), state(1, 100)) == "same"
    assert regime(1, state(0), state(1, 300)) == "other"
    assert regime(1, state(0, None), state(1, None)) == "unknown"
    assert regime(1, state(0, None), state(9, None)) == "other"
    assert regime(1, state(0), state(1, 100), done=0) == "unknown"


def test_a_control_is_judged_by_the_figures_of_its_experiment_and_publishes_none() -> None:
    one = experiments.load("insert_idtype")
    control = experiments.control(one)
    assert list(control.published_rows()) == []
    assert find_ranges(control, 2) == find_ranges(one, 2)


def test_the_command_renews_fingerprints_and_keeps_all_else(tmp_path: Path) -> None:
    committed = (ROOT / "fixtures" / "results" / "query_full.jsonl").read_text("utf-8")
    bare = [json.loads(line) for line in committed.splitlines()]
    for row in bare:
        del row["fingerprint"]
    file = tmp_path / "results" / "query_full.jsonl"
    file.parent.mkdir()
    file.write_text("\n".join(map(json.dumps, bare)), "utf-8")
    assert main(["experiments", "query_full", "--fingerprint", "--output", str(tmp_path)]) == 0
    found, wanted = (
        {str(row["_id"]): row for row in map(json.loads, text.splitlines())}
        for text in (file.read_text("utf-8"), committed)
    )
    assert found == wanted
    assert not (tmp_path / "results_history").exists()


def test_rows_without_states_of_the_server_keep_what_they_have() -> None:
    ids = [{"idType": "UUID", "testname": "tiny"}, {"idType": "OBJECT_ID", "testname": "tiny"}]
    old = {"_id": {**ids[0], "target": "a"}, "work": {"operations": 10}}
    measured = {**old, "before_status": state(0), "after_status": state(1)}
    (row,) = renew([old, measured, {**measured, "_id": {"testname": "tiny"}}], TINY, ids)
    assert row["fingerprint"] == {
        "regime": "same",
        "operations": 10.0,
        "counters": [
            {"counter": "pages_read", "value": 0.1, "least": 0.05, "most": 0.2, "inside": True},
            {"counter": "requests", "value": 0.0},
        ],
    }


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('counter = "bytes_read"\nmost = 1\nwhy = "no row has it"', "no row has this counter"),
        ('counter = "requests"\nvariants = [3]\nmost = 1\nwhy = "an example"', "unknown variant 3"),
        ('counter = "requests"\nfactor = 2', "'why' is a required property"),
        ('counter = "requests"\nmost = 1\nfactor = 2\nwhy = "two ranges"', "is valid under each of"),
        ('counter = "requests"\nwhy = "no range"', "is not valid under any of"),
    ],
)
def test_a_counter_without_a_meaning_is_a_fault_of_the_file(entry: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        experiments.read((FILE + f"[[full_size]]\n{entry}\n").encode(), "tiny.toml")
    assert message in " ".join(finding.message for finding in caught.value.findings)
