"""A header tells what its column means, in the words of the schema of results."""

from __future__ import annotations

import pytest

from mongo_tables.lint.column_help import column_meanings
from mongo_tables.render.html import figure_html
from tests.render.specs import table


def meanings(pipeline, *columns, **keys):
    return column_meanings(table(*columns, pipeline=pipeline, **keys))


def test_a_column_that_is_a_field_has_its_title_unit_and_description():
    assert meanings([{"$project": {"size": "$variant.docSizeKB"}}], "size") == {
        "size": "Size of a document (KiB): Minimum size of a document; 1 KiB is 1,024 bytes."
    }


def test_a_field_keeps_its_meaning_through_every_stage_that_keeps_its_value():
    pipeline = [
        {"$match": {"_id.testname": "insert"}},
        {"$set": {"cpu": "$hardware.cpu"}},
        {"$sort": {"cpu": 1}},
        {"$group": {"_id": {"machine": "$cpu"}}},
    ]
    assert meanings(pipeline, "_id.machine") == {"_id.machine": "Processor: Model of the processor."}


def test_a_computed_column_has_no_unit_of_its_own_but_names_its_sources_with_theirs():
    pipeline = [{"$project": {"speed": {"$divide": ["$work.documents", "$duration"]}}}]
    assert meanings(pipeline, "speed") == {
        "speed": "Computed from Duration (duration, milliseconds) and Documents (work.documents, documents)."
    }


def test_a_column_computed_from_one_field_says_what_that_is():
    pipeline = [{"$project": {"seconds": {"$divide": ["$duration", 1000]}}}]
    text = meanings(pipeline, "seconds")["seconds"]
    assert text.startswith("Computed from Duration (duration, milliseconds): Length of the timed window")


def test_a_source_that_no_schema_describes_is_named_beside_those_it_does():
    pipeline = [{"$project": {"share": {"$divide": ["$mine", "$duration"]}}}]
    assert meanings(pipeline, "share") == {
        "share": "Computed from Duration (duration, milliseconds) and mine."
    }


def test_a_series_is_named_instead_of_the_arrays_on_the_way_to_it():
    one = {
        "$filter": {
            "input": "$metrics.measurements",
            "cond": {"$eq": ["$$this.name", "OP_EXECUTION_TIME_READS"]},
        }
    }
    pipeline = [
        {"$set": {"series": {"$first": one}}},
        {"$project": {"mean": {"$avg": "$series.dataPoints.value"}}},
    ]
    assert meanings(pipeline, "mean") == {
        "mean": "Computed from OP_EXECUTION_TIME_READS (metrics.measurements)."
    }


@pytest.mark.parametrize(
    "pipeline",
    [
        [{"$project": {"n": "$mine"}}],
        [{"$project": {"n": {"$literal": 1}}}],
        [{"$group": {"_id": None, "n": {"$sum": 1}}}],
    ],
)
def test_nothing_is_said_where_nothing_is_known(pipeline):
    assert meanings(pipeline, "n") == {}


def test_the_meaning_stands_at_the_header_and_is_never_markup():
    spec = table("a", "b", headers=["A <b>", "B"], format={"a": {"unit": "s"}})
    html = figure_html(spec, [{"a": 1, "b": 2}], meanings={"a": '"><script>alert(1)</script>'})
    assert (
        '<abbr title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">A &lt;b&gt;</abbr> '
        '<span class="mongo-table__unit">s</span></th>' in html
    )
    assert '<th scope="col" style="text-align: right;">B</th>' in html


def test_a_column_that_compares_does_not_borrow_the_meaning_of_its_neighbour():
    baseline = {"row": {"a": 1}, "column": "b"}
    html = figure_html(
        table("a", "b", baseline=baseline), [{"a": 1, "b": 2}, {"a": 2, "b": 3}], meanings={"b": "Speed."}
    )
    assert html.count("Speed.") == 1
    assert html.count("The difference between the column before it and the baseline row.") == 1
