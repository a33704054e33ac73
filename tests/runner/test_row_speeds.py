"""The speeds that pipelines of a report compute from a new row are the row's own."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.page_scan import find
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import open_run
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.target import UriTarget
from mongo_tables.runner.terminal import Progress
from tests.runner.measured import measure

PAGE = Path(__file__).parents[1] / "acceptance" / "pages" / "report.md"
SPEEDS = {"docs", "rate", "DocsPerSecond", "qps"}
"""What columns of operations in a second are called."""
INSERTS = """\
name = "{name}"
title = "Inserts"
workload = "insert"
parameters = {{database = "mongo_tables_speeds", collection = "c", numberOfThreads = 4, {shared}}}
variants = [{{{first}}}, {{{second}}}]
"""
WRITTEN = {
    "insert_docsize": INSERTS.format(
        name="insert_docsize",
        shared="writeBatchSize = 50",
        first="docSizeKB = 0.5, totalDocsToInsert = 20000",
        second="docSizeKB = 2.0, totalDocsToInsert = 10000",
    ),
    "insert_batchsize": INSERTS.format(
        name="insert_batchsize",
        shared="docSizeKB = 1.0, totalDocsToInsert = 6000",
        first="writeBatchSize = 10",
        second="writeBatchSize = 100",
    ),
}


@pytest.fixture(scope="module")
def rows(replica_set, tmp_path_factory):
    """Rows of three experiments that a page has tables of, each measured in a moment."""
    store = FileStore(tmp_path_factory.mktemp("rows"))
    queries = experiments.load("query_full")
    wanted = [experiments.read(text.encode(), f"{name}.toml") for name, text in WRITTEN.items()]
    wanted.append(replace(queries, variants=queries.variants[:2], published={}))
    with WorkerPool(1) as crew:
        for one in wanted:
            options = Options(0.00001 if one.name == "query_full" else 1.0, 0.5, 1, 1, profile="quick")
            run = open_run(one, options, UriTarget(replica_set.uri), crew, Progress(io.StringIO()))
            measure([run], store)
    return [row for one in wanted for row in store.rows(one.name)]


def computed(page, rows, name):
    """The speeds that tables of this experiment give, each list from one table."""
    for comment in find(page.read_text("utf-8"), page.name).comments:
        if comment.keyword != "MONGO_TABLE" or f'"{name}"' not in comment.body:
            continue
        table = json.loads(comment.body)
        columns = SPEEDS & set(table["columns"])
        if columns and table["collection"] == "results":
            found = aggregate(rows, table["pipeline"])
            yield from ([row[column] for row in found] for column in sorted(columns))


def differ(page, rows, name):
    """How many tables gave speeds, and where one is not within 1 % of the row's own."""
    own = sorted(row["work"]["operations_per_second"] for row in rows if row["_id"]["testname"] == name)
    tables = list(computed(page, rows, name))
    return len(tables), [
        (mine, theirs)
        for table in tables
        for mine, theirs in zip(own, sorted(table), strict=True)
        if abs(mine - theirs) > 0.01 * mine
    ]


@pytest.mark.parametrize("name", ["insert_docsize", "insert_batchsize", "query_full"])
def test_the_speeds_that_a_page_computes_are_those_of_the_rows(rows, name):
    tables, wrong = differ(PAGE, rows, name)
    assert tables >= 1
    assert wrong == []


def seconds_beside(row):
    """How long the two states of the server are apart beyond the window: each is taken just outside of it."""
    apart = row["after_status"]["localTime"] - row["before_status"]["localTime"]
    return apart.total_seconds() - row["duration"] / 1000


def test_both_states_of_the_server_are_of_the_window(rows):
    for row in rows:
        assert seconds_beside(row) >= -0.01


def test_what_the_server_counted_between_its_two_states_is_the_work_of_the_row(rows):
    for row in rows:
        kind = "query" if row["_id"]["testname"] == "query_full" else "insert"
        counted = row["after_status"]["opcounters"][kind] - row["before_status"]["opcounters"][kind]
        batch = row["test_config"].get("writeBatchSize") or row["variant"]["writeBatchSize"]
        under_way = row["client"]["connections"] * (batch if kind == "insert" else 1)
        assert counted >= row["work"]["operations"] - under_way
        if kind == "insert":
            assert counted <= row["work"]["all_documents"]
