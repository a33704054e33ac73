"""Rows are replaced and never lost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pymongo import MongoClient

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import store as stores
from mongo_tables.runner.store import FileStore, open_store


def row(variant, second, value=0):
    return {
        "_id": {"size": variant, "testname": "t"},
        "start_time": datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC),
        "value": value,
    }


@pytest.fixture(params=["files", "database"])
def store(request, tmp_path):
    """The same promises hold for both places."""
    if request.param == "files":
        yield FileStore(tmp_path)
        return
    uri = request.getfixturevalue("replica_set").uri.replace("/?", "/store_test?")
    with MongoClient(uri) as client:
        client.drop_database("store_test")
    opened = open_store(uri)
    yield opened
    opened.close()


def history(store):
    if isinstance(store, FileStore):
        return store.documents(stores.HISTORY, "t")
    return list(store._database[stores.HISTORY].find())


def calibrations(store):
    if isinstance(store, FileStore):
        return store.documents(stores.CALIBRATION, "w")
    return list(store._database[stores.CALIBRATION].find())


def test_rows_keep_the_order_in_which_they_were_first_written(store):
    for variant in (3, 1, 2):
        store.put(row(variant, 1))
    store.put(row(1, 2, value=9))
    assert [(one["_id"]["size"], one["value"]) for one in store.rows("t")] == [(3, 0), (1, 9), (2, 0)]


def test_what_several_campaigns_conclude_of_a_row_moves_it_nowhere(store):
    store.put(row(1, 1))
    store.put({**row(1, 1), "campaigns": {"ratio": 2.0}})
    store.put({**row(1, 1), "campaigns": {"ratio": 3.0}})
    assert [one["campaigns"] for one in store.rows("t")] == [{"ratio": 3.0}]
    assert history(store) == []


def test_a_replaced_row_is_in_the_history_with_all_it_had(store):
    store.put(row(1, 1, value=5))
    store.put(row(1, 2, value=6))
    (old,) = history(store)
    assert old["value"] == 5
    assert old["_id"]["size"] == 1
    assert old["_id"]["start_time"] == row(1, 1)["start_time"]


def test_writing_the_same_row_twice_does_not_double_it(store):
    for _ in range(3):
        store.put(row(1, 1))
    assert len(store.rows("t")) == 1
    assert history(store) == []
    store.put(row(1, 1, value=7))
    assert [one["value"] for one in history(store)] == [0]


def test_a_variant_that_is_no_more_leaves_the_rows_and_stays_in_the_history(store):
    store.put(row(1, 1))
    store.put(row(2, 1))
    assert store.retire("t", [row(2, 1)["_id"]]) == 1
    assert [one["_id"]["size"] for one in store.rows("t")] == [2]
    assert [one["_id"]["size"] for one in history(store)] == [1]


def test_a_calibration_takes_the_place_of_its_own_earlier_state_and_of_no_other(store):
    for campaign, pairs in (("a", 5), ("b", 5), ("b", 10)):
        document = {"_id": {"campaign": campaign, "workload": "w"}, "workload": "w", "pairs": pairs}
        store.write(stores.CALIBRATION, "w", [document])
    found = calibrations(store)
    assert {one["_id"]["campaign"]: one["pairs"] for one in found} == {"a": 5, "b": 10}
    assert len(found) == 2


def test_windows_are_kept_as_long_as_the_state_of_their_run(store):
    store.keep_progress("t", {"_id": "t", "done": {}})
    store.keep_progress("t", row(3, 1, value=7), "0-1")
    store.keep_progress("t", row(3, 1, value=8), "0-1")
    assert store.progress("t", "0-1") == row(3, 1, value=8)
    assert store.progress("t", "1-0") is None
    assert store.rows("t") == []
    store.forget_progress("other")
    assert store.progress("t", "0-1") is not None
    store.forget_progress("t")
    assert (store.progress("t", "0-1"), store.progress("t")) == (None, None)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    store = FileStore(tmp_path)
    store.put(row(1, 1, value=1))

    opened = Path.open

    def full_disk(path, mode="r", *args, **kwargs):
        if "w" in mode:
            raise OSError(28, "No space left on device")
        return opened(path, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full_disk)
    with pytest.raises(CommandError, match="No space left"):
        store.put(row(2, 1))
    assert [one["value"] for one in store.rows("t")] == [1]
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["t.jsonl"]


def test_a_file_that_is_not_extended_json_is_named(tmp_path):
    path = tmp_path / "results" / "t.jsonl"
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match=r"t\.jsonl"):
        FileStore(tmp_path).rows("t")


@pytest.mark.parametrize("key", [{"size": 1, "testname": "t"}, "by hand"])
def test_a_row_that_was_written_by_hand_gives_way_and_is_in_the_history(store, key):
    by_hand = {"_id": key, "value": 3}
    if isinstance(store, FileStore):
        store.write(stores.RESULTS, "t", [by_hand])
    else:
        store._database[stores.RESULTS].insert_one({**by_hand, "_id": {"size": 1, "testname": "t"}})
    store.put(row(1, 1))
    store.retire("t", [row(1, 1)["_id"]])
    assert [one["_id"] for one in store.rows("t")] == [row(1, 1)["_id"]]
    assert [(one["value"], one["_id"]["start_time"]) for one in history(store)] == [(3, None)]
