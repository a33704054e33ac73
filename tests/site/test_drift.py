"""Tolerance: what stands in a page stays while it is near enough to today's rows, all of a table and its values or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.site.in_place import stale_findings
from mongo_tables.site.pages import Page, read_page, tables_by_id
from tests.judged import asked, composed_in_place

FORM = {"decimals": 0, "thousands": True}


def comment(keyword: str, **keys: Any) -> str:
    return f"<!-- {keyword}: {json.dumps(keys)} -->"


def table(**keys: Any) -> str:
    own = {
        "id": "speed",
        "collection": "runs",
        "pipeline": [],
        "columns": ["name", "qps"],
        "headers": ["Name", "Q/s"],
    }
    return comment("MONGO_TABLE", **{**own, "format": {"qps": FORM}, **keys})


def value(**keys: Any) -> str:
    return comment("MONGO_VALUE", **{"table": "speed", "column": "qps", "where": {"name": "a"}, **keys})


def rows(*qps: object, **fields: object) -> list[dict[str, Any]]:
    return [{"name": name, "qps": one, **fields} for name, one in zip("abcd", qps, strict=False)]


def read(text: str) -> Page:
    page = read_page(text, "README.md", lambda _: None)
    assert page.findings == (), page.findings
    return page


def written(text: str, found: list[dict[str, Any]]) -> str:
    page = read(text)
    answers = {spec.query.key: found for spec in page.pipeline_specs}
    return composed_in_place(page, answers, tables_by_id([page])).text


def stays(text: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """Whether a page with the rows ``before`` in it is left alone by those ``after``; a check has to agree."""
    standing = written(text, before)
    page = read(standing)
    answers = {spec.query.key: after for spec in page.pipeline_specs}
    made = composed_in_place(page, answers, tables_by_id([page]))
    assert (stale_findings(made) == []) == (made.text == standing)
    if made.text != standing:
        assert made.text == written(text, after)
    return made.text == standing


@pytest.mark.parametrize(
    ("tolerance", "now", "expected"),
    [
        (None, 1000.4, True),  # nothing that is shown has changed
        (None, 1001, False),
        ("5 %", 1050, True),
        ("5%", 950, True),
        ("5 %", 1051, False),
        ("5 %", 949, False),
        ("5 %", 1050.4, True),  # 1,050 is what would stand there
        ("0.5 %", 1005, True),
        ("0.5 %", 1006, False),
        ("5 %", -1000, False),
        ("5 %", None, False),
        ("5 %", "1,001", False),
        ("99 %", "1000", False),
        ("interval", 1001, False),  # no interval is known
    ],
)
def test_a_number_stays_while_it_has_moved_by_no_more_of_what_stands_there(
    tolerance: str | None, now: object, expected: bool
) -> None:
    keys = {"tolerance": tolerance} if tolerance else {}
    assert stays(table(**keys), rows(1000), rows(now)) is expected
    assert stays(f"It is {value(**keys)}.\n\n{table(**keys)}", rows(1000), rows(now)) is expected


@pytest.mark.parametrize(
    "after",
    [
        rows(1001, 10),
        rows(1001, 10, 10, 10),
        [{"name": "A", "qps": 1001}, *rows(0, 10, 10)[1:]],
        [*rows(0, 10, 10)[1:], *rows(1060)],
        rows(1001, 10, 20),
        [],
    ],
    ids=[
        "fewer rows",
        "more rows",
        "another name",
        "another order and one cell far off",
        "one cell far off",
        "no rows",
    ],
)
def test_a_table_of_other_rows_or_words_is_written_anew_as_a_whole(after: list[dict[str, Any]]) -> None:
    text = table(tolerance="5 %", empty="None.", ignore={"MT303": "May be."})
    assert stays(text, rows(1000, 10, 10), rows(1001, 10, 10))
    assert not stays(text, rows(1000, 10, 10), after)


def test_a_header_a_title_or_a_format_that_changed_is_written() -> None:
    standing = written(table(tolerance="5 %"), rows(1000))
    for other in (
        table(tolerance="5 %", headers=["Name", "Queries/s"]),
        table(tolerance="5 %", title="Speed"),
        table(tolerance="5 %", format={"qps": {**FORM, "align": "center"}}),
        table(tolerance="5 %", format={"qps": {**FORM, "unit": "k"}}),
        table(tolerance="5 %", format={"qps": {"decimals": 1}}),
    ):
        page = read(standing.replace(table(tolerance="5 %"), other))
        answers = {page.tables[0].query.key: rows(1001)}
        assert "1,000" not in composed_in_place(page, answers, {}).text


def sorted_table(**keys: int) -> str:
    return table(tolerance="5 %", pipeline=[{"$sort": keys}])


def changed(before: str, found: list[dict[str, Any]], after: str, now: list[dict[str, Any]]) -> bool:
    """Whether a page with other rows and another comment is written anew."""
    standing = written(before, found)
    page = read(standing.replace(before, after))
    made = composed_in_place(page, {page.tables[0].query.key: now}, tables_by_id([page])).text
    return made != page.text


def test_another_sort_is_written_however_near_the_rows_are() -> None:
    found = rows(1000, 1010, 1020)
    descending = sorted_table(qps=-1)
    assert changed(descending, found[::-1], sorted_table(qps=1), found)
    assert changed(descending, found[::-1], sorted_table(name=1), found)
    assert changed(sorted_table(name=1), found, sorted_table(name=-1), found[::-1])
    assert not changed(sorted_table(name=1), found, sorted_table(qps=1), found)


def test_a_table_and_its_values_are_written_together_when_one_of_them_moved_too_far() -> None:
    text = f"It is {value()} and {value(where={'name': 'b'})}.\n\n{table(tolerance='5 %')}"
    assert stays(text, rows(1000, 10), rows(1010, 10))
    standing = written(text, rows(1000, 10))
    page = read(standing)
    made = composed_in_place(page, {page.tables[0].query.key: rows(1010, 20)}, tables_by_id([page])).text
    assert made.count("1,010") == 2
    assert "1,000" not in made


def test_a_new_value_brings_the_table_that_it_is_of_up_to_date() -> None:
    standing = written(table(tolerance="5 %"), rows(1000))
    page = read(f"It is {value()}.\n\n{standing}")
    made = composed_in_place(page, {page.tables[0].query.key: rows(1010)}, tables_by_id([page])).text
    assert made.count("1,010") == 2


def test_a_value_has_a_tolerance_of_its_own_or_that_of_its_table() -> None:
    elsewhere = read(table(tolerance="5 %"))
    for keys, now, expected in (
        ({}, 1050, True),
        ({"tolerance": "1 %"}, 1050, False),
        ({"tolerance": "9 %"}, 1090, True),
    ):
        standing = _quoted(value(**keys), elsewhere, rows(1000))
        assert (_quoted(standing, elsewhere, rows(now)) == standing) is expected


def _quoted(text: str, table_page: Page, found: list[dict[str, Any]]) -> str:
    page = read(f"It is {text}" if not text.startswith("It is") else text)
    answers = {table_page.tables[0].query.key: found}
    return composed_in_place(page, answers, tables_by_id([table_page])).text


SPREAD = {"spread": {"qps": ["low", "high"]}}


@pytest.mark.parametrize(
    ("now", "low", "high", "expected"),
    [
        (1100, 990, 1200, True),
        (1100, 1000.4, 1200, True),  # as shown: 1,000
        (1100, 1001, 1200, False),
        (900, 800, 1000, True),
        (900, 800, 999, False),
        (1000, 1000, 1000, True),
    ],
)
def test_a_number_stays_within_the_interval_of_todays_row(
    now: float, low: float, high: float, expected: bool
) -> None:
    before, after = rows(1000, low=950, high=1050), rows(now, low=low, high=high)
    assert stays(table(**SPREAD, tolerance="interval"), before, after) is expected
    text = f"It is {value()}.\n\n{table(**SPREAD, tolerance='interval')}"
    assert stays(text, before, after) is expected


def test_a_change_in_per_cent_stays_within_points_and_the_cell_that_moved_farthest_is_named() -> None:
    form = {"qps": {"decimals": 0}, "change": {"percent": True, "decimals": 1}}
    columns, headers = ["name", "qps", "change"], ["Name", "Q/s", "Change"]
    page = table(columns=columns, headers=headers, tolerance="10 %", format=form)

    def runs(qps: float, change: float) -> list[dict[str, Any]]:
        return [{"name": "a", "qps": qps, "change": change}]

    assert stays(page, runs(100, 0.001), runs(105, 0.002))
    assert stays(page, runs(100, 0.04), runs(100, -0.06))
    assert not stays(page, runs(100, 0.001), runs(100, 0.102))
    read_again = read(written(page, runs(100, 0.001)))
    answers = {spec.query.key: runs(150, 0.002) for spec in read_again.pipeline_specs}
    composed = composed_in_place(read_again, answers, tables_by_id([read_again]))
    (found,) = stale_findings(composed)
    assert "`Q/s` of `a` is 100, and 150 now" in found.message


def test_of_a_value_with_its_range_the_value_counts() -> None:
    text = table(**SPREAD, tolerance="5 %")
    assert stays(text, rows(1000, low=950, high=1050), rows(1010, low=500, high=5000))
    assert not stays(text, rows(1000, low=950, high=1050), rows(1060, low=950, high=1100))


def test_what_compares_with_the_baseline_follows_from_what_is_compared() -> None:
    text = table(tolerance="5 %", baseline={"row": 1, "column": "qps"})
    assert stays(text, rows(1000, 1010), rows(1000, 1040))  # +1.0 % would be +4.0 %
    assert not stays(text, rows(1000, 1010), rows(1000, 990))  # slower now
    assert not stays(text, rows(1000, 1010), rows(1000, 1100))


def conclusion(verdict: str, ratio: float, low: float, high: float) -> dict[str, Any]:
    return {
        "against": "b", "ratio": ratio, "low": low, "high": high, "blocks": 40, "margin": 0.05, "verdict": verdict
    }  # fmt: skip


def test_a_comparison_in_words_stays_while_its_verdict_does() -> None:
    before = rows(conclusion("slower", 0.93, 0.91, 0.95))
    near, far = conclusion("slower", 0.92, 0.90, 0.94), conclusion("slower", 0.80, 0.75, 0.85)
    for tolerance, after, expected in (
        ("20 %", near, True),
        ("5 %", near, False),
        ("interval", near, True),
        ("interval", far, False),
        ("interval", conclusion("faster", 1.07, 1.05, 1.09), False),
    ):
        text = table(tolerance=tolerance, format={})
        assert "7 % slower (5 to 9 %)" in written(text, before)
        assert stays(text, before, rows(after)) is expected, (tolerance, after)


def test_where_the_rows_come_from_is_told_of_those_that_stand(tmp_path: Path) -> None:
    text = table(tolerance="5 %", provenance=True)
    (tmp_path / "runs").mkdir()

    def measured(day: str, qps: int, text: str) -> str:
        document = {"_id": 1, "name": "a", "qps": qps, "versions": {"server": "8.0.4"}}
        document["start_time"] = {"$date": f"2026-11-{day}T04:00:00Z"}
        (tmp_path / "runs" / "a.jsonl").write_text(json.dumps(document) + "\n")
        page = read(text)
        build = asked(tmp_path, page)
        return composed_in_place(page, build.answers, build.tables).text

    standing = measured("21", 1000, text)
    assert "Measured 2026-11-21" in standing
    assert measured("24", 1001, standing) == standing
    assert "Measured 2026-11-24" in measured("24", 1100, standing)


@given(st.integers(1, 10**7), st.integers(0, 200), st.sampled_from(["0.5 %", "5 %", "50 %"]))
def test_nothing_that_stays_has_moved_farther_than_it_may(then: int, promille: int, tolerance: str) -> None:
    now = then + then * promille // 1000
    share = float(tolerance.rstrip(" %")) / 100
    assert stays(table(tolerance=tolerance), rows(then), rows(now)) is (now - then <= share * then)


@pytest.mark.parametrize(
    "wrong", ["5", "0 %", "100 %", "-5 %", "0.0 %", "Interval", "5  %", " 5 %", 5, True, None]
)
def test_what_is_no_tolerance_is_told(wrong: object) -> None:
    page = read_page(table(tolerance=wrong), "README.md", lambda _: None)
    (found,) = page.findings
    assert found.rule in ("MT132", "MT133")
    assert "tolerance" in found.message


@pytest.mark.parametrize(
    ("form", "then", "near", "far"),
    [
        ({"decimals": 1, "thousands": True, "locale": "de"}, 1000, 1040.5, 1060.5),
        ({"decimals": 0, "thousands": True, "locale": "fr"}, 1000, 1040, 1060),
        ({"decimals": 0, "thousands": True, "locale": "en-IN"}, 1234567, 1240000, 1340000),
        ({"percent": True, "decimals": 1}, 0.5, 0.51, 0.56),
        ({"currency": "€", "decimals": 2, "locale": "de"}, 1000, 1040, 1060),
        ({"duration": "ms"}, 120, 121, 140),
        ({"duration": "ms"}, 990, 991, 1010),  # in seconds
        ({"significant": 3}, 1.5, 1.51, 1.6),
        ({"link": "https://example.com/{name}/1"}, 1000, 1040, 1060),
    ],
)
def test_a_number_is_read_back_as_its_format_writes_it(
    form: dict[str, Any], then: float, near: float, far: float
) -> None:
    text = f"It is {value()}.\n\n{table(tolerance='5 %', format={'qps': form})}"
    assert stays(text, rows(then), rows(near))
    assert not stays(text, rows(then), rows(far))


def test_where_a_cell_leads_to_is_no_number() -> None:
    text = table(tolerance="5 %", format={"qps": {"link": "https://example.com/{n}"}})
    assert not stays(text, rows(1000, n=1000), rows(1000, n=1001))


def test_rows_below_headings_and_totals_stay_together() -> None:
    text = table(
        tolerance="5 %",
        columns=["kind", "name", "qps"],
        headers=["Kind", "Name", "Q/s"],
        group_rows="kind",
        totals={"qps": "sum"},
    )

    def kinds(*qps: float) -> list[dict[str, Any]]:
        return [{**row, "kind": kind} for row, kind in zip(rows(*qps), "xxy", strict=True)]

    assert "Sum of 3 rows" in written(text, kinds(1000, 10, 10))
    assert stays(text, kinds(1000, 10, 10), kinds(1040, 10, 10))
    assert not stays(text, kinds(1000, 10, 10), kinds(1040, 10, 11))
    other = kinds(1000, 10, 10)
    other[1]["kind"] = "y"
    assert not stays(text, kinds(1000, 10, 10), other)


def test_rows_that_changed_places_are_written_however_near_they_are() -> None:
    text = f"It is {value()}.\n\n{table(tolerance='5 %')}"
    before = rows(1000, 1010, 1020)
    assert not stays(text, before, [before[2], before[0], before[1]])


def told(text: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """What a check says of a page with the rows ``before`` in it."""
    page = read(written(text, before))
    answers = {spec.query.key: after for spec in page.pipeline_specs}
    return [one.message for one in stale_findings(composed_in_place(page, answers, tables_by_id([page])))]


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        (rows(1000, 20, 30), "`Q/s` of `b` is 10, and 20 now"),
        ([*rows(1000, 10, 30)[::-1]], "only the order of its rows changed"),
        (rows(1001, 12, 31), "`Q/s` of `b` is 10, and 12 now"),  # the others may be near enough
        (rows(1001, 10, "?"), "`Q/s` of `c` is 30, and ? now"),
        (rows(1000, 10), "`c` is in no row now"),
        ([*rows(1000, 10, 30), {**rows(5)[0], "name": "d"}], "`d` is new"),
        ([*rows(1000, 10, 30), {**rows(5)[0], "name": "d` are"}], "`d` are` is new"),
        ([*rows(1000, 10, 30)[1:], {**rows(5)[0], "name": "d"}], "`a` is in no row now and `d` is new"),
        ([*rows(1000, 10, 30), {**rows(5)[0], "name": "find_one_by_id"}], "`find_one_by_id` is new"),
        (
            [{**row, "name": name} for row, name in zip(rows(1, 2, 3), "ade", strict=True)],
            "`b` and 1 more are in no row now and `d` and 1 more are new",
        ),
        ([{**row, "name": "?"} for row in rows(1000, 10)], "it has 3 rows, and 2 now"),
        (rows(1000, "", 30), "`Q/s` of `b` is 10, and nothing now"),
        (rows(1000, "<b>|", 30), "`Q/s` of `b` is 10, and <b>| now"),
    ],
)
def test_what_a_table_differs_in_is_told(after: list[dict[str, Any]], difference: str) -> None:
    (said,) = told(table(), rows(1000, 10, 30), after)
    assert said == f"the figure under this comment differs from the current rows: {difference}"


def test_a_value_is_told_as_it_stands_and_as_it_is_now() -> None:
    said = told(f"It is {value()}.\n\n{table()}", rows(1000), rows(1001))
    assert said[0] == (
        "the value behind this comment differs from the current rows: it is 1,000, and 1,001 now"
    )


def test_columns_that_are_others_are_told() -> None:
    page = read(written(table(), rows(1000)).replace('"Q/s"', '"Queries/s"'))
    made = composed_in_place(page, {page.tables[0].query.key: rows(1000)}, {})
    assert "its columns changed" in stale_findings(made)[0].message


def test_a_new_value_is_told_alone_while_the_others_are_near_enough() -> None:
    standing = written(f"It is {value()}.\n\n{table(tolerance='5 %')}", rows(1000))
    page = read(f"Or {value()}.\n\n{standing}")
    made = composed_in_place(page, {page.tables[0].query.key: rows(1010)}, tables_by_id([page]))
    assert [(one.line, one.message) for one in stale_findings(made)] == [
        (1, "the value behind this comment is not in the page")
    ]
    assert made.text.count("1,010") == 3  # and yet a page says one state


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        ((("a", "x", 1), ("a", "y", 2), ("b", "x", 5)), "`Q/s` of `b, x` is 3, and 5 now"),
        ((("a", "x", 1), ("a", "y", 2), ("c_d", "x", 3)), "the group `b` is gone, `c_d` is new"),
        ((("a", "x", 1), ("a", "z", 2), ("b", "x", 3)), "`a, y` is in no row now and `a, z` is new"),
        ((("a", "x", 1), ("b", "x", 3)), "`a, y` is in no row now"),
    ],
)
def test_a_row_of_a_group_is_named_with_its_group(after: Any, difference: str) -> None:
    def groups(*some: tuple[str, str, int]) -> list[dict[str, Any]]:
        return [{**rows(qps)[0], "kind": kind, "name": name} for kind, name, qps in some]

    columns = {"columns": ["kind", "name", "qps"], "headers": ["Kind", "Name", "Q/s"], "group_rows": "kind"}
    (said,) = told(table(**columns), groups(("a", "x", 1), ("a", "y", 2), ("b", "x", 3)), groups(*after))
    assert said == f"the figure under this comment differs from the current rows: {difference}"
