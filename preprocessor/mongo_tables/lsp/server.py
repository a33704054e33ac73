"""The Language Server Protocol for one editor, with pygls.

The server manages files, the schedule of checks, and the published findings. The other modules answer requests.
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.language_server import lsp_method
from pygls.uris import from_fs_path, to_fs_path

from mongo_tables import SITE, __version__
from mongo_tables.findings.usage import CommandError
from mongo_tables.lsp.completion import Suggestion
from mongo_tables.lsp.diagnostics import Action, Diagnostic, Lines
from mongo_tables.lsp.names import Mention, Texts, mentions, refuse_id
from mongo_tables.lsp.session import Checked, Session, Sites, request_of
from mongo_tables.site.site_config import from_here, has_site_file

_T = TypeVar("_T")

_PAUSE: Final = 0.02
"""Seconds between a keystroke and a check, so that requests that belong to the keystroke are answered first."""

_LOOK: Final = 2.0
"""Seconds between two scans of the disk, for editors that do not report changed files."""


def _list_folders(params: lsp.InitializeParams) -> list[Path]:
    """Return the folders that the editor has open and that exist."""
    uris = [each.uri for each in params.workspace_folders or ()]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    paths = [to_fs_path(uri) for uri in uris] if uris else [params.root_path]
    return [Path(path) for path in paths if path and Path(path).is_dir()]


class _Protocol(LanguageServerProtocol):
    """The protocol with UTF-16 columns, which every editor supports."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


@dataclass
class _Shown:
    """What the editor shows for one site: the findings and the version of each file, and a notice."""

    found: dict[str, tuple[list[Diagnostic], int | None]]
    notice: str = ""


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self, arguments: Namespace) -> None:
        super().__init__(
            "mongo-tables",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
        )
        self.arguments = arguments
        self.sites: Sites | None = None
        self.root = Path.cwd()
        self._judge = ThreadPoolExecutor(1, "mongo-tables check")
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self._wanted = False
        self._shown: dict[Session, _Shown] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # -- files --

    def begin(self, params: lsp.InitializeParams) -> None:
        """Open the sites of the editor's folder. Of several folders, the first with a site file is used, or else
        the first.
        """
        folders = _list_folders(params)
        root = next((each for each in folders if has_site_file(each)), folders[0] if folders else None)
        if root is not None:
            os.chdir(root)
            self.root = root
        given = self.arguments
        self.sites = Sites(
            lambda site: Session(
                lambda: request_of(site, given.results, given.limit, database=given.database)
            ),
            given.site_file,
        )

    @property
    def sessions(self) -> list[Session]:
        """The sessions of all sites."""
        return self.sites.sessions if self.sites else []

    def session_of(self, file: str) -> Session | None:
        """Return the session of a file, or None if the file is not ours or the server has not begun."""
        return self.sites.of(file) if self.sites and file else None

    def file_of(self, uri: str) -> str:
        """Return the name of a file as in ``check``, or "" if it is neither a page nor a shared pipeline."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is None or self.sites is None:
            return ""
        within = Path(path).is_relative_to(self.root)
        name = Path(path).relative_to(self.root).as_posix() if within else from_here(Path(path))
        return name if self.sites.of(name).project.is_ours(name) else ""

    def uri_of(self, file: str) -> str:
        """Return the URI of a file."""
        return from_fs_path(str(Path(os.path.normpath(self.root / file)))) or ""

    def locate(self, one: Mention, texts: Texts) -> lsp.Location:
        """Return the location of a mention."""
        return lsp.Location(self.uri_of(one.file), Lines(texts[one.file][0]).span(one.start, one.end))

    # -- checks --

    def take(self, uri: str, text: str | None, version: int = 0) -> None:
        """Use the text of an open file (with None, use the saved file again), and schedule a check."""
        file = self.file_of(uri)
        if session := self.session_of(file):
            if text is None:
                session.close(file)
            else:
                session.open(file, text, version)
            self.check_soon()

    def check_soon(self) -> None:
        """Schedule a check for the next pause in typing."""
        self._wanted = True
        if self._timer is not None:
            self._timer.cancel()
        if not self._running:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_PAUSE, lambda: self.start(self._check()))

    def look_again(self) -> None:
        """Schedule a check that reads all files again, and clear the findings of removed sites."""
        for session in self.sites.look_again() if self.sites else ():
            self._publish(session, Checked({}, {}))
            del self._shown[session]
        self.check_soon()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a background task."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def look_now_and_then(self) -> None:
        """Scan the disk for changed files until the server ends."""
        known: dict[Session, str] = {}
        while self.sites is not None:
            seen = {each: await self._run(each.project.glance) for each in self.sessions}
            if any(known.get(each, each.project.first_glance) != glance for each, glance in seen.items()):
                self.look_again()
            known = seen
            await asyncio.sleep(_LOOK)

    async def _check(self) -> None:
        if self._running:
            return
        self._running = True
        try:
            while self._wanted:
                self._wanted = False
                for session in [one for one in self.sessions if one.is_due]:
                    checked = await self._run(session.check)
                    if session in self.sessions:  # Its site may have been removed meanwhile.
                        self._publish(session, checked)
        except Exception:  # A defect of this program must not end the session. The log has the traceback.
            logging.getLogger(__name__).exception("a check failed")
        finally:
            self._running = False

    async def ask(self, file: str, question: Callable[[Session], _T]) -> _T | None:
        """Return the answer of the file's session to a question, after a running check, or None without a session."""
        session = self.session_of(file)
        return None if session is None else await self._run(partial(question, session))

    async def _run(self, work: Callable[[], _T]) -> _T:
        """Run work in the checking thread."""
        return await asyncio.get_running_loop().run_in_executor(self._judge, work)

    def _publish(self, session: Session, checked: Checked) -> None:
        """Publish the changed findings of a site, for files whose text is still that of the check."""
        shown = self._shown.setdefault(session, _Shown({}))
        now = session.versions
        for file in {**checked.diagnostics, **shown.found, **now}:
            found = checked.diagnostics.get(file, [])
            version = now.get(file)
            if version != checked.versions.get(file) or shown.found.get(file, ([], None)) == (found, version):
                continue
            shown.found[file] = found, version
            sent = [diagnostic_of(one, self.uri_of) for one in found]
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(self.uri_of(file), sent, version)
            )
        if checked.notice and checked.notice != shown.notice:
            message = f"mongo-tables: {checked.notice}"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))
        shown.notice = checked.notice


_SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def diagnostic_of(one: Diagnostic, uri_of: Callable[[str], str]) -> lsp.Diagnostic:
    """Return a finding as a diagnostic of the protocol. ``uri_of`` returns the URI of a file."""
    found = one.finding
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri_of(each.file), each.span), f"in {each.file}")
        for each in one.related
    ]
    return lsp.Diagnostic(
        one.span,
        f"{found.message}\n{found.hint}" if found.hint else found.message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        code_description=lsp.CodeDescription(f"{SITE}reference/rules/"),
        source="mongo-tables",
        related_information=related or None,
    )


# -- requests and notifications --

_SWITCH: Final = 0.001
"""Seconds after which a running check lets other threads answer requests."""


def serve(arguments: Namespace) -> None:
    """Serve one editor over standard input and output."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Printed text must not get into the protocol stream.
    sys.setswitchinterval(_SWITCH)
    server = Server(arguments)
    _register(server)
    server.start_io(stdout=output)


def _register(server: Server) -> None:
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
    server.take(params.text_document.uri, params.text_document.text, params.text_document.version)


def _change(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    server.take(params.text_document.uri, params.content_changes[-1].text, params.text_document.version)


def _close(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    server.take(params.text_document.uri, None)


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
    # After a dot other fields are possible, so the editor must ask again.
    return lsp.CompletionList(is_incomplete=True, items=items)


def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    file = server.file_of(params.text_document.uri)
    session = server.session_of(file)
    found = session.hover(file, params.position) if session else None
    if found is None:
        return None
    hover, lines = found
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, hover.text), lines.span(hover.start, hover.end)
    )


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
    # Neovim before 0.10 ignores the range of items with a filter text.
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
        # Neovim before 0.11 keeps the part of the range after the cursor, which our plugin removes.
        data={"replaced_behind": behind} if behind else None,
    )


async def _find_definition(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
    return await _locate(server, params.text_document.uri, params.position, lambda one: one.gives)


async def _find_references(server: Server, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    whole = params.context.include_declaration
    return await _locate(
        server, params.text_document.uri, params.position, lambda one: whole or not one.gives
    )


async def _locate(
    server: Server, uri: str, at: lsp.Position, is_asked: Callable[[Mention], bool]
) -> list[lsp.Location] | None:
    """Return the locations at which the name at a position is mentioned, or None. ``is_asked`` selects the mentions."""
    found = await _mention_at(server, uri, at)
    if found is None:
        return None
    mention, texts = found
    return [
        server.locate(one, texts) for one in mentions(texts) if one.name == mention.name and is_asked(one)
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
    if found is None or found[0].name.sort != "table":
        return None
    mention, texts = found
    if why := refuse_id(params.new_name, texts):
        raise JsonRpcInvalidParams(why)
    edits: dict[str, list[lsp.TextEdit]] = {}
    for one in mentions(texts):
        if one.name == mention.name:
            place = server.locate(one, texts)
            edits.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
    return lsp.WorkspaceEdit(changes=edits)
