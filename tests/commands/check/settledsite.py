"""A site whose files are old enough to be known by their states."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.files import states


def make_site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty site, which is the current folder, with a cache of its own beside it."""
    monkeypatch.setattr(states, "SETTLED", -1)
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(folder / "cache"))
    (folder / "site/docs/pipelines").mkdir(parents=True)
    (folder / "site/fixtures/runs").mkdir(parents=True)
    monkeypatch.chdir(folder / "site")
    Path("mkdocs.yml").write_text("site_name: Runs\nplugins: [mongo-tables]\n")
    return folder / "site"
