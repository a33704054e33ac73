"""What several campaigns conclude reaches tables, charts and sentences as what one of them does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.directives.specs import ValueSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.render.html import figure_html
from mongo_tables.results.pooling import pool_rows
from mongo_tables.runner.store import FileStore
from mongo_tables.site.pages import read_page
from mongo_tables.site.statements import value_text
from tests.judged import asked
from tests.results.blockrows import campaign, measured, shaken

PIPELINE = [
    {"$set": {"size": "$_id.size", "speed": {"$avg": "$repeats.operations_per_second"}}},
    {"$project": {"size": 1, "speed": 1, "campaigns": 1}},
    {"$sort": {"size": 1}},
]
TABLE = {
    "id": "sizes",
    "collection": "results",
    "pipeline": PIPELINE,
    "columns": ["size", "speed"],
    "headers": ["Size", "Speed"],
    "baseline": {"row": {"size": 1}, "column": "speed", "comparison": "campaigns"},
    "chart": {"x": "size", "y": "speed"},
}
CHART = {
    "id": "drawn",
    "collection": "results",
    "pipeline": PIPELINE,
    "x": "size",
    "y": "campaigns.ratio",
    "labels": {"size": "Size", "campaigns.ratio": "Ratio"},
    "spread": {"campaigns.ratio": ["campaigns.low", "campaigns.high"]},
}
COMMENTS = f"<!-- MONGO_TABLE: {json.dumps(TABLE)} -->\n\n<!-- MONGO_CHART: {json.dumps(CHART)} -->\n"


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    """Size 4 is slower in both campaigns, size 8 in one of them."""
    new, old = (
        campaign(
            [measured(1, shaken(100), shaken(100)), measured(4, shaken(slow)), measured(8, shaken(other))],
            0,
            f"of-{hour}",
            hour,
        )
        for hour, slow, other in ((9, 50, 80), (3, 40, 120))
    )
    for row in pool_rows(new, old).rows:
        FileStore(tmp_path).put(row)
    return tmp_path


def judged(prose: str, fixtures: Path) -> tuple[list[Finding], list[str], str]:
    page = read_page(f"# Sizes\n\n{COMMENTS}\n{prose}\n", "page.md", lambda _: None)
    build = asked(fixtures, page)
    values = [spec for spec in page.specs if isinstance(spec, ValueSpec)]
    (table,) = page.tables
    rows = build.answers[table.query.key]
    assert isinstance(rows, list)
    shown = figure_html(table, rows)
    return build.faults, [value_text(one, build.tables, build.answers) for one in values], shown


def test_a_table_and_a_chart_take_the_interval_of_all_campaigns(fixtures: Path) -> None:
    found, _, html = judged("", fixtures)
    assert found == []
    assert "−60 or −50\u00a0% (−60 to −50)" in html
    assert "2 rows have the ratio of each campaign" in html
    assert "over 20 blocks of 2 campaigns, with the range of the campaigns" in html
    assert (
        'aria-label="between 20\u00a0% slower and 20\u00a0% faster (depending on the campaign: −20 or +20\u00a0%), 20 blocks of 2 campaigns"'
        in html
    )


def test_a_sentence_takes_what_all_campaigns_conclude(fixtures: Path) -> None:
    fields = ("campaigns.verdict", "campaigns.count", "campaigns.low")
    prose = " ".join(
        f'<!-- MONGO_VALUE: {{"table": "sizes", "column": "{field}", "where": {{"size": 4}}}} -->'
        for field in fields
    )
    found, values, _ = judged(prose, fixtures)
    assert found == []
    assert values[:2] == ["slower", "2"]
    assert float(values[2]) == pytest.approx(0.4)


@pytest.mark.parametrize(("size", "rules"), [(4, []), (8, ["MT322"])])
def test_a_statement_is_held_to_all_campaigns(size: int, rules: list[str], fixtures: Path) -> None:
    body = {
        "table": "sizes",
        "where": {"size": size},
        "expect": {"campaigns.verdict": "slower", "campaigns.high": {"$lt": 0.95}},
    }
    found, _, _ = judged(f"Slower.<!-- MONGO_CHECK: {json.dumps(body)} -->", fixtures)
    assert [one.rule for one in found] == rules


def test_rows_that_no_second_campaign_has_are_told_with_the_command_that_pools(fixtures: Path) -> None:
    (row, *_) = FileStore(fixtures).rows("t")
    FileStore(fixtures).put({name: value for name, value in row.items() if name != "campaigns"})
    found, _, _ = judged("", fixtures)
    assert "MT334" in [one.rule for one in found]
    assert any("compare --pool" in one.hint for one in found)
