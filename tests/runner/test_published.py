"""Published figures stand beside the results they belong to, for everybody who joins them."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from mongo_tables.aggregation import aggregate
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner import result_rows
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.result_rows import row_id
from mongo_tables.runner.schema_check import check_published
from mongo_tables.runner.store import FileStore, open_store
from tests.runner.processes import ROOT, TINY, finish, start

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
        check_published(one)


def test_a_document_belongs_to_the_row_of_the_result_to_the_order_of_its_fields():
    experiment = tiny()
    first, second, third = result_rows.published_documents(experiment)
    assert list(first["result_id"].items()) == list(row_id(experiment, 1).items())
    assert second["result_id"] == first["result_id"]
    assert "result_id" not in third


def test_a_document_that_is_none_is_refused():
    document = result_rows.published_documents(tiny())[0]
    with pytest.raises(RunnerError, match="figures"):
        check_published({**document, "figures": {}})


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
