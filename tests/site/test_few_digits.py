"""Numbers of a plain file have few digits wherever they are shown: tables, charts, sentences and what a check says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.build import Report
from mongo_tables.findings.finding import Finding
from mongo_tables.site.checks import lint_site
from mongo_tables.site.in_place import stale_findings
from mongo_tables.site.markdown import render_markdown
from mongo_tables.site.pages import read_page
from tests.judged import asked, composed_in_place

ROWS = [
    {
        "_id": 1,
        "name": "parse",
        "mean": 13.666666666666666,
        "stddev": 0.5,
        "rounds": 1234567,
        "least": 12.123456789,
    },
    {"_id": 2, "name": "render", "mean": 1234.5678, "stddev": 0.25, "rounds": 12, "least": 1200.5},
]
TABLE: dict[str, Any] = {
    "id": "bench",
    "collection": "bench",
    "columns": ["name", "mean", "stddev", "rounds"],
    "provenance": False,
}
STORED = [{**ROWS[0], "mean": 13.666666666}, ROWS[1]]
"""As a person would keep them, with fewer digits than arithmetic gives."""
LINES = ["| parse | 13.67 | 0.5 | 1234567 |", "| render | 1235 | 0.25 | 12 |"]


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A plain file in the working folder."""
    monkeypatch.chdir(tmp_path)
    write("bench.json", ROWS)
    return "bench.json"


def write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("\n".join(map(json.dumps, rows)) if path.endswith("l") else json.dumps(rows))


def comment(keyword: str, **keys: Any) -> str:
    return f"<!-- {keyword}: {json.dumps(keys)} -->"


def table(**keys: Any) -> str:
    return comment("RESULT_TABLE", **{**TABLE, **keys})


def value(column: str, name: str, **keys: Any) -> str:
    return comment("RESULT_VALUE", table="bench", column=column, where={"name": name}, **keys)


def build(text: str, source: str) -> Report:
    page = read_page(text, "README.md", lambda _: None)
    assert page.findings == (), page.findings
    return asked(source, page)


def markdown(text: str, source: str) -> str:
    seen = build(text, source)
    (page,) = seen.pages
    return render_markdown(page, seen.answers, seen.tables)


def cells(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(("| parse", "| render"))]


def html(text: str, source: str, files: dict[str, str] | None = None) -> str:
    seen = build(text, source)
    kept = {} if files is None else files
    return "\n".join(seen.figures.html(seen.pages[0], lambda name, data: kept.setdefault(name, data)))


def test_a_pipe_table_of_a_plain_file_has_few_digits_and_short_numbers_as_they_are(plain: str) -> None:
    assert cells(markdown(table(), plain)) == LINES


def test_a_table_of_a_site_shows_few_digits_and_keeps_all_of_them_behind_the_cell(plain: str) -> None:
    found = html(table(), plain)
    assert ">13.67</td>" in found and ">1235</td>" in found and ">0.5</td>" in found
    assert 'data-v="13.666666666666666"' in found


def test_downloads_of_a_plain_file_have_all_digits(plain: str) -> None:
    files: dict[str, str] = {}
    html(table(provenance=True), plain, files)
    assert "13.666666666666666" in files["bench.csv"] and "13.666666666666666" in files["bench.json"]


@pytest.mark.parametrize("where", ["plain/bench.jsonl", "plain/bench.csv", "plain"])
def test_plain_files_of_every_kind_and_in_a_folder_have_few_digits(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if where.endswith(".csv"):
        Path("plain").mkdir()
        names = list(ROWS[0])
        lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in ROWS)]
        Path(where).write_text("\n".join(lines))
    else:
        write("plain/bench.jsonl", ROWS)
    assert cells(markdown(table(), where)) == LINES


def test_fixture_files_keep_the_digits_of_what_was_stored(tmp_path: Path) -> None:
    write(f"{tmp_path}/bench/all.jsonl", STORED)
    text = markdown(f"{table()}\n\nA {value('mean', 'render')}.", str(tmp_path))
    assert cells(text)[0] == "| parse | 13.666666666 | 0.5 | 1234567 |" and "A 1234.5678." in text
    assert ">13.666666666</td>" in html(table(), str(tmp_path))


@pytest.mark.parametrize("third", [{"$divide": ["$mean", 3]}, {"$divide": [{"$toDecimal": "$mean"}, 3]}])
def test_what_a_pipeline_computes_of_them_has_few_digits(third: Any, tmp_path: Path) -> None:
    write(f"{tmp_path}/bench/all.jsonl", STORED)
    computed = [{"$set": {"mean": third}}, {"$sort": {"name": 1}}]
    text = markdown(f"{table(pipeline=computed)}\n\nA {value('mean', 'parse')}.", str(tmp_path))
    assert [line.split(" | ")[1] for line in cells(text)] == ["4.556", "411.5"] and "A 4.556." in text


def test_a_mean_that_a_pipeline_computes_from_a_plain_file_has_few_digits(plain: str) -> None:
    group = [{"$group": {"_id": None, "mean": {"$avg": "$rounds"}}}, {"$set": {"name": "parse"}}]
    averaged = [*group, {"$set": {"mean": {"$divide": ["$mean", 7]}}}]
    assert cells(markdown(table(pipeline=averaged, columns=["name", "mean"]), plain)) == ["| parse | 88184 |"]


def test_a_value_in_a_sentence_is_written_as_the_cell_of_its_table(plain: str) -> None:
    text = (
        f"{table()}\n\nA {value('mean', 'parse')} B {value('mean', 'render')} C {value('stddev', 'parse')}."
    )
    assert "A 13.67 B 1235 C 0.5." in markdown(text, plain)


def test_a_value_of_a_column_that_no_table_shows_has_few_digits_too(plain: str) -> None:
    assert "took 12.12 ms" in markdown(f"{table()}\n\ntook {value('least', 'parse')} ms", plain)


def test_a_value_with_a_format_of_its_own_follows_it(plain: str) -> None:
    text = f"{table()}\n\nA {value('mean', 'parse', format={'decimals': 5})} B {value('mean', 'parse', format={'unit': 'ms'})}."
    assert "A 13.66667 B 13.67 ms." in markdown(text, plain)


def test_a_chart_tells_its_points_with_few_digits(plain: str) -> None:
    chart = comment("RESULT_CHART", id="drawn", collection="bench", x="name", y="mean", mark="bar")
    found = html(chart, plain)
    assert "13.67" in found and ">13.666666666666666<" not in found
    drawn = build(f"{chart}\n", plain)
    (file,) = composed_in_place(drawn.pages[0], drawn.answers, drawn.tables).drawings
    assert "13.67" in file.text and "13.6666" not in file.text


def test_what_a_check_says_of_a_statement_has_the_digits_that_are_shown(plain: str) -> None:
    wrong = comment("RESULT_CHECK", table="bench", where={"name": "parse"}, expect={"mean": {"$gt": 20}})
    (found,) = build(f"{table()}\n\n{wrong}\n", plain).faults
    assert found.rule == "MT322" and "mean is 13.67" in found.message


def test_a_page_that_was_written_in_place_is_not_stale_and_one_with_all_digits_is(plain: str) -> None:
    text = f"{table()}\n\nA mean of {value('mean', 'parse')} ms.\n"
    seen = build(text, plain)
    written = composed_in_place(seen.pages[0], seen.answers, seen.tables).text
    assert "13.67" in written and not stale(written, plain)
    assert composed_in_place(read(written), seen.answers, seen.tables).text == written


def read(text: str) -> Any:
    return read_page(text, "README.md", lambda _: None)


def stale(text: str, source: str) -> list[Finding]:
    seen = build(text, source)
    return list(stale_findings(composed_in_place(seen.pages[0], seen.answers, seen.tables)))


@pytest.mark.parametrize(("mean", "stays"), [(13.9123456789, True), (15.123456789, False)])
def test_the_tolerance_of_a_table_and_its_values_counts_what_is_shown(
    mean: float, stays: bool, plain: str
) -> None:
    text = f"{table(tolerance='5 %')}\n\nA mean of {value('mean', 'parse')} ms.\n"
    seen = build(text, plain)
    written = composed_in_place(seen.pages[0], seen.answers, seen.tables).text
    write(plain, [{**ROWS[0], "mean": mean}, ROWS[1]])
    assert (stale(written, plain) == []) == stays


@pytest.mark.parametrize("told", ["", f"A mean of {value('mean', 'parse', tolerance='5 %')} ms."])
def test_all_digits_that_stand_in_a_page_are_written_anew_whatever_the_tolerance(
    told: str, tmp_path: Path
) -> None:
    write(f"{tmp_path}/fixtures/bench/all.jsonl", STORED)
    write(f"{tmp_path}/bench.json", STORED)
    text = f"{table(**({} if told else {'tolerance': '5 %'}))}\n\n{told}\n"
    before = build(text, f"{tmp_path}/fixtures")
    written = composed_in_place(before.pages[0], before.answers, before.tables).text
    assert "13.666666666" in written
    assert {one.rule for one in stale(written, f"{tmp_path}/bench.json")} == {"MT166"}


def test_columns_that_are_shown_short_have_no_note_and_those_of_fixtures_have_one_a_table(
    plain: str, tmp_path: Path
) -> None:
    write(f"{tmp_path}/fixtures/bench/all.jsonl", STORED)
    parts = [{"$set": {"mean": {"$divide": ["$rounds", 1024]}, "third": {"$divide": ["$rounds", 4096]}}}]
    every = table(columns=["name", "mean", "stddev", "third"], pipeline=[*parts, {"$sort": {"name": 1}}])
    assert [one for one in lint_site(build(table(), plain).figures.judge) if one.rule == "MT508"] == []
    (found,) = [
        one for one in lint_site(build(every, f"{tmp_path}/fixtures").figures.judge) if one.rule == "MT508"
    ]
    assert found.severity == "note" and found.column == every.index('"mean"') + 1
    assert found.message == "`mean` and `third` show up to 15 digits, such as 301.407958984375"
    assert (
        found.hint == 'round what readers see: "format": {"mean": {"decimals": 3}, "third": {"decimals": 4}}'
    )


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ((0.0325581395, 0.3069767441, 0.0), ("3.26 %", "30.70 %", "0.00 %")),
        ((0.0003255814, 0.3069767441, -0.5), ("0.033 %", "30.698 %", "-50.000 %")),
        # So small a share keeps its digits, and few digits are as they are.
        ((0.0000032558139, 0.3069767441, 0.0), ("0.0003256 %", "30.70 %", "0 %")),
        ((0.125, 0.3, 0.0), ("12.5 %", "30 %", "0 %")),
    ],
)
def test_shares_in_per_cent_have_equally_many_decimals(
    plain: str, shares: tuple[float, ...], shown: tuple[str, ...]
) -> None:
    write(plain, [{"_id": at, "name": f"n{at}", "share": one} for at, one in enumerate(shares)])
    page = f"{table(columns=['name', 'share'], sort='_id', format={'share': {'percent': True}})}\n\n"
    told = markdown(f"{page}{value('share', 'n0')}\n", plain)
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert [f"| n{at} | {one} |" in lines for at, one in enumerate(shown)] == [True] * 3
    assert lines[-1] == shown[0]
