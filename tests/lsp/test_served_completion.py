"""Completion, hovering and the rest, asked by an editor that speaks the protocol."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, Editor, place

pytestmark = pytest.mark.asyncio


async def test_a_field_behind_a_group_is_completed_while_the_text_is_broken(editor: Editor) -> None:
    text = editor.open(PAGE)
    await editor.diagnostics(PAGE)
    broken = text.replace('{"$sort": {"_id": 1}}', '{"$sort": {"q"}}')
    editor.type(PAGE, broken)
    asked = lsp.CompletionParams(editor.named(PAGE), place(broken, '{"$sort": {"q'))
    found = await editor.client.text_document_completion_async(asked)
    assert isinstance(found, lsp.CompletionList)
    one = next(item for item in found.items if item.label == "qps")
    # Neovim 0.7 heeds the range of an item only where there is no text to filter by.
    assert (one.kind, one.label, one.filter_text) == (lsp.CompletionItemKind.Field, "qps", None)
    assert isinstance(one.text_edit, lsp.TextEdit)
    assert one.text_edit.new_text == "qps"
    assert one.insert_text_format == lsp.InsertTextFormat.PlainText
    start = place(broken, '{"$sort": {"')
    assert one.text_edit.range == lsp.Range(start, lsp.Position(start.line, start.character + 1))


@pytest.mark.parametrize(
    ("typed", "behind"), [('{"$sort": {"q|öx', "öx"), ('{"$sort": {"q|', ""), ('{"$sort": {"|q', "q")]
)
async def test_what_an_item_replaces_behind_the_place_is_told(
    editor: Editor, typed: str, behind: str
) -> None:
    text = editor.open(PAGE)
    before, after = typed.split("|")
    broken = text.replace('{"$sort": {"_id": 1}}', f'{before}{after}": 1}}}}')
    editor.type(PAGE, broken)
    asked = lsp.CompletionParams(editor.named(PAGE), place(broken, before))
    found = await editor.client.text_document_completion_async(asked)
    assert isinstance(found, lsp.CompletionList)
    one = next(item for item in found.items if item.label == "qps")
    # Neovim before 0.11 has the rest of the name removed by it.
    assert one.data == ({"replaced_behind": behind} if behind else None)


async def test_in_a_sentence_nothing_is_completed(editor: Editor) -> None:
    text = editor.open(PAGE)
    asked = lsp.CompletionParams(editor.named(PAGE), place(text, "One thr"))
    assert await editor.client.text_document_completion_async(asked) is None


async def test_what_a_sentence_shows_is_told_at_its_comment(editor: Editor) -> None:
    text = editor.open(PAGE)
    await editor.diagnostics(PAGE)
    asked = lsp.HoverParams(editor.named(PAGE), place(text, "MONGO_VALUE"))
    told = await editor.client.text_document_hover_async(asked)
    assert told is not None
    assert told.contents == lsp.MarkupContent(lsp.MarkupKind.Markdown, "writes **100.5**")
