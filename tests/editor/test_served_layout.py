"""Outline, folds, colours, layout and lenses, asked by an editor that speaks the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, client_capabilities

from tests.editor.conftest import CONFIG, PAGE, Editor, place

pytestmark = pytest.mark.asyncio


async def test_an_editor_gets_outline_folds_colours_and_a_layout(editor: Editor) -> None:
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
    folds = await editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(named)) or ()
    assert [(one.start_line, one.end_line) for one in folds] == [(2, 12), (5, 8)]
    colours = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(named))
    assert colours is not None
    assert list(colours.data[:10]) == [2, 5, 11, 0, 0, 1, 2, 4, 1, 0]
    group = lsp.Range(place(text, '"$group"', 0), place(text, '"$group"'))
    some = lsp.SemanticTokensRangeParams(named, group)
    part = await editor.client.text_document_semantic_tokens_range_async(some)
    assert part is not None
    assert list(part.data) == list(colours.data)[: len(part.data)]  # those of the one comment there
    assert 0 < len(part.data) < len(colours.data)
    options = lsp.FormattingOptions(2, True)
    laid = lsp.DocumentFormattingParams(named, options)
    assert list(await editor.client.text_document_formatting_async(laid) or ()) == []
    editor.type(PAGE, text.replace('"pipeline": [', '"pipeline":['))
    (edit,) = await editor.client.text_document_formatting_async(laid) or ()
    assert '"pipeline": [\n' in edit.new_text
    below = lsp.DocumentRangeFormattingParams(
        named, lsp.Range(lsp.Position(14, 0), lsp.Position(15, 0)), options
    )
    assert list(await editor.client.text_document_range_formatting_async(below) or ()) == []


async def test_rows_stand_above_a_table_and_are_shown_up_to_a_stage(editor: Editor) -> None:
    text = editor.open(PAGE)
    await editor.diagnostics(PAGE)
    asked = lsp.CodeLensParams(editor.named(PAGE))
    (lens,) = await editor.client.text_document_code_lens_async(asked) or ()
    assert lens.command is not None
    rows, took = lens.command.title.split(" · ")
    assert rows == "3 rows"
    assert took.endswith(" ms")
    assert lens.range.start.line == 2
    whole = lsp.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    told = await editor.client.workspace_execute_command_async(whole)
    assert "3  $sort" in told
    assert "3 rows for the 2 columns" in told
    at = place(text, '"$group"', 3)
    where = lsp.CodeActionParams(editor.named(PAGE), lsp.Range(at, at), lsp.CodeActionContext([]))
    (command,) = await editor.client.text_document_code_action_async(where) or ()
    assert isinstance(command, lsp.Command)
    part = await editor.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams(command.command, command.arguments)
    )
    assert "2  $group" in part
    assert "$sort" not in part
    assert part.endswith("✓ 3 rows")  # A part of a pipeline has no columns.


@pytest_lsp.fixture(config=CONFIG)
async def plain(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[LanguageClient]:
    """A client that shows messages alone, as Neovim 0.7 does."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.window is not None
    capabilities.window.show_document = None
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities, root_uri=folder.as_uri()))
    yield lsp_client
    await lsp_client.shutdown_session()


async def test_an_editor_that_shows_no_documents_is_told_the_last_rows(
    plain: LanguageClient, folder: Path
) -> None:
    Editor(plain, folder).open(PAGE)
    asked = lsp.ExecuteCommandParams("mongo-tables.rows", [(folder / PAGE).as_uri(), 2, 0])
    told = str(await plain.workspace_execute_command_async(asked))
    (message,) = plain.messages
    *last, where = message.message.splitlines()
    assert told.splitlines()[-12:] == last
    assert Path(where.removeprefix("all of it is in ")).read_text("utf-8") == f"{told}\n"
