"""The Language Server Protocol, served with pygls: requests in, results of the other modules out.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from mongo_tables.findings.usage import CommandError
from mongo_tables.lsp.completion import Suggestion
from mongo_tables.lsp.diagnostics import Action, Lines
from mongo_tables.lsp.names import Mention, Texts, mentions, refuse_id
from mongo_tables.lsp.server import Server, diagnostic_of

_SWITCH: Final = 0.001
"""Interval, in seconds, at which a running check lets other threads answer requests."""


def serve(arguments: Namespace) -> None:
    """Serve one editor over standard input and output."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Printed text must not end up in the protocol stream.
    sys.setswitchinterval(_SWITCH)
    server = Server(arguments)
    _register(server)
    server.start_io(stdout=output)


def _register(server: Server) -> None:
    """Register the handlers of requests."""
    server.feature(lsp.INITIALIZE)(_initialize)
    server.feature(lsp.INITIALIZED)(_initialized)
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_open)
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_change)
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(_close)
    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_look_again)
    triggers = lsp.CompletionOptions(trigger_characters=['"', "$", "."])
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, triggers)(_complete)
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(_hover)
    kinds = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, kinds)(_list_actions)
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(_find_definition)
    server.feature(lsp.TEXT_DOCUMENT_REFERENCES)(_find_references)
    server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename)
    server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))(_rename)


def _initialize(server: Server, params: lsp.InitializeParams) -> None:
    try:
        server.begin(params)
    except CommandError as error:
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
        session.open(file, params.content_changes[-1].text, params.text_document.version)
        server.check_soon()


def _close(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    file = server.file_of(params.text_document.uri)
    if session := server.session_of(file):
        session.close(file)
        server.check_soon()


def _look_again(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    server.look_again()


# -- author's requests --


def _complete(server: Server, params: lsp.CompletionParams) -> lsp.CompletionList | None:
    file = server.file_of(params.text_document.uri)
    session = server.session_of(file)
    found = session.complete(file, params.position) if session else None
    if found is None:
        return None
    completion, lines = found
    span = lines.span(completion.start, completion.end)
    behind = lines.text[lines.offset(params.position) : completion.end]
    items = [_item(one, span, number, behind) for number, one in enumerate(completion.found)]
    # After a dot there are other fields: the editor must ask again.
    return lsp.CompletionList(is_incomplete=True, items=items)


def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    file = server.file_of(params.text_document.uri)
    session = server.session_of(file)
    found = session.hover(file, params.position) if session else None
    if found is None:
        return None
    told, lines = found
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, told.told), lines.span(told.start, told.end))


async def _list_actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
    uri = params.text_document.uri
    file, span = server.file_of(uri), params.range
    found = await server.ask(file, lambda session: session.list_actions(file, span))
    if found is None:
        return None
    actions, lines = found
    return [_action(one, uri, lines, server) for one in actions]


def _action(one: Action, uri: str, lines: Lines, server: Server) -> lsp.CodeAction:
    rewrite = one.rewrite
    edits = [lsp.TextEdit(lines.span(edit.start, edit.end), edit.text) for edit in rewrite.edits]
    return lsp.CodeAction(
        rewrite.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic_of(one.about, server.uri_of)],
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


def _item(one: Suggestion, span: lsp.Range, number: int, behind: str) -> lsp.CompletionItem:
    about = lsp.MarkupContent(lsp.MarkupKind.Markdown, one.about) if one.about else None
    # Neovim before 0.10 inserts items with a filter text after the last word, whatever their range.
    sought = None if one.sought == one.label else one.sought
    return lsp.CompletionItem(
        one.label,
        kind=_KINDS[one.sort],
        detail=one.remark or None,
        documentation=about,
        sort_text=f"{number:05}",
        filter_text=sought,
        insert_text_format=lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(span, one.text),
        # Neovim before 0.11 keeps the part of the range after the cursor: our plugin removes it.
        data={"replaced_behind": behind} if behind else None,
    )


async def _find_definition(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    if mention.name.sort == "list":
        file = texts.lists[mention.name.word][0] if mention.name.word in texts.lists else ""
        return (
            [lsp.Location(server.uri_of(file), lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))]
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
    return await server.ask(file, lambda session: session.mention_at(file, at))


async def _prepare_rename(
    server: Server, params: lsp.PrepareRenameParams
) -> lsp.PrepareRenamePlaceholder | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None or found[0].name.sort != "table":
        return None
    mention, texts = found
    return lsp.PrepareRenamePlaceholder(server.locate(mention, texts).range, mention.name.word)


async def _rename(server: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    found = await _mention_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    mention, texts = found
    if mention.name.sort != "table":
        return None
    if why := refuse_id(params.new_name, texts):
        raise JsonRpcInvalidParams(why)
    edits: dict[str, list[lsp.TextEdit]] = {}
    for one in mentions(texts):
        if one.name == mention.name:
            place = server.locate(one, texts)
            edits.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
    return lsp.WorkspaceEdit(changes=edits)
