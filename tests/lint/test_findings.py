"""Findings as a whole: no pipeline breaks the linter, the same one always gives the same findings."""

from __future__ import annotations

from typing import Any

import bson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.findings.rules import RULES
from mongo_tables.lint.linter import apply_rules
from mongo_tables.lint.row_rules import key_columns
from mongo_tables.lint.rule_context import RuleContext
from mongo_tables.lint.shape.document_shapes import learnt
from mongo_tables.lint.shape.values import unknown_documents
from mongo_tables.site.pages import judge, read_page
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines
from tests.lint.specs import comment_of, table

_COLUMNS = st.lists(
    st.sampled_from(["_id", "n", "x", "made", "o.n", "r.n", "w", "found", "count"]), min_size=1, unique=True
)


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines(), _COLUMNS, st.booleans())
def test_no_pipeline_breaks_the_linter(
    docs: list[dict[str, Any]], pipeline: list[Any], columns: list[str], known: bool
) -> None:
    docs = [bson.decode(bson.encode(one)) for one in docs]
    spec = table(pipeline, columns)
    subject = RuleContext.of(spec, learnt(docs) if known else unknown_documents(), known=known)
    if judge(spec).faults:
        return  # Such a comment never comes to the linter.
    found = apply_rules("pipeline", subject)
    again = RuleContext.of(spec, learnt(docs) if known else unknown_documents(), known=known)
    assert found == apply_rules("pipeline", again)
    found += (
        apply_rules("rows", RuleContext.of(spec, unknown_documents(), known=False), docs) if known else []
    )
    for one in found:
        assert RULES[one.rule].severity == one.severity
        assert one.line >= 1
        assert not one.message.endswith(".") and one.message[:1] == one.message[:1].lower()


def test_a_chart_is_looked_at_as_well() -> None:
    chart = (
        '<!-- MONGO_CHART: {"collection": "c", "pipeline": [{"$limit": 3}, {"$project": {"n": 1, "extra": '
        '{"$add": ["$n", 1]}}}], "x": "n", "y": "m"} -->'
    )
    page = read_page(chart, "page.md", lambda _: None)
    (spec,) = page.specs
    assert isinstance(spec, PipelineSpec)
    rules = {
        one.rule for one in apply_rules("pipeline", RuleContext.of(spec, unknown_documents(), known=False))
    }
    assert rules == {"MT401"}


def test_of_an_unknown_collection_only_the_certain_is_said() -> None:
    pipeline = [
        {"$match": {"a": 1}},
        {"$set": {"mean": {"$avg": "$samples.value"}, "text": {"$toString": "$n"}}},
        {"$project": {"_id": 0, "a": 1, "mean": 1, "text": 1, "b": "$wherever.it.is"}},
        {"$sort": {"text": 1, "b": 1}},
    ]
    spec = table(pipeline, ["a", "mean", "text", "b"])
    assert apply_rules("pipeline", RuleContext.of(spec, unknown_documents(), known=False)) == []


def test_rows_are_told_apart_by_what_they_are_sorted_by() -> None:
    sort = {"$sort": {"disk": 1, "iops": 1, "hidden": 1}}
    assert key_columns(table([sort], ["disk", "speed", "iops"])) == ("disk", "iops")
    assert key_columns(table([{"$sort": {"hidden": 1}}], ["disk", "speed"])) == ("disk",)


def test_repeated_rows_are_told_once() -> None:
    spec = table([{"$sort": {"disk": 1}}], ["disk", "speed"])
    rows = [{"disk": "io2", "speed": 1}, {"disk": "io2", "speed": 2}, {"disk": "io2", "speed": 3}]
    (one,) = apply_rules("rows", RuleContext.of(spec, unknown_documents(), known=False), rows)
    assert (one.rule, one.message.split(":")[0]) == ("MT411", "rows 1 and 2 are both io2 in `disk`")
    assert (
        apply_rules(
            "rows", RuleContext.of(spec, unknown_documents(), known=False), [{"disk": "io2"}, {"disk": "gp3"}]
        )
        == []
    )


def test_a_comment_of_the_generator_reads_as_written() -> None:
    assert comment_of([{"$limit": 1}], ["a"]).count("\n") == 4
