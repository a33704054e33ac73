"""``mongo-tables explain`` explains rules and keys offline, from the records that the program runs on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.commands.explain.reference import explain_word
from mongo_tables.directives.schemas import COMMENTS, load
from mongo_tables.findings.rules import RULES
from mongo_tables.lint.linter import may_be_ignored
from tests.commands.test_commands import mongo_tables


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule) -> None:
    told = " ".join(" ".join(explain_word(rule.id, 400) or ()).split())
    assert told.startswith(f"{rule.id} {rule.name} ({rule.severity}) {rule.summary}")
    assert (f'"ignore": {{"{rule.id}"' in told) == may_be_ignored(rule.id, rule.severity)


def test_a_rule_of_the_linter_is_shown_wrong_and_right(tmp_path: Path) -> None:
    told = mongo_tables("explain", "mt411", cwd=tmp_path).stdout
    assert "\nbad: " in told and "\ngood: " in told and told.count("<!-- MONGO_TABLE: {") == 2
    assert "Found:" not in told


@pytest.mark.parametrize("kind", COMMENTS)
def test_every_comment_and_every_key_of_it_is_explained(kind: str) -> None:
    listed = "\n".join(explain_word(f"RESULT_{kind.upper()}", 100) or ())
    assert listed == "\n".join(explain_word(f"MONGO_{kind.upper()}", 100) or ())
    for key, about in load(kind)["properties"].items():
        assert f"  {key} " in listed
        told = " ".join(" ".join(explain_word(key, 100) or ()).split())
        assert about["description"][:60].split(" ")[0] in told
        for example in about["examples"]:
            assert f"{json.dumps({key: example}, ensure_ascii=False)[1:-1]}".split(" ")[0] in told


def test_a_key_inside_another_is_found_with_and_without_it(tmp_path: Path) -> None:
    short = mongo_tables("explain", "decimals", cwd=tmp_path).stdout
    assert short == mongo_tables("explain", "format.decimals", cwd=tmp_path).stdout
    assert short.startswith("format.decimals (RESULT_CHART; RESULT_TABLE; RESULT_VALUE)\n")
    assert '\n  "decimals": 1\n' in short
    told = mongo_tables("explain", "columns", cwd=tmp_path).stdout
    assert "columns (RESULT_TABLE, required)" in told


def test_a_key_with_keys_inside_lists_them() -> None:
    for key in ("baseline", "chart"):
        told = "\n".join(explain_word(key, 100) or ())
        for inner, about in load("table")["properties"][key]["properties"].items():
            assert f"\n  {inner} " in told and about["title"] in told
        assert told.endswith(f"`mongo-tables explain {key}.KEY` explains a key")
    assert 'compare a rate: "compute": {"rate": "1000 / ms"}' in " ".join(
        "\n".join(explain_word("baseline", 100) or ()).split()
    )


def test_a_word_that_is_nearly_one_is_suggested_and_a_file_comes_first(tmp_path: Path) -> None:
    for word, meant in (("colums", "columns"), ("RESULT_TABEL", "RESULT_TABLE"), ("MT4111", "MT411")):
        told = mongo_tables("explain", word, cwd=tmp_path, expect=2).stderr
        assert f"{word}: no such file\n  hint: did you mean" in told and f"`{meant}`?" in told
    assert "or a key" in mongo_tables("explain", "zzzz.md:3", cwd=tmp_path, expect=2).stderr
    (tmp_path / "columns").write_text("no comment\n")
    assert "columns: not a page" in mongo_tables("explain", "columns", cwd=tmp_path, expect=2).stderr
