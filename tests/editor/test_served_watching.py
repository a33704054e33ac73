"""What changes on disk is noticed where an editor tells nothing of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from tests.editor.conftest import CONFIG, PAGE, SAID, Editor

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    """A client that can do as little as an editor may."""
    params = lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=folder.as_uri())
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


async def test_results_pages_and_the_file_of_the_site_are_looked_at_now_and_then(editor: Editor) -> None:
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    runs = editor.folder / "fixtures/runs/runs.jsonl"
    saved = runs.read_text()
    runs.write_text(saved.replace('"read"', '"scan"'))
    await editor.until(PAGE, ["MT303"])
    runs.write_text(saved)
    await editor.until(PAGE, [])
    other = editor.folder / "docs/other.md"
    other.write_text(SAID.replace("speeds", "rates"))
    await editor.until("docs/other.md", ["MT139"])
    other.unlink()
    await editor.until("docs/other.md", [])
    (editor.folder / "empty/runs").mkdir(parents=True)
    (editor.folder / "empty/runs/none.jsonl").write_text('{"_id": 1, "kind": "write"}\n')
    (editor.folder / "mongo-tables.toml").write_text('results = "empty"\n')
    await editor.until(PAGE, ["MT303"])
