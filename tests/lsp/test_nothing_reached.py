"""Opening a folder contacts no server and runs nothing of the folder's, whatever its files name."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.conftest import PAGE, SAID, TABLE, Editor, lay_out

pytestmark = pytest.mark.asyncio


@pytest.fixture
def listener() -> socket.socket:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


@pytest.fixture
def folder(tmp_path: Path, listener: socket.socket) -> Path:
    """A folder whose site names a database, a plugin and a hook of its own."""
    lay_out(tmp_path, {PAGE: f"# Speeds\n\n{TABLE}\n{SAID}"})
    trap = f"import pathlib; pathlib.Path({str(tmp_path / 'sprung')!r}).touch()\n"
    (tmp_path / "hook.py").write_text(trap)
    (tmp_path / "preprocessor.py").write_text(trap)
    (tmp_path / "mongo_tables.py").write_text(trap)
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Trap\nhooks: [hook.py]\nplugins:\n  - search\n  - mongo-tables:\n"
        f"      results: mongodb://127.0.0.1:{listener.getsockname()[1]}/performance\n"
    )
    return tmp_path


async def test_a_database_that_a_site_names_is_not_asked_and_no_code_of_the_folder_runs(
    editor: Editor, listener: socket.socket
) -> None:
    text = editor.open(PAGE)
    await editor.diagnostics(PAGE)
    editor.type(PAGE, text.replace("$sort", "$sorrt"))
    assert "MT301" in {one.code for one in await editor.diagnostics(PAGE)}
    with pytest.raises(TimeoutError):
        listener.accept()
    assert not (editor.folder / "sprung").exists()
    assert lsp.MessageType.Error not in {one.type for one in editor.client.messages}
