"""The outline and the tables of a project, asked by an editor that speaks the protocol."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, Editor, place

pytestmark = pytest.mark.asyncio


async def test_an_editor_gets_an_outline_and_finds_tables_by_name(editor: Editor) -> None:
    text = editor.open(PAGE)
    named = editor.named(PAGE)
    table, _ = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(named)) or ()
    assert isinstance(table, lsp.DocumentSymbol)
    assert [one.name for one in table.children or ()] == ["$match", "$group", "$sort"]
    (found,) = await editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("spee")) or ()
    assert (found.name, found.location) == (
        "speeds",
        lsp.Location(editor.uri(PAGE), lsp.Range(place(text, '"id": "'), place(text, '"id": "speeds'))),
    )
