"""What was typed into a CSV file stays what it was: versions, decimals, days, and remarks above the names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.build import build
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import snapshot_of
from tests.commands.test_commands import mongo_tables
from tests.results.formats import documents, fault, written


def rows_of(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def shown(folder: Path, csv: str, comment: str, where: str = "t.csv") -> list[list[str]]:
    """The cells of a table of a CSV file."""
    written(folder, "t.csv", csv)
    written(folder, "p.md", f'<!-- RESULT_TABLE: {{"collection": "t", {comment}}} -->\n')
    return rows_of(mongo_tables("render", "p.md", "--results", where, cwd=folder).stdout)


VERSIONS = "python,time\n3.9,1.0\n3.10,2.0\n3.11,3.5\n3.12,4.25\n"


def test_versions_in_a_csv_are_text_and_init_sorts_them(tmp_path: Path) -> None:
    written(tmp_path, "bench.csv", VERSIONS)
    mongo_tables("init", cwd=tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert '"sort": "_sort.python"' in page
    assert [row[0] for row in rows_of(page)] == ["3.9", "3.10", "3.11", "3.12"]


def test_a_table_that_sorts_versions_letter_by_letter_is_told_the_field_that_sorts_them(
    tmp_path: Path,
) -> None:
    cells = shown(tmp_path, VERSIONS, '"columns": ["python", "time"], "sort": "python"')
    assert [row[0] for row in cells] == ["3.10", "3.11", "3.12", "3.9"]
    done = mongo_tables("check", "p.md", "--results", "t.csv", cwd=tmp_path, expect=1)
    assert "MT408" in done.stdout
    assert "hint: sort by `_sort.python`, which has the numbers" in done.stdout


@pytest.mark.parametrize(
    ("cells", "is_text"),
    [
        (["3.9", "3.10"], True),
        (["1.10", "2.5", "3.75"], True),
        (["1.2.3", "1.10.0"], True),
        (["v1.9", "v1.10"], True),
        (["1.50", "12.5", "123"], False),
        (["1.5", "2.25", "10"], False),
        (["3.10", "3.11"], False),
        (["0.001230", "1.5"], False),
        (["-3.9", "3.10"], False),
        ([f"{n / 7:.2f}" if n % 2 else f"{n}.5" for n in range(300)], False),
    ],
)
def test_numbers_are_versions_only_where_a_zero_would_be_lost(
    tmp_path: Path, cells: list[str], is_text: bool
) -> None:
    found = documents(written(tmp_path, "t.csv", "v\n" + "\n".join(cells) + "\n"))
    assert all(("_sort" in one) == is_text for one in found)
    assert isinstance(found[0]["v"], str) == is_text


@pytest.mark.parametrize(
    ("name", "cells", "is_text"),
    [
        ("python_version", ["3.9", "3.11"], True),
        ("Release", ["3.9", "3.11"], True),
        ("version", ["3.8", "3.9"], False),
        ("version", ["3.9", "3.05"], False),
        ("version", ["3", "3.10", "3.9"], True),
        ("time", ["3.9", "3.11"], False),
        ("python", ["3.9", "3.11", "3.12"], True),
        ("min_go", ["1.9", "1.21", "1.22"], True),
        ("Node_js", ["18.9", "20.11", "20.12"], True),
        ("python", ["3.8", "3.9"], False),
        # Measurements of a tool, in a column for each tool.
        ("python", ["0.5", "3.11", "12.75"], False),
        ("rust", ["1.2", "1.45", "1.38"], False),
        ("go", ["0.9", "0.12"], False),
        ("cargo", ["3.9", "3.11"], False),
        # In the first column and in the order of versions, whatever its name is.
        ("interpreter", ["3.9", "3.11", "3.12"], True),
        ("runs", ["3.12", "3.11", "3.9"], True),
        ("seconds", ["3.11", "3.9", "3.12"], False),
        ("load", ["0.9", "0.11", "0.12"], False),
    ],
)
def test_the_name_of_a_column_may_say_that_numbers_are_versions(
    tmp_path: Path, name: str, cells: list[str], is_text: bool
) -> None:
    found = documents(written(tmp_path, "t.csv", "\n".join([name, *cells, ""])))
    assert all(isinstance(one[name], str) == is_text for one in found)


@pytest.mark.parametrize(
    "lines",
    [
        ["name,ms", "a,21.50", "b,14.9"],
        ["python,ms", "3.9,21.50", "3.10,14.9"],
        ["name,mean", "a,3.9", "b,3.10"],
        ["Time (ms),n", "3.9,1", "3.10,2"],
        ["size_mb,n", "3.9,1", "3.10,2", "3.11,3"],
        ["timeMs,n", "3.9,1", "3.10,2", "3.11,3"],
        ["load,n", "21.50,1", "14.9,2"],
        ["load,version", "2.9,3.9", "2.10,3.10"],
        ["op,load,python", "a,2.9,3.9", "b,2.10,3.10", "a,2.9,3.9", "b,2.10,3.10"],
    ],
)
def test_a_measurement_that_lost_its_last_zero_stays_a_number(tmp_path: Path, lines: list[str]) -> None:
    named = {"python", "version"}
    for one in documents(written(tmp_path, "t.csv", "\n".join([*lines, ""]))):
        texts = {name for name, value in one.items() if isinstance(value, str)}
        assert texts <= {"name", "op", *named}
        assert named & one.keys() <= texts


def test_numbers_that_are_read_as_versions_are_told_where_numbers_are_needed(tmp_path: Path) -> None:
    written(tmp_path, "t.csv", "name,go\na,1.10\nb,1.9\n")
    table = '{"collection": "t", "columns": ["name", "go", "half"], "compute": {"half": "go / 2"}}'
    chart = '{"collection": "t", "x": "name", "y": "go"}'
    written(tmp_path, "p.md", f"<!-- RESULT_TABLE: {table} -->\n\n<!-- RESULT_CHART: {chart} -->\n")
    told = mongo_tables("check", "p.md", "--results", "t.csv", cwd=tmp_path, expect=1).stdout
    why = "hint: the values of `go` look like versions, such as 3.9 and 3.10, so they are read as text; append ?go=number to the file's name"
    assert told.count(why) == 2
    assert "MT337" in told and "MT330" in told
    told = mongo_tables("check", "p.md", "--results", "t.csv?go=number", cwd=tmp_path, expect=None).stdout
    assert "MT337" not in told and "MT330" not in told


def test_columns_named_for_several_tools_have_measurements(tmp_path: Path) -> None:
    text = "op,redis,mongodb,go\nget,1.12,2.1,1.4\nset,1.3,2.15,1.12\nscan,1.5,2.4,1.3\nsum,1.4,2.2,1.5\n"
    for one in documents(written(tmp_path, "t.csv", text)):
        assert [type(one[tool]) for tool in ("redis", "mongodb", "go")] == [float] * 3


@pytest.mark.parametrize(
    ("cells", "is_text"),
    [
        (["1.12", "1.3", "1.5", "1.4"], False),
        (["2.1", "2.15", "2.4", "2.2"], False),
        (["3.9", "3.11"], True),
        (["3.9", "3.10", "3.11", "3.12"], True),
    ],
)
def test_outside_the_first_column_versions_of_a_tool_follow_each_other(
    tmp_path: Path, cells: list[str], is_text: bool
) -> None:
    lines = ["op,python", *(f"get,{one}" for one in cells), ""]
    found = documents(written(tmp_path, "t.csv", "\n".join(lines)))
    assert all(isinstance(one["python"], str) == is_text for one in found)


@pytest.mark.parametrize(
    ("cells", "is_text"),
    [
        (["3.9", "3.11", "3.9", "3.11"], True),
        (["8.9", "8.9", "8.10", "8.10", "9.0", "9.0"], True),
        # Measurements, parameters and versions that occur once, and numbers that do not follow each other.
        (["3.9", "3.11"], False),
        (["3.9", "3.11", "3.9", "3.12"], False),
        (["0.9", "0.11", "0.9", "0.11"], False),
        (["1.5", "1.25", "1.5", "1.25"], False),
    ],
)
def test_under_any_name_versions_follow_each_other_and_are_repeated(
    tmp_path: Path, cells: list[str], is_text: bool
) -> None:
    text = "\n".join(["op,target,ms", *(f"get {at},{cell},{at}.5" for at, cell in enumerate(cells)), ""])
    found = documents(written(tmp_path, "t.csv", text))
    assert [type(one["target"]) is str for one in found] == [is_text] * len(cells)
    assert all(isinstance(one["ms"], float) for one in found)


def test_a_stated_type_wins_and_a_column_of_that_name_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "v,_sort\n3.9,x\n3.10,y\n")
    assert documents(path)[0] == {"v": "3.9", "_sort": "x"}
    assert documents(path, v="number")[1] == {"v": 3.1, "_sort": "y"}


def test_a_version_that_is_missing_has_no_order(tmp_path: Path) -> None:
    found = documents(written(tmp_path, "t.csv", "v,n\n3.9,1\n,2\n3.10,3\n"))
    assert found[1] == {"n": 2, "_sort": {}}


def test_numbers_keep_the_decimals_that_they_were_typed_with(tmp_path: Path) -> None:
    csv = "item,price,share\na,3.50,0.5\nb,4.00,0.25\nc,,1\n"
    cells = shown(tmp_path, csv, '"columns": ["item", "price", "share"], "sort": "item"')
    assert [row[1:] for row in cells] == [["3.50", "0.5"], ["4.00", "0.25"], ["—", "1"]]
    found = documents(tmp_path / "t.csv")
    assert found[0]["price"] == 3.5
    cells = shown(
        tmp_path, csv, '"columns": ["item", "price"], "sort": "item", "format": {"price": {"decimals": 1}}'
    )
    assert cells[0][1] == "3.5"


def test_a_computed_number_with_more_digits_is_not_cut_to_them(tmp_path: Path) -> None:
    stage = '"pipeline": [{"$group": {"_id": null, "price": {"$avg": "$price"}}}], "columns": ["price"]'
    assert shown(tmp_path, "price\n3.5\n4.0\n", stage) == [["3.75"]]


@pytest.mark.parametrize(
    ("cells", "shown_as"),
    [
        (["123456.50", "2.00"], ["123456.50", "2.00"]),
        (["0.1812345678", "0.1500000000"], ["0.1812", "0.1500"]),
        (["0.0001", "0.0020"], ["0.0001", "0.0020"]),
    ],
)
def test_decimals_that_a_program_wrote_are_few_digits(
    tmp_path: Path, cells: list[str], shown_as: list[str]
) -> None:
    csv = "v\n" + "\n".join(cells) + "\n"
    assert [row[0] for row in shown(tmp_path, csv, '"columns": ["v"], "sort": "_id"')] == shown_as


def test_files_of_one_collection_keep_decimals_that_they_have_in_common(tmp_path: Path) -> None:
    comment = '"columns": ["a", "b"], "sort": "_id"'
    written(tmp_path, "u.csv", "a,b\n2.50,2.5\n")
    assert shown(tmp_path, "a,b\n1.00,1.00\n", comment, "t=*.csv") == [["1.00", "1"], ["2.50", "2.5"]]


def test_days_stay_days_and_times_stay_times(tmp_path: Path) -> None:
    csv = "day,at\n2026-10-01,2026-10-01T00:00\n2026-10-02,2026-10-02T10:30\n"
    cells = shown(tmp_path, csv, '"columns": ["day", "at"], "sort": "day"')
    assert cells == [["2026-10-01", "2026-10-01T00:00:00Z"], ["2026-10-02", "2026-10-02T10:30:00Z"]]


REMARKS = '# perf 2026, "nightly"\n# machine: x\nk,v\na,1\n# in between\nb,2\n'


def test_remarks_above_the_names_are_explained_and_can_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", REMARKS)
    assert fault(path) == (
        "t.csv:1:1: lines that begin with `#` precede the names of the columns "
        "[append ?comment=# to the file's name to skip them]"
    )
    assert fault(written(tmp_path, "u.tsv", "# one\nk\tv\na\t1\n")).startswith(
        "u.tsv:1:1: lines that begin with `#`"
    )
    for sign in ("#", "%23"):
        assert shown(tmp_path, REMARKS, '"columns": ["k", "v"], "sort": "k"', f"t.csv?comment={sign}") == [
            ["a", "1"], ["b", "2"],
        ]  # fmt: skip
    path = written(tmp_path, "t.csv", REMARKS.replace("b,2", "b,2,3"))
    assert fault(path, comment="#").startswith("t.csv:6:1: 3 cells")


def test_a_first_name_with_a_sign_and_a_column_called_comment_are_names(tmp_path: Path) -> None:
    assert documents(written(tmp_path, "t.csv", "#k,v\na,1\n")) == [{"#k": "a", "v": 1}]
    assert documents(written(tmp_path, "t.csv", "comment\n5\n"), comment="text") == [{"comment": "5"}]


def test_types_that_are_joined_by_a_comma_get_a_hint(tmp_path: Path) -> None:
    written(tmp_path, "v.csv", "version,zip\n1,2\n")
    written(tmp_path, "p.md", '<!-- RESULT_TABLE: {"collection": "v", "columns": ["zip"]} -->\n')
    done = mongo_tables(
        "check", "p.md", "--results", "v.csv?version=text,zip=text", cwd=tmp_path, expect=None
    )
    assert "join the types of one file by &: FILE?COLUMN=TYPE&zip=text" in done.stdout + done.stderr


def test_what_is_pushed_has_the_field_that_sorts_versions(tmp_path: Path) -> None:
    written(tmp_path, "t.csv", VERSIONS)
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.source_text import split_parts

    lines = list(FileSource("t.csv", split_parts(str(tmp_path / "t.csv"))).lines("t"))
    assert json.loads(lines[1])["_sort"] == {"python": "0000000003.0000000010"}


def hints(folder: Path, **body: Any) -> list[tuple[str, str]]:
    """Rule and hint of each finding about a table of versions, written after its results."""
    source = Answers(str(written(folder, "t.csv", VERSIONS)))
    page = f"<!-- RESULT_TABLE: {json.dumps({'collection': 't', **body})} -->\n"
    return [
        (one.rule, one.hint)
        for one in build(snapshot_of({"p.md": page}), source).findings
        if one.rule != "MT166"
    ]


NAMED = 'use {"$in": ["3.9", "3.10", "3.11", "3.12"]} with only the versions that you mean'


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"python": {"$gte": "3.10"}}, [("MT433", NAMED)]),
        ({"$expr": {"$gte": ["$python", "3.10"]}}, [("MT433", NAMED)]),
        ({"python": {"$gt": "3.9"}}, [("MT303", NAMED)]),
        ({"python": {"$in": ["3.10", "3.11"]}}, []),
        ({"python": {"$gte": "3.11", "$lt": "3.12"}}, [("MT433", NAMED)]),
        ({"_sort.python": {"$lt": "3.10"}}, [("MT433", 'write "0000000003.0000000010"')]),
        ({"_sort.python": {"$gte": "3.10"}}, [("MT303", 'write "0000000003.0000000010"')]),
        ({"_sort.python": {"$gte": "0000000003.0000000010"}}, []),
    ],
)
def test_versions_that_are_compared_letter_by_letter_are_told_what_compares_them(
    tmp_path: Path, where: Any, found: list[tuple[str, str]]
) -> None:
    assert hints(tmp_path, columns=["python", "time"], where=where, sort="_sort.python") == found


def test_the_greatest_version_is_told_the_field_that_orders_them(tmp_path: Path) -> None:
    def picked(accumulator: Any) -> list[tuple[str, str]]:
        group = {"$group": {"_id": None, "m": accumulator}}
        return hints(tmp_path, pipeline=[group], columns=["m"], headers=["M"])

    ((rule, hint),) = picked({"$max": "$python"})
    assert rule == "MT433" and not picked(json.loads(hint.removeprefix("write ")))
    assert not picked({"$max": "$time"})


def test_the_first_hint_about_an_order_is_the_field_that_orders_versions(tmp_path: Path) -> None:
    ((rule, hint),) = hints(tmp_path, columns=["python", "time"])
    assert rule == "MT417" and hint.endswith('"sort": "_sort.python"')
