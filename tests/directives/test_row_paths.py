"""``rows``: lists and maps inside one object are rows, with their keys and with what surrounds them."""

from __future__ import annotations

from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.row_paths import find_rows, rows_stages
from tests.mongod import Mongod

CLASSES = {
    "_id": 1,
    "tool": "rtk",
    "result": {"commit": "a1", "by_class": {"git": {"n": 3, "saved": 81.5}, "npm": {"n": 2, "saved": 60.0}}},
}
MEASUREMENTS = {"_id": 1, "version": "7", "measurements": [{"name": "a", "ms": 2}, {"name": "b", "ms": 1}]}
SUITES = {
    "_id": 1,
    "host": "m",
    "suites": [
        {"name": "read", "results": [{"name": "a", "ms": 1}, {"name": "b", "ms": 2}]},
        {"name": "write", "results": [{"name": "a", "ms": 3}]},
    ],
}
SEVERAL = {
    "_id": 1,
    "throughput": [{"n": 1, "rps": 5}, {"n": 2, "rps": 9}, {"n": 4, "rps": 11}],
    "scaling": [{"n": 1, "x": 1.0}, {"n": 2, "x": 1.8}],
}

SHAPES: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    (
        "result.by_class.*",
        CLASSES,
        [
            {"_id": 1, "tool": "rtk", "result": {"commit": "a1"}, "_key": "git", "n": 3, "saved": 81.5},
            {"_id": 1, "tool": "rtk", "result": {"commit": "a1"}, "_key": "npm", "n": 2, "saved": 60.0},
        ],
    ),
    (
        "measurements.*",
        MEASUREMENTS,
        [
            {"_id": 1, "version": "7", "_key": 1, "name": "a", "ms": 2},
            {"_id": 1, "version": "7", "_key": 2, "name": "b", "ms": 1},
        ],
    ),
    (
        "suites.*.results.*",
        SUITES,
        [
            {"_id": 1, "host": "m", "suites": {"_key": 1, "name": "read"}, "_key": 1, "name": "a", "ms": 1},
            {"_id": 1, "host": "m", "suites": {"_key": 1, "name": "read"}, "_key": 2, "name": "b", "ms": 2},
            {"_id": 1, "host": "m", "suites": {"_key": 2, "name": "write"}, "_key": 1, "name": "a", "ms": 3},
        ],
    ),
    (
        "scaling.*",
        SEVERAL,
        [
            {"_id": 1, "throughput": SEVERAL["throughput"], "_key": 1, "n": 1, "x": 1.0},
            {"_id": 1, "throughput": SEVERAL["throughput"], "_key": 2, "n": 2, "x": 1.8},
        ],
    ),
    # A unit beside the entries of a map, and the whole file as a map.
    (
        "*",
        {"_id": 1, "unit": "ms", "a": {"t": 1}, "b": {"t": 2}},
        [{"_id": 1, "unit": "ms", "_key": "a", "t": 1}, {"_id": 1, "unit": "ms", "_key": "b", "t": 2}],
    ),
    # Entries that are no objects; a map of maps.
    (
        "speed.*.*",
        {"_id": 1, "speed": {"redis": {"get": 5, "set": 4}, "valkey": {"get": 6}}},
        [
            {"_id": 1, "speed": {"_key": "redis"}, "_key": "get", "_value": 5},
            {"_id": 1, "speed": {"_key": "redis"}, "_key": "set", "_value": 4},
            {"_id": 1, "speed": {"_key": "valkey"}, "_key": "get", "_value": 6},
        ],
    ),
    (
        "*.*",
        {"_id": 1, "redis": {"get": {"n": 5}}, "valkey": {"get": {"n": 6}}},
        [
            {"_id": 1, "_top": {"_key": "redis"}, "_key": "get", "n": 5},
            {"_id": 1, "_top": {"_key": "valkey"}, "_key": "get", "n": 6},
        ],
    ),
    ("samples.*", {"_id": 1, "samples": [3, 5]}, [{"_id": 1, "_key": 1, "_value": 3}, {"_id": 1, "_key": 2, "_value": 5}]),
    # An entry that is null is a row without values: nothing is half read.
    (
        "engines.*.*",
        {"_id": 1, "engines": {"a": {"get": {"ms": 5}, "set": None, "unit": "ms"}, "b": None}},
        [
            {"_id": 1, "engines": {"_key": "a"}, "unit": "ms", "_key": "get", "ms": 5},
            {"_id": 1, "engines": {"_key": "a"}, "unit": "ms", "_key": "set", "_value": None},
            {"_id": 1, "engines": {"_key": "b"}, "_value": None},
        ],
    ),
    ("speed.*", {"_id": 1, "speed": {"get": 5, "set": None}}, [{"_id": 1, "_key": "get", "_value": 5}, {"_id": 1, "_key": "set", "_value": None}]),
    # An entry with a field of the list's own name; no such list.
    ("results.*", {"_id": 1, "results": [{"results": 7}]}, [{"_id": 1, "_key": 1, "results": 7}]),
    ("results.*", {"_id": 1, "results": "none"}, []),
    ("results.*", {"_id": 1}, []),
]  # fmt: skip


@pytest.mark.parametrize(("path", "document", "rows"), SHAPES)
def test_each_entry_of_a_list_or_a_map_is_a_row(path: str, document: Any, rows: Any) -> None:
    assert aggregate([document], rows_stages(path)) == rows


def test_a_server_gives_the_same_rows(mongod: Mongod) -> None:
    import pymongo

    with pymongo.MongoClient(mongod.uri()) as client:
        for number, (path, document, rows) in enumerate(SHAPES):
            client["rows"][f"c{number}"].insert_one(document)
            assert list(client["rows"][f"c{number}"].aggregate(rows_stages(path))) == rows
        client.drop_database("rows")


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        (CLASSES, ["result.by_class.*"]),
        (MEASUREMENTS, ["measurements.*"]),
        (SUITES, ["suites.*.results.*"]),
        (SEVERAL, ["throughput.*", "scaling.*"]),
        ({"_id": 1, "a": {"n": 1}, "b": {"n": 2}}, ["*"]),
        (
            {"_id": 1, "redis": {"x": {"n": 1}, "y": {"n": 2}}, "valkey": {"x": {"n": 1}, "y": {"n": 2}}},
            ["*.*"],
        ),
        # Parts of a file are not alike; entries may have their numbers deeper.
        (
            {"_id": 1, "sorts": {"a": {"n": 1}, "b": {"n": 2}}, "machine": {"cores": 4}, "sum": {"pct": 5}},
            ["sorts.*"],
        ),
        ({"_id": 1, "sorts": {"a": {"time": {"ms": 1}}, "b": {"time": {"ms": 2}}}}, ["sorts.*"]),
        ({"_id": 1, "machine": {"cores": 4}, "sum": {"pct": 5}}, []),
        ({"_id": 1, "names": ["a", "b"], "files": [{"path": "x"}, {"path": "y"}]}, []),
    ],
)
def test_the_lists_of_a_document_are_found_with_the_longest_first(document: Any, paths: list[str]) -> None:
    assert find_rows(document) == paths
