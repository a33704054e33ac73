"""Collections as tables: what the names of fields say, and which values are numbers and names."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from bson import Decimal128, Int64, ObjectId

from mongo_tables.results.file_source import FileSource, hold
from mongo_tables.site.numbers.matching import NearTables, find_place, find_target
from mongo_tables.site.numbers.tables import Table, read_collections, read_field
from mongo_tables.site.numbers.text import Notation, read_numbers


def read(*documents: dict[str, Any]) -> list[Table]:
    return read_collections(FileSource("files", read=lambda: [hold("c", documents)]))


@pytest.mark.parametrize(
    ("field", "words", "unit"),
    [
        ("median_ms", "median", 1e-3),
        ("latency.p50_us", "p50", 1e-6),
        ("latency_ms.p50", "p50", 1e-3),
        ("elapsedMillis", "elapsed", 1e-3),
        ("time_per_op_ns", "time per op", 1e-9),
        ("requests_per_second", "requests_per_second", 1),
        ("read.mb_per_s", "read", 1e6),
        ("docSizeKB", "doc size", 1e3),
        ("size_bytes", "size", 1),
        ("seconds", "seconds", 1),
        ("saved_pct", "saved", 0.01),
        ("Time (ms)", "time", 1e-3),
        ("MB/s", "mb s", 1e6),
        ("Factor (x)", "factor", 1),
        ("speedup_vs_pandas", "speedup", 1),
        ("compression_ratio", "ratio", 1),
        ("build_s", "build", 1),
        ("min_s", "min", 1),
        ("min", "min", None),
        ("latency_min", "latency min", None),
        ("x", "x", None),
        ("p99", "p99", None),
    ],
)
def test_the_name_of_a_field_has_words_and_a_unit(field: str, words: str, unit: float | None) -> None:
    heading = read_field(field)
    assert words in heading.names
    assert (heading.units[0].factor if heading.units else None) == unit


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("decode_tok_s", "5 tokens/s"),
        ("ops_s", "5 ops/s"),
        ("mb_s", "5 MB/s"),
        ("req_s", "5 requests per second"),
        ("throughput_mb_s", "5 MB/s"),
        ("reqsPerSec", "5 req/s"),
        ("ns_op", "5 ns/op"),
        ("b_op", "5 B/op"),
        ("pandas_s", "5 s"),
        ("hz", "5 ops/s"),
    ],
)
def test_a_field_may_be_named_for_a_rate(field: str, text: str) -> None:
    (table,) = read({"name": "first", field: 5.0}, {"name": "second", field: 7.0})
    (number,) = read_numbers(text, Notation())
    assert find_place(number, f"With the first it is {text}.", NearTables((), [table])) is not None
    (other,) = read_numbers("5 minutes", Notation())
    assert find_place(other, "With the first it is 5 minutes.", NearTables((), [table])) is None


@pytest.mark.parametrize("field", ["accuracy", "recall", "coverage", "saved"])
def test_fractions_are_shares_of_texts_in_per_cent(field: str) -> None:
    (table,) = read({"name": "first", field: 0.689}, {"name": "second", field: 0.522})
    for text, found in (("68.9 %", True), ("0.689", True), ("52 %", False), ("0.689 %", False)):
        (number,) = read_numbers(text, Notation())
        sentence = f"The {field} of first is {text}."
        assert (find_place(number, sentence, NearTables((), [table])) is not None) is found, text
    (number,) = read_numbers("71 %", Notation())
    target = find_target(number, f"The {field} of first is 71 %.", NearTables((), [table]))
    assert target is not None and round(target.value, 6) == 68.9


def test_the_entries_of_a_map_are_rows_and_no_columns() -> None:
    outer, inner = read({"llama-8b": {"ttft_ms": 84.1}, "phi-4": {"ttft_ms": 119.3}, "version": 3})
    assert [outer.headings[cell.column].label for cell in outer.cells] == ["version"]
    assert {"llama 8 b", "phi 4"} < set(inner.rows.numbers)


def test_a_count_is_of_what_is_around_it() -> None:
    (table,) = read({"proofs": {"total": 431, "axioms": 7}, "tests": {"passed": 1204}})
    assert [sorted(one.nouns) for one in table.headings] == [["proof"], ["axiom"], ["test"]]


def test_counted_nouns_are_plural_or_have_a_count() -> None:
    assert [set(read_field(one).nouns) for one in ("numTests", "test_count", "status", "bytes")] == [
        {"test"}, {"test"}, {"statu"}, set(),
    ]  # fmt: skip


def test_numbers_are_cells_and_texts_are_names_whatever_the_type_of_the_other_values() -> None:
    (table,) = read(
        {
            "_id": ObjectId(), "name": "first one", "kind": "same", "a_ms": Decimal128("1.50"), "n": Int64(5),
            "bad": float("nan"), "inf": float("inf"), "dec": Decimal128("NaN"), "huge": 1e300, "tiny": 1e-9,
            "flag": True, "when": datetime.datetime(2026, 1, 1), "list": [1, 2], "": {"a.b": 3},
        },
        {"_id": 2, "name": "second_one", "kind": "same", "a_ms": Decimal128("2.50")},
    )  # fmt: skip
    cells = [(cell.number.written, table.headings[cell.column].label) for cell in table.cells]
    assert cells == [("1.50", "a_ms"), ("5", "n"), ("0.000000001", "tiny"), ("3", ".a.b"), ("2.50", "a_ms")]
    assert set(table.rows.numbers) == {"first one", "second_one", "second one"}


def test_entries_of_lists_and_maps_are_rows_and_have_the_unit_around_them() -> None:
    outer, inner = read({"unit": "ms", "total": 7, "by": {"one": {"p50": 12.5}, "two": {"p50": 14.5}}})
    assert [cell.number.written for cell in outer.cells] == ["7"]
    assert [(cell.number.written, cell.units[0].factor) for cell in inner.cells] == [
        ("12.5", 1e-3),
        ("14.5", 1e-3),
    ]
    assert inner.title == "c by.*"


def test_the_unit_beside_a_number_may_be_for_each_operation() -> None:
    (table,) = read(
        {"name": "encode", "used": 1536, "unit": "B/op"}, {"name": "decode", "used": 12, "unit": "ops / s"}
    )
    assert [cell.units[0].powers for cell in table.cells] == [
        (("byte", 1), ("operation", -1)),
        (("operation", 1), ("second", -1)),
    ]


def test_no_documents_are_a_table_without_cells() -> None:
    assert [list(table.cells) for table in read()] == [[]]


@pytest.mark.parametrize(
    ("sentence", "column"),
    [
        ("With rtk the read median is 6 ms.", "read.median_ms"),
        ("With rtk it is 6 ms to read.", None),
        ("With rtk the score is 6 % more.", None),
        ("With rtk it had 6 runs.", "runs"),
    ],
)
def test_a_sentence_means_the_column_that_it_names_best(sentence: str, column: str | None) -> None:
    tables = read(
        {"name": "rtk", "runs": 7, "score": 8, "read": {"median_ms": 5.5, "p99_ms": 9.5}},
        {"name": "ctx", "runs": 9, "score": 3, "read": {"median_ms": 7.5, "p99_ms": 11.5}},
    )
    (number,) = read_numbers(sentence, Notation(), {"run"})
    found = find_target(number, sentence, NearTables((), tables))
    assert (found and found.column) == column


def test_counts_and_parameters_do_not_have_the_unit_beside_them() -> None:
    (table,) = read({"name": "a", "value": 12.5, "unit": "ms", "count": 30, "parameters": {"n": 16}})
    units = {table.headings[cell.column].label: [one.factor for one in cell.units] for cell in table.cells}
    assert units == {"value": [1e-3], "count": [], "parameters.n": []}


@pytest.mark.parametrize(("count", "telling"), [(99, 3), (100, 4), (1000, 5)])
def test_where_there_are_many_numbers_those_of_more_digits_need_a_name(count: int, telling: int) -> None:
    (table,) = read(*({"name": f"run {at}", "took_ms": at} for at in range(count)))
    assert table.telling == telling
