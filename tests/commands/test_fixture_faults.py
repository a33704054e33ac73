"""What is wrong with fixture files is said as all else is: rule, file, place and hint, in every form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables
from tests.hosts.inprocess import CONFIG, ROWS, built, table, write

BROKEN = f'{ROWS}{{"_id": 3, "a": }}\n{{"_id": 4, "at": {{"$oid": "1"}}}}\n'
WORDS = [
    ("fixtures/r/r.jsonl", 3, 17, "MT310", "error", "a value is missing before `}`"),
    ("fixtures/r/r.jsonl", 4, 27, "MT310", "error", "`$oid` is malformed"),
]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(
        tmp_path,
        {
            "mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n",
            "docs/index.md": f"# Home\n\n{table('one')}\n\n{table('two', least=4)}\n",
            "fixtures/r/r.jsonl": BROKEN,
        },
    )


def test_every_fault_of_a_fixture_file_is_a_finding(site: Path) -> None:
    found = json.loads(mongo_tables("check", "--format", "json", cwd=site, expect=1).stdout)["findings"]
    keys = ("file", "line", "column", "rule", "severity", "message")
    assert [tuple(one[key] for key in keys) for one in found] == WORDS
    assert all(one["hint"] for one in found)


def test_no_rule_is_ignored_in_vain_where_the_linter_had_nothing_to_look_at(site: Path) -> None:
    ignoring = table("one").replace('"id"', '"ignore": {"MT402": "kept for readers"}, "id"')
    write(site, {"docs/index.md": f"# Home\n\n{ignoring}\n"})
    found = json.loads(mongo_tables("check", "--format", "json", cwd=site, expect=1).stdout)["findings"]
    assert {one["rule"] for one in found} == {"MT310"}


def test_a_build_says_the_same_of_a_fixture_file_as_a_check(site: Path) -> None:
    outcome = built(site)
    assert not outcome.done
    told = [line for line in outcome.errors if "MT310" in line]
    for line, (file, row, column, rule, _, message) in zip(told, WORDS, strict=True):
        assert line.startswith(f"{file}:{row}:{column}: {rule} {message} (")


def test_text_and_annotations_name_rule_and_place_of_every_fault(site: Path) -> None:
    text = mongo_tables("check", cwd=site, expect=1)
    assert text.stderr == ""
    for file, line, column, rule, severity, message in WORDS:
        assert f"{file}:{line}:{column}: {severity} {rule} {message}\n  hint: " in text.stdout
    annotations = mongo_tables("check", "--format", "github", cwd=site, expect=1).stdout.splitlines()
    assert [line.startswith("::error file=fixtures/r/r.jsonl,line=") for line in annotations] == [True, True]
    sarif = json.loads(mongo_tables("check", "--format", "sarif", cwd=site, expect=1).stdout)
    assert [one["ruleId"] for one in sarif["runs"][0]["results"]] == ["MT310", "MT310"]


def test_a_command_that_needs_the_documents_says_it_in_the_same_words(site: Path) -> None:
    done = mongo_tables("render", "docs/index.md", cwd=site, expect=2)
    for file, line, column, rule, severity, message in WORDS:
        assert f"{file}:{line}:{column}: {severity} {rule} {message}\n  hint: " in done.stderr


def test_of_very_many_faults_the_others_are_counted(site: Path) -> None:
    write(site, {"fixtures/r/r.jsonl": ROWS + "{\n" * 50})
    found = mongo_tables("check", cwd=site, expect=1).stdout
    assert found.count("error MT310") == 21
    assert "fixtures/r/r.jsonl: error MT310 fixture files have 30 more faults" in found


def test_a_link_to_nothing_is_a_finding_of_its_own_file(site: Path) -> None:
    write(site, {"fixtures/r/r.jsonl": ROWS})
    (site / "fixtures" / "r" / "y.jsonl").symlink_to("gone.jsonl")
    found = mongo_tables("check", cwd=site, expect=1).stdout
    assert "fixtures/r/y.jsonl: error MT310 a link to gone.jsonl, which does not exist\n  hint: " in found
    assert any("y.jsonl: MT310 a link to gone.jsonl" in line for line in built(site).errors)
