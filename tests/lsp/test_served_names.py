"""Definitions, references and new names over all pages, asked by an editor that speaks the protocol."""

from __future__ import annotations

from collections.abc import Sequence
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


async def test_an_id_gets_a_new_name_on_all_pages_and_in_links(editor: Editor) -> None:
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
        "page.md": 3,
        "other.md": 2,
    }
    assert {each.new_text for edits in edit.changes.values() for each in edits} == {"rates"}


async def test_an_id_gets_a_new_name_in_the_title_of_a_chart(editor: Editor) -> None:
    chart = '<!-- MONGO_CHART: {"collection": "runs", "x": "a", "y": "b", "title": {"table": "speeds"}} -->'
    editor.open(OTHER, f"{chart}\n")
    edit = await rename(editor, OTHER, place(chart, '"speeds"', 3), "rates")
    assert edit.changes is not None
    assert {Path(uri).name: len(edits) for uri, edits in edit.changes.items()} == {
        "page.md": 3,
        "other.md": 1,
    }


@pytest.mark.parametrize(("new", "why"), [("Not an id", "small letters"), ("speeds", "taken already")])
async def test_a_name_that_cannot_be_is_refused_with_the_reason(editor: Editor, new: str, why: str) -> None:
    text = editor.open(PAGE)
    asked = lsp.RenameParams(editor.named(PAGE), place(text, '"id": "spe'), new)
    with pytest.raises(JsonRpcException, match=why):
        await editor.client.text_document_rename_async(asked)


async def test_a_shared_pipeline_is_renamed_with_its_file(editor: Editor) -> None:
    text = editor.open(PAGE)
    asked = lsp.RenameParams(editor.named(PAGE), place(text, '"reads"', 2), "scans")
    edit = await editor.client.text_document_rename_async(asked)
    assert edit is not None and edit.document_changes is not None
    changed, renamed = edit.document_changes
    assert isinstance(changed, lsp.TextDocumentEdit) and isinstance(renamed, lsp.RenameFile)
    assert changed.text_document == lsp.OptionalVersionedTextDocumentIdentifier(editor.uri(PAGE), 1)
    assert (renamed.old_uri, renamed.new_uri) == (editor.uri(SHARED), editor.uri("docs/pipelines/scans.json"))


async def test_a_word_of_a_sentence_has_no_definition_and_no_new_name(editor: Editor) -> None:
    text = editor.open(PAGE)
    asked = lsp.DefinitionParams(editor.named(PAGE), place(text, "One thr"))
    assert not await editor.client.text_document_definition_async(asked)


KEPT = """\
[another host](https://github.com/o/r/blob/main/docs/page.md#speeds) and `[a span](page.md#speeds)`

```markdown
[a fence](page.md#speeds)
```

    [code](page.md#speeds)

<!-- [a comment](page.md#speeds) -->
[another page](deep/page.md#speeds), [another place](page.md#speeds-of)
"""
FOLLOWED = """\
[in words](page.md#OLD "there"), [a reference][c], <a class="x" href="page.md#OLD">HTML</a>,
[from the root](/page.md#OLD), [in a
line](./page.md#OLD)

!!! note

    [in a note](<page.md#OLD>)

[c]: page.md#OLD
"""


async def rename(editor: Editor, file: str, at: lsp.Position, new: str) -> lsp.WorkspaceEdit:
    edit = await editor.client.text_document_rename_async(lsp.RenameParams(editor.named(file), at, new))
    assert edit is not None
    return edit


def written(text: str, edits: Sequence[object]) -> str:
    """A text with edits, from the last to the first."""
    lines = text.split("\n")
    for one in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character))[::-1]:
        assert isinstance(one, lsp.TextEdit) and one.range.start.line == one.range.end.line
        line, start, end = one.range.start.line, one.range.start.character, one.range.end.character
        lines[line] = lines[line][:start] + one.new_text + lines[line][end:]
    return "\n".join(lines)


async def test_links_follow_an_id_wherever_they_lead_to_its_page_and_no_other(editor: Editor) -> None:
    linking, other = "docs/links.md", "docs/deep/page.md"
    editor.open(linking, KEPT + FOLLOWED.replace("OLD", "speeds"))
    editor.open(other, "# Speeds\n\n[here](#speeds), [beside](page.md#speeds), [up](../page.md#speeds)\n")
    text = editor.open(PAGE)
    edit = await rename(editor, PAGE, place(text, '"id": "spe'), "rates")
    assert edit.changes is not None
    assert written(KEPT + FOLLOWED.replace("OLD", "speeds"), edit.changes[editor.uri(linking)]) == (
        KEPT + FOLLOWED.replace("OLD", "rates")
    )
    assert [one.range.start.character for one in edit.changes[editor.uri(other)]] == [59]


async def test_links_to_the_file_of_a_shared_pipeline_follow_it(editor: Editor) -> None:
    linking = "docs/deep/links.md"
    kept = "`[a](../pipelines/reads.json)` [b](pipelines/reads.json) [c](https://host/pipelines/reads.json)\n"
    editor.open(linking, f"{kept}See [them](../pipelines/reads.json).\n")
    text = editor.open(PAGE)
    edit = await rename(editor, PAGE, place(text, '"reads"', 2), "scans")
    assert edit.document_changes is not None
    changed = {
        one.text_document.uri: one.edits
        for one in edit.document_changes
        if isinstance(one, lsp.TextDocumentEdit)
    }
    assert written(f"{kept}See [them](../pipelines/reads.json).\n", changed[editor.uri(linking)]) == (
        f"{kept}See [them](../pipelines/scans.json).\n"
    )
