"""What is loaded serves the windows that can use it, and only those."""

from __future__ import annotations

import io
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.runner import experiment as experiments
from mongo_tables.runner import options, ownership, runs, windows
from mongo_tables.runner.blocks import Turn, WindowKey
from mongo_tables.runner.campaign import left_at_end
from mongo_tables.runner.errors import KEPT, TargetError, WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import explained_errors, leave, open_run
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import UriTarget
from mongo_tables.runner.terminal import Progress
from tests.runner.measured import measure, obstacle

DATABASE = "mongo_tables_tiny"
RECORDS = f"""\
name = "tiny"
title = "A few records"
workload = "ycsb"

[parameters]
database = "{DATABASE}"
collection = "usertable"
numberOfThreads = 2
testTimeSecs = 1
updateproportion = 0.0
"""
OPTIONS = Options(scale=1.0, seconds=0.2, repeats=1, seed=1)


class Moving(UriTarget):
    """Another deployment for every variant."""

    def __init__(self, *uris):
        super().__init__(uris[0])
        self._left = list(uris)

    def prepare(self, *asked):
        self._uri = self._left.pop(0)
        return super().prepare(*asked)


class Asked(UriTarget):
    """A deployment that keeps for how much room it was asked."""

    def __init__(self, uri):
        super().__init__(uri)
        self.rooms = []

    def prepare(self, config, cache_gb, least_gb=0.0):
        self.rooms.append(least_gb)
        return super().prepare(config, cache_gb, least_gb)


class Ailing(UriTarget):
    """A deployment of which a member ends, and the others go on."""

    def fault(self, patience=0.0):
        return "mongod ended: it was ill"


class Full(UriTarget):
    """A deployment of which a member holds more than the cache that it was given."""

    cache_shrunk = False


class Taken(UriTarget):
    """A deployment on which another run begins while a window is measured."""

    def fault(self, patience=0.0):
        with MongoClient(self.uri) as client:
            ownership.claim(client, DATABASE, "another")
        return ""


def rows_of(text, target, folder, shared=RECORDS, options=OPTIONS, said=None):
    experiment = experiments.read((shared + text).encode(), "tiny.toml")
    store = FileStore(folder)
    with WorkerPool(1) as crew:
        measure([open_run(experiment, options, target, crew, Progress(said or io.StringIO()))], store)
    return store.rows("tiny")


@pytest.fixture
def another():
    running = LocalReplicaSet(LocalAddress(members=1))
    yield running
    running.close()


BATCHES = f"""\
name = "tiny"
title = "A few batches"
workload = "insert"

[parameters]
database = "{DATABASE}"
collection = "inserts"
numberOfThreads = 10
totalDocsToInsert = 2000
docSizeKB = 4.0
"""


def test_all_variants_have_the_room_that_the_largest_of_them_needs_and_say_how_much_they_fill(
    replica_set, tmp_path
):
    target = Asked(replica_set.uri)
    rows = rows_of(
        "".join(f"[[variants]]\nwriteBatchSize = {n}\n" for n in (1, 400)), target, tmp_path, BATCHES
    )
    assert len(set(target.rooms)) == 1
    assert target.rooms[0] == pytest.approx(20 * 10 * 400 * 4 / 2**20, rel=0.11)
    for row in rows:
        written = 10 * row["variant"]["writeBatchSize"] * 4 * 1024
        full = written / (row["topology"]["cache_gb"] * 2**30)
        assert row["checks"]["in_flight_share"] == pytest.approx(full, rel=0.05)
        assert row["checks"]["in_flight_allowed"] == 0.05


def test_conclusions_are_refused_where_batches_fill_a_cache_that_only_the_server_knows(replica_set, tmp_path):
    batch = "[[variants]]\nwriteBatchSize = 400\n"
    publish = replace(OPTIONS, profile="publish")
    with pytest.raises(
        TargetError, match=r"requests in flight of tiny fill 6\.\d% of the cache, but .* at most 5\.0%"
    ):
        rows_of(batch, UriTarget(replica_set.uri), tmp_path, BATCHES, publish)
    assert FileStore(tmp_path).rows("tiny") == []


def test_another_deployment_has_nothing_loaded(replica_set, another, tmp_path):
    variants = "".join(
        f"[[variants]]\nrecordcount = 100\nreadproportion = 1.0\norder = {n}\n" for n in (1, 2)
    )
    try:
        rows = rows_of(variants, Moving(replica_set.uri, another.uri), tmp_path)
    finally:
        with MongoClient(replica_set.uri) as client:
            client.drop_database(DATABASE)
    assert [row["collection_stats"]["count"] for row in rows] == [100, 100]
    assert all(row["work"]["documents"] == row["work"]["operations"] > 0 for row in rows)


def test_each_size_of_data_has_a_collection_of_its_own_without_what_windows_inserted(replica_set, tmp_path):
    mix = "readproportion = 0.5\ninsertproportion = 0.5\n"
    variants = "".join(f"[[variants]]\nrecordcount = {count}\n{mix}" for count in (200, 400))
    rows = rows_of(variants, UriTarget(replica_set.uri), tmp_path)
    assert [row["work"]["errors"] for row in rows] == [{}, {}]
    for row in rows:
        inserted = row["latencies"]["insert"]["count"]
        assert inserted > 0
        assert row["collection_stats"]["count"] == row["variant"]["recordcount"] + inserted


@pytest.mark.parametrize(
    ("seconds", "rule", "steady"),
    [
        (0.2, "as long as the window", {"unknown"}),
        pytest.param(2.2, "MSER-5", {"yes", "no"}, marks=pytest.mark.exhaustive),
    ],
)
def test_the_load_that_warms_runs_on_into_the_window_and_is_in_no_figure(
    replica_set, tmp_path, seconds, rule, steady
):
    warmed = RECORDS.replace("workload", "warm = true\nworkload").replace("Secs = 1", "Secs = 9")
    variant = "[[variants]]\nrecordcount = 100\nreadproportion = 1.0\n"
    options = replace(OPTIONS, seconds=seconds)
    row = rows_of(variant, UriTarget(replica_set.uri), tmp_path, warmed, options)[0]
    warmup, served = row["warmup"], row["after_status"]["opcounters"]["query"]
    assert warmup["rule"] == rule
    assert warmup["cut_seconds"] >= min(2.0, seconds)
    assert row["checks"]["steady"] in steady
    # A busy machine closes a window late, never early.
    assert row["duration"] >= 1000 * seconds - 2
    # The counters of the server are read just outside of the window; two connections are in the middle of a request.
    served -= row["before_status"]["opcounters"]["query"]
    assert served >= row["work"]["operations"] - 2


def test_what_inserts_is_warmed_by_a_pass_after_which_its_data_is_as_it_was(replica_set, tmp_path):
    warmed = RECORDS.replace("workload", "warm = true\nworkload")
    variant = "[[variants]]\nrecordcount = 100\nreadproportion = 0.5\ninsertproportion = 0.5\n"
    row = rows_of(variant, UriTarget(replica_set.uri), tmp_path, warmed)[0]
    assert row["warmup"]["rule"] == "a pass before"
    assert row["collection_stats"]["count"] == 100 + row["latencies"]["insert"]["count"]


def test_a_window_in_which_a_member_ended_is_not_counted(replica_set, tmp_path):
    with pytest.raises(WorkFailed, match="given up: mongod ended: it was ill"):
        rows_of("[[variants]]\nrecordcount = 10\n", Ailing(replica_set.uri), tmp_path)
    assert FileStore(tmp_path).rows("tiny") == []
    assert not list(tmp_path.rglob("0-*.jsonl"))


def test_what_is_loaded_is_acknowledged_even_where_the_work_is_not(replica_set, tmp_path, monkeypatch):
    seen = {}
    perform = WorkerPool.perform

    def noted(crew, load, **told):
        seen.setdefault(load.config["totalDocsToInsert"], load.config.get("writeConcern"))
        return perform(crew, load, **told)

    monkeypatch.setattr(WorkerPool, "perform", noted)
    documents = RECORDS.replace('"ycsb"', '"insert"').replace(
        "updateproportion = 0.0", "initialDocsToInsert = 50"
    )
    variant = "docSizeKB = 1\nwriteBatchSize = 9\ntotalDocsToInsert = 20\nwriteConcern = { w = 0 }\n"
    rows_of(f"[[variants]]\n{variant}", UriTarget(replica_set.uri), tmp_path, documents)
    assert seen == {50: {"w": "majority"}, 90: {"w": 0}}


def test_two_runs_at_once_do_not_measure_each_other_and_neither_drops_what_is_the_others(
    replica_set, tmp_path
):
    with MongoClient(replica_set.uri) as client:
        with pytest.raises(TargetError, match="another run has taken the database"):
            rows_of("[[variants]]\nrecordcount = 10\n", Taken(replica_set.uri), tmp_path)
        assert FileStore(tmp_path).rows("tiny") == []
        assert DATABASE in client.list_database_names()
        # One that was killed leaves its database to the next.
        assert len(rows_of("[[variants]]\nrecordcount = 10\n", UriTarget(replica_set.uri), tmp_path)) == 1
        assert DATABASE not in client.list_database_names()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (WindowKey(1, 0, Turn(0, 0)), "tiny 1/1, block 2/2"),
        (WindowKey(2, 0, Turn(0, 0)), "tiny 1/1, block 3"),
        (WindowKey(0, 0, Turn(0, 0, again=True)), "tiny 1/1, block 1/2, second measurement of the reference"),
        (WindowKey(0, 1, Turn(0, 0)), "tiny 1/1, block 1/2, measured again"),
    ],
)
def test_progress_says_which_window_is_measured(place, said):
    experiment = experiments.read((RECORDS + "[[variants]]\nrecordcount = 10\n").encode(), "tiny.toml")
    options = replace(OPTIONS, repeats=2)
    run = open_run(experiment, options, UriTarget("mongodb://h"), None, Progress(io.StringIO()))
    assert windows._label(run, place) == said


@pytest.mark.parametrize("connected", [True, False])
def test_a_target_that_is_gone_when_everything_is_measured_is_told_of(monkeypatch, connected):
    monkeypatch.setattr(runs, "SELECTION_MS", 100)
    experiment = experiments.read((RECORDS + "[[variants]]\nrecordcount = 10\n").encode(), "tiny.toml")
    target = UriTarget("mongodb://127.0.0.1:1/")
    run = open_run(experiment, OPTIONS, target, None, Progress(io.StringIO()))
    if connected:
        run.clients[target.uri] = MongoClient(target.uri, serverSelectionTimeoutMS=100)
    with pytest.raises(TargetError, match=r"127\.0\.0\.1:1") as told:
        leave(run)
    assert DATABASE in told.value.hint


@pytest.fixture
def gone():
    """A run whose database is on a deployment that does not answer any more, and what it says."""
    experiment = experiments.read((RECORDS + "[[variants]]\nrecordcount = 10\n").encode(), "tiny.toml")
    target, said = UriTarget("mongodb://me:s3cret@127.0.0.1:1/"), io.StringIO()
    run = open_run(experiment, OPTIONS, target, WorkerPool(0), Progress(said))
    run.clients[target.uri] = MongoClient(target.uri, serverSelectionTimeoutMS=100)
    run.claimed = True
    return run, said


def test_a_database_that_an_interrupted_run_cannot_drop_is_named_with_where_it_is_and_how_it_goes(gone):
    run, said = gone
    run.abandon(100)
    assert f"the database '{DATABASE}' is left on 127.0.0.1:1: " in said.getvalue()
    assert "the next run of tiny there drops it" in said.getvalue()
    assert f'db.getSiblingDB("{DATABASE}").dropDatabase()' in said.getvalue()
    assert "s3cret" not in said.getvalue()


def test_a_lost_connection_is_told_before_the_work_is_tidied_up_and_a_dead_server_is_not_waited_for(gone):
    run, said = gone
    with pytest.raises(WorkFailed), left_at_end([run]):
        raise WorkFailed("the work was given up: ConnectionError", KEPT)
    first, second = said.getvalue().splitlines()
    assert first.startswith("the work was given up: ConnectionError; waiting up to 1.5 s for a primary")
    assert "is left on 127.0.0.1:1" in second


def test_a_new_primary_is_waited_for_where_another_member_answers(replica_set):
    with MongoClient(replica_set.uri) as client:
        client.admin.command("ping")
        assert runs._patience_ms(client, replica_set.uri, 12_000) == 12_000
        asked = f"{replica_set.uri}&serverSelectionTimeoutMS=300"
        assert runs._patience_ms(client, asked, 12_000) == 300


def test_whoever_lost_the_only_member_is_told_how_to_go_on(gone):
    run, _ = gone
    with pytest.raises(TargetError, match="no primary answers") as told, explained_errors(run):
        run.clients[run.target.uri].admin.command("ping")
    assert told.value.hint == KEPT


def test_whoever_does_not_wait_for_the_database_to_be_dropped_is_told_of_it(gone, monkeypatch):
    def interrupted(*told):
        raise KeyboardInterrupt

    run, said = gone
    monkeypatch.setattr(ownership, "drop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.abandon(100)
    assert f"the database '{DATABASE}' is left on 127.0.0.1:1: " in said.getvalue()


def test_nothing_is_said_of_a_database_that_was_dropped_or_never_made(gone, monkeypatch):
    run, said = gone
    monkeypatch.setattr(ownership, "drop", lambda *told: None)
    run.abandon(100)
    assert said.getvalue() == ""
    monkeypatch.undo()
    run.clients[run.target.uri] = MongoClient(run.target.uri, serverSelectionTimeoutMS=100)
    run.abandon(100)
    assert said.getvalue() == ""


def test_a_row_says_where_a_member_held_more_than_its_cache_and_so_does_the_run(replica_set, tmp_path):
    said = io.StringIO()
    variant = "[[variants]]\nrecordcount = 100\nreadproportion = 1.0\n"
    (row,) = rows_of(variant, Full(replica_set.uri), tmp_path / "full", said=said)
    assert row["topology"]["cache_shrunk"] is False
    assert "the cache of a member was overfull" in said.getvalue()
    (row,) = rows_of(variant, UriTarget(replica_set.uri), tmp_path / "given")
    assert "cache_shrunk" not in row["topology"]


def test_a_variant_may_have_a_rate_of_its_own_beside_one_that_has_none(replica_set, tmp_path):
    shared = "[[variants]]\nrecordcount = 100\nreadproportion = 1.0\n"
    rows = rows_of(f"{shared}{shared}operationsPerSecond = 100\n", UriTarget(replica_set.uri), tmp_path)
    (paced,), (free,) = ([row for row in rows if ("service" in row) is at_rate] for at_rate in (True, False))
    assert paced["variant"]["operationsPerSecond"] == paced["client"]["rate"] == 100
    assert 18 <= paced["client"]["meant"] <= 22  # in 0.2 s
    assert free["client"]["rate"] is None
    assert free["checks"]["littles_law"]
    for row in rows:  # one takes a sample a second
        reasons = [one["what"] for one in row["servers"]["not_known"]]
        assert reasons == ([] if row["processors"] else ["processors and disks in the window"])


def test_a_rate_of_the_experiment_goes_with_no_other_and_with_no_verdict(tmp_path):
    text = RECORDS + "[[variants]]\nrecordcount = 10\noperationsPerSecond = 5\n"
    own = experiments.read(text.encode(), "tiny.toml")
    target, store = UriTarget("mongodb://h"), FileStore(tmp_path)
    assert obstacle(own, OPTIONS, target, store) is None
    found = obstacle(own, replace(OPTIONS, rates=(7.0,)), target, store)
    assert found == ("tiny has its own rates", "leave out --rate")
    names = ("failover", "schema_load", "query_full")
    assert [options.has_rates(experiments.load(name)) for name in names] == [True, True, False]


def test_random_arrivals_are_refused_where_nothing_has_a_rate(tmp_path):
    plain = experiments.read((RECORDS + "[[variants]]\nrecordcount = 10\n").encode(), "tiny.toml")
    own = experiments.read(
        (RECORDS + "[[variants]]\nrecordcount = 10\noperationsPerSecond = 5\n").encode(), "tiny.toml"
    )
    target, store = UriTarget("mongodb://h"), FileStore(tmp_path)
    random = replace(OPTIONS, arrivals="poisson")
    refused = obstacle(plain, random, target, store)
    assert refused is not None
    assert refused[0] == "--arrivals poisson needs a rate of operations, and tiny has none"
    assert "--rate" in refused[1]
    assert obstacle(plain, replace(random, rates=(7.0,)), target, store) is None
    assert obstacle(own, random, target, store) is None


@pytest.mark.parametrize(("failed", "refused"), [(5, False), (6, True)])
def test_a_row_of_which_more_than_a_twentieth_failed_is_none(failed, refused):
    outcome = SimpleNamespace(
        latencies_by_kind={"read": {100: 60}, "": {200: 35}}, errors={"Late 50": failed}
    )
    told = pytest.raises(WorkFailed, match="6 of 101 requests failed") if refused else nullcontext()
    with told:
        windows._check_errors(SimpleNamespace(outcome=outcome))
