"""The case files: documents, a pipeline, and what comes out, on the evaluator and on a real server.

A file that says ``"since": "8.0"`` holds what that version of MongoDB gives; the server of the tests is older.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest
from bson import json_util
from bson.codec_options import DatetimeConversion
from bson.raw_bson import RawBSONDocument
from pymongo.database import Database

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate
from tests.mongod import Mongod

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*/*.json"))
_OPTIONS = json_util.JSONOptions(
    json_mode=json_util.JSONMode.CANONICAL,
    tz_aware=False,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
)


def _case(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    case: dict[str, Any] = json.loads(
        text, object_pairs_hook=lambda pairs: json_util.object_pairs_hook(pairs, _OPTIONS)
    )
    return case


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


OF_THIS_SERVER = [path for path in FILES if '"since"' not in path.read_text("utf-8")]


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_the_evaluator_gives_what_the_case_says(path: Path) -> None:
    case = _case(path)
    given = {"collections": case.get("collections", {}), "variables": case.get("let")}
    if case.get("error"):
        with pytest.raises(AggregationError) as raised:
            aggregate(case["documents"], case["pipeline"], **given)
        assert not isinstance(raised.value, NotOffline)
        if "path" in case:
            assert raised.value.path == tuple(case["path"])
        return
    rows = aggregate(case["documents"], case["pipeline"], **given)
    assert [bson.encode(row) for row in rows] == [bson.encode(row) for row in case["expected"]]


@pytest.fixture(scope="module")
def database(mongod: Mongod) -> Iterator[Database[RawBSONDocument]]:
    with pymongo.MongoClient[RawBSONDocument](mongod.uri(), document_class=RawBSONDocument) as client:
        yield client["cases"]


@pytest.mark.parametrize("path", OF_THIS_SERVER, ids=_name)
def test_a_real_server_gives_what_the_case_says(path: Path, database: Database[RawBSONDocument]) -> None:
    case = _case(path)
    for name, rows in {"case": case["documents"], **case.get("collections", {})}.items():
        database.drop_collection(name)
        if rows:
            database[name].insert_many([RawBSONDocument(bson.encode(row)) for row in rows])
    if case.get("error"):
        with pytest.raises(pymongo.errors.OperationFailure):
            list(database["case"].aggregate(case["pipeline"], let=case.get("let")))
        return
    found = [row.raw for row in database["case"].aggregate(case["pipeline"], let=case.get("let"))]
    assert found == [bson.encode(row) for row in case["expected"]]
