"""Of several folders in one window the server takes the one that is a site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, client_capabilities

from tests.lsp.conftest import PAGE, PROGRAM, SAID, TABLE, Editor

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=PROGRAM)
async def client(
    lsp_client: LanguageClient, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    """A client that has opened another folder before that of the site, and one that is gone."""
    (folder / "mkdocs.yml").write_text("site_name: Speeds\n")
    first = tmp_path_factory.mktemp("notes")
    folders = [lsp.WorkspaceFolder(each.as_uri(), each.name) for each in (first / "gone", first, folder)]
    params = lsp.InitializeParams(client_capabilities("visual-studio-code"), workspace_folders=folders)
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


async def test_pages_of_the_site_have_its_results(editor: Editor) -> None:
    text = editor.open(PAGE)
    assert text == f"# Speeds\n\n{TABLE}\n{SAID}"
    assert await editor.diagnostics(PAGE) == []
    editor.type(PAGE, text.replace("$sort", "$sorrt"))
    assert [one.code for one in await editor.diagnostics(PAGE)] == ["MT301"]
