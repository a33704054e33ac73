"""The task for VS Code that a page shows finds every finding in what the program prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import report
from tests.commands.check.test_watch import WAITING, Watching
from tests.commands.test_commands import TABLE, mongo_tables, project

__all__ = ["project"]

PAGE = Path(__file__).parents[2] / "docs" / "authors" / "tools.md"


@pytest.fixture(scope="module")
def matcher() -> dict[str, Any]:
    (written,) = re.findall(r"```json\n(\{\n  \"version\".*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (task,) = json.loads(written)["tasks"]
    found: dict[str, Any] = task["problemMatcher"]
    return found


def matched(matcher: dict[str, Any], text: str) -> list[tuple[str, ...]]:
    """What an editor takes from lines, by the names of the groups."""
    pattern = matcher["pattern"]
    names = ("file", "line", "column", "severity", "code", "message")
    lines = (re.search(pattern["regexp"], line) for line in text.splitlines())
    return [tuple(line[pattern[name]] for name in names) for line in lines if line]


def test_every_finding_of_a_page_is_found_once_with_its_place(project: Path, matcher: dict[str, Any]) -> None:
    faulty = TABLE.replace("$sort", "$sor"), TABLE.replace('["n"]', '["docs/a.md:1:2: error MT301 x"]'), TABLE
    (project / "docs" / "page.md").write_text("\n\n".join((*faulty, "<!-- MONGO_TABEL: {} -->\n")))
    text = mongo_tables("check", cwd=project, expect=1).stdout
    listed = json.loads(mongo_tables("check", "--format", "json", cwd=project, expect=1).stdout)["findings"]
    keys = ("file", "line", "column", "severity", "rule", "message")
    assert len(listed) >= 3
    assert matched(matcher, text) == [tuple(str(one[key]) for key in keys) for one in listed]


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_each_severity_is_one_that_an_editor_knows(severity: Any, matcher: dict[str, Any]) -> None:
    found = Finding("docs/a b:c.md", 3, 7, "MT401", severity, "`$limit`: 1:2: without a `$sort`", "do: it")
    text = report([found], "text", sources={"docs/a b:c.md": "x\ny\n/x:1:1: error MT301 z"})
    assert matched(matcher, text) == [
        ("docs/a b:c.md", "3", "7", severity, "MT401", "`$limit`: 1:2: without a `$sort`")
    ]


def test_a_check_of_the_task_begins_and_ends_where_watching_says_so(
    project: Path, matcher: dict[str, Any]
) -> None:
    begins, ends = (matcher["background"][name] for name in ("beginsPattern", "endsPattern"))
    watching = Watching(project)
    try:
        first = watching.told()
        (project / "docs" / "page.md").write_text(TABLE.replace("$sort", "$sor"))
        again = watching.told()
    finally:
        watching.interrupt()
    assert re.search(ends, WAITING)
    assert [bool(re.search(begins, line)) for line in (*first, *again)] == [False, True, False, False, False]
    assert [code for *_, code, _ in matched(matcher, "\n".join(again))] == ["MT301"]
