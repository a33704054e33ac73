"""Fields and types are counted, and a wrong path leads to the one that was meant."""

from __future__ import annotations

import pytest

from mongo_tables.commands.explain.fieldcounts import difference, has_path, nearest_path, shape_of

ROWS = [
    {"_id": {"testname": "insert", "docSizeKB": 1}, "ops": 1, "ms": None},
    {"_id": {"testname": "insert", "docSizeKB": 4}, "ops": 2.5, "points": [{"t": 1}, {"value": 2}]},
]


def test_a_shape_counts_types_in_the_order_of_fields() -> None:
    shape = shape_of(ROWS)
    assert [field.path for field in shape.fields] == [
        *("_id", "_id.testname", "_id.docSizeKB"),
        *("ops", "ms", "points"),
    ]
    ops, ms = shape.get("ops"), shape.get("ms")
    assert ops is not None
    assert ops.types == (("double", 1), ("int", 1))
    assert ms is not None
    assert (ms.present, ms.nulls) == (1, 1)


def test_nothing_is_said_of_the_difference_to_no_documents() -> None:
    assert difference(shape_of(ROWS), shape_of([])).went == ()


def test_a_type_that_fewer_documents_have_is_no_change() -> None:
    assert difference(shape_of(ROWS), shape_of(ROWS[:1])).changed == ()


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("_id.testnam", "_id.testname"),
        ("testname", "_id.testname"),
        ("docsizekb", "_id.docSizeKB"),
        ("_ids.testname", "_id.testname"),
        ("opps", "ops"),
        ("points.vale", "points.value"),
        ("temperature", ""),
    ],
)
def test_a_wrong_path_leads_to_the_one_that_was_meant(path: str, meant: str) -> None:
    assert nearest_path(path, ROWS) == meant


def test_paths_look_into_arrays_and_take_places_in_them() -> None:
    assert has_path(ROWS[1], ["points", "t"])
    assert has_path(ROWS[1], ["points", "1", "value"])
    assert not has_path(ROWS[1], ["points", "2"])
    assert has_path(ROWS[0], ["ms"])
