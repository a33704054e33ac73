"""Thirty-two published pipelines with known defects: each is told, at its line.

The page is not part of this project; whoever has it holds it against the list of its defects by
``python -m tests.outside published FOLDER``. The suite has the same defects in the small pages beside this file.
"""

from __future__ import annotations

import copy
import re
from collections import Counter

import pytest
from bson import json_util

from mongo_tables.findings.finding import Finding
from mongo_tables.site.pages import read_page
from tests.judged import asked
from tests.outside import outside_folder
from tests.resultdocuments import result_documents

PAGE = outside_folder() / "seeds/mongodb-performance-tables.md"

# What each rule must tell, by the numbers of the pipelines in the order of the page.
BASE = [1, 4, 7, 10, 13, 16, 19, 22, 24, 27, 30]
INSERTS = [2, 5, 8, 11, 14, 17]
TOLD = {
    "MT122": [21, 26, 29, 32],
    "MT305": [5, 6, 8, 9, 28, 29],
    "MT401": BASE,
    "MT404": INSERTS,
    "MT408": [17, 18],
    "MT411": [31, 32],
}
# Rules that tell more than the list has, all of it true: the pipelines of the list must be among them.
AMONG = {
    "MT402": [5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 21, 26, 29, 32],
    "MT403": [20, 21],
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    documents = result_documents()
    other = copy.deepcopy(documents[-1])
    for place in (other["_id"], other["variant"]):
        place["instance"]["atlasInstanceType"] = "M60"
    folder = tmp_path_factory.mktemp("fixtures") / "results"
    folder.mkdir()
    lines = [
        # Sizes of machines whose texts sort otherwise than they do.
        json_util.dumps(one, json_options=json_util.CANONICAL_JSON_OPTIONS).replace("M80", "M200")
        for one in [*documents, other]
    ]
    (folder / "all.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    build = asked(folder.parent, read_page(PAGE.read_text("utf-8"), PAGE.name, lambda _: None))
    return build.findings


def pipelines(findings: list[Finding], rule: str) -> list[int]:
    """The numbers of the pipelines that a rule speaks of."""
    starts = [
        number
        for number, line in enumerate(PAGE.read_text("utf-8").splitlines(), 1)
        if re.match("<!-- MONGO_TABLE", line)
    ]
    told = {sum(start <= one.line for start in starts) for one in findings if one.rule == rule}
    return sorted(told)


@pytest.mark.parametrize("rule", TOLD)
def test_a_rule_tells_just_the_pipelines_that_have_the_defect(findings: list[Finding], rule: str) -> None:
    assert pipelines(findings, rule) == sorted(TOLD[rule])


@pytest.mark.parametrize("rule", AMONG)
def test_a_rule_tells_all_pipelines_that_have_the_defect(findings: list[Finding], rule: str) -> None:
    assert set(AMONG[rule]) <= set(pipelines(findings, rule))


def test_nothing_else_is_told(findings: list[Finding]) -> None:
    assert {one.rule for one in findings} == {*TOLD, *AMONG}


def test_nothing_is_told_twice(findings: list[Finding]) -> None:
    places = Counter((one.rule, one.line, one.column) for one in findings)
    assert set(places.values()) == {1}


def test_defects_stand_at_their_lines(findings: list[Finding]) -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    texts = {
        "MT305": '"$sort"',
        "MT401": '"$limit"',
        "MT404": '"Speed (MB/s)"',
        "MT408": '"$sort"',
    }
    for one in findings:
        # A $sort may stand on a line of its own before its keys.
        assert texts.get(one.rule, "") in lines[one.line - 1], one
