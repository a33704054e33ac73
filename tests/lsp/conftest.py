"""A client that speaks to the language server as an editor does, in a folder with a page and results."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pygls.io_ import run_async
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from mongo_tables.lsp.session import Session, request_of
from tests.forked import served

PAGE = "docs/page.md"
TABLE = """\
<!-- MONGO_TABLE: {
  "id": "speeds",
  "collection": "runs",
  "pipeline": [
    {"$match": {"kind": "read"}},
    {"$group": {"_id": "$threads", "qps": {"$avg": "$qps"}}},
    {"$sort": {"_id": 1}}
  ],
  "columns": ["_id", "qps"],
  "headers": ["Threads", "Queries/s"]
} -->
"""
SAID = (
    'One thread: <!-- MONGO_VALUE: {"table": "speeds", "column": "qps", "where": {"_id": 1}} --> a second.\n'
)
DOCUMENTS = [
    {
        "_id": f"{kind}{threads}",
        "kind": kind,
        "threads": threads,
        "qps": threads * 100.5,
        "host": {"name": "a"},
    }
    for kind in ("read", "write")
    for threads in (1, 2, 8)
]


def lay_out(folder: Path, pages: dict[str, str]) -> None:
    """A folder with pages and one collection."""
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="")
    runs = folder / "fixtures" / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    (runs / "runs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in DOCUMENTS), "utf-8")


def session_here() -> Session:
    """A session of the server in the working folder, with the settings of its site."""
    return Session(lambda: request_of(None, None, None, database=False))


def checked_session(folder: Path) -> Session:
    """A session in ``folder`` whose pages were checked once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = session_here()
        made.check()
        return made


class Editor:
    """An editor with one folder open."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.versions: dict[str, int] = {}

    def uri(self, file: str) -> str:
        return (self.folder / file).as_uri()

    def open(self, file: str, text: str | None = None) -> str:
        text = (self.folder / file).read_bytes().decode() if text is None else text
        self.versions[file] = 1
        language = "json" if file.endswith(".json") else "markdown"
        item = lsp.TextDocumentItem(self.uri(file), language, 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return text

    def type(self, file: str, text: str) -> None:
        """All of the text anew."""
        self.versions[file] += 1
        named = lsp.VersionedTextDocumentIdentifier(self.versions[file], self.uri(file))
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [change]))

    def named(self, file: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(file))

    async def diagnostics(self, file: str) -> list[lsp.Diagnostic]:
        """The findings of a file as it is now: those of its last version."""
        wanted = self.versions.get(file)
        for _ in range(4000):
            told = self.told.get(self.uri(file))
            if told is not None and told.version == wanted:
                return list(told.diagnostics)
            await asyncio.sleep(0.05)
        raise AssertionError(f"nothing was told of {file}, version {wanted}: {self.told}")

    async def until(self, file: str, rules: list[str]) -> list[lsp.Diagnostic]:
        """The findings of a file, once they are of these rules."""
        for _ in range(4000):
            told = self.told.get(self.uri(file))
            if told is not None and sorted(str(one.code) for one in told.diagnostics) == sorted(rules):
                return list(told.diagnostics)
            await asyncio.sleep(0.05)
        raise AssertionError(f"{file} never has {rules}: {self.told.get(self.uri(file))}")

    @property
    def told(self) -> dict[str, lsp.PublishDiagnosticsParams]:
        return self.client.told


def place(text: str, marked: str, after: int | None = None) -> lsp.Position:
    """Where a piece of text ends, or, with ``after``, so many characters behind its beginning."""
    at = text.index(marked) + (len(marked) if after is None else after)
    line = text.count("\n", 0, at)
    column = text[text.rfind("\n", 0, at) + 1 : at]
    return lsp.Position(line, len(column.encode("utf-16-le")) // 2)


def _client() -> LanguageClient:
    client = pytest_lsp.make_test_lsp_client()
    client.told = {}
    keep = client.protocol.fm.features[lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

    def told(params: lsp.PublishDiagnosticsParams) -> None:
        client.told[params.uri] = params
        keep(params)

    client.protocol.fm.features[lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = told
    client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
    return client


PROGRAM = ClientServerConfig(
    server_command=[sys.executable, "-m", "mongo_tables.cli", "lsp"], client_factory=_client
)


class ForkedServer:
    """The same server in a fork of a process that has imported it, which looks at files more often."""

    async def start(self, devtools: str | None = None) -> LanguageClient:
        """A client with a server."""
        client = _client()
        process, connected = served(["lsp"], {"mongo_tables.lsp.server._LOOK": 0.2})
        reader, writer = await asyncio.open_connection(sock=connected)
        client.protocol.set_writer(writer)
        stop = client.stop

        async def stop_both() -> None:
            await stop()
            writer.close()
            await asyncio.to_thread(process.join)
            assert process.exitcode == 0

        client.stop = stop_both
        reading = run_async(
            stop_event=client._stop_event, reader=reader, protocol=client.protocol,
            error_handler=client.report_server_error,
        )  # fmt: skip
        client._async_tasks.append(asyncio.create_task(reading))
        return client


CONFIG = ForkedServer()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the site."""
    lay_out(tmp_path, {PAGE: f"# Speeds\n\n{TABLE}\n{SAID}"})
    return tmp_path


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    """A client that has opened that folder."""
    params = lsp.InitializeParams(client_capabilities("visual-studio-code"), root_uri=folder.as_uri())
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient, folder: Path) -> Editor:
    """An editor in that folder."""
    return Editor(client, folder)
