"""Amounts of rows are as exact as the speeds that tables compute from them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from mongo_tables.render.values import cell_text
from mongo_tables.runner import result_rows
from mongo_tables.runner.result_rows import round_amount
from mongo_tables.runner.schema_check import check_result
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.window import Inside
from mongo_tables.runner.workloads import Amounts, workload

FIXTURES = Path(__file__).parents[2] / "fixtures"


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
    assert amounts == Amounts(6.497, 6.497, 3000)
    parameters, counts = workload(name).report(amounts)
    assert {**parameters, **counts} == {COUNTED[name]: 6.497}


def test_work_with_parts_of_requests_computes_the_speed_of_the_row():
    outcome = SimpleNamespace(
        window=Inside(6.497, 6.497, 3000.2, 6.497), seconds=0.55, unfinished=4, documents=9, errors={}, failed={},
        lost=0, without_service=0.0,
    )  # fmt: skip
    work = result_rows._work(SimpleNamespace(outcome=outcome))
    assert work["operations"] / 0.55 == pytest.approx(work["operations_per_second"], rel=0.001)
    row = FileStore(FIXTURES).rows("aggregate_group")[0]
    check_result({**row, "work": work, "testResults": {"nQueries": 6.497}})
