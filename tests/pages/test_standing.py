"""A table that stays within its tolerance: the page says the rows that stand in it, and so do its sentences."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mongo_tables.pages.inplace import compose_in_place
from mongo_tables.pages.model import Page, tables_by_id
from mongo_tables.pages.prose.unsupported import page_findings
from mongo_tables.pages.reading import read_page
from mongo_tables.pages.standing import standing_answers

BODY = {
    "id": "speed",
    "collection": "runs",
    "pipeline": [],
    "columns": ["name", "took"],
    "headers": ["Name", "Time (ms)"],
    "tolerance": "5 %",
}


def table(**keys: Any) -> str:
    return f"<!-- MONGO_TABLE: {json.dumps({**BODY, **keys})} -->"


def read(text: str) -> Page:
    page = read_page(text, "README.md", lambda _: None)
    assert page.findings == (), page.findings
    return page


def rows(*took: float, **fields: list[Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "took": one, **{field: values[at] for field, values in fields.items()}}
        for at, (name, one) in enumerate(zip(["alpha", "beta", "gamma"], took, strict=False))
    ]


def written(text: str, found: list[dict[str, Any]]) -> Page:
    page = read(text)
    answers = {spec.query.key: found for spec in page.pipeline_specs}
    return read(compose_in_place(page, answers, tables_by_id([page])).text)


def told(page: Page, found: list[dict[str, Any]]) -> list[str]:
    answers = {spec.query.key: found for spec in page.pipeline_specs}
    return [one.message for one in page_findings(page, tables_by_id([page]), answers)]


BEFORE, AFTER = rows(120.4, 98.7, 455), rows(120.4, 102.6, 455)


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("beta needs 98.7 ms.", []),
        ("beta needs 102.6 ms.", ["no row of the section's tables has `102.6 ms`"]),
        ("gamma needs 455 ms, alpha 120.4 ms.", []),
        ("gamma is 4.61× slower than beta.", []),
        ("gamma is 4.43× slower than beta.", ["no row of the section's tables has `4.43×`"]),
    ],
)
def test_figures_are_held_against_the_table_that_stays_and_not_against_rows_that_nobody_sees(
    prose: str, expected: list[str]
) -> None:
    page = written(f"# Runs\n\n{prose}\n\n{table()}\n", BEFORE)
    assert told(page, AFTER) == expected


def test_figures_are_held_against_todays_rows_where_the_table_is_out_of_date_or_not_written() -> None:
    text = f"# Runs\n\nbeta needs 98.7 ms.\n\n{table()}\n"
    assert told(written(text, BEFORE), rows(120.4, 112.6, 455)) != []
    assert told(read(text), AFTER) != []
    strict = text.replace(', "tolerance": "5 %"', "")
    assert told(written(strict, BEFORE), AFTER) != []


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        ({}, BEFORE, AFTER),
        ({"format": {"took": {"decimals": 0, "thousands": True}}}, rows(1200.4, 98), rows(1210, 99)),
        ({"format": {"took": {"decimals": 1, "percent": True}}}, rows(0.987, 0.25), rows(0.977, 0.25)),
        ({"format": {"took": {"duration": "ms"}}}, rows(1504.0, 98.7, 0.32), rows(1480, 99.1, 0.33)),
        ({"format": {"took": {"bytes": "IEC"}}}, rows(1572864, 2048), rows(1550000, 2050)),
        ({"format": {"took": {"decimals": 2, "currency": "EUR", "locale": "de"}}}, rows(1234.5), rows(1250.25)),
        (
            {"spread": {"took": ["low", "high"]}},
            rows(120, 98, low=[110, 90], high=[130, 105]),
            rows(121, 97, low=[112, 91], high=[131, 104]),
        ),
        ({}, rows(100, 101), [*reversed(rows(102, 101))]),
        (
            {"columns": ["kind", "name", "took"], "headers": ["Kind", "Name", "Time (ms)"], "group_rows": "kind"},
            rows(120.4, 98.7, 455, kind=["a", "a", "b"]),
            rows(121, 99, 450, kind=["a", "a", "b"]),
        ),
    ],
)  # fmt: skip
def test_the_rows_that_stand_are_those_that_would_write_the_page_as_it_is(
    keys: dict[str, Any], before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    page = written(table(**keys), before)
    today = {spec.query.key: after for spec in page.pipeline_specs}
    (part,) = compose_in_place(page, today, tables_by_id([page])).parts
    assert part.state == "near"
    (spec,) = page.tables
    found = standing_answers(page, tables_by_id([page]), today)[spec.query.key]
    assert isinstance(found, list)
    by_name = {row["name"]: row["took"] for row in before}
    assert {row["name"]: row["took"] for row in found} == pytest.approx(by_name, rel=0.005)
    assert {row["name"]: row.get("low") for row in found} == {row["name"]: row.get("low") for row in before}


def test_rows_of_a_page_without_tolerance_are_todays() -> None:
    page = written(f"{table(tolerance='interval')}\n", BEFORE)
    answers = {spec.query.key: AFTER for spec in page.pipeline_specs}
    assert standing_answers(read("Words.\n"), {}, answers) is answers
    assert standing_answers(page, tables_by_id([page]), answers) is answers
