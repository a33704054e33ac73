"""What changes on disk is noticed where an editor tells nothing of it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from tests.lsp.conftest import CONFIG, PAGE, SAID, Editor

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    """A client that can do as little as an editor may."""
    params = lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=folder.as_uri())
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


async def test_results_pages_and_the_file_of_the_site_are_looked_at_now_and_then(editor: Editor) -> None:
    """No content of the folder comes twice: between two looks it would be no change."""
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    runs = editor.folder / "fixtures/runs/runs.jsonl"
    saved = runs.read_text()
    runs.write_text(saved.replace('"read"', '"scan"'))
    await editor.until(PAGE, ["MT303"])
    runs.write_text(f"{saved}\n")
    await editor.until(PAGE, [])
    other = editor.folder / "docs/other.md"
    other.write_text(SAID.replace("speeds", "rates"))
    await editor.until("docs/other.md", ["MT139"])
    (editor.folder / "docs/words.md").write_text("Words.\n")
    other.unlink()
    await editor.until("docs/other.md", [])
    (editor.folder / "empty/runs").mkdir(parents=True)
    (editor.folder / "empty/runs/none.jsonl").write_text('{"_id": 1, "kind": "write"}\n')
    (editor.folder / "mongo-tables.toml").write_text('results = "empty"\n')
    await editor.until(PAGE, ["MT303"])


async def test_a_file_that_the_site_inherits_is_looked_at(editor: Editor) -> None:
    (editor.folder / "empty/runs").mkdir(parents=True)
    (editor.folder / "empty/runs/none.jsonl").write_text('{"_id": 1, "kind": "write"}\n')
    (editor.folder / "shared").mkdir()
    root = editor.folder / "root.yml"
    root.write_text("plugins: [mongo-tables: {results: empty}]\n")
    (editor.folder / "shared/base.yml").write_text("INHERIT: ../root.yml\n")
    (editor.folder / "mkdocs.yml").write_text("INHERIT: shared/base.yml\n")
    page = editor.folder / PAGE
    page.write_text(page.read_text().replace("# Speeds", "# Rates"))  # No table has the id of a heading.
    editor.open(PAGE)
    await editor.until(PAGE, ["MT303"])
    root.write_text("plugins: [mongo-tables: {results: fixtures}]\n")
    await editor.until(PAGE, [])


async def test_a_file_that_comes_into_a_page_from_elsewhere_is_looked_at(editor: Editor) -> None:
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    site, part, other = (editor.folder / name for name in ("mkdocs.yml", "parts/part.md", "others/part.md"))
    site.write_text("markdown_extensions: [pymdownx.snippets: {base_path: parts}]\n")
    part.parent.mkdir()
    other.parent.mkdir()
    (editor.folder / "docs/other.md").write_text('--8<-- "part.md"\n')
    part.write_text(SAID.replace("speeds", "rates"))
    await editor.until("parts/part.md", ["MT139"])
    part.write_text(SAID)
    await editor.until("parts/part.md", [])
    part.write_text(SAID.replace("qps", "ops"))
    await editor.until("parts/part.md", ["MT302"])
    other.write_text(SAID.replace("speeds", "rates"))
    site.write_text("markdown_extensions: [pymdownx.snippets: {base_path: others}]\n")
    await editor.until("others/part.md", ["MT139"])


async def test_a_page_of_the_same_size_and_time_is_another_one(editor: Editor) -> None:
    editor.open(PAGE)
    other = editor.folder / "docs/other.md"
    other.write_text(SAID.replace("speeds", "speeed"))
    await editor.until("docs/other.md", ["MT139"])
    before = other.stat()
    other.write_text(SAID)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    await editor.until("docs/other.md", [])
