"""The command: what the linter finds comes out of `mongo-tables check`, and what comments ignore does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests import forked

PAGES = Path(__file__).parent / "pages"
ROOT = Path(__file__).parents[2]


def check(*arguments: str, cwd: Path = PAGES) -> subprocess.CompletedProcess[str]:
    return mongo_tables("check", *arguments, cwd=cwd)


def rules(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.stderr == ""
    return [one["rule"] for one in json.loads(done.stdout)["findings"]]


def test_findings_come_as_data_with_rule_place_and_hint() -> None:
    done = check("MT401/bad-one.md", "--static", "--format", "json")
    (one,) = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert {key: one[key] for key in ("rule", "severity", "file", "line", "column")} == {
        "rule": "MT401",
        "severity": "warning",
        "file": "MT401/bad-one.md",
        "line": 9,
        "column": 16,
    }
    assert "chance" in one["message"]
    assert "$sort" in one["hint"]


def test_documents_are_learnt_from_the_results_source_without_running_a_pipeline() -> None:
    page = "MT403/bad-shown.md"
    assert rules(check(page, "--static", "--results", "fixtures", "--format", "json")) == ["MT403"]
    assert rules(check(page, "--static", "--results", "nowhere", "--format", "json")) == []


def test_a_run_tells_what_only_rows_can_tell() -> None:
    page = "MT411/bad-same-label.md"
    assert rules(check(page, "--results", "fixtures", "--format", "json")) == ["MT411"]
    assert rules(check(page, "--static", "--results", "fixtures", "--format", "json")) == []


def test_one_fault_is_told_once_by_the_run_and_the_linter_together() -> None:
    assert rules(check("MT302/bad-misspelt.md", "--results", "fixtures", "--format", "json")) == ["MT302"]
    assert rules(check("MT312/bad-search.md", "--results", "fixtures", "--format", "json")) == ["MT301"]


def test_what_a_comment_ignores_is_not_told_and_fails_nothing() -> None:
    done = check("MT507/good-used.md", "--results", "fixtures")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 comment on 1 page: no fault\n")


def test_an_error_of_safety_cannot_be_ignored(tmp_path: Path) -> None:
    comment = (
        '<!-- MONGO_TABLE: {"collection": "c", "pipeline": [{"$out": "d"}], "columns": ["a"], "headers": ["A"],'
        ' "ignore": {"MT201": "we know"}} -->\n'
    )
    (tmp_path / "page.md").write_text(comment)
    done = check("page.md", "--static", "--format", "json", cwd=tmp_path)
    assert rules(done) == ["MT201"]


def test_an_ignored_repetition_of_a_key_is_not_told(tmp_path: Path) -> None:
    text = (PAGES / "MT402/good-fallback.md").read_text("utf-8")
    text = text.replace('"_id": 0,', '"_id": 0, "_id": 0,').replace(
        '"columns"', '"ignore": {"MT122": "made by a program"}, "columns"'
    )
    (tmp_path / "page.md").write_text(text)
    assert rules(check("page.md", "--static", "--format", "json", cwd=tmp_path)) == []


def test_authors_choose_how_grave_a_finding_must_be_to_fail() -> None:
    warned = ("MT401/bad-one.md", "--static")
    noted = ("MT417/bad-matched.md", "--static", "--results", "fixtures")
    faulty = ("MT305/bad-misspelt.md", "--static", "--results", "fixtures")
    codes = {
        fail_on: [check(*page, "--fail-on", fail_on).returncode for page in (faulty, warned, noted)]
        for fail_on in ("error", "warning", "note")
    }
    assert codes == {"error": [1, 0, 0], "warning": [1, 1, 0], "note": [1, 1, 1]}
    assert "warning MT401" in check(*warned, "--fail-on", "error").stdout
    assert check(*warned).returncode == 1
    assert "no finding is as severe as --fail-on, 1 if one is" in " ".join(check("--help").stdout.split())


def test_notes_alone_do_not_fail() -> None:
    done = check("MT417/bad-matched.md", "--static", "--results", "fixtures")
    assert "note MT417" in done.stdout
    assert done.returncode == 0


def test_a_byte_order_mark_moves_no_column_and_is_not_shown(tmp_path: Path) -> None:
    text = (PAGES / "MT302/bad-misspelt.md").read_text("utf-8")
    page = text[text.index("<!--") :]
    told = []
    for name, content in (("plain.md", page), ("marked.md", f"\ufeff{page}")):
        (tmp_path / name).write_text(content, "utf-8")
        broken = content.replace("MONGO_TABLE:", "MONGO_TABEL:")
        (tmp_path / f"broken-{name}").write_text(broken, "utf-8")
        for command in (["check", name], ["check", f"broken-{name}"], ["explain", name]):
            done = mongo_tables(*command, "--results", str(PAGES / "fixtures"), cwd=tmp_path)
            assert "ufeff" not in done.stdout
            told.append(
                [re.sub(r" *[0-9.]+ ms", " ms", done.stdout.replace(name, "page.md")), done.returncode]
            )
    assert told[:3] == told[3:]


def mongo_tables(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return forked.completed(forked.MONGO_TABLES, arguments, cwd, os.environ)


def test_a_fault_in_another_key_hides_none_of_the_pipeline(tmp_path: Path) -> None:
    body = {"collection": "r", "pipeline": [{"$out": "q"}], "columns": ["a", "b"], "headers": ["A"]}
    (tmp_path / "page.md").write_text(f"<!-- MONGO_TABLE: {json.dumps(body)} -->\n", "utf-8")
    done = check("page.md", "--static", "--format", "json", cwd=tmp_path)
    assert sorted(rules(done)) == ["MT135", "MT201"]
