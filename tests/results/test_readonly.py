from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bson.code import Code

from mongo_tables.aggregation import NotOffline, check
from mongo_tables.aggregation.catalogue import forbidden_operators, operators
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.results.guards import guard, refusals
from mongo_tables.results.model import Query, ResultsError

ROOT = Path(__file__).parents[2]


def paths(pipeline: list[Any]) -> list[tuple[str | int, ...]]:
    return [refusal.at for refusal in refusals(pipeline)]


@pytest.mark.parametrize(
    "stage", sorted(name for name, why in forbidden_operators().items() if why != "code")
)
def test_a_stage_that_writes_or_reads_server_state_is_refused(stage: str):
    assert paths([{"$match": {}}, {stage: {}}]) == [(1, stage)]


@pytest.mark.parametrize(
    "operator", sorted(name for name, why in forbidden_operators().items() if why == "code")
)
def test_an_operator_that_runs_code_is_refused_in_expressions_and_filters(operator: str):
    assert paths([{"$set": {"x": {"$add": [1, {operator: {}}]}}}]) == [(0, "$set", "x", "$add", 1, operator)]
    assert paths([{"$match": {"$or": [{operator: "1"}]}}]) == [(0, "$match", "$or", 0, operator)]
    assert paths([{"$match": {"$expr": {"$not": {operator: {}}}}}]) == [
        (0, "$match", "$expr", "$not", operator)
    ]
    assert paths([{"$group": {"_id": None, "x": {operator: {}}}}]) == [(0, "$group", "x", operator)]


@pytest.mark.parametrize(
    ("stage", "path"),
    [
        (
            {"$lookup": {"from": "b", "as": "b", "pipeline": [{"$out": "x"}]}},
            ("$lookup", "pipeline", 0, "$out"),
        ),
        ({"$facet": {"one": [{"$limit": 1}, {"$merge": "x"}]}}, ("$facet", "one", 1, "$merge")),
        (
            {"$unionWith": {"coll": "b", "pipeline": [{"$facet": {"f": [{"$out": "x"}]}}]}},
            ("$unionWith", "pipeline", 0, "$facet", "f", 0, "$out"),
        ),
        (
            {"$rankFusion": {"input": {"pipelines": {"a": [{"$collStats": {}}]}}}},
            ("$rankFusion", "input", "pipelines", "a", 0, "$collStats"),
        ),
    ],
)
def test_pipelines_inside_pipelines_are_looked_through(stage: dict[str, Any], path: tuple[str | int, ...]):
    assert paths([stage]) == [(0, *path)]


def test_every_refusal_is_reported_in_reading_order():
    assert paths([{"$out": "a"}, {"$match": {"$where": "1"}}]) == [(0, "$out"), (1, "$match", "$where")]


def test_javascript_as_a_value_is_refused_even_as_data():
    assert paths([{"$set": {"x": Code("1")}}]) == [(0, "$set", "x")]
    assert paths([{"$set": {"x": {"$literal": [Code("1")]}}}]) == [(0, "$set", "x", "$literal", 0)]


def test_a_field_that_only_has_such_a_name_is_data():
    assert paths([{"$set": {"x": {"$literal": {"$out": 1, "a": {"$where": 2}}}}}]) == []
    assert paths([{"$match": {"metrics.$where": 1, "out": "$out"}}, {"$project": {"merge": "$merge"}}]) == []


def test_the_variables_of_a_query_are_looked_through_as_well():
    with pytest.raises(ResultsError, match=r"\$function runs code"):
        guard(Query("results", (), {"x": {"$function": {}}}))


def test_the_error_tells_the_place_and_that_nothing_was_sent():
    with pytest.raises(ResultsError) as caught:
        guard(Query("results", ({"$match": {}}, {"$out": "x"})))
    assert caught.value.path == (1, "$out")
    assert not caught.value.environment
    assert "nothing was sent" in caught.value.hint


# Names that some server of MongoDB knows, and one that none does; what they do is not promised, or not known here.
INTERNAL = """
    $_internalJsReduce $_internalJsEmit $_internalInhibitOptimization $_internalSplitPipeline $_internalFindElemMatch
    $_internalSchemaEq $_internalExprEq $_internalKeyStringValue $_internalSetWindowFields $_internalAnythingToCome
""".split()
UNKNOWN = ["$rank_again", "$runCommand", "$eval", "$listEverything", "$divde"]
AT = [
    ("{}", ()),
    ("set", (0, "$set", "x", "$add", 1)),
    ("group", (0, "$group", "x")),
    ("bucketAuto", (0, "$bucketAuto", "output", "x")),
    ("lookup", (0, "$lookup", "pipeline", 0)),
    ("let", (0, "$lookup", "let", "x")),
    ("facet", (0, "$facet", "a", 0)),
    ("unionWith", (0, "$unionWith", "pipeline", 0)),
    ("graphLookup", (0, "$graphLookup", "restrictSearchWithMatch")),
    ("geoNear", (0, "$geoNear", "query")),
    ("vectorSearch", (0, "$vectorSearch", "filter", "a")),
    ("match", (0, "$match")),
    ("field", (0, "$match", "a")),
    ("and", (0, "$match", "$and", 0)),
    ("not", (0, "$match", "a", "$not")),
    ("elemMatch", (0, "$match", "a", "$elemMatch")),
    ("all", (0, "$match", "a", "$all", 0, "$elemMatch")),
    ("expr", (0, "$match", "$expr", "$eq", 0)),
    ("branches", (0, "$set", "x", "$switch", "branches", 0, "then")),
    ("window", (0, "$setWindowFields", "output", "x")),
    ("search", (0, "$search", "compound", "filter", 0)),
]


def at(path: tuple[str | int, ...], value: Any) -> Any:
    """A pipeline with ``value`` at a path, and nothing beside it."""
    for key in reversed(path or (0,)):
        value = [value] if isinstance(key, int) else {key: value}
    return value


@pytest.mark.parametrize("path", [path for _, path in AT], ids=[name for name, _ in AT])
@pytest.mark.parametrize("name", INTERNAL + UNKNOWN)
def test_a_name_that_is_not_known_to_only_read_is_refused_wherever_a_server_looks_for_an_operator(
    name: str, path: tuple[str | int, ...]
):
    pipeline = at(path, {name: {"data": "$a"}})
    where = tuple(0 if isinstance(key, int) else key for key in (path or (0,)))
    assert paths(pipeline) == [(*where, name)]
    with pytest.raises(ResultsError, match=r"only read|is internal to the server"):
        guard(Query("results", tuple(pipeline)))


@pytest.mark.parametrize("name", INTERNAL)
def test_what_is_internal_to_the_server_is_refused_as_a_variable_and_among_data_as_well(name: str):
    assert [one.at for one in refusals({"v": {"$add": [1, {name: 1}]}})] == [("v", "$add", 1, name)]
    assert paths([{"$match": {"a": {"$eq": {"b": {name: 1}}}}}]) == [(0, "$match", "a", "$eq", "b", name)]


def test_a_name_that_is_nearly_known_is_told_with_the_one_that_is_meant():
    (one,) = refusals([{"$set": {"x": {"$divde": [1, 2]}}}])
    assert one.hint == "did you mean `$divide`?"


def test_names_in_a_literal_and_those_of_a_database_reference_are_data():
    literals = {"$set": {"x": {"$literal": {"$new": 1}}, "y": {"$const": {"$new": 1}}}}
    reference = {"$match": {"b": {"$ref": "x", "$id": 1, "$db": "y"}}}
    assert paths([literals, reference]) == []


def test_a_literal_hides_nothing_in_a_query_which_has_no_such_operator():
    literal = {"$literal": {"$where": "1"}}
    assert paths([{"$match": {"a": literal}}]) == [(0, "$match", "a", "$literal", "$where")]
    assert paths([{"$match": {"$expr": {"$eq": ["$a", literal]}}}]) == []


@pytest.mark.parametrize(
    "stage",
    [
        {"$geoNear": {"near": {"type": "Point", "coordinates": [0, 0]}, "query": {"a": {"$gt": 1}}}},
        {"$search": {"text": {"query": "a", "path": "b"}}},
        {"$vectorSearch": {"index": "v", "path": "p", "filter": {"a": {"$in": [1]}}}},
        {"$match": {"$text": {"$search": "a", "$language": "en", "$caseSensitive": True}}},
        {"$match": {"at": {"$geoWithin": {"$geometry": {"type": "Polygon", "coordinates": []}}}}},
        {"$match": {"at": {"$near": {"$geometry": {}, "$maxDistance": 1, "$minDistance": 0}}}},
        {"$set": {"x": {"$meta": "textScore"}, "y": {"$similarityCosine": ["$a", "$b"]}}},
        {"$setWindowFields": {"sortBy": {"a": 1}, "output": {"x": {"$minMaxScaler": {"input": "$a"}}}}},
    ],
)
def test_what_a_newer_server_has_and_only_reads_is_let_through(stage: dict[str, Any]):
    assert paths([stage]) == []
    with pytest.raises(NotOffline):
        check([stage])


@pytest.mark.parametrize("one", operators(), ids=lambda one: f"{one.kind} {one.name}")
def test_of_the_catalogue_what_writes_runs_code_or_tells_the_state_of_a_server_is_refused(one: Any):
    does_more = any(word in one.refused for word in ("writes", "JavaScript", "state of a server"))
    assert bool(paths([{"$match": {}}, {one.name: {}}])) == does_more


@pytest.mark.parametrize(
    ("stage", "key"),
    [
        ({"$lookup": {"from": {"db": "config", "coll": ""}, "as": "a", "pipeline": []}}, "from"),
        ({"$lookup": {"from": {"db": "local", "coll": "oplog.rs"}, "as": "a", "pipeline": []}}, "from"),
        ({"$graphLookup": {"from": {"db": "other", "coll": "b"}}}, "from"),
        ({"$unionWith": {"coll": {"db": "other", "coll": "b"}}}, "coll"),
        ({"$unionWith": {"db": "config", "coll": ""}}, "db"),
    ],
)
def test_a_join_with_another_database_is_refused(stage: dict[str, Any], key: str):
    ((name, _),) = stage.items()
    assert paths([stage]) == [(0, name, key)]
    assert paths([{"$facet": {"f": [stage]}}]) == [(0, "$facet", "f", 0, name, key)]


def test_every_pipeline_of_the_documentation_is_let_through():
    from mongo_tables.directives.pipelines import SharedPipelines
    from mongo_tables.site.pages import read_page

    shared = SharedPipelines(ROOT / "docs/pipelines")
    pages = [
        read_page(page.read_text("utf-8"), page.name, shared)
        for page in sorted((ROOT / "docs").rglob("*.md"))
    ]
    specs = [spec for page in pages for spec in page.specs if isinstance(spec, PipelineSpec)]
    assert len(specs) > 100
    assert [spec.file for spec in specs if refusals(spec.pipeline) or refusals(spec.let)] == []


class OtherList(list[Any]):
    """A list as some readers of YAML and TOML return it."""


@pytest.mark.parametrize(
    "pipeline",
    [
        OtherList([{"$out": "x"}]),
        ({"$facet": {"a": OtherList([{"$match": {"$where": "x"}}])}},),
        ({"$set": {"a": [OtherList([{"$function": {"body": "x"}}])]}},),
        ({"$set": {"a": OtherList([Code("x")])}},),
    ],
)
def test_a_list_of_another_class_hides_nothing_from_the_guard(pipeline: Any):
    with pytest.raises(ResultsError):
        guard(Query("r", pipeline))
