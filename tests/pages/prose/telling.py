"""What is told of the sentences of one page, which are held against its tables over a folder of fixtures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from mongo_tables.findings.finding import Finding
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.judged import asked


def write_rows(folder: Path, collection: str, rows: Iterable[Mapping[str, object]]) -> Path:
    """The folder, with a collection of these rows."""
    (folder / collection).mkdir()
    (folder / collection / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def judge(text: str, fixtures: Path) -> list[Finding]:
    """What is told of the sentences of a page, which has no other error."""
    page = read_page(text, "README.md", lambda _: None)
    assert [one for one in page.findings if one.severity == "error"] == []
    return prose_findings([page], asked(fixtures, page).answers)


def list_quoted(findings: Iterable[Finding]) -> list[str]:
    """What each of some findings is about: a figure as it is written, a direction by its word."""
    return [one.message.split("`")[1] for one in findings]


def tell(text: str, fixtures: Path) -> list[str]:
    """The figures and directions of a page that are told."""
    return list_quoted(judge(text, fixtures))
