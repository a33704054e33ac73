"""What authors are told of elements that are taken out of an array whose elements nothing has put in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lint.test_order import check

GOALS = {"$group": {"_id": None, "goals": {"$addToSet": "$goals"}}}


def shown(expression: Any) -> dict[str, Any]:
    return {"$project": {"_id": 0, "one": expression}}


@pytest.mark.parametrize(
    "taken",
    [
        {"$first": "$goals"},
        {"$last": "$goals"},
        {"$arrayElemAt": ["$goals", 1]},
        {"$toString": {"$sum": {"$slice": ["$goals", 2]}}},
        {"$sum": {"$firstN": {"input": "$goals", "n": 2}}},
        {"$first": {"$filter": {"input": "$goals", "cond": {"$gt": ["$$this", 1]}}}},
        {
            "$reduce": {
                "input": "$goals",
                "initialValue": "",
                "in": {"$concat": ["$$value", {"$toString": "$$this"}]},
            }
        },
    ],
)
def test_an_element_of_a_set_that_is_taken_by_its_place_is_warned_of(tmp_path: Path, taken: Any) -> None:
    assert check(tmp_path, [GOALS, shown(taken)], ["one"]) == (1, ["MT424 warning"])
    in_order = {"$set": {"goals": {"$sortArray": {"input": "$goals", "sortBy": 1}}}}
    assert check(tmp_path, [GOALS, in_order, shown(taken)], ["one"]) == (0, [])


def test_a_set_that_has_another_name_by_then_is_the_same_set(tmp_path: Path) -> None:
    renamed = {"$set": {"all": "$goals"}}
    assert check(tmp_path, [GOALS, renamed, shown({"$first": "$all"})], ["one"]) == (1, ["MT424 warning"])


def test_an_element_of_an_array_that_stands_as_documents_are_stored_is_warned_of(tmp_path: Path) -> None:
    group = {"$group": {"_id": None, "names": {"$push": "$name"}}}
    first = shown({"$first": "$names"})
    assert check(tmp_path, [group, first], ["one"]) == (1, ["MT424 warning"])
    assert check(tmp_path, [{"$sort": {"_id": 1}}, group, first], ["one"]) == (0, [])


@pytest.mark.parametrize(
    "computed",
    [{"$sum": "$goals"}, {"$max": "$goals"}, {"$size": "$goals"}, {"$size": {"$slice": ["$goals", 2]}}],
)
def test_what_does_not_go_by_places_is_silent(tmp_path: Path, computed: Any) -> None:
    assert check(tmp_path, [GOALS, shown(computed)], ["one"]) == (0, [])


def test_the_only_element_of_a_set_is_no_chance(tmp_path: Path) -> None:
    ada = [{"$match": {"name": "Ada"}}, GOALS, shown({"$first": "$goals"})]
    assert check(tmp_path, ada, ["one"]) == (0, [])


def test_each_array_of_a_stage_is_told_by_itself(tmp_path: Path) -> None:
    group = {"$group": {"_id": None, "g": {"$addToSet": "$goals"}, "n": {"$addToSet": "$name"}}}
    both = {"$project": {"_id": 0, "best": {"$max": "$g"}, "name": {"$first": "$n"}}}
    assert check(tmp_path, [group, both], ["best", "name"]) == (1, ["MT424 warning"])
    both = {"$project": {"_id": 0, "one": {"$first": "$g"}, "name": {"$first": "$n"}}}
    assert check(tmp_path, [group, both], ["one", "name"]) == (1, ["MT424 warning"] * 2)


def test_where_every_document_has_a_field_an_element_of_it_is_not_said_to_lack_it(tmp_path: Path) -> None:
    pipeline = [GOALS, {"$set": {"one": {"$first": "$goals"}}}, {"$project": {"_id": 0, "one": 1}}]
    assert check(tmp_path, pipeline, ["one"], "--static") == (0, [])
