"""Where results are not there, pages are marked without rows, and with them once they are there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import DOCUMENTS, PAGE, TABLE, Editor

pytestmark = pytest.mark.asyncio
MISTYPED = TABLE.replace("$sort", "$srot")
FILE = "runs.json"


@pytest.fixture(params=["none", "empty", "file"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a site: without a folder of results, with one that has none, with a file that is not there."""
    results = f":\n      results: {FILE}" if request.param == "file" else ""
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nplugins:\n  - mongo-tables{results}\n")
    (tmp_path / PAGE).parent.mkdir()
    (tmp_path / PAGE).write_text(MISTYPED)
    if request.param == "empty":
        (tmp_path / "fixtures").mkdir()
    return tmp_path


def save_results(folder: Path) -> None:
    """The results, where the site has them."""
    if FILE in (folder / "mkdocs.yml").read_text():
        (folder / FILE).write_text(json.dumps(DOCUMENTS))
    else:
        (folder / "fixtures/runs").mkdir(parents=True)
        (folder / "fixtures/runs/runs.json").write_text(json.dumps(DOCUMENTS))


async def test_a_page_is_marked_as_it_is_typed(editor: Editor) -> None:
    text = editor.open(PAGE)
    assert [one.code for one in await editor.diagnostics(PAGE)] == ["MT301"]
    editor.type(PAGE, text.replace("$srot", "$sort"))
    assert await editor.diagnostics(PAGE) == []
    editor.type(PAGE, text.replace("$srot", "$sotr"))
    assert [one.code for one in await editor.diagnostics(PAGE)] == ["MT301"]


async def test_it_is_held_against_rows_once_there_are_some_and_no_longer_when_they_go(editor: Editor) -> None:
    editor.open(PAGE, text := TABLE.replace('"read"', '"scan"'))
    assert await editor.diagnostics(PAGE) == []
    save_results(editor.folder)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    await editor.until(PAGE, ["MT303"])
    shutil.rmtree(editor.folder / "fixtures", ignore_errors=True)
    (editor.folder / FILE).unlink(missing_ok=True)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    await editor.until(PAGE, [])
    editor.type(PAGE, text.replace("$sort", "$srot"))
    assert [one.code for one in await editor.diagnostics(PAGE)] == ["MT301"]
