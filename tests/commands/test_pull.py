"""``mongo-tables pull --prune``: what the pages take decides what is kept."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pymongo
import pytest

from mongo_tables.cli import main
from tests.commands.test_commands import mongo_tables
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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose second commit changes results, and whose third does not."""
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "docs" / "pipelines").mkdir(parents=True)
    shared = {"pipeline": [{"$project": {"rate": 1, "of": "$$revision"}}]}
    (tmp_path / "docs" / "pipelines" / "brief.json").write_text(json.dumps(shared))
    git(tmp_path, "init", "-q")
    for rate in (1, 2, 2):
        row = {"_id": {"testname": "one"}, "rate": rate, "more": "x"}
        (tmp_path / "fixtures" / "runs" / "one.jsonl").write_text(json.dumps(row) + "\n")
        git(tmp_path, "add", "fixtures")
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", "results")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_an_earlier_revision_becomes_a_collection_that_says_where_it_is_from(repository: Path) -> None:
    asked = ("runs", "--pipeline", "brief", "--as", "earlier")
    made = repository / "fixtures" / "earlier" / "one.jsonl"
    mongo_tables("pull", "HEAD~2:fixtures", *asked, cwd=repository)
    first = git(repository, "rev-parse", "HEAD~2")
    assert json.loads(made.read_text()) == {"_id": {"testname": "one"}, "rate": 1, "of": first}
    # Results that no later commit has changed are of the commit that did.
    assert "1 changed" in mongo_tables("pull", "HEAD:fixtures", *asked, cwd=repository).stdout
    assert json.loads(made.read_text())["of"] == git(repository, "rev-parse", "HEAD~1")
    assert "nothing changed" in mongo_tables("pull", "HEAD~1:fixtures", *asked, cwd=repository).stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fixtures", "--as", "a"], "--as is for one collection"),
        (["fixtures", "runs", "more", "--pipeline", "brief"], "--pipeline is for one collection"),
        (["fixtures", "runs", "--pipeline", "breif", "--as", "a"], "did you mean `brief`"),
        (["fixtures", "runs", "--pipeline", "slip", "--as", "a"], "slip.json:1:11: MT120"),
        (["fixtures", "runs", "--pipeline", "wrong", "--as", "a"], "--pipeline wrong, stage 2 → $projct: "),
        (["HEAD:nothing", "runs"], "did not match any files"),
        (["me:swordfish@host/d", "runs"], "is not a mongodb:// URI, a file or a folder that exists"),
        (["fixtures", "runs"], "written over itself"),
    ],
)
def test_what_cannot_be_pulled_is_told_in_a_line_with_the_way_out(
    arguments: list[str], complaint: str, repository: Path
) -> None:
    pipelines = repository / "docs" / "pipelines"
    (pipelines / "slip.json").write_text('[{"$limit" 1}]')
    (pipelines / "wrong.json").write_text('[{"$limit": 1}, {"$projct": {"rate": 1}}]')
    said = mongo_tables("pull", *arguments, cwd=repository, expect=2).stderr
    assert complaint in said
    assert "swordfish" not in said
    assert [one.name for one in (repository / "fixtures").iterdir()] == ["runs"]


def test_a_pull_says_what_it_renamed_rewrote_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("there/r", "fixtures/r"):
        (tmp_path / place).mkdir(parents=True)
    lines = [f'{{"_id": {n}, "n": {n}}}' for n in range(4)]
    (tmp_path / "there/r/r.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "fixtures/r/array.json").write_text(f"[{lines[0]}]", encoding="utf-8")
    (tmp_path / "fixtures/r/mine.jsonl").write_text('{"_id": "mine"}\n', encoding="utf-8")
    (tmp_path / "fixtures/r/turned.jsonl").write_text(
        f"{lines[3]}\n{lines[2]}\n{lines[1]}\n", encoding="utf-8"
    )
    assert main(["pull", "there", "r"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kept fixtures/r/mine.jsonl: 1 document that the source does not have; delete the file if it is not needed",
        "fixtures/r/array.jsonl: renamed from array.json, 1 document, 0 new, 0 changed, 0 gone",
        "fixtures/r/turned.jsonl: 3 documents, the same in another order or notation",
        "2 of 3 files changed",
    ]
    assert main(["pull", "there", "r"]) == 0
    assert "nothing changed" in capsys.readouterr().out
