"""A first table of rows of a run shows the variants, their speed and what was concluded of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from mongo_tables.commands.init.columns import suggest_for_runs
from mongo_tables.commands.init.draft import propose_comment
from mongo_tables.commands.init.setup import plan
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import Limits
from mongo_tables.runner.store import FileStore


def row(test: str, /, **variant: Any) -> dict[str, Any]:
    """A row as a run writes it, as far as a table reads it."""
    return {
        "_id": dict(sorted({**variant, "testname": test}.items())),
        "start_time": datetime(2026, 11, 29),
        "duration": 700,
        "speed": {"median": 1234.5, "low": 1200.0, "high": 1300.0, "blocks": 3},
        "comparison": {
            "against": "size 1", "ratio": 0.9, "low": 0.85, "high": 0.95, "p": 0.01, "blocks": 3, "margin": 0.1,
            "verdict": "slower",
        },
    }  # fmt: skip


def test_documents_of_another_shape_are_no_rows_of_a_run() -> None:
    assert suggest_for_runs([]) is None
    assert suggest_for_runs([row("a", size=1), {"_id": 1, "speed": {"median": 2.0}}]) is None


@pytest.mark.parametrize(
    ("variants", "names", "sort"),
    [
        ([{"size": 1, "documents": 400}, {"size": 4, "documents": 100}], ["documents"], ["documents"]),
        ([{"kind": "UUID"}, {"kind": "ObjectId"}], ["kind"], ["_id"]),
        ([{"order": 1, "comment": "b"}, {"order": 2, "comment": "a"}], ["comment"], ["order"]),
        (
            [{"size": size, "threads": threads} for size in (1, 4) for threads in (1, 8)],
            ["size", "threads"],
            ["size", "threads"],
        ),
        (
            [{"size": size, "target": target} for size in (1, 4) for target in "ab"],
            ["target", "size"],
            ["target", "size"],
        ),
    ],
)
def test_a_variant_is_named_by_the_fewest_parameters(
    variants: list[dict[str, Any]], names: list[str], sort: list[str]
) -> None:
    found = suggest_for_runs([row("t", **one) for one in variants])
    assert found is not None
    assert found.columns == [*(f"_id.{name}" for name in names), "speed.median", "comparison"]
    assert found.sort == [name if name == "_id" else f"_id.{name}" for name in sort]


def test_rows_of_several_experiments_are_those_of_the_first_and_the_others_are_named() -> None:
    found = suggest_for_runs([row("a", size=1), row("a", size=2), row("b", size=1)])
    assert found is not None and found.where == {"_id.testname": "a"}
    assert found.remarks == [
        'the table shows `a`; other experiments are b: `"where": {"_id.testname": "b"}` shows one'
    ]


def test_a_set_up_shows_rows_of_a_run_before_what_was_published(tmp_path) -> None:
    store = FileStore(tmp_path / "fixtures")
    store.put(row("a", size=1), row("a", size=4))
    store.publish("a", [{"_id": {"row": 1, "testname": "a"}, "testname": "a", "figures": {"speed": 2}}])
    (page,) = [one for one in plan(tmp_path, None).files if one.file.suffix == ".md"]
    assert '"columns": ["_id.size", "speed.median", "comparison"]' in page.after
    assert "10 % slower (5 to 15 %)" in page.after and "1,235 |" in page.after


def test_a_comment_for_a_collection_of_runs_shows_speeds_without_comparisons_where_there_are_none(
    tmp_path,
) -> None:
    paced = [
        {name: value for name, value in row("a", size=size).items() if name != "comparison"}
        for size in (1, 4)
    ]
    FileStore(tmp_path).put(*paced)
    found = propose_comment(Answers(str(tmp_path), Limits()), "MONGO_TABLE")
    assert list(found.paths) == ["_id.size", "speed.median"]
    assert not found.ignored
