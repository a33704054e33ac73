"""What the query language promises: arrays, types, null, and quick answers on plain paths."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.regex import Regex
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, aggregate

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([1.0, 0.5, "a", ""])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)


def matched(query: dict[str, Any], *values: Any) -> list[Any]:
    """Which of the values a query finds in the field ``v``."""
    rows = aggregate([{"v": value} for value in values], [{"$match": query}])
    return [row["v"] for row in rows]


def meets(query: dict[str, Any], document: dict[str, Any]) -> bool:
    return bool(aggregate([document], [{"$match": query}]))


def test_numbers_are_equal_whatever_their_type() -> None:
    assert matched({"v": 2}, 2, 2.0, Int64(2), Decimal128("2.0"), "2", True) == [
        2,
        2.0,
        Int64(2),
        Decimal128("2.0"),
    ]


def test_true_is_no_number() -> None:
    assert matched({"v": 1}, True, 1) == [1]


def test_a_value_is_found_in_an_array_and_an_array_as_a_whole() -> None:
    assert matched({"v": 1}, [1, 2], [[1]], 1) == [[1, 2], 1]
    assert matched({"v": [1]}, [1], [[1]], 1) == [[1], [[1]]]


def test_a_path_goes_through_arrays_of_documents_and_by_place() -> None:
    document = {"runs": [{"p": [5, 7]}, {"p": 9}]}
    assert meets({"runs.p": 7}, document)
    assert meets({"runs.1.p": 9}, document)
    assert not meets({"runs.0.p": 9}, document)


def test_an_inequality_denies_every_value_of_the_path() -> None:
    assert matched({"v": {"$ne": 1}}, [1, 2], 2, None) == [2, None]
    assert matched({"v": {"$nin": [1, None]}}, [1, 2], 2, None) == [2]


def test_dates_compare_with_dates_only() -> None:
    day = datetime.datetime(2024, 5, 1)
    assert matched({"v": {"$gte": day}}, day, 5, "2024-05-02", datetime.datetime(2024, 4, 30)) == [day]


def test_expressions_are_regular_in_lists_too() -> None:
    assert matched({"v": {"$in": [Regex("^ab"), 3]}}, "abc", "cab", 3) == ["abc", 3]
    assert matched({"v": {"$not": Regex("B", "i")}}, "abc", "c", 1) == ["c", 1]
    assert matched({"v": {"$regex": "^b", "$options": "m"}}, "a\nb", "ab") == ["a\nb"]


def test_all_takes_elements_and_conditions_on_elements() -> None:
    assert matched({"v": {"$all": [1, 2]}}, [2, 1, 3], [1], 1) == [[2, 1, 3]]
    both = {"$all": [{"$elemMatch": {"$gt": 5}}, {"$elemMatch": {"$lt": 2}}]}
    assert matched({"v": both}, [1, 9], [3, 9]) == [[1, 9]]


def test_types_are_named_or_numbered_and_looked_for_inside_arrays() -> None:
    assert matched({"v": {"$type": ["number", 10]}}, 1, "a", None, [2.5]) == [1, None, [2.5]]
    assert matched({"v": {"$type": "array"}}, [], 1) == [[]]


def test_an_expression_sees_the_whole_document() -> None:
    assert meets({"$expr": {"$gt": ["$a", "$b"]}}, {"a": 2, "b": 1})
    assert not meets({"$expr": {"$gt": ["$a", "$b"]}}, {"b": 1})


def test_a_schema_asks_types_bounds_and_presence() -> None:
    schema = {
        "required": ["system"],
        "properties": {
            "system": {"bsonType": "string", "minLength": 2},
            "threads": {"bsonType": "int", "minimum": 1, "multipleOf": 2},
            "runs": {"items": {"required": ["p"]}, "uniqueItems": True},
        },
        "additionalProperties": False,
    }
    query = {"$jsonSchema": schema}
    assert meets(query, {"system": "ares", "threads": 8, "runs": [{"p": 1}, {"p": 2}]})
    assert not meets(query, {"threads": 8})
    assert not meets(query, {"system": "ares", "threads": 7})
    assert not meets(query, {"system": "ares", "runs": [{"p": 1}, {"p": 1.0}]})
    assert not meets(query, {"system": "ares", "other": 1})


def test_a_schema_with_an_unknown_keyword_is_refused_with_its_place() -> None:
    with pytest.raises(AggregationError, match="minimun") as raised:
        aggregate([], [{"$match": {"$jsonSchema": {"properties": {"a": {"minimun": 1}}}}}])
    assert raised.value.path == (0, "$match", "$jsonSchema", "properties", "a", "minimun")
    assert raised.value.unknown == "minimun"
    assert "minimum" in raised.value.known


@given(st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2), VALUES)
@settings(max_examples=150, deadline=None)
def test_a_query_and_its_denial_part_all_documents(document: dict[str, Any], value: Any) -> None:
    for path in ("a", "a.b", "a.0"):
        query = {path: {"$in": [value]}}
        assert meets(query, document) != meets({"$nor": [query]}, document)
        assert meets({path: {"$not": {"$in": [value]}}}, document) != meets(query, document)


@given(st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2), VALUES)
@settings(max_examples=150, deadline=None)
def test_equality_is_being_at_least_and_at_most_for_single_values(
    document: dict[str, Any], value: Any
) -> None:
    if isinstance(document.get("a"), list):
        return
    between = {"a": {"$gte": value, "$lte": value}}
    assert meets({"a": {"$eq": value}}, document) == meets(between, document)


def test_an_equality_at_the_head_reads_no_more_of_a_document_than_its_path() -> None:
    class Big(dict[str, Any]):
        reads: list[str] = []

        def get(self, name: str, default: Any = None) -> Any:
            self.reads.append(name)
            return super().get(name, default)

        def items(self) -> Any:
            raise AssertionError("the whole document was read")

    documents = [Big(experiment=name, status=1) for name in ("a", "b", "a")]
    assert len(aggregate(documents, [{"$match": {"experiment": "a"}}])) == 2
    assert set(Big.reads) == {"experiment"}
