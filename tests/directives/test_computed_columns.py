"""``compute``: arithmetic over columns, with each fault at its column of the expression."""

from __future__ import annotations

from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.computed_columns import ExpressionError, compile_expression
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.reader import read
from tests.mongod import Mongod

ROW = {"docs": 2048, "size": 3, "zero": 0, "text": "x", "run": {"ms": 4}, "p99 ms": 5, "µs": 6, "none": None}


def value_of(text: str) -> Any:
    return aggregate([ROW], [{"$set": {"x": compile_expression(text).value}}])[0]["x"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("docs * size / 1024", 6),
        ("docs / 2 ** 10 - -size", 5),
        ("(docs + size) / (size - 2)", 2051),
        ("run.ms * 'p99 ms' + run . ms", 24),
        (" µs / 2", 3),
        ("1 / (docs / 2048 / 2)", 2),
        ("2 * size", 6),
        # Where a part is not a number, or a divisor is 0, there is no value.
        ("docs / zero", None),
        ("docs / (size - 3) + 1", None),
        ("docs * missing", None),
        ("docs - none", None),
        ("docs + text", None),
    ],
)
def test_arithmetic_over_columns_is_computed(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("docs +* size", 6),
        ("docs * size)", 11),
        ("docs * __import__('os')", 7),
        ("docs if size else 1", 0),
        ("docs[0]", 0),
        ("docs / 0", 7),
        ("-" * 60 + "docs", 41),
        ("size + docs ** size", 15),
        ("1 + 1", 0),
        ("docs + True", 7),
        ("docs * '$size'", 7),
        ("µs * f(1)", 5),
        ("", 0),
        ("docs + " + "1" * 30, 7),
        ("+".join(["docs"] * 200), 0),
    ],
)
def test_anything_else_is_refused_at_its_column(text: str, at: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert caught.value.complaint.at == at


def findings_of(expression: str) -> list[tuple[int, str]]:
    body = f'{{"collection": "c", "columns": ["x"], "compute": {{"x": "{expression}"}}}}'
    (comment,) = find(f"<!-- RESULT_TABLE: {body} -->", "page.md").comments
    start = body.index(expression) + len("<!-- RESULT_TABLE: ") + 1
    return [(one.column - start, one.rule) for one in read(comment, "page.md", lambda name: None).findings]


@pytest.mark.parametrize("text", ["a + times.1.ms / times.0.ms", "a + times.1"])
def test_elements_of_a_list_are_named_and_not_numbered(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert str(caught.value) == "an expression cannot read elements of a list by index"
    assert caught.value.complaint.at == 4
    assert '"input": "$times"' in caught.value.complaint.hint


def test_a_fault_stands_at_its_column_of_the_page() -> None:
    assert findings_of("docs + f(1)") == [(7, "MT133")]
    assert findings_of("docs * size") == []


def test_escapes_before_a_fault_are_counted_as_they_are_written() -> None:
    assert findings_of("'p\\u0039\\u0039' + f(1)") == [(18, "MT133")]


def test_a_server_computes_the_same(mongod: Mongod) -> None:
    import pymongo

    texts = [
        "docs * size / 1024",
        "docs / zero",
        "docs + text",
        "1 / (docs / 2048 / 2)",
        "docs / 2 ** 10 - -size",
    ]
    stages = [{"$set": {f"x{number}": compile_expression(text).value}} for number, text in enumerate(texts)]
    with pymongo.MongoClient(mongod.uri()) as client:
        client["computed"]["rows"].insert_one({"_id": 1, **ROW})
        (row,) = client["computed"]["rows"].aggregate(stages)
        client.drop_database("computed")
    assert [row[f"x{number}"] for number in range(len(texts))] == list(map(value_of, texts))
