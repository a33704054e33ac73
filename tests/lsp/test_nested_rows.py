"""Completion and hover know the rows inside a document, computed columns, and values without a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol.types import Position

from mongo_tables.lsp.completion import complete
from mongo_tables.lsp.session import Session
from mongo_tables.lsp.typed_json import comment_body, cursor_at
from tests.lsp.conftest import checked_session, lay_out

DATA = {
    "_id": 1,
    "tool": "rtk",
    "result": {"by_class": {"git": {"count": 3, "saved": 81.5}, "npm": {"count": 2, "saved": 60.0}}},
    "list": [{"x": 1}, {"x": 2}, {"x": 3}],
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {"docs/page.md": "# Speeds\n"})
    (folder / "fixtures/nested").mkdir()
    (folder / "fixtures/nested/a.jsonl").write_text(f"{json.dumps(DATA)}\n")
    return checked_session(folder)


@pytest.fixture(autouse=True)
def _in_the_folder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.project.request.site.file.parent)


def offered(session: Session, marked: str) -> list[str]:
    at, text = marked.index("|"), marked.replace("|", "", 1)
    body = comment_body(text, at)
    assert body is not None
    return [one.label for one in complete(text, cursor_at(text, body, at), session.knowledge).found]


ROWS = '"collection": "nested", "rows": "result.by_class.*"'


@pytest.mark.parametrize(
    ("body", "some", "none"),
    [
        ('{"collection": "nested", "rows": "|"', {"list.*", "result.by_class.*"}, set()),
        (f'{{{ROWS}, "columns": ["|"', {"_key", "count", "saved", "tool"}, {"by_class"}),
        (f'{{{ROWS}, "sort": "|"', {"_key", "count"}, set()),
        (f'{{{ROWS}, "where": {{"|"', {"_key", "count"}, set()),
        (f'{{{ROWS}, "pipeline": [{{"$group": {{"_id": "|"', {"$_key", "$count"}, set()),
        (f'{{{ROWS}, "compute": {{"each": "saved / count"}}, "columns": ["|"', {"each", "count"}, set()),
        ('{"collection": "nested", "columns": ["|"', {"tool", "result"}, {"count"}),
    ],
)
def test_fields_of_the_entries_are_offered(
    session: Session, body: str, some: set[str], none: set[str]
) -> None:
    found = set(offered(session, f"<!-- RESULT_TABLE: {body}"))
    assert some <= found and not none & found


def test_a_value_of_a_collection_offers_its_fields(session: Session) -> None:
    assert {"_key", "saved"} <= set(offered(session, f'<!-- RESULT_VALUE: {{{ROWS}, "field": "|"'))
    assert {"_key", "saved"} <= set(offered(session, f'<!-- RESULT_VALUE: {{{ROWS}, "where": {{"|"'))
    assert "rows" in offered(session, '<!-- RESULT_VALUE: {"|"}')


def test_a_value_by_name_is_judged_and_harms_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "# A\n\nIt is <!-- RESULT: one --> and <!-- RESULT: two -->.\n"
    (tmp_path / "mongo-tables.toml").write_text(
        'pages = ["page.md"]\n[values.one]\ncollection = "nested"\nfield = "tool"\n'
    )
    lay_out(tmp_path, {"page.md": page})
    (tmp_path / "fixtures/nested").mkdir()
    (tmp_path / "fixtures/nested/a.jsonl").write_text(f"{json.dumps(DATA)}\n")
    session = checked_session(tmp_path)
    monkeypatch.chdir(tmp_path)
    told = [one.message for one in session.project.report.findings if one.rule == "MT147"]
    assert told == ["there is no value `two`"]
    for column in range(len("It is <!-- RESULT: one -->")):
        session.mention_at("page.md", Position(2, column))
        body = comment_body(page, len("# A\n\n") + column)
        if body is not None:
            complete(page, cursor_at(page, body, len("# A\n\n") + column), session.knowledge)
