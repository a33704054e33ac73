"""Sentences of a page whose tables have a decimal comma write numbers so as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages.prose.telling import judge, list_quoted, write_rows

BODY = {
    "id": "t",
    "collection": "parsers",
    "sort": "_id",
    "columns": ["_id", "time", "cpu"],
    "headers": ["Name", "Zeit (ms)", "Anteil (%)"],
}
ROWS = [
    {"_id": "alpha", "time": 1234.6, "cpu": 61.5},
    {"_id": "beta", "time": 97.5, "cpu": 0.25},
]


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    return write_rows(tmp_path, "parsers", ROWS)


def told(prose: str, fixtures: Path, **settings: object) -> list[str]:
    body = {**BODY, **settings}
    return list_quoted(
        judge(f"# Messung\n\n{prose}\n\n<!-- RESULT_TABLE: {json.dumps(body)} -->\n", fixtures)
    )


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("alpha braucht 1.234,6 ms.", []),
        ("alpha braucht 1.235 ms, beta 97,5 ms.", []),
        ("alpha braucht 9.999,9 ms.", ["9.999,9 ms"]),
        ("alpha braucht 1.435 ms.", ["1.435 ms"]),
        ("beta hat 99,9 %.", ["99,9 %"]),
        ("alpha hat 61,5 %, beta 0,25 %.", []),
        ("beta braucht 9,75 ms.", ["9,75 ms"]),
        ("Gemessen am 27.11.2026 mit Version 1.235.1.", []),
    ],
)
def test_figures_are_read_with_a_decimal_comma_and_told_as_they_are_typed(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert told(prose, fixtures, locale="de") == figures


@pytest.mark.parametrize(
    ("locale", "right", "wrong"),
    [
        ("fr", "1\u202f234,6 ms", "1\u202f434,6 ms"),
        ("pl", "1\u00a0234,6 ms", "1\u00a0434,6 ms"),
        ("de-CH", "1'234.6 ms", "1'434.6 ms"),
        ("en", "1,234.6 ms", "1,434.6 ms"),
    ],
)
def test_each_language_groups_in_its_own_way(locale: str, right: str, wrong: str, fixtures: Path) -> None:
    assert told(f"alpha: {right}", fixtures, locale=locale) == []
    assert told(f"alpha: {wrong}", fixtures, locale=locale) == [
        wrong.replace("\u202f", " ").replace("\u00a0", " ")
    ]


def test_without_a_locale_or_with_two_a_comma_stands_between_thousands(fixtures: Path) -> None:
    assert told("alpha takes 1,234.6 ms.", fixtures) == []
    mixed = {"time": {"locale": "de"}, "cpu": {"locale": "en"}}
    assert told("alpha takes 1,234.6 ms, beta 96.4 ms.", fixtures, format=mixed) == ["96.4 ms"]


def test_a_page_with_values_alone_writes_as_the_tables_that_they_quote(fixtures: Path) -> None:
    value = '<!-- RESULT_VALUE: {"table": "t", "column": "time", "where": {"_id": "beta"}} -->'
    text = (
        f"# Messung\n\n## Kurz\n\nbeta: {value} ms; alpha braucht 9.999,9 ms.\n\n## Alles\n\n"
        f"<!-- RESULT_TABLE: {json.dumps({**BODY, 'locale': 'de'})} -->\n"
    )
    assert list_quoted(judge(text, fixtures)) == ["9.999,9 ms"]
