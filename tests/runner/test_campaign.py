"""Variants are measured in blocks, and what is measured is not measured again."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace
from statistics import geometric_mean

import pytest
from pymongo import MongoClient

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import campaign, host, slices
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.blocks import Campaign, Plan, open_journal
from mongo_tables.runner.campaign import execute
from mongo_tables.runner.errors import KEPT, TimeIsOver
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import Run, open_run
from mongo_tables.runner.store import HISTORY, FileStore
from mongo_tables.runner.target import UriTarget
from mongo_tables.runner.terminal import Progress
from tests.runner.measured import Cutting, call, measure

RECORDS = """\
name = "tiny"
title = "A few records"
workload = "ycsb"
repeats = 3

[parameters]
database = "mongo_tables_tiny"
collection = "usertable"
numberOfThreads = 2
recordcount = 300
testTimeSecs = 1
readproportion = 1.0
updateproportion = 0.0
"""
TWO = RECORDS + "".join(f"[[variants]]\norder = {number}\n" for number in (1, 2))
OPTIONS = Options(scale=1.0, seconds=0.2, repeats=None, seed=1)


@pytest.fixture
def run_of(replica_set):
    """Runs the two variants with their results in a folder; gives the rows."""

    def run(folder, progress, *, resume=False, text=TWO, sides=("",), options=OPTIONS):
        store = FileStore(folder)
        experiment = experiments.read(text.encode(), "tiny.toml")
        with WorkerPool(1) as crew:
            targets = [call(UriTarget(replica_set.uri), side) for side in sides]
            runs = [open_run(experiment, options, one, crew, progress, one.named.name) for one in targets]
            measure(runs, store, resume=resume)
        return store.rows("tiny")

    return run


def windows_of(rows):
    """The windows of each block in the order of time: (block, target, variant, whether it is the second one).

    Blocks are in theirs: one that something else disturbed may have been measured again, after others.
    """
    found = sorted(
        (
            repeat["block"],
            repeat["start_time"],
            row["_id"].get("target", ""),
            row["_id"]["order"],
            repeat["again"],
        )
        for row in rows
        for repeat in row["repeats"]
    )
    return [(block, *rest) for block, _, *rest in found]


def in_blocks(rows):
    """What ``windows_of`` these rows has to be."""
    seed = f"1/{rows[0]['campaign']['id']}/tiny"
    plan = Plan([[0, 1]], reference=0, twice=True, shuffled=True, seed=seed)
    return [(block, "", turn.variant + 1, turn.again) for block in range(3) for turn in plan.turns(block)]


def test_each_block_has_an_order_of_its_own_and_the_reference_twice(run_of, tmp_path):
    rows = run_of(tmp_path, Progress(io.StringIO()))
    assert windows_of(rows) == in_blocks(rows)
    assert [row["_id"]["order"] for row in rows] == [1, 2]
    assert [row["experiment"]["in_turn"] for row in rows] == [2, 2]
    assert [len(row["repeats"]) for row in rows] == [6, 3]
    assert [row["campaign"]["blocks"] for row in rows] == [3, 3]
    assert len({row["campaign"]["id"] for row in rows}) == 1
    assert [row["comparison"]["against"] for row in rows] == ["itself", "order 1"]
    for row in rows:
        assert row["comparison"]["blocks"] == 3
        assert row["speed"]["low"] <= row["speed"]["median"] <= row["speed"]["high"]
    inserted = [
        row[state]["opcounters"]["insert"] for row in rows for state in ("before_status", "after_status")
    ]
    assert len(set(inserted)) == 1  # the records were there already, for every window after the first


def test_two_targets_have_rows_of_their_own_and_take_turns(run_of, tmp_path):
    rows = run_of(tmp_path, Progress(io.StringIO()), sides=("a", "b"))
    assert [(row["_id"]["target"], row["_id"]["order"]) for row in rows] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    assert {row["test_config"]["database"] for row in rows} == {"mongo_tables_tiny"}
    assert [row["comparison"]["against"] for row in rows] == ["itself", "order 1"] * 2
    assert [row.get("targets", {}).get("against") for row in rows] == [None, None, "a", "a"]
    assert all(row["targets"]["blocks"] == 3 for row in rows[2:])
    windows = windows_of(rows)
    for one, other in zip(windows[::2], windows[1::2], strict=True):
        assert (one[0], *one[2:]) == (other[0], *other[2:])
        assert {one[1], other[1]} == {"a", "b"}


@pytest.fixture
def disturbed(monkeypatch):
    """Windows in slices are short, and something else used the machine in the second one of target b."""

    def measured(runs, place, *asked):
        foreign = (place.block, place.attempt, place.turn.target, place.turn.variant) == (1, 0, 1, 0)
        window = measure_slices(runs, place, *asked)
        return {**window, "duration": 2000, "processors": {"busy": 2.0, "other": 0.9 if foreign else 0.1}}

    measure_slices = campaign.measure_slices
    monkeypatch.setattr(campaign, "measure_slices", measured)
    monkeypatch.setattr(slices, "SECONDS", 1.3)  # longer than a machine rests


def test_two_targets_take_turns_in_slices_too_again_where_something_else_used_the_machine(
    run_of, tmp_path, disturbed
):
    options = replace(OPTIONS, slices=0.01)
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(8), sides=("a", "b"), options=options)
    kept = {path.name: path.read_bytes() for path in (tmp_path / ".runs" / "tiny").iterdir()}
    assert sorted(name for name in kept if "slices" in name) == [
        "0-0-slices-0-0-0.jsonl",
        "0-0-slices-0-1-0.jsonl",
    ]
    rows = run_of(tmp_path, Progress(io.StringIO()), sides=("a", "b"), options=options, resume=True)
    there = {path.name: path.read_bytes() for path in (tmp_path / ".runs" / "tiny").iterdir()}
    assert {name: there[name] for name in kept} == kept
    assert [name for name in there if "-1-slices" in name] == ["1-1-slices-0-1-0.jsonl"]
    assert [row.get("slices", {}).get("against") for row in rows] == ["itself", None, "a", "a"]
    assert [row["slices"]["measured_again"] for row in rows if "slices" in row] == [0, 1, 0]
    for row in rows:
        if "slices" in row:
            assert [row["slices"][name] for name in ("blocks", "disturbed", "failed")] == [3, 0, 0]
            assert row["slices"]["long_requests"] == (row["slices"]["mean_latency"] > 2500)
    assert {row["campaign"]["slice_seconds"] for row in rows} == {0.01}


def test_it_is_said_where_nobody_can_take_turns_in_slices(run_of, tmp_path):
    said = io.StringIO()
    run_of(tmp_path, Progress(said), options=replace(OPTIONS, repeats=1, slices=0.01))
    assert "tiny: no slices, because no two targets measure the same variants" in said.getvalue()


def test_a_block_that_was_cut_off_long_ago_is_measured_anew(run_of, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(4))
    cut_off = max(path.stat().st_mtime for path in (tmp_path / ".runs" / "tiny").iterdir())
    monkeypatch.setattr(campaign, "LONGEST_BREAK_SECONDS", -1.0)
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(1), resume=True)
    monkeypatch.setattr(campaign, "LONGEST_BREAK_SECONDS", 600.0)
    rows = run_of(tmp_path, Progress(io.StringIO()), resume=True)
    assert windows_of(rows) == in_blocks(rows)
    starts = {repeat["block"]: [] for row in rows for repeat in row["repeats"]}
    for row in rows:
        for repeat in row["repeats"]:
            starts[repeat["block"]].append(repeat["start_time"].timestamp())
    assert max(starts[0]) < cut_off < min(starts[1] + starts[2])


def test_a_run_is_not_gone_on_with_on_another_server(run_of, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(1))
    versions = host.versions
    monkeypatch.setattr(host, "versions", lambda info: {**versions(info), "server": "8.0.1"})
    with pytest.raises(CommandError, match=r"from another deployment: server was 6\.0\.\d+, and is 8\.0\.1"):
        run_of(tmp_path, Progress(io.StringIO()), resume=True)


def speeds_by_block(row):
    by_block = defaultdict(list)
    for repeat in row["repeats"]:
        by_block[repeat["block"]].append(repeat["operations_per_second"])
    return by_block


@pytest.mark.parametrize(
    "measured", [4, *(pytest.param(windows, marks=pytest.mark.exhaustive) for windows in (1, 5, 8))]
)
def test_a_run_that_is_gone_on_with_measures_only_what_is_missing(run_of, tmp_path, measured):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(measured))
    kept = {path.name: path.read_bytes() for path in (tmp_path / ".runs" / "tiny").iterdir()}
    assert len(kept) == measured
    assert FileStore(tmp_path).rows("tiny") == []
    campaign = FileStore(tmp_path).progress("tiny")["campaign"]["id"]
    rows = run_of(tmp_path, Progress(io.StringIO()), resume=True)
    assert windows_of(rows) == in_blocks(rows)
    assert {row["campaign"]["id"] for row in rows} == {campaign}
    assert {name: (tmp_path / ".runs" / "tiny" / name).read_bytes() for name in kept} == kept
    for row in rows:
        speeds = [repeat["operations_per_second"] for repeat in row["repeats"]]
        means = sorted(geometric_mean(some) for some in speeds_by_block(row).values())
        wanted = means[(len(means) - 1) // 2]
        assert row["work"]["operations_per_second"] == min(
            speeds, key=lambda speed: (abs(speed - wanted), speed)
        )
        assert row["start_time"] == row["repeats"][row["experiment"]["shown_repeat"]]["start_time"]


def test_a_run_whose_time_is_over_keeps_what_it_has(run_of, replica_set, tmp_path):
    experiment = experiments.read(TWO.encode(), "tiny.toml")
    store = FileStore(tmp_path)
    journal = open_journal(store, "tiny", {}, False, Campaign.new())
    with WorkerPool(1) as crew:
        run = open_run(experiment, OPTIONS, UriTarget(replica_set.uri), crew, Progress(io.StringIO()))
        with pytest.raises(TimeIsOver, match="0 of 3 blocks") as caught:
            execute([run], store, journal, 0.0)
    assert caught.value.hint == KEPT
    assert store.rows("tiny") == []


EVENTS = """\
name = "tiny"
title = "A few events"
workload = "event_reports"

[parameters]
database = "mongo_tables_tiny"
collection = "events"
numberOfThreads = 2
initialEvents = 200
writeBatchSize = 50
eventsPerSecond = 1000
testTimeSecs = 1
""" + "".join(
    f'[[variants]]\nversion = "{version}"\neventsFrom = "2020-0{month}-01"\n'
    for version in ("appV5R0", "appV5R3")
    for month in (1, 2)
)


def test_where_a_window_goes_on_from_the_last_one_the_block_is_measured_again(run_of, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(3), text=EVENTS)
    cut_off = max(path.stat().st_mtime for path in (tmp_path / ".runs" / "tiny").iterdir())
    rows = run_of(tmp_path, Progress(io.StringIO()), resume=True, text=EVENTS)
    assert len(rows) == 4
    assert min(row["start_time"].timestamp() for row in rows) > cut_off
    assert rows[3]["collection_stats"]["count"] > rows[2]["collection_stats"]["count"]


def test_a_row_that_was_written_when_the_run_was_cut_off_is_not_in_the_history(run_of, tmp_path, monkeypatch):
    def cut(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(FileStore, "retire", cut)
        run_of(tmp_path, Progress(io.StringIO()))
    before = FileStore(tmp_path).rows("tiny")
    assert run_of(tmp_path, Progress(io.StringIO()), resume=True) == before
    assert not (tmp_path / HISTORY).exists()


def test_a_run_that_was_killed_when_all_was_measured_leaves_no_database_once_it_is_gone_on_with(
    run_of, replica_set, tmp_path, monkeypatch
):
    def killed(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(campaign, "leave", killed)
        patched.setattr(Run, "abandon", killed)
        run_of(tmp_path, Progress(io.StringIO()))
    before = FileStore(tmp_path).rows("tiny")
    with MongoClient(replica_set.uri) as client:
        assert "mongo_tables_tiny" in client.list_database_names()
        assert run_of(tmp_path, Progress(io.StringIO()), resume=True) == before
        assert "mongo_tables_tiny" not in client.list_database_names()


def test_a_run_that_begins_anew_measures_everything_anew(run_of, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(3))
    cut_off = max(path.stat().st_mtime for path in (tmp_path / ".runs" / "tiny").iterdir())
    rows = run_of(tmp_path, Progress(io.StringIO()))
    assert min(repeat["start_time"].timestamp() for row in rows for repeat in row["repeats"]) > cut_off
