"""Variants are measured in rounds where that costs nothing, and what is measured is not measured again."""

from __future__ import annotations

import io

import pytest
from pymongo import MongoClient

from preprocessor.runner import experiment as experiments
from preprocessor.runner.execution import Options, Run, execute, open_run
from preprocessor.runner.journal import Journal, open_journal
from preprocessor.runner.load import WorkerPool
from preprocessor.runner.progress import Progress
from preprocessor.runner.rounds import groups
from preprocessor.runner.store import HISTORY, FileStore
from preprocessor.runner.target import LocalTarget, UriTarget, wanted_cache_gb

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
OPTIONS = Options(scale=1.0, seconds=0.1, repeats=None, seed=1, client="wire")


def of_local(name, factor):
    """The groups of an experiment on a local target."""
    experiment = experiments.load(name)
    scaled = experiments.scale(experiment, factor)

    def deployment(number):
        cache = wanted_cache_gb(experiment.reference, experiment.variants[number], factor)
        return LocalTarget().deployment({**scaled.parameters, **scaled.variants[number]}, cache)

    return groups(scaled, deployment)


@pytest.mark.parametrize("name", ["insert_docsize", "insert_iops", "query_full", "update", "ycsb_core"])
def test_all_variants_are_in_the_rounds_where_none_asks_for_other_data_or_another_deployment(name):
    assert of_local(name, 0.001) == [list(range(len(experiments.load(name).variants)))]


def test_only_variants_with_the_same_data_are_measured_in_turn():
    assert of_local("memory_disk", 0.001) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_only_variants_on_the_same_deployment_are_measured_in_turn():
    assert of_local("insert_instancesize", 0.001) == [[0, 1, 2, 3, 4]]
    experiment = experiments.load("insert_instancesize")
    assert groups(experiment, lambda number: number // 2) == [[0, 1], [2, 3], [4]]


def test_where_a_window_goes_on_from_the_last_one_the_order_is_that_of_the_file():
    assert of_local("schema_load", 0.001) == [[number] for number in range(28)]


class Cutting(Progress):
    """Presses Ctrl-C when so many windows are done and the next is."""

    def __init__(self, windows):
        super().__init__(io.StringIO())
        self._left = windows

    def end(self, text):
        super().end(text)
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1


@pytest.fixture
def run_of(replica_set):
    """Runs the two variants with their results in a folder; gives the rows."""

    def run(folder, progress, *, resume=False, text=TWO):
        store = FileStore(folder)
        journal = open_journal(store, "tiny", {}, resume)
        experiment = experiments.read(text.encode(), "tiny.toml")
        target = UriTarget(replica_set.uri)
        with WorkerPool(1) as crew:
            execute(open_run(experiment, OPTIONS, target, crew, progress), store, journal)
        return store.rows("tiny")

    return run


def starts(rows):
    """When each window began: (time, variant, repeat), in the order of time."""
    return sorted(
        (repeat["start_time"], row["_id"]["order"], number)
        for row in rows
        for number, repeat in enumerate(row["repeats"])
    )


IN_ROUNDS = [(variant, repeat) for repeat in range(3) for variant in (1, 2)]


def test_each_variant_is_measured_once_before_any_is_measured_again(run_of, tmp_path):
    rows = run_of(tmp_path, Progress(io.StringIO()))
    assert [(variant, repeat) for _, variant, repeat in starts(rows)] == IN_ROUNDS
    assert [row["experiment"]["in_turn"] for row in rows] == [2, 2]
    inserted = [
        row[state]["opcounters"]["insert"] for row in rows for state in ("before_status", "after_status")
    ]
    assert len(set(inserted)) == 1  # the records were there already, for every window after the first


@pytest.mark.parametrize(
    "measured", [3, *(pytest.param(windows, marks=pytest.mark.thorough) for windows in (1, 5))]
)
def test_a_run_that_is_gone_on_with_measures_only_what_is_missing(run_of, tmp_path, measured):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(measured))
    kept = FileStore(tmp_path)
    before = [
        (kept.window("tiny", variant - 1, repeat) or {}).get("start_time") for variant, repeat in IN_ROUNDS
    ]
    assert [start is not None for start in before] == [number < measured for number in range(6)]
    rows = run_of(tmp_path, Progress(io.StringIO()), resume=True)
    windows = [kept.window("tiny", variant - 1, repeat) for variant, repeat in IN_ROUNDS]
    assert [window["experiment"]["in_turn"] for window in windows] == [2] * 6
    found = starts(rows)
    assert [start for start, _, _ in found][:measured] == before[:measured]
    assert [(variant, repeat) for _, variant, repeat in found] == IN_ROUNDS
    for row in rows:
        speeds = [repeat["operations_per_second"] for repeat in row["repeats"]]
        assert row["work"]["operations_per_second"] == sorted(speeds)[1]
        assert row["experiment"]["repeats"] == 3
        assert row["start_time"] == row["repeats"][row["experiment"]["shown_repeat"]]["start_time"]


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


def test_where_a_window_goes_on_from_the_last_one_those_before_it_are_measured_again(run_of, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, Cutting(3), text=EVENTS)
    before = FileStore(tmp_path).rows("tiny")
    rows = run_of(tmp_path, Progress(io.StringIO()), resume=True, text=EVENTS)
    assert len(before) == 3
    assert rows[:2] == before[:2]
    assert rows[2]["start_time"] > before[2]["start_time"]
    assert rows[3]["collection_stats"]["count"] > rows[2]["collection_stats"]["count"]


def test_a_row_that_was_written_when_the_run_was_cut_off_is_not_in_the_history(run_of, tmp_path, monkeypatch):
    def cut(journal, number, row):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Journal, "note", cut)
        run_of(tmp_path, Progress(io.StringIO()))
    (before,) = FileStore(tmp_path).rows("tiny")
    assert run_of(tmp_path, Progress(io.StringIO()), resume=True)[0] == before
    assert not (tmp_path / HISTORY).exists()


@pytest.mark.parametrize("noted", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_a_run_that_was_killed_when_all_was_measured_leaves_no_database_once_it_is_gone_on_with(
    run_of, replica_set, tmp_path, monkeypatch, noted
):
    def killed(*given):
        raise KeyboardInterrupt

    def note(journal, number, row):
        return told(journal, number, row) if noted or number == 0 else killed()

    told = Journal.note
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Journal, "note", note)
        patched.setattr(Run, "leave", killed)
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
    before = FileStore(tmp_path).window("tiny", 0, 0)
    rows = run_of(tmp_path, Progress(io.StringIO()))
    assert before and min(start for start, _, _ in starts(rows)) > before["start_time"]
