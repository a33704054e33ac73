"""The documents that are named for a cell give its value alone, and each of them is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.cli import main
from mongo_tables.commands.explain import lineage
from tests.commands.explain import data, sources
from tests.mongod import Mongod

ORDERS: list[dict[str, Any]] = [
    {"_id": 1, "who": "ann", "total": 30, "items": ["a", "b"]},
    {"_id": 2, "who": "bob", "total": 5, "items": []},
    {"_id": 3, "who": "ann", "total": 12, "items": ["c"]},
    {"_id": 4, "who": "cid", "total": 0},
]
PEOPLE = [{"_id": "ann", "city": "Ulm"}, {"_id": "bob", "city": "Bonn"}]


@pytest.fixture(params=sources.KINDS)
def where(request: pytest.FixtureRequest, tmp_path: Path, mongod: Mongod) -> str:
    """A results source with the documents: a folder, or a database."""
    return sources.stored(request.param, {"orders": ORDERS, "people": PEOPLE}, tmp_path, mongod)


def page(folder: Path, columns: list[str], *stages: dict[str, Any]) -> Path:
    """A page with one table."""
    body = {"collection": "orders", "pipeline": stages, "columns": columns, "headers": columns}
    file = folder / "page.md"
    file.write_text(f"<!-- MONGO_TABLE: {json.dumps(body)} -->\n")
    return file


def told(capsys: pytest.CaptureFixture[str], file: Path, where: str, row: str, column: str) -> dict[str, Any]:
    """What the command says as data."""
    (found,) = data.told(str(file), "--cell", row, column, "--results", where)
    capsys.readouterr()
    return data.extended(data.lineage_data(found))


def ids(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """Collection and ``_id`` of the named documents."""
    return [(one["collection"], one["document"]["_id"]) for one in data["documents"]]


SUM = (
    {"$group": {"_id": "$who", "sum": {"$sum": "$total"}, "most": {"$max": "$total"}}},
    {"$sort": {"_id": 1}},
)


def test_a_sum_comes_from_the_documents_of_its_group(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = told(capsys, page(tmp_path, ["_id", "sum"], *SUM), where, "1", "sum")
    assert (data["value"], ids(data), data["minimal"]) == (42, [("orders", 1), ("orders", 3)], True)
    assert data["fields"] == ["total"]
    assert [(one["number"], one["field"]) for one in data["stages"]] == [(1, "sum")]


def test_the_greatest_comes_from_one_document(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = told(capsys, page(tmp_path, ["_id", "most"], *SUM), where, "ann", "most")
    assert (data["value"], ids(data)) == (30, [("orders", 1)])


def test_a_joined_value_comes_from_both_collections(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        {"$lookup": {"from": "people", "localField": "who", "foreignField": "_id", "as": "person"}},
        {"$project": {"who": 1, "city": {"$first": "$person.city"}}},
        {"$sort": {"_id": 1}},
    )
    data = told(capsys, page(tmp_path, ["_id", "city"], *stages), where, "2", "city")
    assert (data["value"], ids(data)) == ("Bonn", [("orders", 2), ("people", "bob")])


def test_a_rank_comes_from_the_documents_before_it(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        {"$setWindowFields": {"sortBy": {"total": 1}, "output": {"rank": {"$rank": {}}}}},
        {"$sort": {"_id": 1}},
    )
    data = told(capsys, page(tmp_path, ["_id", "rank"], *stages), where, "3", "rank")
    assert (data["value"], ids(data)) == (3, [("orders", 2), ("orders", 3), ("orders", 4)])


def test_the_text_names_documents_fields_and_stages(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = page(tmp_path, ["_id", "sum"], *SUM)
    assert main(["explain", str(file), "--cell", "1", "sum", "--rows", "1", "--results", where]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{file.as_posix()}:1  row 1, column `sum`: 42",
        "",
        "  2 of 4 documents of `orders`",
        "    _id 1  total 30",
        "    … and 1 more: --rows 2 lists all",
        "",
        "  these documents give the value, and each of them is needed",
        "",
        '  stage 1, $group: sum = {"$sum": "$total"}',
    ]


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("4", "sum", "there is no row `4`"),
        ("annn", "sum", "there is no row `annn`"),
        ("1", "summ", "there is no column `summ`"),
    ],
)
def test_a_cell_that_is_not_there_is_an_error(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, column: str, message: str
) -> None:
    file = page(tmp_path, ["_id", "sum"], {"$match": {"total": {"$gt": 0}}}, *SUM)
    assert main(["explain", str(file), "--cell", row, column, "--results", where]) == 2
    assert f"mongo-tables: {message}" in capsys.readouterr().err


def test_random_rows_are_refused(where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = page(tmp_path, ["_id"], {"$sample": {"size": 1}})
    assert main(["explain", str(file), "--cell", "1", "_id", "--results", where]) == 2
    assert "may give different rows in each run" in capsys.readouterr().err


def test_too_many_runs_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lineage, "MOST_RUNS", 20)
    (tmp_path / "orders.json").write_text(json.dumps([{"_id": n, "total": 1} for n in range(50)]))
    file = page(tmp_path, ["sum"], {"$group": {"_id": None, "sum": {"$sum": "$total"}}})
    data = told(capsys, file, str(tmp_path / "orders.json"), "1", "sum")
    assert (data["value"], len(data["documents"]), data["minimal"]) == (50, 50, False)


def test_documents_with_long_ids_can_be_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alike = [{"name": "n" * 80, "part": part} for part in (1, 2)]
    documents = [{"_id": one, "who": "ann", "total": at} for at, one in enumerate(alike, 1)]
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.jsonl").write_text("\n".join(map(json.dumps, documents)) + "\n")
    file = page(tmp_path, ["_id", "sum"], *SUM)
    assert main(["explain", str(file), "--cell", "1", "sum", "--results", str(tmp_path)]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("    _id ")]
    assert len({line.partition("  total")[0] for line in told}) == 2
