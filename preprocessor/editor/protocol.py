"""The Language Server Protocol, spoken with pygls: requests in, what the other modules give out.

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
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.language_server import lsp_method
from pygls.uris import from_fs_path, to_fs_path

from preprocessor import SITE, __version__
from preprocessor.editor.actions import Action
from preprocessor.editor.completion import Suggestion
from preprocessor.editor.diagnostics import Diagnostic
from preprocessor.editor.positions import Edit, Lines, Position, Span
from preprocessor.editor.session import Checked, Session, request_of
from preprocessor.editor.skeletons import without_gaps
from preprocessor.findings.usage import UsageError
from preprocessor.pages.siteconfig import from_here

_T = TypeVar("_T")

_PAUSE: Final = 0.02
"""Seconds without a keystroke before a check begins, so that what is asked with the keystroke is answered first."""

_LOOK: Final = 2.0
"""Seconds between two looks at the disk, for editors that do not tell of changes there."""

_SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def serve(arguments: Namespace) -> None:
    """Serve one editor over standard input and output."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What anything prints is no message to the editor.
    Server(arguments).start_io(stdout=output)


class _Protocol(LanguageServerProtocol):
    """The protocol with columns in UTF-16, which every editor speaks, and with texts that the session keeps."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        # pygls would apply the changes to a text of its own, by other ends of lines than editors have.
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self, arguments: Namespace) -> None:
        super().__init__(
            "mongo-tables", __version__, protocol_cls=_Protocol, converter_factory=default_converter
        )
        self.arguments = arguments
        self.session: Session | None = None
        self.root = Path.cwd()
        self._judge = ThreadPoolExecutor(1, "mongo-tables check")
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self._wanted = False
        self._shown: dict[str, tuple[list[Diagnostic], int | None]] = {}
        self._told = ""
        self._tasks: set[asyncio.Task[None]] = set()
        _register(self)

    @property
    def knows_gaps(self) -> bool:
        """Whether the editor fills gaps of what it inserts."""
        asked = self.client_capabilities.text_document
        item = asked.completion.completion_item if asked and asked.completion else None
        return bool(item and item.snippet_support)

    # -- files --

    def begin(self, params: lsp.InitializeParams) -> None:
        """Open the project of the folder that an editor works in."""
        uri = params.workspace_folders[0].uri if params.workspace_folders else params.root_uri
        root = to_fs_path(uri) if uri else params.root_path
        if root and Path(root).is_dir():
            os.chdir(root)
            self.root = Path(root)
        given = self.arguments
        self.session = Session(
            lambda: request_of(given.site_file, given.results, given.limit, database=given.database)
        )

    def file_of(self, uri: str) -> str:
        """The name of a file as ``check`` has it; empty for what is no file of ours."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is None or self.session is None:
            return ""
        within = Path(path).is_relative_to(self.root)
        name = Path(path).relative_to(self.root).as_posix() if within else from_here(Path(path))
        return name if self.session.project.is_ours(name) else ""

    def uri_of(self, file: str) -> str:
        """The address of a file."""
        return from_fs_path(str(Path(os.path.normpath(self.root / file)))) or ""

    # -- checks --

    def check_soon(self) -> None:
        """Have the pages checked once nothing more is typed for a moment."""
        self._wanted = True
        if self._timer is not None:
            self._timer.cancel()
        if not self._running:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._start_check)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done beside what else there is to do."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def look_now_and_then(self) -> None:
        """Notice files that change on disk, where no editor tells of them."""
        loop, known = asyncio.get_running_loop(), ""
        while self.session is not None:
            seen = await loop.run_in_executor(self._judge, self.session.project.glance)
            if known and seen != known:
                self.session.look_again()
                self.check_soon()
            known = seen
            await asyncio.sleep(_LOOK)

    def _start_check(self) -> None:
        self.start(self._check())

    async def _check(self) -> None:
        if self._running or self.session is None:
            return
        self._running = True
        try:
            while self._wanted:
                self._wanted = False
                loop = asyncio.get_running_loop()
                self._publish(await loop.run_in_executor(self._judge, self.session.check))
        except Exception:  # A defect of ours: editing goes on, and the log has the reason.
            logging.getLogger(__name__).exception("a check failed")
        finally:
            self._running = False

    async def ask(self, question: Callable[[Session], _T]) -> _T | None:
        """What the session answers between two checks; None where there is none."""
        session = self.session
        if session is None:
            return None
        return await asyncio.get_running_loop().run_in_executor(self._judge, question, session)

    def _publish(self, checked: Checked) -> None:
        """Show what has changed, of files that are still as they were when they were checked."""
        assert self.session is not None
        now = {file: one.version for file, one in self.session.documents.items()}
        for file in {**checked.diagnostics, **self._shown, **now}:
            found = checked.diagnostics.get(file, [])
            version = now.get(file)
            known = self._shown.get(file, ([], None))
            if version != checked.versions.get(file) or known == (found, version):
                continue
            self._shown[file] = found, version
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(self.uri_of(file), [_diagnostic(one) for one in found], version)
            )
        if checked.notice and checked.notice != self._told:
            self.tell(checked.notice)
        self._told = checked.notice

    def tell(self, message: str) -> None:
        """Show a message."""
        self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"mongo-tables: {message}"))


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
    if server.session and (file := server.file_of(document.uri)):
        server.session.open(file, document.text, document.version)
        server.check_soon()


def _change(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    if server.session and (file := server.file_of(params.text_document.uri)):
        edits = [_edit(change) for change in params.content_changes]
        server.session.change(file, edits, params.text_document.version)
        server.check_soon()


def _close(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    if server.session and (file := server.file_of(params.text_document.uri)):
        server.session.close(file)
        server.check_soon()


def _look_again(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    if server.session:
        server.session.look_again()
        server.check_soon()


# -- what an author asks for --


def _complete(server: Server, params: lsp.CompletionParams) -> lsp.CompletionList | None:
    if server.session is None:
        return None
    found = server.session.complete(server.file_of(params.text_document.uri), _position(params.position))
    if found is None:
        return None
    completion, lines = found
    span = _range(lines.span(completion.start, completion.end))
    gaps = server.knows_gaps
    items = [_item(one, span, number, gaps=gaps) for number, one in enumerate(completion.found)]
    # Behind a dot there are other fields: the editor is to ask again.
    return lsp.CompletionList(is_incomplete=True, items=items)


def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    if server.session is None:
        return None
    found = server.session.hover(server.file_of(params.text_document.uri), _position(params.position))
    if found is None:
        return None
    told, lines = found
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, told.told), _range(lines.span(told.start, told.end))
    )


async def _list_actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
    uri = params.text_document.uri
    file, span = server.file_of(uri), _span(params.range)
    found = await server.ask(lambda session: session.list_actions(file, span))
    if found is None:
        return None
    actions, lines = found
    return [_action(one, uri, lines) for one in actions]


def _action(one: Action, uri: str, lines: Lines) -> lsp.CodeAction:
    rewrite = one.rewrite
    edits = [lsp.TextEdit(_range(lines.span(edit.start, edit.end)), edit.text) for edit in rewrite.edits]
    return lsp.CodeAction(
        rewrite.title,
        kind=lsp.CodeActionKind.QuickFix if one.about else lsp.CodeActionKind.RefactorRewrite,
        diagnostics=[_diagnostic(one.about)] if one.about else None,
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


def _item(one: Suggestion, span: lsp.Range, number: int, *, gaps: bool) -> lsp.CompletionItem:
    about = lsp.MarkupContent(lsp.MarkupKind.Markdown, one.about) if one.about else None
    return lsp.CompletionItem(
        one.label,
        kind=_KINDS[one.sort],
        detail=one.remark or None,
        documentation=about,
        sort_text=f"{number:05}",
        filter_text=one.sought,
        insert_text_format=lsp.InsertTextFormat.Snippet if gaps else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(span, one.text if gaps else without_gaps(one.text)),
    )


# -- plain data and that of the protocol --


def _edit(change: lsp.TextDocumentContentChangeEvent) -> Edit:
    if isinstance(change, lsp.TextDocumentContentChangePartial):
        return Edit(_span(change.range), change.text)
    return Edit(None, change.text)


def _span(given: lsp.Range) -> Span:
    return Span(_position(given.start), _position(given.end))


def _position(given: lsp.Position) -> Position:
    return Position(given.line, given.character)


def _range(span: Span) -> lsp.Range:
    return lsp.Range(lsp.Position(*span.start), lsp.Position(*span.end))


def _diagnostic(one: Diagnostic) -> lsp.Diagnostic:
    found = one.finding
    return lsp.Diagnostic(
        _range(one.span),
        f"{found.message}\n{found.hint}" if found.hint else found.message,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        code_description=lsp.CodeDescription(f"{SITE}reference/rules/"),
        source="mongo-tables",
    )
