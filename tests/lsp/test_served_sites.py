"""A repository with several packages is opened at its root: each page has the results of the site around it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, SAID, TABLE, Editor, lay_out, place

pytestmark = pytest.mark.asyncio
A, B, ROOT = f"packages/a/{PAGE}", f"packages/b/{PAGE}", "notes/page.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two packages with sites, which have tables and shared pipelines of the same names, and a page of no site."""
    for package, site in (("a", "mkdocs.yml"), ("b", "mongo-tables.toml")):
        home = tmp_path / "packages" / package
        listed = TABLE.replace('{"$match": {"kind": "read"}}', '"reads"')
        lists = {"docs/pipelines/reads.json": '[{"$match": {"kind": "read"}}]'}
        lay_out(home, {PAGE: f"# Speeds\n\n{listed}\n{SAID}", **lists})
        (home / site).write_text("site_name: x\n" if site == "mkdocs.yml" else 'results = "fixtures"\n')
    (tmp_path / "packages/b/fixtures/runs/runs.jsonl").write_text(
        json.dumps({"_id": 1, "kind": "write", "threads": 1, "qps": 2}) + "\n"
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / ROOT).write_text(TABLE)
    return tmp_path


async def test_each_page_is_checked_with_the_results_of_its_site(editor: Editor) -> None:
    text = editor.open(A)
    editor.open(B)
    editor.open(ROOT)
    assert await editor.diagnostics(A) == []
    assert "MT303" in [one.code for one in await editor.diagnostics(B)]
    assert await editor.diagnostics(ROOT) == []
    editor.type(A, text.replace("$sort", "$srot"))
    assert [one.code for one in await editor.diagnostics(A)] == ["MT301"]
    assert "MT303" in [one.code for one in await editor.diagnostics(B)]
    editor.type(ROOT, TABLE.replace("$sort", "$srot"))
    assert [one.code for one in await editor.diagnostics(ROOT)] == ["MT301"]


async def test_its_collections_are_offered_and_its_shared_pipelines_judged(editor: Editor) -> None:
    shared = "packages/a/docs/pipelines/reads.json"
    text = editor.open(A)
    asked = lsp.CompletionParams(editor.named(A), place(text, '"collection": "'))
    offered = await editor.client.text_document_completion_async(asked)
    assert isinstance(offered, lsp.CompletionList)
    assert "runs" in [one.label for one in offered.items]
    editor.open(shared, '[{"$mtach": {"kind": "read"}}]')
    assert [one.code for one in await editor.until(A, ["MT301"])] == ["MT301"]
    assert [one.code for one in await editor.diagnostics(shared)] == ["MT301"]


async def test_an_id_of_one_site_is_renamed_there_alone(editor: Editor) -> None:
    text = editor.open(A)
    asked = lsp.RenameParams(editor.named(A), place(text, '"id": "spe'), "rates")
    edit = await editor.client.text_document_rename_async(asked)
    assert edit is not None and edit.changes is not None
    assert [*edit.changes] == [editor.uri(A)]


async def test_a_page_that_is_open_goes_over_to_a_site_that_is_made_around_it(editor: Editor) -> None:
    text = editor.open(ROOT)
    assert await editor.diagnostics(ROOT) == []
    (editor.folder / "notes/mongo-tables.toml").write_text(
        'results = "../packages/b/fixtures"\npages = ["."]\n'
    )
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    await editor.until(ROOT, ["MT303"])
    editor.type(ROOT, text.replace("$sort", "$srot"))
    assert [one.code for one in await editor.diagnostics(ROOT)] == ["MT301"]


async def test_a_site_that_is_gone_marks_nothing_any_more(editor: Editor) -> None:
    text = editor.open(A)
    editor.type(A, text.replace("$sort", "$srot"))
    assert [one.code for one in await editor.diagnostics(A)] == ["MT301"]
    editor.open(B)
    assert "MT303" in [one.code for one in await editor.diagnostics(B)]
    (editor.folder / "packages/b/mongo-tables.toml").unlink()
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    # The shared pipeline was that of the site.
    await editor.until(B, ["MT140"])
    assert [one.code for one in await editor.diagnostics(A)] == ["MT301"]
