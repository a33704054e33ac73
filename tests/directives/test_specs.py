"""Comments become specs; every fault of a comment is told in one go, at its line and column in the page."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.directives import reader, references, specs
from mongo_tables.directives.body_checks import SETTINGS
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import ChartSettings

HERE = Path(__file__).parent
FAULTY = sorted((HERE / "faulty").glob("*.md"))


def read_all(text):
    """The specs and findings of all comments of a page."""
    shared = SharedPipelines(HERE / "shared")
    outcomes = [reader.read(comment, "page.md", shared) for comment in find(text, "page.md").comments]
    return [one.spec for one in outcomes], [finding for one in outcomes for finding in one.findings]


def read_one(body, keyword="MONGO_TABLE"):
    (spec,), findings = read_all(f"# Page\n\n<!-- {keyword}: {body} -->\n")
    return spec, findings


def table(**more):
    return {"collection": "c", "pipeline": [], "columns": ["a"], "headers": ["A"], **more}


@pytest.mark.parametrize("page", FAULTY, ids=lambda page: page.stem)
def test_a_faulty_page_gets_exactly_the_findings_written_at_its_end(page):
    text = page.read_bytes().decode("utf-8")
    expected = re.search(r"```findings\n(.*?)```", text, re.DOTALL).group(1).splitlines()
    read, findings = read_all(text)
    told = [
        f"{each.line}:{each.column} {each.rule} {each.message}" + (f" | {each.hint}" if each.hint else "")
        for each in sorted(findings)
    ]
    # "…" stands for a list of names that grows with the program.
    forms = [".+".join(map(re.escape, one.split("…"))) for one in expected]
    matched = [
        want if re.fullmatch(form, said) else said
        for said, want, form in zip(told, expected, forms, strict=False)
    ]
    assert matched + told[len(expected) :] == expected
    for spec in filter(None, read):  # Only columns that are not shown were set: the others can be checked.
        (first, body) = spec.comment.line, spec.comment.body
        assert {one.rule for one in findings if first <= one.line <= first + body.count("\n")} == {"MT136"}
        assert not any(getattr(spec, key, None) for key in SETTINGS)


def test_a_finding_points_at_the_same_text_when_lines_end_in_carriage_returns():
    text = (HERE / "faulty" / "stages.md").read_bytes().decode("utf-8")
    assert read_all(text.replace("\n", "\r\n"))[1] == read_all(text)[1]


def test_the_four_keys_of_an_existing_document_make_a_table():
    spec, findings = read_one(
        '\n{ "collection": "results",\n "pipeline": [ {"$match": {"_id.testname": "x"}}, {"$limit": 1} ],\n'
        ' "columns": ["_id.testname", "duration"], "headers": ["Test", "Time Taken (s) "] }\n'
    )
    assert findings == []
    assert spec.collection == "results"
    assert spec.pipeline == ({"$match": {"_id.testname": "x"}}, {"$limit": 1})
    assert spec.columns == ("_id.testname", "duration")
    assert spec.headers == ("Test", "Time Taken (s) ")
    assert (spec.id, spec.title, spec.chart, spec.format, spec.let, spec.ignore) == (
        None,
        None,
        None,
        {},
        {},
        {},
    )


def test_every_key_of_a_table_reaches_its_spec():
    spec, findings = read_one(
        json.dumps(
            table(
                id="speed",
                title="Speed",
                caption="Of inserts.",
                empty="None yet.",
                format={
                    "a": {"decimals": 1.0, "unit": "ms", "align": "right", "thousands": " ", "missing": "–"}
                },
                let={"since": {"$date": "2026-01-31T00:00:00Z"}},
                baseline={"row": {"at": {"$numberLong": "5"}}, "column": "a", "as": "ratio"},
                chart={"x": "a", "y": ["a"], "mark": "dot", "log": "xy"},
                ignore={"MT120": "because"},
            )
        )
    )
    assert findings == []
    assert (spec.id, spec.title, spec.caption, spec.empty) == (
        "speed", "Speed", "Of inserts.", "None yet.",
    )  # fmt: skip
    assert spec.format == {"a": specs.ColumnFormat(1, "ms", "right", " ", "–")}
    assert spec.let == {"since": datetime(2026, 1, 31)}
    assert type(spec.baseline["row"]["at"]).__name__ == "Int64"
    assert spec.chart == ChartSettings(x="a", y=("a",), mark="dot", log="xy")
    assert spec.ignore == {"MT120": "because"}


def test_charts_values_and_checks_have_specs_of_their_own():
    chart, none = read_one('{"collection": "c", "pipeline": [], "x": "a", "y": "b"}', "MONGO_CHART")
    assert (type(chart), chart.drawn, none) == (specs.ChartSpec, ChartSettings(x="a", y=("b",)), [])
    value, none = read_one('{"table": "t", "column": "a", "format": {"decimals": 0}}', "MONGO_VALUE")
    assert (type(value), value.table, value.column, value.where, none) == (specs.ValueSpec, "t", "a", {}, [])
    assert value.format == specs.ColumnFormat(decimals=0)
    check, none = read_one('{"table": "t", "expect": {"a": {"$gt": {"$numberLong": "1"}}}}', "MONGO_CHECK")
    assert (type(check), check.table, check.expect, none) == (specs.CheckSpec, "t", {"a": {"$gt": 1}}, [])


def test_a_key_given_twice_with_one_value_is_a_warning_and_the_table_works():
    spec, (warning,) = read_one('{"collection": "c", "pipeline": [{"$project": {"j": 1, "j": 1}}],\n'
                                '"columns": ["j"], "headers": ["J"]}')  # fmt: skip
    assert (warning.rule, warning.severity, warning.line) == ("MT122", "warning", 3)
    assert spec.pipeline == ({"$project": {"j": 1}},)


def test_a_value_is_located_where_it_stands_and_a_key_where_it_stands():
    text = (
        '{"collection": "c", "columns": ["a"],\n  "headers": ["A"],\n'
        '  "pipeline": [{"$set": {"x": {"$add": [1, 2]}}}]}'
    )
    spec, _ = read_one(text)
    assert spec.locate(("pipeline", 0, "$set", "x", "$add", 1)) == (5, 44)
    assert spec.locate(("pipeline", 0, "$set", "x", "$add"), key=True) == (5, 32)
    assert spec.locate(("pipeline", 0, "$set", "y", "z")) == spec.locate(("pipeline", 0, "$set"))
    assert spec.locate(("pipeline", 9)) == spec.locate(("pipeline",))
    assert spec.locate(("title",)) == (3, 19)


def test_shared_stages_take_the_place_of_their_name_and_are_located_there():
    body = table(pipeline=[{"$match": {}}, "base-instance", {"$sort": {"a": 1}}])
    spec, findings = read_one(json.dumps(body))
    assert findings == []
    assert spec.pipeline == ({"$match": {}}, {"$set": {"threads": 10}}, {"$limit": 1}, {"$sort": {"a": 1}})
    assert type(spec.pipeline[1]["$set"]["threads"]).__name__ == "Int64"
    name = (3, 19 + json.dumps(body).index('"base-instance"'))
    assert spec.locate(("pipeline", 1, "$set", "threads")) == name
    assert spec.locate(("pipeline", 2)) == name
    assert spec.locate(("pipeline", 3, "$sort", "a")) == (3, 19 + json.dumps(body).index("1}}"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wrong", [("wrong.json", 3, 5, "MT134")]),
        ("naming", [("naming.json", 1, 3, "MT140")]),
        ("round", [("turn.json", 1, 3, "MT141")]),
        ("binary", [("binary.json", 1, 1, "MT142")]),
        ("nowhere", [("page.md", 3, 52, "MT140")]),
    ],
)
def test_faults_of_shared_lists_are_told_where_they_stand(name, expected):
    spec, findings = read_one(json.dumps(table(pipeline=[name])))
    assert spec is None
    assert [(Path(each.file).name, each.line, each.column, each.rule) for each in findings] == expected


def test_a_page_without_shared_lists_has_none_by_any_name():
    (comment,) = find(f"<!-- MONGO_TABLE: {json.dumps(table(pipeline=['a']))} -->", "page.md").comments
    (finding,) = reader.read(comment, "page.md", lambda name: None).findings
    assert (finding.rule, finding.message) == ("MT140", "unknown shared stage list `a`")


def test_a_cycle_of_shared_lists_is_told_with_its_way_round():
    _, (finding,) = read_one(json.dumps(table(pipeline=["round"])))
    assert finding.message == "`round` contains itself: round → turn → round"


@pytest.mark.parametrize("name", ["../test_specs", "/etc/passwd", "", "a/b", "first.json"])
def test_no_name_leads_out_of_the_folder_of_shared_lists(name):
    assert SharedPipelines(HERE / "shared")(name).file is None


def test_a_shared_list_says_what_its_fields_mean_and_those_of_the_lists_that_it_names(tmp_path):
    lists = {
        "outer": {"fields": {"a": "of outer"}, "pipeline": ["inner", {"$set": {"a": 1}}]},
        "inner": {"fields": {"a": "of inner", "b": "of inner"}, "pipeline": [{"$set": {"a": 0, "b": 0}}]},
        "words": {"fields": {"c": "of words"}, "pipeline": []},
    }
    for name, body in lists.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    page = f"<!-- MONGO_TABLE: {json.dumps(table(pipeline=['words', 'outer']))} -->\n"
    (comment,) = find(page, "page.md").comments
    outcome = reader.read(comment, "page.md", SharedPipelines(tmp_path))
    assert not outcome.findings
    assert outcome.spec.meanings == {"a": "of outer", "b": "of inner", "c": "of words"}


def test_a_shared_list_says_why_a_column_lacks_values_unless_the_column_does(tmp_path):
    lists = {
        "outer": {"reasons": {"a": "of outer", "d": "no column"}, "pipeline": ["inner"]},
        "inner": {"reasons": {"a": "of inner", "b": "of inner", "c": "of inner"}, "pipeline": []},
    }
    for name, body in lists.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    form = {"b": {"decimals": 1, "missing": "–"}, "c": {"reason": "of the column"}}
    body = table(pipeline=["outer"], columns=["a", "b", "c"], headers=["A", "B", "C"], format=form)
    (comment,) = find(f"<!-- MONGO_TABLE: {json.dumps(body)} -->\n", "page.md").comments
    found = reader.read(comment, "page.md", SharedPipelines(tmp_path)).spec.format
    assert {name: (one.reason, one.missing, one.decimals) for name, one in found.items()} == {
        "a": ("of outer", None, None),
        "b": ("of inner", "–", 1),
        "c": ("of the column", None, None),
    }


@pytest.mark.parametrize("key", ["fields", "reasons"])
@pytest.mark.parametrize("told", [{"a": 1}, {"a": ""}, ["a"], "a"])
def test_what_fields_mean_and_why_they_lack_is_a_text_for_each(key, told, tmp_path):
    text = json.dumps({key: told, "pipeline": []})
    (tmp_path / "first.json").write_text(text, encoding="utf-8")
    assert [one.severity for one in SharedPipelines(tmp_path)("first").findings] == ["error"]


def test_two_tables_with_one_id_are_told_at_the_later_one():
    read, _ = read_all("".join(f"<!-- MONGO_TABLE: {json.dumps(table(id=name))} -->\n\n" for name in "aba"))
    (finding,) = references.duplicate_ids([("page.md", read)])
    assert (finding.rule, finding.line) == ("MT138", 5)
    assert finding.message == "the id `a` is already used: page.md, line 1"


def test_a_value_of_an_unknown_table_is_told_with_the_nearest_id():
    value, _ = read_one('{"table": "insert-sped", "column": "a"}', "MONGO_VALUE")
    (finding,) = references.unknown_tables([value], ["insert-speed"])
    assert (finding.rule, finding.hint) == ("MT139", "did you mean `insert-speed`?")
    assert references.unknown_tables([value], ["insert-sped"]) == []


def test_the_id_of_a_faulty_table_is_still_known():
    (comment,) = find('<!-- MONGO_TABLE: {"id": "speed", "x": 1} -->', "page.md").comments
    assert reader.read(comment, "page.md", SharedPipelines(HERE / "shared")).spec is None
    assert references.find_written_ids(comment.parsed) == ["speed"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "$a", "a.b", "left", "90d", "MT120", "first"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["$match", "a", "x", "y", "row", "column", "id", "$date", "decimals", "link", "date", "thousands"]
        ),
        inner,
        max_size=3,
    ),
    max_leaves=6,
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "pipeline",
        "columns",
        "headers",
        "format",
        "locale",
        "totals",
        "group_rows",
        "header_groups",
        "markdown",
        "chart",
        "baseline",
        "let",
        "ignore",
        "id",
        "where",
    ]
)


@given(st.sampled_from(list(KEYWORDS)), st.dictionaries(KEYS, JSON, max_size=4))
@settings(max_examples=150, deadline=None)
def test_whatever_a_comment_holds_its_findings_stand_within_the_page(keyword, body):
    text = f"<!-- {keyword}: {json.dumps(table(**body), indent=1)} -->"
    (spec,), findings = read_all(text)
    assert (spec is None) == any(each.severity == "error" for each in findings)
    lines = text.split("\n")
    assert all(1 <= each.line <= len(lines) for each in findings)
    assert all(1 <= each.column <= len(lines[each.line - 1]) + 1 for each in findings)


@given(st.text('{}[]",: \nabc01$\\', max_size=40))
@settings(max_examples=150, deadline=None)
def test_whatever_text_a_comment_holds_nothing_breaks(body):
    read_all(f"<!-- MONGO_TABLE: {body} -->")
