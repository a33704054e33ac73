"""Quick fixes, asked by an editor that speaks the protocol."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, Editor

pytestmark = pytest.mark.asyncio


async def test_a_mistyped_stage_is_mended_by_one_keystroke(editor: Editor) -> None:
    text = editor.open(PAGE)
    editor.type(PAGE, text.replace("$sort", "$sorrt"))
    found = await editor.diagnostics(PAGE)
    context = lsp.CodeActionContext(found)
    asked = lsp.CodeActionParams(editor.named(PAGE), found[0].range, context)
    offered = await editor.client.text_document_code_action_async(asked) or ()
    actions = [one for one in offered if isinstance(one, lsp.CodeAction)]
    (action,) = (one for one in actions if one.kind == lsp.CodeActionKind.QuickFix)
    assert (action.title, action.is_preferred) == ("Replace `$sorrt` by `$sort`", True)
    assert list(action.diagnostics or ()) == found
    assert action.edit is not None and action.edit.changes is not None
    ((uri, edits),) = action.edit.changes.items()
    assert uri == editor.uri(PAGE)
    assert [edit.new_text for edit in edits] == ["$sort"]
    editor.type(PAGE, text)
    assert await editor.diagnostics(PAGE) == []
