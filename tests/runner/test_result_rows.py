"""Rows are put together from windows, with amounts that nobody can tell from whole numbers, and published figures beside.

The windows of all blocks become a row of each variant on each target, with what it is to others.

Amounts of rows are as exact as the speeds that tables compute from them.

Published figures stand beside the results they belong to, for everybody who joins them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.aggregation import aggregate
from mongo_tables.findings.usage import CommandError
from mongo_tables.render.values import cell_text
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner import result_rows
from mongo_tables.runner.blocks import Plan, Turn, WindowKey
from mongo_tables.runner.driving import Failures
from mongo_tables.runner.result_rows import (
    conclude_slices,
    describe_command,
    gather,
    gather_rows,
    round_amount,
    row_id,
)
from mongo_tables.runner.slices import SliceWindows
from mongo_tables.runner.store import FileStore, check_document, open_store
from mongo_tables.runner.window import Inside
from mongo_tables.runner.workloads import workload
from tests.runner.processes import ROOT, TINY, finish, start


def window(target, number, block, speed, again=False):
    start = datetime(2026, 1, 1) + timedelta(seconds=block)
    repeat = {
        "block": block,
        "again": again,
        "operations_per_second": speed,
        "start_time": start,
        "duration": 500,
    }
    return {
        "_id": {"order": number, "testname": "tiny", **({"target": target} if target else {})},
        "work": {"operations_per_second": speed},
        "latency": {"count": 5000},
        "client": {"connections": 1, "client_bound": False},
        "checks": {"steady_part": True, "settled": True},
        "topology": {},
        "experiment": {"target": "local"},
        "hardware": {"cpu": "a processor", "cores": 2, "memory_gib": 8},
        "servers": {"members": []},
        "repeats": [repeat],
    }


def blocks_of(plan, speed, names=("",)):
    """Blocks in which ``speed`` says how fast the variant of a target is in a block."""
    return [
        {
            turn: window(names[turn.target], turn.variant, block, speed(turn, block), turn.again)
            for turn in plan.turns(block)
        }
        for block in range(6)
    ]


def plan_of(*variants, **changed):
    return Plan(
        **{"variants": variants, "reference": 0, "twice": True, "shuffled": True, "seed": "1", **changed}
    )


def test_each_variant_is_compared_with_the_reference_in_its_block():
    drift = [100, 200, 50, 400, 100, 300]
    plan = plan_of([0, 1, 2])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: drift[block] * (1 + turn.variant)), side_by_side=False
    )
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2, 3])
    assert [row["comparison"]["verdict"] for row in rows] == ["no difference", "faster", "faster"]
    assert [row["comparison"]["against"] for row in rows] == ["itself", "order 0", "order 0"]
    assert rows[1]["speed"] == {"median": 300.0, "low": 100.0, "high": 800.0, "blocks": 6}
    assert [row["experiment"]["repeats"] for row in rows] == [6, 6, 6]
    assert [len(row["repeats"]) for row in rows] == [12, 6, 6]


def test_a_row_says_in_words_what_it_is_where_it_ran_and_from_when_to_when():
    plan = plan_of([0, 1])
    for row in gather_rows(plan, blocks_of(plan, lambda turn, block: 100), side_by_side=False):
        assert row["experiment"]["variant_name"] == f"order {row['_id']['order']}"
        assert row["servers"]["machine"] == "a processor, 2 processors, 8 GiB"
        assert row["span"] == {
            "start": datetime(2026, 1, 1),
            "end": datetime(2026, 1, 1, second=5, microsecond=500_000),
        }


@pytest.mark.parametrize(
    ("experiment", "members", "targets", "command"),
    [
        ({"scale": 0.0123456789, "profile": None}, None, (), "--scale 0.0123456789"),
        (
            {"profile": "publish", "scale": 1.0, "seconds": 0.7, "repeats": 8, "seed": 12345678},
            1,
            (),
            "--profile publish --scale 1 --seconds 0.7 --repeats 8 --seed 12345678 --target 'local?members=1'",
        ),
        ({"scale": 1.0}, 1, ("old", "new"), "--scale 1 --target old=… --target new=…"),
        ({"scale": 1.0, "target": "db:27017"}, None, (), "--scale 1 --target …"),
    ],
)
def test_the_command_of_a_row_says_all_that_it_takes_to_measure_it_again(
    experiment, members, targets, command
):
    row = {
        "experiment": {"name": "tiny", "target": "local", **experiment},
        "topology": {"settings": {"members": members}},
    }
    assert describe_command(row, targets) == f"mongo-tables run tiny {command}"


def test_targets_side_by_side_have_a_reference_each_and_are_compared_with_the_first():
    plan = plan_of([0, 1], [0, 1])
    speeds = {(0, 0): 100, (0, 1): 200, (1, 0): 50, (1, 1): 50}
    found = blocks_of(plan, lambda turn, block: speeds[turn.target, turn.variant], names=("a", "b"))
    rows = gather_rows(plan, found, side_by_side=True)
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2, 1, 1])
    assert [row.get("targets", {}).get("ratio") for row in rows] == pytest.approx([None, None, 0.5, 0.25])


def test_variants_on_machines_of_their_own_are_those_of_one_experiment():
    plan = plan_of([0], [1])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: 100 * (1 + turn.variant), ("", "")), side_by_side=False
    )
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2])


def test_work_at_a_given_rate_is_not_compared():
    plan = plan_of([0, 1], compares=False)
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100), side_by_side=False)
    assert not any("comparison" in row for row in rows)
    assert rows[0]["speed"]["median"] == pytest.approx(100)


@pytest.mark.parametrize("doubtful", range(3))
def test_a_row_says_what_is_doubtful_in_any_of_its_windows(doubtful):
    windows = [window("", 0, block, 100 + block) for block in range(3)]
    for one in windows:
        one["topology"]["cache_shrunk"] = True
    sound = gather(windows)
    windows[doubtful]["client"]["client_bound"] = True
    windows[doubtful]["checks"] = {"steady_part": False, "settled": False}
    windows[doubtful]["topology"]["cache_shrunk"] = False
    row = gather(windows)
    assert (sound["client"]["client_bound"], row["client"]["client_bound"]) == (False, True)
    assert (sound["topology"]["cache_shrunk"], row["topology"]["cache_shrunk"]) == (True, False)
    for check in ("steady_part", "settled"):
        assert (sound["checks"][check], row["checks"][check]) == (True, False)


def test_a_row_does_not_say_of_caches_what_no_window_knows():
    assert "cache_shrunk" not in gather([window("", 0, block, 100) for block in range(3)])["topology"]


def test_a_variant_that_did_nothing_has_no_ratio():
    plan = plan_of([0, 1])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: 0 if turn == Turn(0, 1) else 9), side_by_side=False
    )
    assert (rows[1]["comparison"]["ratio"], rows[1]["comparison"]["verdict"]) == (None, "not known")
    assert rows[1]["speed"] == {"median": 0.0, "low": 0.0, "high": 0, "blocks": 6}


def test_rows_of_each_target_are_judged_together_in_slices_as_in_blocks():
    """Of two rows that are judged together the one with a p of 3 % is not faster; of one alone it is."""
    slight = [104, 90, 121, 99, 125, 103, 129, 108, 114, 101]
    plan = plan_of([0], [0], [0])
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100, "abc"), side_by_side=True)
    windows = SliceWindows()
    for block, speed in enumerate(slight):
        for target, did in ((1, 1.03 * speed), (2, 100 + block % 2)):
            window = {"operations": [100.0, did], "mean_latency": [900.0] * 2, "errors": [{}] * 2}
            rest = {"processors": None, "duration": 2000, "slice_ms": 40.0}
            windows.add(WindowKey(block, 0, Turn(target, 0), slices=True), window | rest)
    conclude_slices(rows, plan, windows.counted(), "a")
    assert 0.025 < rows[1]["slices"]["p"] < 0.05
    assert [row["slices"]["verdict"] for row in rows[1:]] == ["faster", "no difference"]


def test_what_windows_in_slices_say_is_in_the_rows_of_the_other_targets_and_in_the_reference():
    plan = plan_of([0, 1], [0, 1])
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100, names=("a", "b")), side_by_side=True)
    found = {
        Turn(0, 0): lambda block: [100.0, 100.0],
        Turn(1, 0): lambda block: [100.0 + block, 50.0 + block / 2],
        Turn(1, 1): lambda block: [100.0, 200.0],
    }
    windows = SliceWindows()
    for which, speeds in found.items():
        for block in range(6):
            window = {
                "operations": speeds(block), "mean_latency": [900.0, None], "errors": [{}, {}],
                "processors": None, "duration": 2000, "slice_ms": 40.0,
            }  # fmt: skip
            windows.add(WindowKey(block, 0, which, slices=True), window)
    conclude_slices(rows, plan, windows.counted(), "a")
    assert [row.get("slices", {}).get("ratio") for row in rows] == pytest.approx([1, None, 0.5, 2])
    assert [row.get("slices", {}).get("against") for row in rows] == ["itself", None, "a", "a"]
    assert (rows[2]["slices"]["blocks"], rows[2]["slices"]["negligible"]) == (6, 0.02)
    doubts = {name: rows[2]["slices"][name] for name in ("measured_again", "disturbed", "mean_latency")}
    assert doubts == {"measured_again": 0, "disturbed": None, "mean_latency": 900.0}


def test_planned_contrasts_stand_in_the_rows_of_each_target_that_has_both():
    plan = plan_of([0, 1, 2], [0, 2], contrasts={2: 1})
    blocks = blocks_of(plan, lambda turn, block: 100 * (1 + turn.variant) + block, ("a", "b"))
    rows = gather_rows(plan, blocks, side_by_side=True)
    assert [row.get("contrast", {}).get("against") for row in rows] == [None, None, "order 1", None, None]
    assert rows[2]["contrast"]["ratio"] == pytest.approx(1.5, rel=0.01)


def test_a_variant_that_was_measured_there_and_back_has_both_windows_and_one_speed_in_each_block():
    plan = plan_of([0, 1], and_back=True)
    blocks = [
        {
            turn: window("", turn.variant, block, 400.0 if turn.back else 100.0, turn.again)
            for turn in plan.turns(block)
        }
        for block in range(3)
    ]
    rows = gather_rows(plan, blocks, side_by_side=False)
    assert [len(row["repeats"]) for row in rows] == [12, 6]
    assert [row["speed"]["median"] for row in rows] == pytest.approx([200, 200])


ROWS_FOLDER = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (0.0, "0"),
        (0.03123456, "0.031235"),
        (6.4970000001, "6.497"),
        (7.0000001, "7"),
        (371.3, "371"),
        (99.6, "99.6"),
    ],
)
def test_an_amount_is_whole_where_nobody_could_tell_and_has_few_digits_else(done, said):
    amount = round_amount(done)
    assert cell_text(amount) == said
    assert amount == pytest.approx(done, rel=0.001)
    assert isinstance(amount, int) == said.isdigit()


COUNTED = {
    "delete": "nDeletes",
    "event_load": "totalDocsToInsert",
    "flat_insert": "nInserts",
    "hot_update": "nUpdates",
    "insert": "totalDocsToInsert",
    "query": "nQueries",
    "aggregate": "nQueries",
    "update": "nUpdates",
    "update_api": "nUpdates",
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_tables_divide_by_the_duration_is_what_was_done_and_not_the_next_whole_number(name):
    amounts = result_rows._amounts(Inside(6.497, 6.497, 3000.2, 6.497))
    assert amounts == {"operations": 6.497, "documents": 6.497, "bytes": 3000}
    parameters, counts = workload(name).report(amounts["operations"], amounts["documents"])
    assert {**parameters, **counts} == {COUNTED[name]: 6.497}


def test_work_with_parts_of_requests_computes_the_speed_of_the_row():
    outcome = SimpleNamespace(
        inside=Inside(6.497, 6.497, 3000.2, 6.497), seconds=0.55, unfinished=4, documents=9, errors={},
        failures=Failures(),
    )  # fmt: skip
    work = result_rows._work(outcome)
    assert work["operations"] / 0.55 == pytest.approx(work["operations_per_second"], rel=0.001)
    row = FileStore(ROWS_FOLDER).rows("aggregate_group")[0]
    check_document("result", {**row, "work": work, "testResults": {"nQueries": 6.497}})


FIGURES = """
[published]
source = "a paper"

[[published.rows]]
variant = 2
server = "4 cores"
DocsPerSecond = 10

[[published.rows]]
variant = 2
server = "8 cores"
note = "a misprint"
DocsPerSecond = 20.5

[[published.rows]]
variant = 0
source = "another paper"
qps = 3

[[published.rows]]
variant = 1
"""
WITH_FIGURES = [
    name for name in experiments.names() if result_rows.published_documents(experiments.load(name))
]
FIXTURES = ROOT / "fixtures" / "published"
SIDE_BY_SIDE = [
    {"$lookup": {"from": "published", "localField": "_id", "foreignField": "result_id", "as": "published"}},
    {"$set": {"theirs": {"$first": "$published.figures.durationS"}}},
    {"$set": {"ratio": {"$divide": ["$ours", "$theirs"]}}},
    {"$sort": {"_id": 1}},
]


def tiny():
    return experiments.read((TINY + FIGURES).encode(), "tiny.toml")


def test_every_row_with_figures_is_a_document_that_names_its_variant_and_its_source():
    first, second, third = result_rows.published_documents(tiny())
    assert first["_id"] == {"testname": "tiny", "row": 1}
    assert first["figures"] == {"server": "4 cores", "DocsPerSecond": 10}
    assert [one["variant"] for one in (first, second, third)] == [2, 2, 0]
    assert [one["source"] for one in (first, second, third)] == ["a paper", "a paper", "another paper"]
    assert [one.get("note") for one in (first, second, third)] == [None, "a misprint", None]
    for one in (first, second, third):
        check_document("published", one)


def test_a_document_belongs_to_the_row_of_the_result_to_the_order_of_its_fields():
    experiment = tiny()
    first, second, third = result_rows.published_documents(experiment)
    assert list(first["result_id"].items()) == list(row_id(experiment, 1).items())
    assert second["result_id"] == first["result_id"]
    assert "result_id" not in third


def test_a_document_that_is_none_is_refused():
    document = result_rows.published_documents(tiny())[0]
    with pytest.raises(CommandError, match="figures"):
        check_document("published", {**document, "figures": {}})


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_committed_figures_are_what_the_experiment_files_say(name, tmp_path):
    result_rows.write_published(experiments.load(name), FileStore(tmp_path))
    made = (tmp_path / "published" / f"{name}.jsonl").read_bytes()
    assert made == (FIXTURES / f"{name}.jsonl").read_bytes()


def test_no_figures_are_committed_of_which_no_experiment_file_knows():
    assert sorted(path.stem for path in FIXTURES.iterdir()) == WITH_FIGURES


@pytest.mark.parametrize("place", ["files", "database"])
def test_figures_that_are_written_again_stay_and_those_that_are_gone_go(place, request, tmp_path):
    where = str(tmp_path)
    if place == "database":
        where = request.getfixturevalue("replica_set").uri.replace("/?", "/published_test?")
        with MongoClient(where) as client:
            client.drop_database("published_test")
    store = open_store(where)

    def held():
        if place == "files":
            return FileStore(tmp_path).documents("published", "tiny")
        with MongoClient(where) as client:
            return list(client["published_test"].published.find())

    documents = result_rows.published_documents(tiny())
    for _ in range(2):
        assert result_rows.write_published(tiny(), store) == 3
        assert held() == documents
    store.publish("tiny", documents[:1])
    assert held() == documents[:1]
    store.publish("tiny", [])
    store.close()
    assert held() == []


def test_a_run_writes_the_figures_beside_its_rows(replica_set, tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY + FIGURES, encoding="utf-8")
    code, _, err = finish(start(path, "--target", replica_set.uri, "--output", tmp_path, "--repeats", 1))
    assert code == 0, err
    store = FileStore(tmp_path)
    assert store.documents("published", "tiny") == result_rows.published_documents(tiny())
    rows = aggregate(
        store.rows("tiny"), SIDE_BY_SIDE[:1], collections={"published": store.documents("published", "tiny")}
    )
    assert [len(row["published"]) for row in rows] == [0, 2]


def test_offline_and_on_a_server_results_find_their_figures(replica_set):
    known = [experiments.load(name) for name in WITH_FIGURES]
    results = [
        {"_id": row_id(experiment, number), "ours": 100.0}
        for experiment in known
        for number in range(len(experiment.variants))
    ]
    figures = [document for experiment in known for document in result_rows.published_documents(experiment)]
    offline = list(aggregate(results, SIDE_BY_SIDE, collections={"published": figures}))
    with MongoClient(replica_set.uri) as client:
        database = client["side_by_side"]
        try:
            database.results.insert_many(results)
            database.published.insert_many(figures)
            online = list(database.results.aggregate(SIDE_BY_SIDE))
        finally:
            client.drop_database("side_by_side")
    assert offline == online
    assert sum(len(row["published"]) for row in offline) == sum("result_id" in one for one in figures) > 70
    shown = [row for row in offline if row["_id"]["testname"] == "insert_docsize"]
    assert [round(row["ratio"], 3) for row in shown] == [0.42, 0.495, 0.526, 0.556, 0.585]
