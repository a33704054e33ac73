"""A column that no document has is told at the column, and not at the settings of the field that was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.mistyped_words import blame_columns
from mongo_tables.site.pages import Page, read_page
from tests.judged import report_on


@pytest.fixture
def asked(tmp_path: Path) -> Answers:
    (tmp_path / "runs").mkdir()
    rows = [{"_id": number, "name": f"run {number}", "value": number / 2} for number in range(100)]
    (tmp_path / "runs/all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Answers(str(tmp_path))


def shown(*columns: str) -> str:
    body = {
        "collection": "runs",
        "sort": "_id",
        "columns": columns,
        "headers": [*columns],
        "format": {"value": {"decimals": 1}},
    }
    return f"<!-- MONGO_TABLE: {json.dumps(body)} -->"


def told(asked: Answers, page: Page) -> list[Finding]:
    build = report_on(asked, page)
    return [one for one in build.faults if one.rule == "MT136"]


def test_each_comment_is_told_of_its_own_columns_alone(asked: Answers) -> None:
    comments = [shown("name", "valeu"), shown("name", "value"), shown("name"), shown("valeux", "name")]
    text = "\n\n".join(comments)
    found = told(asked, read_page(text, "page.md", lambda _: None))
    assert sorted((one.line, one.message, one.hint) for one in found) == [
        (1, "no document of 'runs' has `valeu`", "did you mean `value`?"),
        (5, "`value` is not a column that is shown here", "shown are `name`"),
        (7, "no document of 'runs' has `valeux`", "did you mean `value`?"),
    ]


def test_each_of_many_comments_is_told(asked: Answers) -> None:
    page = read_page("\n\n".join([shown("name", "valeu")] * 100), "page.md", lambda _: None)
    blamed = blame_columns(list(page.findings), [page], asked.local)
    assert [one.hint for one in blamed if one.rule == "MT136"] == ["did you mean `value`?"] * 100
