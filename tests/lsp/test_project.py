"""What the server knows of the documents is what a server that starts now would know."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import compiler
from mongo_tables.lsp.project import Knowledge, Project
from mongo_tables.lsp.session import request_of
from tests.hosts.inprocess import write

ROWS = (
    '{"_id": "a", "old": 1, "d": {"$date": "2026-01-02T00:00:00Z"}}\n'
    '{"_id": "b", "new": 2, "d": {"$date": "2026-02-02T00:00:00Z"}}\n'
)


def test_the_fields_of_documents_up_to_now_are_those_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = {"mongo-tables.toml": 'results = "fixtures"\n', "docs/index.md": "", "fixtures/r/r.jsonl": ROWS}
    monkeypatch.chdir(write(tmp_path, site))
    day = datetime(2026, 1, 10, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return day

    monkeypatch.setattr(compiler, "datetime", Clock)
    knowledge = Knowledge(Project(request_of(None, None, None, database=False)[0]))
    until_now = [{"$match": {"$expr": {"$lt": ["$d", "$$NOW"]}}}]
    assert set(knowledge.shape("r", until_now).fields) == {"_id", "d", "old"}
    day = datetime(2026, 3, 1, tzinfo=UTC)
    assert set(knowledge.shape("r", until_now).fields) == {"_id", "d", "old", "new"}
