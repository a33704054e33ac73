"""``mongo-tables pull --prune``: what the pages take decides what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pymongo
import pytest

from preprocessor.cli import main
from tests.mongod import Mongod

PAGE = """# Runs

<!-- MONGO_TABLE: {"id": "t", "collection": "runs", "pipeline": [{"$match": {"ok": true}}, {"$sort": {"_id": 1}}],
  "columns": ["threads", "s.rate"], "headers": ["Threads", "Rate"]} -->

The peak is <!-- MONGO_VALUE: {"table": "t", "column": "peak", "where": {"threads": 1}} -->.

<!-- MONGO_CHECK: {"table": "t", "where": {"host": "a"}, "expect": {"errors": 0}} -->
"""


def test_a_pruned_pull_keeps_what_columns_values_and_statements_take(
    tmp_path: Path, mongod: Mongod, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {"_id": 1, "ok": True, "threads": 1, "s": {"rate": 2.5}, "peak": 9, "host": "a", "errors": 0}
    with pymongo.MongoClient[dict[str, object]](mongod.uri()) as client:
        client["prunes"]["runs"].insert_one({**kept, "s": {"rate": 2.5, "noise": 1}, "unread": "x"})
        monkeypatch.chdir(tmp_path)
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "page.md").write_text(PAGE, encoding="utf-8")
        assert main(["pull", mongod.uri("prunes"), "--prune"]) == 0
        assert "kept whole" not in capsys.readouterr().out
        assert json.loads((tmp_path / "fixtures" / "runs" / "runs.jsonl").read_text("utf-8")) == kept
        whole = PAGE.replace('{"$sort": {"_id": 1}}', '{"$set": {"all": "$$ROOT"}}')
        (tmp_path / "docs" / "page.md").write_text(whole, encoding="utf-8")
        assert main(["pull", mongod.uri("prunes"), "--prune"]) == 0
        assert "kept whole: runs: docs/page.md:3: $$ROOT is the whole document" in capsys.readouterr().out
        client.drop_database("prunes")
