"""The command that adds an extra names where this program came from, and an index only if it came from one."""

from __future__ import annotations

from importlib import metadata

import pytest

from mongo_tables.files.process import install_command


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'mongo-tables[lsp]'"),
        ('{"url": "file:///a/my%20clone", "dir_info": {}}', "pip install '/a/my clone[lsp]'"),
        ('{"url": "file:///a/clone", "dir_info": {"editable": true}}', "pip install -e '/a/clone[lsp]'"),
        ('{"url": "file:///a/b.whl", "archive_info": {}}', "pip install '/a/b.whl[lsp]'"),
        (
            '{"url": "https://host/a.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}}',
            "pip install 'mongo-tables[lsp] @ git+https://host/a.git@1a2b'",
        ),
    ],
    ids=["index", "folder", "editable", "wheel", "repository"],
)
def test_the_command_names_the_origin(
    origin: str | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            return origin if name == "direct_url.json" else None

    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())
    assert install_command("lsp") == command
