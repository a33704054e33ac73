"""What `check` finds is marked while one types, in an editor that speaks the protocol."""

from __future__ import annotations

import json
import os

import pytest
from lsprotocol import types as lsp

from tests import forked
from tests.lsp.conftest import PAGE, SAID, TABLE, Editor, place

pytestmark = pytest.mark.asyncio


def checked(editor: Editor, *arguments: str) -> list[tuple[str, str, int, int, str]]:
    """What `check` finds in the saved files."""
    done = forked.completed(
        forked.MONGO_TABLES, ["check", "--format", "json", *arguments], editor.folder, os.environ
    )
    found = json.loads(done.stdout)["findings"]
    return [(one["file"], one["rule"], one["line"] - 1, one["column"] - 1, one["message"]) for one in found]


def marked(file: str, found: list[lsp.Diagnostic]) -> list[tuple[str, str, int, int, str]]:
    return [
        (file, str(one.code), one.range.start.line, one.range.start.character, one.message.partition("\n")[0])
        for one in found
    ]


async def test_a_page_has_the_findings_of_check_as_soon_as_it_is_opened(editor: Editor) -> None:
    text = f"# Speeds\n\n{TABLE.replace('$sort', '$sorrt')}\n{SAID}"
    (editor.folder / PAGE).write_text(text)
    editor.open(PAGE)
    found = marked(PAGE, await editor.diagnostics(PAGE))
    assert found == checked(editor)
    assert [rule for _, rule, *_ in found] == ["MT301"]


async def test_a_wrong_stage_is_marked_as_it_is_typed_and_no_longer_when_it_is_mended(editor: Editor) -> None:
    text = editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    end = place(text, "$sort")
    editor.type(PAGE, text.replace("$sort", "$sorrt"))
    (one,) = await editor.diagnostics(PAGE)
    assert (one.code, one.source, one.severity) == ("MT301", "mongo-tables", lsp.DiagnosticSeverity.Error)
    assert one.range == lsp.Range(place(text, '"$sort"', 0), lsp.Position(end.line, end.character + 2))
    editor.type(PAGE, text)
    assert await editor.diagnostics(PAGE) == []


async def test_columns_are_counted_as_editors_count_them(editor: Editor) -> None:
    line = SAID.replace("One thread", "😀 é 😀").replace('"qps"', '"qqps"')
    text = f"# Speeds\n\n{TABLE}\n{line}"
    editor.open(PAGE, text)
    (one,) = await editor.diagnostics(PAGE)
    assert one.code == "MT302"
    assert one.range == lsp.Range(place(text, '"qqps"', 0), place(text, '"qqps"'))


async def test_a_value_on_another_page_is_told_of_an_id_that_is_changed(editor: Editor) -> None:
    (editor.folder / "docs/other.md").write_text(SAID)
    editor.open("docs/other.md")
    text = editor.open(PAGE)
    assert await editor.diagnostics("docs/other.md") == []
    editor.type(PAGE, text.replace('"id": "speeds"', '"id": "rates"'))
    assert [one.code for one in await editor.until("docs/other.md", ["MT139"])] == ["MT139"]
    editor.type(PAGE, text)
    await editor.until("docs/other.md", [])


async def test_a_shared_pipeline_is_judged_where_it_is_written_and_where_it_is_used(editor: Editor) -> None:
    shared = "docs/pipelines/reads.json"
    (editor.folder / "docs/pipelines").mkdir()
    (editor.folder / shared).write_text('[{"$match": {"kind": "read"}}]')
    (editor.folder / PAGE).write_text(
        f"# Speeds\n\n{TABLE}\n{SAID}".replace('{"$match": {"kind": "read"}}', '"reads"')
    )
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    text = editor.open(shared)
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    editor.type(shared, text.replace("}}]", "}]"))
    assert (await editor.diagnostics(shared))[0].code == "MT120"
    editor.type(shared, text.replace("read", "nothing"))
    await editor.until(PAGE, ["MT303"])


async def test_results_that_change_on_disk_are_asked_again(editor: Editor) -> None:
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    runs = editor.folder / "fixtures/runs/runs.jsonl"
    runs.write_text(runs.read_text().replace('"read"', '"scan"'))
    changed = lsp.FileEvent(runs.as_uri(), lsp.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([changed]))
    await editor.until(PAGE, ["MT303"])


async def test_a_page_that_is_closed_is_judged_as_it_is_saved(editor: Editor) -> None:
    text = editor.open(PAGE)
    editor.type(PAGE, text.replace("$sort", "$sorrt"))
    await editor.until(PAGE, ["MT301"])
    editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(editor.named(PAGE)))
    del editor.versions[PAGE]
    await editor.until(PAGE, [])


async def test_a_site_that_names_other_results_is_believed_at_once(editor: Editor) -> None:
    editor.open(PAGE)
    assert await editor.diagnostics(PAGE) == []
    (editor.folder / "empty/runs").mkdir(parents=True)
    (editor.folder / "empty/runs/none.jsonl").write_text('{"_id": 1, "kind": "write"}\n')
    (editor.folder / "mongo-tables.toml").write_text('results = "empty"\n')
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    assert [one.code for one in await editor.until(PAGE, ["MT303"])] == ["MT303"]
