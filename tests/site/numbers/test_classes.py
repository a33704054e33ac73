"""Small pages and the classes of their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mongo_tables.site.numbers.classes import TextNumber, classify_numbers, find_stale, open_findings
from mongo_tables.site.pages import Page, read_page, tables_by_id
from tests.judged import composed_in_place

ROWS = [
    {"name": "alpha", "n": 1, "took": 120.4, "size": 1536, "share": 0.125},
    {"name": "beta", "n": 16, "took": 98.7, "size": 12345, "share": 0.66},
    {"name": "gamma ray", "n": 64, "took": 1455.0, "size": 3_000_000, "share": 0.08},
]
BODY: dict[str, Any] = {
    "id": "speed",
    "collection": "runs",
    "pipeline": [],
    "columns": ["name", "n", "took", "size", "share"],
    "headers": ["Library", "Threads", "Mean time (ms)", "Memory (bytes)", "Share of time"],
    "format": {"share": {"percent": True, "decimals": 1}},
}


def comment(keyword: str, **body: Any) -> str:
    return f"<!-- RESULT_{keyword}: {json.dumps(body)} -->"


def table(**keys: Any) -> str:
    return comment("TABLE", **{**BODY, **keys})


TABLE = table()
VALUE = comment("VALUE", table="speed", column="took", where={"name": "beta"}, format={"unit": "ms"})


def read(text: str, file: str = "page.md") -> Page:
    page = read_page(text, file, lambda _: None)
    assert page.findings == (), page.findings
    return page


def classify(text: str, rows: list[dict[str, Any]] = ROWS) -> list[TextNumber]:
    page = read(text)
    answers = {spec.query.key: rows for spec in page.pipeline_specs}
    return classify_numbers([page], tables_by_id([page]), answers)


def classes(text: str) -> list[tuple[str, str]]:
    return [(one.written, one.kind) for one in classify(text)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # Three digits and more are found wherever a cell has them, in any unit of the same kind.
        ("It takes 120 ms.", [("120 ms", "found")]),
        ("It takes 0.1204 s.", [("0.1204 s", "found")]),
        ("It takes 121 ms.", [("121 ms", "open")]),
        ("It takes 120 s.", [("120 s", "open")]),
        ("It takes 120.43 ms.", [("120.43 ms", "open")]),
        ("It takes 1,455 ms.", [("1,455 ms", "found")]),
        ("It takes 1.46 seconds.", [("1.46 seconds", "found")]),
        ("It takes `120 ms`, see [120 ms](https://example.org/120ms).", [("120 ms", "found")]),
        ("It needs 12.3 kB.", [("12.3 kB", "found")]),
        ("It needs 12.3 KiB.", [("12.3 KiB", "open")]),
        # Fewer only where the row is named, or no row and the column.
        ("It needs 12 kB.", [("12 kB", "open")]),
        ("With beta it needs 12 kB.", [("12 kB", "found")]),
        ("With `Beta`, it needs 12 kB.", [("12 kB", "found")]),
        ("With alpha it needs 12 kB.", [("12 kB", "open")]),
        ("With beta the memory is 12 kB and it takes 99 ms.", [("12 kB", "found"), ("99 ms", "found")]),
        ("With gamma ray the share is 8.0 %.", [("8.0 %", "found")]),
        ("The share of time is 8 %.", [("8 %", "found")]),
        ("The share of time is **8**%.", [("8 %", "found")]),
        ("Some time is 8 %.", [("8 %", "open")]),
        ("With beta it needs 99 ms. Or 12 kB.", [("99 ms", "found"), ("12 kB", "open")]),
        # Final zeros do not count.
        ("It needs 12,000 bytes.", [("12,000 bytes", "open")]),
        ("It needs 12,300 bytes.", [("12,300 bytes", "found")]),
        ("It needs 3,000,000 bytes.", [("3,000,000 bytes", "found")]),
        # A noun that heads a column is a unit.
        ("It has 16 threads.", [("16 threads", "open")]),
        ("With beta, it has 16 threads.", [("16 threads", "found")]),
        ("With beta, it has 16 busy threads.", [("16 busy threads", "found")]),
        ("It has 16 cores and Python 3.11 of 2026-11-28 at 12:30, MT324.", []),
        # A ratio is that of the rows that are named.
        ("gamma ray takes 14.7× as long as beta.", [("14.7×", "found")]),
        ("gamma ray takes 15 times as long as beta.", [("15 times", "found")]),
        ("gamma ray takes 16 times as long as beta.", [("16 times", "open")]),
        ("alpha takes 1.2 times as long as beta, gamma ray longer.", [("1.2 times", "found")]),
        ("gamma ray takes 15 times as long.", [("15 times", "open")]),
        ("alpha takes 22 % longer than beta.", [("22 %", "found")]),
        # In a range the unit is that of both.
        ("It takes 98.7 to 120 ms.", [("98.7", "found"), ("120 ms", "found")]),
        ("It takes 98.7–130 ms.", [("98.7", "found"), ("130 ms", "open")]),
    ],
)  # fmt: skip
def test_numbers_of_a_sentence(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert classes(f"# Runs\n\n{sentence}\n\n{TABLE}\n") == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"# Runs\n\n{TABLE}\n\nIt takes {VALUE}.\n", ["bound"]),
        (f"# Runs\n\n{TABLE}\n\nIt takes 98.7 to {VALUE}.\n", ["found", "bound"]),
        (f"# Runs\n\n{TABLE}\n\n| Time |\n| --- |\n| 120 ms |\n| 121 ms |\n", ["found", "open"]),
        ("# Runs\n\n" + table(title="All take 121 ms", caption="or 120 ms"), ["open", "found"]),
        (f"# Runs of 121 ms\n\n{TABLE}\n", ["open"]),
        (f"---\ntitle: 121 ms\n---\n\n    121 ms\n\n```\n121 ms\n```\n<!-- 121 ms -->\n\n{TABLE}\n", []),
        ("# Runs\n\nIt takes 121 ms.\n\n" + table(ignore={"MT324": "a limit"}), ["exempt"]),
        ("# Runs\n\nIt takes 120 ms.\n\n" + table(ignore={"MT324": "a limit"}), ["found"]),
    ],
)
def test_numbers_of_a_page(page: str, expected: list[str]) -> None:
    assert [one.kind for one in classify(page)] == expected


def check(**keys: Any) -> str:
    return comment("CHECK", table="speed", where={"name": "beta"}, **keys)


def test_a_statement_has_the_numbers_that_it_expects_and_exempts_its_paragraph() -> None:
    said = check(expect={"took": {"$lt": 250}, "share": {"$lt": 0.75}})
    page = f"# Runs\n\nBelow 250 ms, 75 % and 77 %.{said}\n\n{TABLE}\n"
    assert classes(page) == [("250 ms", "found"), ("75 %", "found"), ("77 %", "open")]
    reasoned = check(expect={"took": {"$lt": 250}}, ignore={"MT324": "what users feel"})
    (one, other) = classify(f"# Runs\n\nBelow 200 ms.{reasoned}\n\n200 ms\n\n{TABLE}\n")
    assert (one.kind, one.reason, other.kind) == ("exempt", "what users feel", "open")


SECTIONS = """# Runs

Lead: 121 ms.

## Install

Polls every 500 ms.

## Results

### Table

{table}

### Analysis

It takes 122 ms.
"""


def test_an_open_number_is_a_warning_where_its_section_has_a_table() -> None:
    found = classify(SECTIONS.replace("{table}", TABLE))
    assert {one.kind for one in found} == {"open"}
    warnings = open_findings(found)
    assert [(one.line, one.column, one.rule, one.severity) for one in warnings] == [
        (3, 7, "MT324", "warning"),
        (17, 10, "MT324", "warning"),
    ]
    assert warnings[0].message == "no table has the number `121 ms`"


def test_figures_of_a_sentence_are_bound_and_numbers_typed_into_it_are_not() -> None:
    about = {"against": "alpha", "blocks": 20, "margin": 0.1, "verdict": "slower", "ratio": 0.38}
    rows = [one | {"compared": about | {"low": 0.35, "high": 0.43}} for one in ROWS]
    same = "no words"
    say = {
        "slower": "{ratio} slower at {took}, beyond 121 ms",
        "faster": "x",
        "no difference": same,
        "not known": same,
    }
    value = comment("VALUE", table="speed", column="compared", where={"name": "beta"}, say=say)
    found = classify(f"# Page\n\n{TABLE}\n\nIt is {value}.\n", rows)
    assert sorted({(one.written, one.kind) for one in found if one.tables}) == [
        ("121 ms", "bound"),
        ("121 ms", "open"),
        ("2.6 times", "bound"),
    ]
    drawn = comment(
        "CHART",
        collection="runs",
        pipeline=[],
        x="n",
        y="took",
        title={**json.loads(value[18:-4]), "say": say},
    )
    assert ("121 ms", "open") in classes(f"# Page\n\n{TABLE}\n\n{drawn}\n")


def test_a_number_with_the_unit_of_its_header_names_a_row() -> None:
    headers = ["Load (%)", "Threads", "Mean time (ms)", "Memory (bytes)", "Share of time"]
    rows = [{**row, "name": load} for row, load in zip(ROWS, (10, 50, 90), strict=True)]
    page = (
        f"# Page\n\n{table(headers=headers)}\n\nAt a load of 50 % it needs 12 kB. At 10 % it needs 12 kB.\n"
    )
    found = [(one.written, one.kind) for one in classify(page, rows)]
    assert [kind for written, kind in found if written == "12 kB"] == ["found", "open"]


def test_a_name_with_underscores_names_its_row() -> None:
    rows = [{**row, "name": name} for row, name in zip(ROWS, ("read_all", "read_ahead", "scan"), strict=True)]
    page = f"# Page\n\n{TABLE}\n\nWith `read_ahead` it needs 12 kB. With read_all it needs 12 kB.\n"
    assert [one.kind for one in classify(page, rows)] == ["found", "open"]


def test_a_page_finds_the_numbers_of_tables_elsewhere_that_it_names() -> None:
    other, page = read(TABLE, "other.md"), read(f"# Page\n\nIt takes 120 ms, not {VALUE}.\n")
    answers = {spec.query.key: ROWS for spec in other.pipeline_specs}
    found = classify_numbers([page], tables_by_id([other]), answers)
    assert [one.kind for one in found] == ["found", "bound"]
    unnamed = read("# Page\n\nIt takes 120 ms.\n")
    assert [one.kind for one in classify_numbers([unnamed], tables_by_id([other]), answers)] == ["open"]


def test_a_table_counts_as_it_is_written_into_the_page() -> None:
    text = f"# Runs\n\nbeta takes 98.7 ms, or 99.5 ms.\n\n{table(tolerance='5 %')}\n"
    page = read(text)
    answers = {spec.query.key: ROWS for spec in page.pipeline_specs}
    written = composed_in_place(page, answers, tables_by_id([page])).text
    today = [{**row, "took": row["took"] + 0.8} for row in ROWS]
    assert [one.kind for one in classify(written, today)] == ["found", "open"]


def test_a_page_with_a_decimal_comma_is_read_with_it() -> None:
    german = table(locale="de", format={"took": {"decimals": 1, "thousands": True}})
    page = f"# Läufe\n\nEs dauert 1.455,0 ms, nicht 1.455,5 ms.\n\n{german}\n"
    assert classes(page) == [("1.455,0 ms", "found"), ("1.455,5 ms", "open")]


def test_a_table_that_fails_and_a_page_without_comments_find_nothing() -> None:
    page = read(f"# Runs\n\nIt takes 120 ms.\n\n{TABLE}\n")
    assert [one.kind for one in classify_numbers([page], tables_by_id([page]), {})] == ["open"]
    assert [one.kind for one in classify("It takes 120 ms.\n")] == ["open"]


def test_the_picture_of_a_chart_has_the_numbers_of_its_rows() -> None:
    chart = comment("CHART", collection="runs", x="name", y="took", mark="bar")
    page = f"# Runs\n\nIt takes 120 ms, or 121 ms.\n\n{chart}\n"
    written = composed_in_place(
        read(page, "README.md"), {s.query.key: ROWS for s in read(page).pipeline_specs}, {}
    )
    assert "README" in written.text and "|" not in written.text.partition("begin")[2]
    assert [one.kind for one in classify(written.text)] == ["found", "open"]


def test_a_statement_with_a_number_that_no_double_holds_finds_nothing() -> None:
    said = check(expect={"took": {"$lt": {"$numberDecimal": "1E+6000"}}})
    assert classes(f"# Runs\n\nBelow 250 ms.{said}\n\n{TABLE}\n") == [("250 ms", "open")]


def test_a_long_page_of_numbers_ends() -> None:
    found = classify(f"# Runs\n\n{'It takes 121 ms ' * 3_000}\n\n{TABLE}\n")
    assert len(found) == 3_000


def test_a_column_of_a_tool_has_the_unit_that_its_documents_name() -> None:
    columns = {"columns": ["name", "value", "rounds"], "headers": ["Name", "Value", "Rounds"], "format": {}}
    text = f"{table(**columns)}\n\nParse takes 41.2 µs. Dump takes 68.4 µs. It ran 41.2 rounds.\n"
    rows = [
        {"name": "parse", "value": 4.12e-05, "rounds": 24272, "unit": "s"},
        {"name": "dump", "value": 6.03009e-05, "rounds": 16583, "unit": "s"},
    ]
    found = classify(text, rows)
    assert [(one.written, one.kind) for one in found] == [
        ("41.2 µs", "found"), ("68.4 µs", "open"), ("41.2 rounds", "open"),
    ]  # fmt: skip
    assert [(one.row, round(one.value, 1)) for one in find_stale(found).values()] == [("dump", 60.3)]
