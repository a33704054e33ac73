"""The schema files decide: the quick look accepts nothing that jsonschema refuses."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.directives.schemas import load, validation
from mongo_tables.jsontext.reader import Document, parse

NAMES = ("table", "chart", "value", "check", "pipeline")
PIPELINE = [{"$match": {"a": 1}}, "first"]
SOUND = {
    "table": {
        "collection": "results", "pipeline": PIPELINE, "columns": ["a", "b.c"], "headers": ["A", "B"],
        "id": "x-1", "title": "T", "caption": "C", "empty": "–", "let": {"x": [1]},
        "format": {"a": {"decimals": 2, "unit": "ms", "align": "left", "thousands": True, "missing": "–", "reason": "R"},
                   "b.c": {"significant": 3, "locale": "de", "percent": True, "currency": "EUR", "currency_place": "after",
                           "duration": "ns", "bytes": "SI", "date": "%Y", "timezone": "UTC", "markdown": True,
                           "link": "{u}", "bar": True, "scale": "diverging"}},
        "markdown": True, "locale": "fr", "totals": {"b.c": "avg"}, "group_rows": "a", "header_groups": {"G": ["b.c"]},
        "spread": {"a": ["l", "h", "n"]}, "provenance": False, "max_age": 30, "measured_of": "a/package.json",
        "baseline": {"row": 1, "column": ["a"], "header": "H", "as": "percent", "comparison": "c"},
        "chart": {"mark": "bar", "x": "a", "y": "b.c", "series": "a", "log": "y"}, "ignore": {"MT120": "why"},
    },
    "chart": {"collection": "c", "pipeline": [], "x": "a", "y": ["b"], "labels": {"a": "A"}, "log": "xy",
        "spread": {"b": ["l", "h"]},
        "provenance": True, "max_age": 1, "measured_of": {"file": "tag", "field": "a.b", "within": "minor"}},
    "value": {"table": "t", "column": "a", "where": {"a": 1}, "format": {"thousands": "."}},
    "check": {"table": "t", "where": {}, "expect": {"a": {"$gt": 1}}, "message": "M"},
    "pipeline": {"$schema": "s", "description": "d", "pipeline": PIPELINE},
}  # fmt: skip
INTRUDERS = st.one_of(
    st.sampled_from([None, True, False, 0, 1, -1, 15, 16, 1.0, 2.5]),
    st.sampled_from(["", "a", "$a", "a..b", "left", "$match", "MT12", "90d", "t\n", "first\n"]),
    st.sampled_from([[], ["a"], [1], {}, {"a": 1}, {"$a": 1}, {"$a": 1, "$b": 2}, {"x": "a", "y": "b"}]),
)


def schemas_within(node):
    """All parts of a schema that are schemas themselves."""
    yield node
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(key), dict):
            yield from schemas_within(node[key])
    for child in node.get("properties", {}).values():
        yield from schemas_within(child)


def places(value, path=()):
    """The paths of all values within a value."""
    yield path
    for key, item in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(item, (*path, key))


def with_intruder(value, path, intruder, key):
    """A copy of ``value`` with ``intruder`` at ``path``, or under ``key`` of the object there."""
    whole = [copy.deepcopy(value)]
    holder, last = whole, 0
    for part in path:
        holder, last = holder[last], part
    if key is not None and isinstance(holder[last], dict):
        holder[last][key] = intruder
    else:
        holder[last] = intruder
    return whole[0]


def findings(name, value):
    """The findings about a comment whose JSON is ``value``, on one line."""
    document = Document("page.md", parse(json.dumps(value)), lambda offset: (1, offset + 1))
    return validation.schema_findings(document, name, "It")


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_comment_is_accepted_by_the_quick_look_and_by_jsonschema(name):
    against = load(name)
    assert validation.surely_valid(validation.rules_of(against), SOUND[name])
    assert jsonschema.Draft7Validator(against).is_valid(SOUND[name])


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=400, deadline=None)
def test_what_the_quick_look_accepts_jsonschema_accepts(name, data):
    value = SOUND[name]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        key = data.draw(st.none() | st.sampled_from(["a", "x", "y", "$a", "format", "title", "column"]))
        value = with_intruder(value, path, data.draw(INTRUDERS), key)
    against = load(name)
    if validation.surely_valid(validation.rules_of(against), value):
        assert jsonschema.Draft7Validator(against).is_valid(value)
    assert bool(findings(name, value)) != jsonschema.Draft7Validator(against).is_valid(value)


@pytest.mark.parametrize(("key", "written"), [("id", "a\n"), ("pipeline", ["first\n"])])
def test_no_name_ends_in_a_line_break(key, written):
    (finding,) = findings("table", {**SOUND["table"], key: written})
    assert key in finding.message


@pytest.mark.parametrize("keyword", ["const", "$ref", "oneOf", "uniqueItems"])
def test_a_keyword_that_the_quick_look_does_not_know_is_left_to_jsonschema(keyword):
    assert not validation.surely_valid(validation.rules_of({keyword: []}), "x")


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_one_of_draft_7_and_each_property_is_explained(name):
    against = load(name)
    jsonschema.Draft7Validator.check_schema(against)
    for part in schemas_within(against):
        for child in part.get("properties", {}).values():
            assert {"title", "description", "markdownDescription", "examples"} <= set(child)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_in_a_schema_is_valid_where_it_stands(name):
    for part in schemas_within(load(name)):
        for example in part.get("examples", ()):
            jsonschema.Draft7Validator(part).validate(example)


def test_sound_comments_do_not_cost_the_import_of_jsonschema():
    script = (
        "import json, sys; from mongo_tables.directives.schemas.validation import schema_findings;"
        "from mongo_tables.jsontext.reader import Document; from mongo_tables.jsontext.reader import parse;"
        "sound = json.loads(sys.argv[1]);"
        "read = {name: Document('', parse(json.dumps(sound[name])), lambda at: (1, at)) for name in sound};"
        "assert not any(schema_findings(read[name], name, '') for name in sound);"
        "sys.exit('jsonschema' in sys.modules)"
    )
    command = [sys.executable, "-c", script, json.dumps(SOUND)]
    root = Path(__file__).parents[3]
    assert subprocess.run(command, check=False, cwd=root).returncode == 0
