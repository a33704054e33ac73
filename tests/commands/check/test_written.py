"""What a check says of text that was written into a page: the cause of a fault alone, and no echo of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables

TABLE: dict[str, Any] = {
    "id": "speed",
    "collection": "bench",
    "pipeline": [
        {"$sort": {"order": 1}},
        {"$project": {"name": 1, "msecs": {"$multiply": ["$value", 1000]}}},
    ],
    "columns": ["name", "msecs"],
    "headers": ["Name", "Time (ms)"],
    "format": {"msecs": {"decimals": 2}},
}
READ: dict[str, Any] = {"table": "speed", "column": "msecs", "where": {"name": "read"}}
WRITE: dict[str, Any] = {"table": "speed", "column": "msecs", "where": {"name": "write"}}


def page(table: dict[str, Any] = TABLE, read: dict[str, Any] = READ) -> str:
    first, second = (f"<!-- RESULT_VALUE: {json.dumps(one)} -->" for one in (read, WRITE))
    return f"Reads {first}, writes {second}.\n\n<!-- RESULT_TABLE: {json.dumps(table)} -->\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rows = [{"name": "read", "order": 1, "value": 0.5}, {"name": "write", "order": 2, "value": 0.25}]
    (tmp_path / "bench.json").write_text(json.dumps(rows))
    (tmp_path / "README.md").write_text(page())
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["README.md"]\n')
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    mongo_tables("check", cwd=tmp_path)
    return tmp_path


def told(project: Path, before: str, after: str) -> list[str]:
    """The rule of each finding with its hint, where that text of the written page is another."""
    text = (project / "README.md").read_text()
    assert before in text
    (project / "README.md").write_text(text.replace(before, after, 1))
    done = mongo_tables("check", "--format", "json", cwd=project, expect=1)
    return [f"{one['rule']} {one['hint']}" for one in json.loads(done.stdout)["findings"]]


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (json.dumps(READ), json.dumps({**READ, "column": "msec"}), "MT302 did you mean `msecs`?"),
        (
            json.dumps(READ),
            json.dumps({**READ, "where": {"name": "raed"}}),
            "MT320 did you mean `read`?",
        ),
        (
            '"format": {"msecs": {"decimals": 2}}',
            '"baseline": {"row": {"name": "none"}, "column": "msecs"}',
            "MT331 ",
        ),
    ],
)
def test_the_cause_of_a_fault_is_told_and_nothing_that_follows_from_it(
    project: Path, before: str, after: str, cause: str
) -> None:
    (found,) = told(project, before, after)
    assert found.startswith(cause)


def test_a_format_that_is_left_of_a_column_does_not_hide_that_no_row_has_the_new_one(project: Path) -> None:
    found = told(project, '"columns": ["name", "msecs"]', '"columns": ["name", "msec"]')
    assert found == ["MT302 did you mean `msecs`?", "MT136 shown are `name`, `msec`"]


def test_a_value_that_is_suggested_is_of_a_row_that_meets_the_other_conditions(project: Path) -> None:
    rows = [{"name": "writes", "order": 1, "value": 0.5}, {"name": "write", "order": 2, "value": 0.25}]
    (project / "bench.json").write_text(json.dumps(rows))
    where = {"name": "writ", "msecs": {"$gt": 300}}
    found = told(project, json.dumps(READ), json.dumps({**READ, "where": where}))
    assert "MT320 did you mean `writes`?" in found
