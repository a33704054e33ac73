"""Definitions, references and new names over all pages, asked by an editor that speaks the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.lsp.conftest import PAGE, SAID, TABLE, Editor, lay_out, place

pytestmark = pytest.mark.asyncio
OTHER, SHARED = "docs/deep/other.md", "docs/pipelines/reads.json"
LISTED = TABLE.replace('{"$match": {"kind": "read"}}', '"reads"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = {
        PAGE: f"# Speeds\n\n{LISTED}\n{SAID}See [them](#speeds).\n",
        OTHER: f"{SAID}And [them](../page.md#speeds), not [these](https://host/x.md#speeds-of).\n```\n{SAID}```\n",
        SHARED: '[{"$match": {"kind": "read"}}]',
    }
    lay_out(tmp_path, pages)
    return tmp_path


def lines(found: object) -> list[tuple[str, int]]:
    assert isinstance(found, (list, tuple))
    return sorted((Path(one.uri).name, one.range.start.line) for one in found)


async def test_the_table_of_a_value_is_found_and_all_that_quote_it(editor: Editor) -> None:
    text = editor.open(OTHER)
    at = place(text, '"speeds"', 3)
    asked = lsp.DefinitionParams(editor.named(OTHER), at)
    (found,) = await editor.client.text_document_definition_async(asked)
    table = (editor.folder / PAGE).read_text()
    assert found.uri == editor.uri(PAGE)
    assert found.range == lsp.Range(place(table, '"id": "'), place(table, '"id": "speeds'))
    whole = lsp.ReferenceParams(lsp.ReferenceContext(True), editor.named(OTHER), at)
    assert lines(await editor.client.text_document_references_async(whole)) == [
        ("other.md", 0),
        ("page.md", 3),
        ("page.md", 14),
    ]
    used = lsp.ReferenceParams(lsp.ReferenceContext(False), editor.named(OTHER), at)
    assert lines(await editor.client.text_document_references_async(used)) == [
        ("other.md", 0),
        ("page.md", 14),
    ]


async def test_a_shared_pipeline_is_found_by_its_name(editor: Editor) -> None:
    text = editor.open(PAGE)
    asked = lsp.DefinitionParams(editor.named(PAGE), place(text, '"reads"', 2))
    (found,) = await editor.client.text_document_definition_async(asked)
    assert found.uri == editor.uri(SHARED)


async def test_an_id_gets_a_new_name_on_all_pages(editor: Editor) -> None:
    text = editor.open(PAGE)
    at = place(text, '"id": "spe')
    ready = await editor.client.text_document_prepare_rename_async(
        lsp.PrepareRenameParams(editor.named(PAGE), at)
    )
    assert isinstance(ready, lsp.PrepareRenamePlaceholder)
    assert ready.placeholder == "speeds"
    asked = lsp.RenameParams(editor.named(PAGE), at, "rates")
    edit = await editor.client.text_document_rename_async(asked)
    assert edit is not None and edit.changes is not None
    assert {Path(uri).name: len(edits) for uri, edits in edit.changes.items()} == {
        "page.md": 2,
        "other.md": 1,
    }
    assert {each.new_text for edits in edit.changes.values() for each in edits} == {"rates"}


async def test_an_id_gets_a_new_name_in_the_title_of_a_chart(editor: Editor) -> None:
    chart = '<!-- MONGO_CHART: {"collection": "runs", "x": "a", "y": "b", "title": {"table": "speeds"}} -->'
    editor.open(OTHER, f"{chart}\n")
    edit = await rename(editor, OTHER, place(chart, '"speeds"', 3), "rates")
    assert edit.changes is not None
    assert {Path(uri).name: len(edits) for uri, edits in edit.changes.items()} == {
        "page.md": 2,
        "other.md": 1,
    }


@pytest.mark.parametrize(("new", "why"), [("Not an id", "small letters"), ("speeds", "already used")])
async def test_a_name_that_cannot_be_is_refused_with_the_reason(editor: Editor, new: str, why: str) -> None:
    text = editor.open(PAGE)
    asked = lsp.RenameParams(editor.named(PAGE), place(text, '"id": "spe'), new)
    with pytest.raises(JsonRpcException, match=why):
        await editor.client.text_document_rename_async(asked)


async def test_a_word_of_a_sentence_has_no_definition_and_no_new_name(editor: Editor) -> None:
    text = editor.open(PAGE)
    asked = lsp.DefinitionParams(editor.named(PAGE), place(text, "One thr"))
    assert not await editor.client.text_document_definition_async(asked)


async def rename(editor: Editor, file: str, at: lsp.Position, new: str) -> lsp.WorkspaceEdit:
    edit = await editor.client.text_document_rename_async(lsp.RenameParams(editor.named(file), at, new))
    assert edit is not None
    return edit
