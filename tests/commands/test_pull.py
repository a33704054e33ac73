"""``mongo-tables pull``: earlier revisions, and what it says of files and of refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.commands.test_commands import mongo_tables


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose second commit changes results, and whose third does not."""
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    git(tmp_path, "init", "-q")
    for rate in (1, 2, 2):
        row = {"_id": {"testname": "one"}, "rate": rate}
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


def test_an_earlier_revision_becomes_a_collection_of_its_own(repository: Path) -> None:
    asked = ("runs", "--as", "earlier")
    made = repository / "fixtures" / "earlier" / "one.jsonl"
    mongo_tables("pull", "HEAD~2:fixtures", *asked, cwd=repository)
    assert json.loads(made.read_text()) == {"_id": {"testname": "one"}, "rate": 1}
    assert "1 changed" in mongo_tables("pull", "HEAD:fixtures", *asked, cwd=repository).stdout
    assert "nothing changed" in mongo_tables("pull", "HEAD~1:fixtures", *asked, cwd=repository).stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fixtures", "runs", "more", "--as", "a"], "--as needs exactly one collection"),
        (["HEAD:nothing", "runs"], "has no files at this path"),
        (["me:swordfish@host/d", "runs"], "the results source mongodb://*** is not a mongodb:// URI"),
        (["fixtures", "runs"], "written over itself"),
    ],
)
def test_what_cannot_be_pulled_is_told_in_a_line_with_the_way_out(
    arguments: list[str], complaint: str, repository: Path
) -> None:
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
        "kept fixtures/r/mine.jsonl: the source lacks its 1 document; delete the file if it is not needed",
        "fixtures/r/array.jsonl: 1 document, 0 new, 0 changed, 0 gone, renamed from array.json",
        "fixtures/r/turned.jsonl: 3 documents, 0 new, 0 changed, 0 gone, another order or notation",
        "2 of 3 files changed",
    ]
    assert main(["pull", "there", "r"]) == 0
    assert "nothing changed" in capsys.readouterr().out
