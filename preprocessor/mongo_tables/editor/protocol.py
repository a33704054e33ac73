"""The Language Server Protocol, spoken with pygls: requests in, what the other modules give out.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from mongo_tables.editor.actions import Action
from mongo_tables.editor.completion import Suggestion
from mongo_tables.editor.converting import diagnostic_of, edit_of, position_of, range_of, span_of
from mongo_tables.editor.highlighting import MEANINGS
from mongo_tables.editor.naming import Mention, Texts, mentions, refuse_name, rename
from mongo_tables.editor.outline import Part
from mongo_tables.editor.positions import Lines, Position, Span
from mongo_tables.editor.server import Server
from mongo_tables.editor.skeletons import without_gaps
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.model import ResultsError

_SWITCH: Final = 0.001
"""Seconds after which a check lets what is asked meanwhile go on."""


def serve(arguments: Namespace) -> None:
    """Serve one editor over standard input and output."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What anything prints is no message to the editor.
    sys.setswitchinterval(_SWITCH)
    server = Server(arguments)
    _register(server)
    server.start_io(stdout=output)


def _register(server: Server) -> None:
    """Say what is answered."""
    server.feature(lsp.INITIALIZE)(_initialize)
    server.feature(lsp.INITIALIZED)(_initialized)
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_open)
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_change)
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(_close)
    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_look_again)
    triggers = lsp.CompletionOptions(trigger_characters=['"', "$", "."])
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, triggers)(_complete)
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(_hover)
    kinds = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite])
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, kinds)(_list_actions)
    server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(_list_symbols)
    server.feature(lsp.WORKSPACE_SYMBOL)(_find_symbols)
    server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)(_list_folds)
    server.feature(lsp.TEXT_DOCUMENT_FORMATTING)(_format)
    server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)(_format_range)
    server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)(_colour)
    server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _LEGEND)(_colour_range)
    server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)(_list_lenses)
    server.command(ROWS)(_show_rows)
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(_find_definition)
    server.feature(lsp.TEXT_DOCUMENT_REFERENCES)(_find_references)
    server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename)
    server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))(_rename)


def _initialize(server: Server, params: lsp.InitializeParams) -> None:
    try:
        server.begin(params)
    except UsageError as error:
        logging.getLogger(__name__).error("%s", error)


async def _initialized(server: Server, params: lsp.InitializedParams) -> None:
    server.check_soon()
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching and watching.dynamic_registration:
        watchers = [lsp.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        asked = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await server.client_register_capability_async(lsp.RegistrationParams([asked]))
    else:
        server.start(server.look_now_and_then())


_WATCHED: Final = (
    "**/*.{md,markdown,mdown,mkdn,mkd}",
    "**/*.{json,jsonl,csv,tsv,parquet,gz,txt}",
    "**/{mkdocs.yml,mkdocs.yaml,properdocs.yml,properdocs.yaml,zensical.toml,mongo-tables.toml}",
)


def _open(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    file = server.file_of(document.uri)
    if session := server.session_of(file):
        session.open(file, document.text, document.version)
        server.check_soon()


def _change(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    file = server.file_of(params.text_document.uri)
    if session := server.session_of(file):
        edits = [edit_of(change) for change in params.content_changes]
        session.change(file, edits, params.text_document.version)
        server.check_soon()


def _close(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    file = server.file_of(params.text_document.uri)
    if session := server.session_of(file):
        session.close(file)
        server.check_soon()


def _look_again(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    server.look_again()


# -- what an author asks for --


def _complete(server: Server, params: lsp.CompletionParams) -> lsp.CompletionList | None:
    file = server.file_of(params.text_document.uri)
    session = server.session_of(file)
    gaps = server.knows_gaps
    at = position_of(params.position)
    found = session.complete(file, at, whole=gaps) if session else None
    if found is None:
        return None
    completion, lines = found
    span = range_of(lines.span(completion.start, completion.end))
    behind = lines.text[lines.offset(at) : completion.end]
    items = [_item(one, span, number, behind, gaps=gaps) for number, one in enumerate(completion.found)]
    # Behind a dot there are other fields: the editor is to ask again.
    return lsp.CompletionList(is_incomplete=True, items=items)


def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    file = server.file_of(params.text_document.uri)
    session = server.session_of(file)
    found = session.hover(file, position_of(params.position)) if session else None
    if found is None:
        return None
    told, lines = found
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, told.told), range_of(lines.span(told.start, told.end))
    )


async def _list_actions(
    server: Server, params: lsp.CodeActionParams
) -> list[lsp.CodeAction | lsp.Command] | None:
    uri = params.text_document.uri
    file, span = server.file_of(uri), span_of(params.range)
    found = await server.ask(file, lambda session: session.list_actions(file, span))
    if found is None:
        return None
    actions, lines = found
    rows = lsp.Command("Show the rows up to here", ROWS, arguments=[uri, span.start.line, span.start.column])
    return [
        *(_action(one, uri, lines, server) for one in actions),
        *([rows] if server.has_rows(file, span) else []),
    ]


def _action(one: Action, uri: str, lines: Lines, server: Server) -> lsp.CodeAction:
    rewrite = one.rewrite
    edits = [lsp.TextEdit(range_of(lines.span(edit.start, edit.end)), edit.text) for edit in rewrite.edits]
    return lsp.CodeAction(
        rewrite.title,
        kind=lsp.CodeActionKind.QuickFix if one.about else lsp.CodeActionKind.RefactorRewrite,
        diagnostics=[diagnostic_of(one.about, server.uri_of)] if one.about else None,
        is_preferred=rewrite.preferred or None,
        edit=lsp.WorkspaceEdit(changes={uri: edits}),
    )


_KINDS: Final = {
    "key": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.Value,
    "field": lsp.CompletionItemKind.Field,
    "operator": lsp.CompletionItemKind.Function,
    "stage": lsp.CompletionItemKind.Module,
    "variable": lsp.CompletionItemKind.Variable,
    "table": lsp.CompletionItemKind.Reference,
    "list": lsp.CompletionItemKind.File,
    "collection": lsp.CompletionItemKind.Folder,
}


def _item(one: Suggestion, span: lsp.Range, number: int, behind: str, *, gaps: bool) -> lsp.CompletionItem:
    about = lsp.MarkupContent(lsp.MarkupKind.Markdown, one.about) if one.about else None
    # Neovim before 0.10 puts what has a text to filter by behind the last word, whatever its range.
    sought = None if one.sought == one.label else one.sought
    return lsp.CompletionItem(
        one.label,
        kind=_KINDS[one.sort],
        detail=one.remark or None,
        documentation=about,
        sort_text=f"{number:05}",
        filter_text=sought,
        insert_text_format=lsp.InsertTextFormat.Snippet if gaps else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(span, one.text if gaps else without_gaps(one.text)),
        # Neovim before 0.11 leaves where it is what the range has behind the cursor: our plugin removes it.
        data={"replaced_behind": behind} if behind else None,
    )


async def _list_symbols(server: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | None:
    file = server.file_of(params.text_document.uri)
    found = await server.ask(file, lambda session: session.list_parts(file))
    return [_symbol(one, found[1]) for one in found[0]] if found else None


def _symbol(part: Part, lines: Lines) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        part.name,
        lsp.SymbolKind.Object if part.parts else lsp.SymbolKind.Function,
        range_of(lines.span(part.start, part.end)),
        range_of(lines.span(*part.named)),
        detail=part.told or None,
        children=[_symbol(one, lines) for one in part.parts] or None,
    )


async def _find_symbols(server: Server, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
    of_sites = await server.ask_all(lambda session: session.texts())
    sought = params.query.lower()
    return [
        lsp.SymbolInformation(server.locate(one, texts), one.name.word, lsp.SymbolKind.Object)
        for texts in of_sites
        for one in mentions(texts)
        if one.gives and sought in one.name.word
    ]


async def _list_folds(server: Server, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange] | None:
    file = server.file_of(params.text_document.uri)
    found = await server.ask(file, lambda session: session.list_folds(file))
    region = lsp.FoldingRangeKind.Region
    return [
        lsp.FoldingRange(one.first, one.last, kind=region if one.generated else None) for one in found or ()
    ]


async def _format(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    return await _edits(server, params.text_document.uri, None)


async def _format_range(
    server: Server, params: lsp.DocumentRangeFormattingParams
) -> list[lsp.TextEdit] | None:
    return await _edits(server, params.text_document.uri, span_of(params.range))


async def _edits(server: Server, uri: str, span: Span | None) -> list[lsp.TextEdit] | None:
    file = server.file_of(uri)
    found = await server.ask(file, lambda session: session.format(file, span))
    if found is None:
        return None
    edits, lines = found
    return [lsp.TextEdit(range_of(lines.span(edit.start, edit.end)), edit.text) for edit in edits]


_LEGEND: Final = lsp.SemanticTokensLegend(list(MEANINGS), [])


async def _colour(server: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
    return await _tokens(server, params.text_document.uri, None)


async def _colour_range(server: Server, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
    return await _tokens(server, params.text_document.uri, span_of(params.range))


async def _tokens(server: Server, uri: str, span: Span | None) -> lsp.SemanticTokens | None:
    file = server.file_of(uri)
    found = await server.ask(file, lambda session: session.colour(file, span))
    if found is None:
        return None
    coloured, lines = found
    data: list[int] = []
    before = Position(0, 0)
    for one in coloured:
        start, end = lines.span(one.start, one.end)
        column = start.column - (before.column if start.line == before.line else 0)
        data += (start.line - before.line, column, end.column - start.column, MEANINGS.index(one.meaning), 0)
        before = start
    return lsp.SemanticTokens(data)


ROWS: Final = "mongo-tables.rows"
"""The command that shows the rows of a comment: its arguments are an address, a line, and where to go on, a column."""
_LINES: Final = 12
"""So many lines of it stand in a message."""


async def _list_lenses(server: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
    uri = params.text_document.uri
    file = server.file_of(uri)
    found = await server.ask(file, lambda session: session.list_lenses(file))
    if found is None:
        return None
    lenses, lines = found
    shown = []
    for one in lenses:
        span = lines.span(one.start, one.start)
        command = lsp.Command(one.title, ROWS, arguments=[uri, span.start.line, span.start.column])
        shown.append(lsp.CodeLens(range_of(span), command))
    return shown


async def _show_rows(server: Server, uri: str, line: int, column: int = 0) -> str | None:
    """Show the rows up to the stage at a place, in a document of their own, or the last of them in a message."""
    file, at = server.file_of(uri), Position(line, column)
    try:
        told = await server.ask(file, lambda session: session.explain(file, at))
    except ResultsError as error:
        server.tell(error.message)
        return None
    if not told:
        return told
    written = Path(server.folder.name) / "rows.txt"
    written.write_text(f"{told}\n", "utf-8")
    if server.shows_documents:
        shown = lsp.ShowDocumentParams(written.as_uri(), take_focus=False)
        await server.window_show_document_async(shown)
    else:
        message = lsp.ShowMessageParams(lsp.MessageType.Info, _shorten(told, written))
        server.window_show_message(message)
    return told


def _shorten(told: str, written: Path) -> str:
    """The last lines of what is shown, as a message has room for them, and where all of it is.

    That comes last: of a message of several lines Neovim 0.7 leaves the last one on the screen.
    """
    return "\n".join([*told.splitlines()[-_LINES:], f"all of it is in {written}"])


async def _find_definition(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    if mention.name.sort == "list":
        file = texts.lists[mention.name.word][0] if mention.name.word in texts.lists else ""
        return (
            [lsp.Location(server.uri_of(file), range_of(Span(Position(0, 0), Position(0, 0))))]
            if file
            else None
        )
    return [server.locate(one, texts) for one in mentions(texts) if one.gives and one.name == mention.name]


async def _find_references(server: Server, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    whole = params.context.include_declaration
    return [
        server.locate(one, texts)
        for one in mentions(texts)
        if one.name == mention.name and (whole or not one.gives)
    ]


async def _mention_at(server: Server, uri: str, at: lsp.Position) -> tuple[Mention, Texts] | None:
    file = server.file_of(uri)
    return await server.ask(file, lambda session: session.mention_at(file, position_of(at)))


async def _prepare_rename(
    server: Server, params: lsp.PrepareRenameParams
) -> lsp.PrepareRenamePlaceholder | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    return lsp.PrepareRenamePlaceholder(server.locate(mention, texts).range, mention.name.word)


async def _rename(server: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    if why := refuse_name(mention.name, params.new_name, texts):
        raise JsonRpcInvalidParams(why)
    edits: dict[str, list[lsp.TextEdit]] = {}
    for one in rename(mention.name, params.new_name, texts):
        span = range_of(texts.lines(one.file).span(one.start, one.end))
        edits.setdefault(server.uri_of(one.file), []).append(lsp.TextEdit(span, one.text))
    if mention.name.sort == "table":
        return lsp.WorkspaceEdit(changes=edits)
    if mention.name.word not in texts.lists:
        raise JsonRpcInvalidParams(f"there is no shared pipeline {mention.name.word} to rename")
    if not server.renames_files:
        raise JsonRpcInvalidParams("this editor does not rename files: rename that of the pipeline by hand")
    old, new = texts.lists[mention.name.word][0], params.new_name
    renamed = lsp.RenameFile(server.uri_of(old), server.uri_of(f"{Path(old).parent.as_posix()}/{new}.json"))
    session = server.session_of(old)
    versions = session.versions if session else {}
    changed = [
        lsp.TextDocumentEdit(
            lsp.OptionalVersionedTextDocumentIdentifier(uri, versions.get(server.file_of(uri))), list(each)
        )
        for uri, each in edits.items()
    ]
    return lsp.WorkspaceEdit(document_changes=[*changed, renamed])
