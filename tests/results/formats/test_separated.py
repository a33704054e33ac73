"""CSV and TSV: the types of columns by the rule, what their authors state, and each file that is not such a table."""

from __future__ import annotations

import csv
import gzip
import io
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands.test_commands import mongo_tables
from tests.results.formats import documents, fault, written


def table(folder: Path, *lines: str, name: str = "bench.csv") -> Path:
    return written(folder, name, "".join(f"{line}\n" for line in lines))


def column(folder: Path, *cells: str, **types: str) -> list[object]:
    """The values of a column ``v`` of these cells; None where a document has no such field."""
    found = documents(table(folder, "k,v", *(f"x,{cell}" for cell in cells)), **types)
    return [document.get("v") for document in found]


def test_a_column_whose_every_cell_is_a_number_has_numbers(tmp_path: Path) -> None:
    values = column(tmp_path, "1", "-2.5", "3e2", "0", "9223372036854775807")
    assert values == [1, -2.5, 300.0, 0, 2**63 - 1]
    assert [type(value).__name__ for value in values] == ["int", "float", "float", "int", "Int64"]


@pytest.mark.parametrize(
    "cell",
    [
        "007",
        "+1",
        ".5",
        "1.",
        "1e",
        "1.5e-",
        "1,5",
        "NaN",
        "inf",
        "0x10",
        "1_000",
        "5 ms",
        "9223372036854775808",
        "١",
        "true",
    ],
)
def test_one_cell_that_json_would_not_write_as_a_number_makes_its_column_text(
    tmp_path: Path, cell: str
) -> None:
    assert column(tmp_path, "1", f'"{cell}"', "2") == ["1", cell, "2"]


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2026-11-20", datetime(2026, 11, 20)),
        ("2026-11-20T10:30Z", datetime(2026, 11, 20, 10, 30)),
        ("2026-11-20 10:30:05", datetime(2026, 11, 20, 10, 30, 5)),
        ("2026-11-20T10:30:05.123456+02:00", datetime(2026, 11, 20, 8, 30, 5, 123000)),
        ("2026-11-20T10:30:05-0530", datetime(2026, 11, 20, 16, 0, 5)),
    ],
)
def test_a_column_of_iso_8601_has_dates_in_utc(tmp_path: Path, cell: str, date: datetime) -> None:
    assert column(tmp_path, cell, "2000-01-01") == [date, datetime(2000, 1, 1)]


@pytest.mark.parametrize(
    "cell",
    [
        "20.11.2026",
        "2026-11",
        "2026-13-01",
        "2026-11-20T25:00",
        "20261120T1030",
        "10:30",
        "2026-1-1",
        "2026-11-20T10:30:05.",
        "2026-11-20T10:30:05+02:0",
    ],
)
def test_one_cell_that_is_no_such_date_makes_its_column_text(tmp_path: Path, cell: str) -> None:
    assert column(tmp_path, "2026-11-20", cell) == ["2026-11-20", cell]


def test_numbers_beside_dates_are_text_in_whichever_order_they_come(tmp_path: Path) -> None:
    assert column(tmp_path, "", "2026-11-20", "5") == [None, "2026-11-20", "5"]
    assert column(tmp_path, "5", "", "2026-11-20") == ["5", None, "2026-11-20"]


def test_the_type_of_a_column_is_that_of_all_its_cells_also_of_the_last_of_many(tmp_path: Path) -> None:
    assert column(tmp_path, *["1"] * 5000, "x")[:2] == ["1", "1"]
    assert column(tmp_path, *[""] * 5000, "2026-01-01")[-1] == datetime(2026, 1, 1)
    assert column(tmp_path, *["1"] * 5000, "2.5")[-2:] == [1, 2.5]


def test_an_empty_cell_is_a_field_that_the_document_does_not_have(tmp_path: Path) -> None:
    assert documents(table(tmp_path, "a,b,c", "1,,x", ",2.5,")) == [{"a": 1, "c": "x"}, {"b": 2.5}]


def test_an_author_says_otherwise_for_each_column(tmp_path: Path) -> None:
    path = table(tmp_path, "version,day,n", "1.10,2026-01-01,1", "1.9,2026-01-02,2")
    assert documents(path, version="text", day="text")[0] == {
        "version": "1.10", "day": "2026-01-01", "n": 1, "_sort": {"version": "0000000001.0000000010"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (["1", "n/a"], "number", "3:3: `n/a` is not a number"),
        (["2026-01-01", "soon"], "date", "3:3: `soon` is not a date"),
        (["1", "99999999999999999999"], "number", "3:3: the number `99999999999999999999` is too big"),
    ],
)
def test_a_cell_that_is_not_of_the_type_its_author_states_is_told_with_its_place(
    tmp_path: Path, cells: list[str], kind: str, said: str
) -> None:
    told = fault(table(tmp_path, "k,v", *(f"x,{cell}" for cell in cells)), v=kind)
    assert told.startswith(f"bench.csv:{said}")
    assert "?v=text" in told


@pytest.mark.parametrize("cell", ["2026-02-30", "0000-01-01", "9999-12-31T23:00-05:00"])
def test_what_looks_like_a_value_and_is_none_is_told_with_its_place(tmp_path: Path, cell: str) -> None:
    assert fault(table(tmp_path, "k,v", f"x,{cell}")).startswith(f"bench.csv:2:3: `{cell}` is not a ")


def test_a_number_beyond_a_double_is_told_as_too_big(tmp_path: Path) -> None:
    assert fault(table(tmp_path, "k,v", "x,-1e400")).startswith(
        "bench.csv:2:3: the number `-1e400` is too big"
    )


def test_what_stands_in_a_file_stands_in_a_message_in_one_short_line(tmp_path: Path) -> None:
    cell = '"<script>\nalert(1)</script>' + "x" * 100_000 + '"'
    told = fault(table(tmp_path, "k,a&b", f"1,{cell}"), **{"a&b": "number"})
    assert told.startswith("bench.csv:2:1: `<script> alert(1)</script>xxx")
    assert len(told) < 300
    assert "\n" not in told
    assert "?a%26b=text" in told


def test_a_type_of_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = fault(table(tmp_path, "version,n", "1,2"), versoin="text")
    assert (
        told
        == "bench.csv:1:1: the type of the column `versoin` is stated, but there is no such column [did you mean `version`?]"
    )


def test_names_of_columns_are_names_that_a_pipeline_can_read(tmp_path: Path) -> None:
    assert documents(table(tmp_path, ",p99,p99.9, mean ", "a,1,2,3")) == [
        {"column_1": "a", "p99": 1, "p99_9": 2, "mean": 3}
    ]


def test_two_columns_of_one_name_are_told(tmp_path: Path) -> None:
    assert fault(table(tmp_path, "a,b.c,b_c", "1,2,3")).startswith(
        "bench.csv:1:7: two columns are named `b_c`"
    )


def test_cells_in_quotes_have_separators_quotes_and_ends_of_lines_and_blanks_around_cells_count_for_nothing(
    tmp_path: Path,
) -> None:
    path = table(tmp_path, "name, n", '"a, ""b""\nc", 1 ', "", " x ,2")
    assert documents(path) == [{"name": 'a, "b"\nc', "n": 1}, {"name": "x", "n": 2}]


def test_a_byte_order_mark_and_either_end_of_line_change_nothing(tmp_path: Path) -> None:
    expected = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
    for end in ("\n", "\r\n", "\r"):
        content = f"\ufeffname,n{end}a,1{end}b,2"
        assert documents(written(tmp_path, "bench.csv", content)) == expected


def test_tabs_stand_between_the_cells_of_a_tsv(tmp_path: Path) -> None:
    assert documents(table(tmp_path, "name\tn", "a,b\t1", name="bench.tsv")) == [{"name": "a,b", "n": 1}]


def test_a_packed_table_is_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "bench.csv.gz", gzip.compress(b"name,n\na,1\n"))
    assert documents(path) == [{"name": "a", "n": 1}]


def test_a_hundred_thousand_columns_take_no_long_time(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(100_000)]
    path = table(tmp_path, ",".join(names), ",".join("1" for _ in names))
    assert documents(path) == [dict.fromkeys(names, 1)]


def test_names_alone_are_no_documents(tmp_path: Path) -> None:
    assert documents(table(tmp_path, "name,n")) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "bench.csv: the file is empty"),
        ("\n \n", "bench.csv: the file is empty"),
        ("a,b\n1,2\n3\n", "bench.csv:3:1: 1 cells, but the first line names 2 columns"),
        ('a,b\n"x\ny",2\n3,4,5\n', "bench.csv:4:1: 3 cells, but the first line names 2 columns"),
        ('a,b\n1,2\n"3,4\n5,6\n', "bench.csv:3:1: not CSV: unexpected end of data"),
        ('a,b\n"x"y,2\n', "bench.csv:2:1: not CSV: ',' expected after '\"'"),
        ("a;b\n1;2\n", "bench.csv:1:1: cells are separated by semicolons, not by commas"),
        ("a\tb\n1\t2\n", "bench.csv:1:1: cells are separated by tabs, not by commas"),
        ("1,2.5\n3,4\n", "bench.csv:1:1: the first line must name the columns, but has only numbers"),
        ('{"a": 1}\n{"a": 2}\n', "bench.csv:1:1: not CSV: the first line names no columns"),
        ("<!DOCTYPE html>\n<p>404</p>\n", "bench.csv:1:1: not CSV: the first line names no columns"),
        (b"PK\x03\x04\0\0,a\n", "bench.csv:1:1: not CSV: the first line names no columns"),
        (b"a,b\n1,\xe9\n", "bench.csv:2:3: not UTF-8: there is a byte 0xe9 here"),
        ("a,b\n1,2\n".encode("utf-16"), "bench.csv:1:1: UTF-16, not UTF-8"),
        ("a,b\n1," + "x" * 200_000, "bench.csv:2:1: not CSV: field larger than field limit (131072)"),
    ],
)
def test_a_file_that_is_no_such_table_is_told_in_a_line_with_its_place(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    told = fault(written(tmp_path, "bench.csv", content))
    assert told.startswith(said)
    assert "\n" not in told


GERMAN = "Name;ms;n;Notiz\na;21,50;1;1,5\nb;-14,9;2;fast\nc;;3;\n"


def test_a_table_with_semicolons_and_decimal_commas_is_told_what_reads_it(tmp_path: Path) -> None:
    path = written(tmp_path, "bench.csv", GERMAN)
    assert "write commas and decimal points, or append ?decimal=comma" in fault(path)
    assert documents(path, decimal="comma") == [
        {"Name": "a", "ms": 21.5, "n": 1, "Notiz": "1,5"},
        {"Name": "b", "ms": -14.9, "n": 2, "Notiz": "fast"},
        {"Name": "c", "n": 3},
    ]
    tabs = written(tmp_path, "bench.tsv", GERMAN.replace(";", "\t"))
    assert documents(tabs, decimal="comma")[0]["ms"] == 21.5
    assert documents(written(tmp_path, "plain.csv", 'a,b\n"1,5",x\n'), decimal="comma") == [
        {"a": 1.5, "b": "x"}
    ]


def test_a_point_where_decimals_have_commas_may_separate_thousands_and_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "bench.csv", "python;n\n3.9;1,5\n3.10;1.234\n")
    told = fault(path, decimal="comma")
    assert told.startswith("bench.csv:3:6: a number has a point, but decimals in this file have commas")
    assert "?decimal=comma&n=text" in told
    assert [one["python"] for one in documents(path, decimal="comma", n="text")] == ["3.9", "3.10"]


@pytest.mark.parametrize("cells", [["21,50", "14,9"], ["21,50", "14"], [f"{n},5" for n in range(300)]])
def test_a_column_of_decimal_commas_is_text_and_its_first_cell_is_told(
    tmp_path: Path, cells: list[str]
) -> None:
    written(tmp_path, "t.tsv", "\n".join(["name\tms", *(f"{at}\t{one}" for at, one in enumerate(cells)), ""]))
    table = '{"collection": "t", "columns": ["name", "ms"], "sort": "name"}'
    written(tmp_path, "p.md", f"<!-- RESULT_TABLE: {table} -->\n")
    told = mongo_tables("check", "p.md", "--results", "t.tsv", cwd=tmp_path, expect=None).stdout
    message = f"note MT338 `{cells[0]}` has a comma, so the column `ms` is text"
    assert f"t.tsv:2:3: {message}" in told
    for types in ("decimal=comma", "ms=text"):
        told = mongo_tables("check", "p.md", "--results", f"t.tsv?{types}", cwd=tmp_path, expect=None).stdout
        assert "MT338" not in told


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5))
def test_whatever_python_writes_as_text_is_read_as_it_was_without_the_blanks_around_it(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b"], *rows])
    expected = [
        {name: cell.strip() for name, cell in zip("ab", row, strict=True) if cell.strip()} for row in rows
    ]
    assert documents(written(folder, "any.csv", text.getvalue()), a="text", b="text") == expected
