"""What is wrong with a stage of a shared pipeline is marked where it is written, and mended there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, TABLE, Editor, lay_out, place

pytestmark = pytest.mark.asyncio
LIST, OUTER, OTHER = "docs/pipelines/reads.json", "docs/pipelines/outer.json", "docs/other.md"
MULTIPLIED = '{"$set": {"qps": {"$multiply": ["$qps", 2]}}}'
STAGES = '[\n  {"$match": {"kind": "read"}}\n]\n'
NAMING = TABLE.replace('{"$match": {"kind": "read"}}', '"outer"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pages that name a shared pipeline, which names another one."""
    other = NAMING.replace('"id": "speeds"', '"id": "others"')
    lay_out(tmp_path, {PAGE: NAMING, OTHER: f"# Two\n\n{other}", LIST: STAGES, OUTER: '["reads"]'})
    return tmp_path


def written(text: str, edits: Sequence[object]) -> str:
    """A text with edits, from the last to the first."""
    lines = text.split("\n")
    for one in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character))[::-1]:
        assert isinstance(one, lsp.TextEdit) and one.range.start.line == one.range.end.line
        line, start, end = one.range.start.line, one.range.start.character, one.range.end.character
        lines[line] = lines[line][:start] + one.new_text + lines[line][end:]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("stage", "rule", "marked", "mended"),
    [
        ('{"$mtach": {"kind": "read"}}', "MT301", '"$mtach"', '{"$match": {"kind": "read"}}'),
        ('{"$set": {"qps": {"$multipy": ["$qps", 2]}}}', "MT301", '"$multipy"', MULTIPLIED),
        ('{"$set": {"qps": {"$multiply": ["$qsp", 2]}}}', "MT402", '"$qsp"', MULTIPLIED),
    ],
)
async def test_a_fault_is_marked_in_the_list_and_mended_there(
    editor: Editor, stage: str, rule: str, marked: str, mended: str
) -> None:
    text = editor.open(LIST)
    assert await editor.diagnostics(LIST) == []
    faulty = text.replace('{"$match": {"kind": "read"}}', stage)
    editor.type(LIST, faulty)
    (one,) = [each for each in await editor.diagnostics(LIST) if each.code == rule]
    assert one.range == lsp.Range(place(faulty, marked, 0), place(faulty, marked))
    assert [Path(each.location.uri).name for each in one.related_information or ()] == [
        "other.md",
        "page.md",
    ]
    context = lsp.CodeActionContext([one])
    asked = lsp.CodeActionParams(editor.named(LIST), one.range, context)
    offered = await editor.client.text_document_code_action_async(asked) or ()
    action = next(each for each in offered if isinstance(each, lsp.CodeAction) and each.is_preferred)
    assert not any("Ignore" in each.title for each in offered)  # A list has nothing that says so.
    assert action.edit is not None and action.edit.changes is not None
    ((uri, edits),) = action.edit.changes.items()
    assert uri == editor.uri(LIST)
    assert written(faulty, edits) == text.replace('{"$match": {"kind": "read"}}', mended)
    editor.type(LIST, written(faulty, edits))
    assert rule not in [each.code for each in await editor.diagnostics(LIST)]


async def test_the_name_of_a_list_is_not_taken_for_what_is_mistyped_in_it(editor: Editor) -> None:
    named = "docs/pipelines/qsp.json"
    (editor.folder / named).write_text('[{"$set": {"qps": {"$add": ["$qsp", 2]}}}]')
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    text = editor.open(PAGE, NAMING.replace('"outer"', '"qsp"'))
    (one,) = await editor.diagnostics(PAGE)
    assert (one.code, one.range.start) == ("MT402", place(text, '"qsp"', 0))
    asked = lsp.CodeActionParams(editor.named(PAGE), one.range, lsp.CodeActionContext([one]))
    offered = await editor.client.text_document_code_action_async(asked) or ()
    assert [each.title for each in offered if "qps" in each.title] == []


async def test_a_page_leads_to_the_place_in_the_list(editor: Editor) -> None:
    editor.open(PAGE)
    faulty = STAGES.replace("$match", "$mtach")
    editor.open(LIST, f"\n{faulty}")
    for file in (PAGE, OTHER):
        (one,) = await editor.until(file, ["MT301"])
        (related,) = one.related_information or ()
        start = place(f"\n{faulty}", '"$mtach"', 0)
        assert related.location == lsp.Location(
            editor.uri(LIST), lsp.Range(start, place(f"\n{faulty}", '"$mtach"'))
        )
    editor.type(LIST, faulty)
    assert [one.code for one in await editor.diagnostics(LIST)] == ["MT301"]
    (one,) = await editor.until(PAGE, ["MT301"])
    assert (one.related_information or ())[0].location.range.start == place(faulty, '"$mtach"', 0)
    editor.type(LIST, STAGES)
    assert await editor.diagnostics(LIST) == []
    await editor.until(PAGE, [])
