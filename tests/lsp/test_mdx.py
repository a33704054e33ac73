"""What an editor gets in a page of MDX: `|` marks the place."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import Position

from mongo_tables.lsp.completion import complete
from mongo_tables.lsp.session import Session
from mongo_tables.lsp.typed_json import comment_body, cursor_at
from tests.lsp.conftest import TABLE, checked_session, lay_out

PAGE = TABLE.replace("<!--", "{/*").replace("-->", "*/}")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {"docs/page.mdx": f"# Speeds\n\n{PAGE}"})
    return checked_session(folder)


@pytest.fixture(autouse=True)
def _in_the_folder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.project.request.site.file.parent)


@pytest.mark.parametrize(
    ("marked", "offered"),
    [
        ('{/* RESULT_TABLE: {"collection": "|"} */}', "runs"),
        ('{/* RESULT_TABLE: {"collection": "runs", "columns": ["|', "qps"),
        ('words {/*\nRESULT_VALUE: {"|": 1} */}', "column"),
        ('{/* RESULT_TABLE: {} */}\n{/* RESULT_TABLE: {"collection": "runs", |} */}', "columns"),
    ],
)
def test_a_comment_is_completed(marked: str, offered: str, session: Session) -> None:
    at = marked.index("|")
    text = marked.replace("|", "", 1)
    body = comment_body(text, at)
    assert body is not None
    found = complete(text, cursor_at(text, body, at), session.knowledge).found
    assert offered in [one.label for one in found]


@pytest.mark.parametrize(
    "marked", ['{/* RESULT_TABLE: {} */}"|"', '{/* off RESULT_TABLE: {"|"} */}', '{"|"}']
)
def test_nothing_is_completed_elsewhere(marked: str) -> None:
    assert comment_body(marked.replace("|", ""), marked.index("|")) is None


def test_a_key_is_explained_and_a_fault_is_marked_where_it_is(session: Session) -> None:
    file, text = "docs/page.mdx", f"# Speeds\n\né {PAGE}".replace('"columns"', '"colums"')
    session.open(file, text, 1)
    line = text.splitlines().index('  "colums": ["_id", "qps"],')
    hover = session.hover(file, Position(2, 8))
    assert hover is not None
    found = session.check().diagnostics[file]
    marked = {(one.finding.rule, one.span.start.line, one.span.start.character) for one in found}
    assert ("MT130", line, 2) in marked
    assert Path(file).exists()
