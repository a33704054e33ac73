"""No text of a page, and no text of a document, makes a command hang."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.directives.containers import _RULE
from tests import forked
from tests.commands.test_commands import mongo_tables

MANY = 20_000
TABLE = {"collection": "runs", "pipeline": [{"$project": {"n": 1}}], "columns": ["n"], "headers": ["N"]}
TEXTS = {
    "a rule that is none": "-" * 60 + "x",
    "stars": "* " * 2000 + "x",
    "templates without an end": "{{" * (MANY // 2),
    "tags without an end": "{%" * MANY,
    "a marker without an end": "<!-- mongo-tables: begin" + " " * MANY,
    "an attribute without an end": "<a " + "b='" * MANY,
    "quotes": "> " * MANY + "x",
    "backticks": "`" * MANY + " a",
    "a template and backticks": "{{ a }} " + "`" * MANY + " a" * MANY,
    "a template and fences of all lengths": "{{ a }}\n"
    + "\n".join("`" * length + "\na" for length in range(200, 2, -1)),
    # Ten characters more each than in the others.
    "inclusions without an end": '{% include "a" ' * (MANY // 4),
}


def _project(folder: Path, text: str, table: dict[str, object]) -> Path:
    (folder / "docs").mkdir()
    comment = f"<!-- MONGO_TABLE: {json.dumps(table)} -->"
    (folder / "docs" / "page.md").write_text(f"# Runs\n\n{text}\n\n{comment}\n")
    (folder / "fixtures" / "runs").mkdir(parents=True)
    (folder / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 1}\n')
    return folder


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_with_hostile_text_is_checked(tmp_path: Path, name: str) -> None:
    folder = _project(tmp_path, TEXTS[name], TABLE)
    done = forked.completed(forked.MONGO_TABLES, ["check", "--numbers"], folder, os.environ, seconds=60)
    assert "Traceback" not in done.stderr


def test_an_id_of_many_templates_leaves_the_table_of_a_value_to_the_build(tmp_path: Path) -> None:
    first = {**TABLE, "id": "a{{x}}" * 30 + "b", "generated": True}
    folder = _project(tmp_path, "", first)
    value = {"table": "a" * 200, "column": "n"}
    page = folder / "docs" / "page.md"
    page.write_text(f"{page.read_text()}\n<!-- MONGO_VALUE: {json.dumps(value)} -->\n")
    assert "MT175" in mongo_tables("check", cwd=folder).stdout


@pytest.mark.parametrize("text", ["1" * 200_000 + "x", "0x" + "1" * 200_000 + "z", "1" * 200_000 + ".x"])
def test_a_long_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(AggregationError):
        aggregate([{"s": text}], [{"$project": {"n": {"$toDouble": "$s"}}}])


@pytest.mark.parametrize("piece", [r"\g{a ", r"\p{", "[:a", "{ ", r"\g{" + " " * 4_000])
def test_a_regular_expression_of_many_beginnings_is_judged(piece: str) -> None:
    with pytest.raises(AggregationError):
        aggregate([{"s": "a"}], [{"$match": {"s": {"$regex": f"({piece * 4_000}"[:20_000]}}}])


@pytest.mark.parametrize(
    "stage",
    [{"$unset": 5}, {"$group": 5}, {"$facet": {"a": 5}}],
)
def test_a_malformed_stage_behind_one_that_only_a_server_runs_is_an_error(
    tmp_path: Path, stage: dict[str, object]
) -> None:
    folder = _project(tmp_path, "", {**TABLE, "pipeline": [{"$search": {"text": {}}}, stage]})
    done = mongo_tables("check", "--static", cwd=folder, expect=1)
    assert "MT301" in done.stdout and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "is_rule"),
    [("---", True), ("- - -", True), ("-  -  -  ", True), ("***", True), ("-   -   -", False), ("--", False), ("---x", False), (" ___   ", True), ("-*-", False)],
)  # fmt: skip
def test_a_rule_is_what_it_was(line: str, is_rule: bool) -> None:
    assert bool(_RULE.match(line)) == is_rule
