"""Reports are sorted, repeat nothing, and cannot be bent by what a message or a file name holds."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.findings.finding import Finding, Place
from mongo_tables.findings.reporters import REPORT_FORMATS, failing, report
from mongo_tables.findings.rules import RULES

ERROR = Finding("docs/b.md", 3, 14, "MT131", "error", "`chart` needs the key `y`.", 'for example: "y": "qps"')
WARNING = Finding("docs/a.md", 12, 1, "MT122", "warning", "the key `j` is given twice")
NOTE = Finding("docs/a.md", 0, 0, "MT142", "note", "About the whole file.")
ALL = [ERROR, WARNING, NOTE, ERROR]

FINDINGS = st.builds(
    Finding,
    st.text(min_size=1),
    st.integers(0, 99),
    st.integers(1, 99),
    st.sampled_from([*RULES]),
    st.sampled_from(["error", "warning", "note"]),
    st.text(),
    st.text(),
)


def test_text_has_a_line_for_each_finding_its_hint_under_it_and_a_summary():
    assert report(ALL, "text") == (
        "docs/a.md: note MT142 About the whole file.\n"
        "docs/a.md:12:1: warning MT122 the key `j` is given twice\n"
        "docs/b.md:3:14: error MT131 `chart` needs the key `y`.\n"
        '  hint: for example: "y": "qps"\n'
        "1 error, 1 warning, 1 note in 2 files\n"
    )


def test_every_form_names_the_place_in_another_file_that_a_finding_is_about() -> None:
    related = (Place("docs/pipelines/b.json", 2, 5),)
    finding = Finding("docs/a.md", 1, 9, "MT301", "error", "Here.", "Do it.", related)
    lines = report([finding], "text").splitlines()
    assert lines[1:3] == ["  in docs/pipelines/b.json:2:5", "  hint: Do it."]
    (plain,) = json.loads(report([finding], "json"))["findings"]
    assert plain["related"] == [{"file": "docs/pipelines/b.json", "line": 2, "column": 5}]
    assert "Here.%0Ain docs/pipelines/b.json:2:5%0Ahint" in report([finding], "github")
    (result,) = json.loads(report([finding], "sarif"))["runs"][0]["results"]
    (location,) = result["relatedLocations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/pipelines/b.json"},
        "region": {"startLine": 2, "startColumn": 5},
    }


def test_text_shows_the_line_that_is_meant_when_the_source_is_given():
    source = 'x\r\ny\r\n\t"chart": {é "mark": 1}\r\n'
    assert report([ERROR], "text", sources={"docs/b.md": source}).splitlines()[1:3] == [
        '        "chart": {é "mark": 1}',
        "                    ^",
    ]


def test_an_excerpt_of_a_long_line_is_cut_around_the_place():
    finding = Finding("a.md", 1, 501, "MT120", "error", "Here.")
    line, caret = report([finding], "text", sources={"a.md": "-" * 500 + "X" + "-" * 500}).splitlines()[1:3]
    assert len(line) < 110
    assert line[caret.index("^")] == "X"


def test_a_place_beyond_the_source_has_no_excerpt():
    assert "^" not in report([ERROR], "text", sources={"docs/b.md": "one line"})


def test_color_changes_nothing_but_the_look():
    colored = report(ALL, "text", color=True)
    assert "\x1b[31merror" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == report(ALL, "text")


def test_json_holds_every_field_and_the_counts():
    content = json.loads(report(ALL, "json"))
    assert content["summary"] == {"error": 1, "warning": 1, "note": 1, "files": 2}
    assert content["findings"][2] == {
        "file": "docs/b.md",
        "line": 3,
        "column": 14,
        "rule": "MT131",
        "name": "missing-key",
        "severity": "error",
        "message": ERROR.message,
        "hint": ERROR.hint,
    }


def test_github_gets_one_workflow_command_for_each_finding():
    assert report(ALL, "github").splitlines() == [
        "::notice file=docs/a.md,title=MT142 shared-pipeline-unreadable::About the whole file.",
        "::warning file=docs/a.md,line=12,col=1,title=MT122 repeated-key::the key `j` is given twice",
        "::error file=docs/b.md,line=3,col=14,title=MT131 missing-key::`chart` needs the key `y`."
        '%0Ahint: for example: "y": "qps"',
    ]


def test_github_commands_cannot_be_forged_by_a_file_name_or_a_message():
    forged = Finding("a,line=9::b%\n.md", 1, 1, "MT120", "error", "100 %\r\n::error::forged")
    (line,) = report([forged], "github").splitlines()
    assert line == (
        "::error file=a%2Cline=9%3A%3Ab%25\\n.md,line=1,col=1,title=MT120 json-syntax"
        "::100 %25\\r\\n::error::forged"
    )


def test_sarif_has_rules_with_their_meaning_and_results_with_their_place():
    log = json.loads(report(ALL, "sarif"))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert run["columnKind"] == "unicodeCodePoints"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(RULES)
    assert [result["level"] for result in run["results"]] == ["note", "warning", "error"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    whole, _, placed = (result["locations"][0]["physicalLocation"] for result in run["results"])
    assert "region" not in whole
    assert placed == {"artifactLocation": {"uri": "docs/b.md"}, "region": {"startLine": 3, "startColumn": 14}}


def test_sarif_names_a_file_by_a_uri_reference():
    log = json.loads(report([Finding("docs/ä b#1.md", 1, 1, "MT120", "error", "x")], "sarif"))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "docs/%C3%A4%20b%231.md"


@pytest.mark.parametrize(("form", "said"), [("text", ""), ("github", "")])
def test_without_findings_there_is_nothing_to_read(form, said):
    assert report([], form) == said


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_without_findings_a_machine_still_gets_a_whole_document(form):
    content = json.loads(report([], form))
    assert content.get("findings", content.get("runs", [{}])[0].get("results")) == []


@pytest.mark.parametrize(
    ("findings", "code"), [([], 0), ([NOTE], 0), ([NOTE, WARNING], 1), ([ERROR], 1), ([WARNING], 1)]
)
def test_errors_and_warnings_fail_a_build_and_notes_do_not(findings, code):
    assert bool(failing(findings, "warning")) == code


def test_the_summary_counts_each_finding_once():
    assert report([ERROR, ERROR], "text").endswith("\n1 error in 1 file\n")
    other = Finding("c.md", 1, 1, "MT120", "error", "x")
    assert report([ERROR, WARNING, other], "text").endswith("\n2 errors, 1 warning in 3 files\n")


@given(st.lists(FINDINGS, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_in_which_findings_were_met_does_not_matter(findings, random):
    shuffled = [*findings, *findings]
    random.shuffle(shuffled)
    for form in REPORT_FORMATS:
        assert report(shuffled, form) == report(findings, form)


@given(st.lists(FINDINGS, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_no_report_holds_a_character_that_a_terminal_obeys(findings):
    for form in REPORT_FORMATS:
        said = report(findings, form)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said)
    assert len(report(findings, "github").splitlines()) == len(set(findings))


def _read_plain(written: dict[str, Any]) -> Finding:
    related = tuple(Place(**each) for each in written.get("related", ()))
    return Finding(**{key: written[key] for key in written if key != "name"} | {"related": related})


@given(st.lists(FINDINGS, max_size=4))
@settings(max_examples=60, deadline=None)
def test_json_and_sarif_lose_nothing(findings):
    expected = sorted(set(findings))
    plain = json.loads(report(findings, "json"))["findings"]
    assert [_read_plain(each) for each in plain] == expected
    results = json.loads(report(findings, "sarif"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [each.rule for each in expected]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert [unquote(uri) for uri in uris] == [each.file for each in expected]
