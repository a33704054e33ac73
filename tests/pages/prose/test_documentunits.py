"""Figures of benchmarks have the unit that their documents carry, though no header and no format says one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages.prose.telling import tell, write_rows

TIMES = {"rg": 0.0812, "git grep": 0.225, "ag": 0.432, "grep": 1.27}
BODY = {
    "id": "bench",
    "collection": "bench",
    "where": {"metric": "time"},
    "columns": ["name", "mean"],
    "sort": "-mean",
}
WRONG = "rg takes 9.9 seconds, and grep takes 55 ms."


def document(name: str, mean: float, unit: str = "s") -> dict[str, Any]:
    known = {"name": name, "benchmark": name, "metric": "time", "unit": unit, "tool": "hyperfine"}
    return {"_id": name, **known, "value": mean, "mean": mean, "max": 2 * mean, "count": 12}


def told(prose: str, tmp_path: Path, body: dict[str, Any] = BODY, unit_of_grep: str = "s") -> list[str]:
    """What is told of a sentence above a table of benchmarks; figures as they are written, directions by their word."""
    units = {"grep": unit_of_grep}
    rows = [document(name, mean, units.get(name, "s")) for name, mean in TIMES.items()]
    write_rows(tmp_path, "bench", rows)
    return tell(f"{prose}\n\n<!-- MONGO_TABLE: {json.dumps(body)} -->\n", tmp_path)


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        (WRONG, ["9.9 seconds", "55 ms"]),
        ("rg takes 81 ms, and grep takes 1.27 seconds.", []),
        ("rg takes 225 ms, git grep 81.2 ms.", ["225 ms", "81.2 ms"]),
        ("ag takes 5.3× longer than rg.", []),
        ("ag takes 7.3× longer than rg.", ["7.3×"]),
        ("ag is faster than rg.", ["faster"]),
        ("rg is faster than ag.", []),
    ],
)
def test_sentences_are_held_to_the_times_of_a_table_that_names_no_unit(
    prose: str, figures: list[str], tmp_path: Path
) -> None:
    assert told(prose, tmp_path) == figures


@pytest.mark.parametrize(
    "stages",
    [
        [{"$match": {"mean": {"$gt": 0}}}, {"$limit": 9}],
        [{"$project": {"name": 1, "metric": 1, "tool": 1, "unit": 1, "mean": 1}}],
        [{"$set": {"other": {"$multiply": ["$mean", 2]}}}],
    ],
)
def test_so_they_are_where_the_pipeline_leaves_the_figures_as_they_came(
    stages: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert told(WRONG, tmp_path, _with_stages(stages)) == ["9.9 seconds", "55 ms"]


@pytest.mark.parametrize(
    "stages",
    [
        [{"$set": {"mean": {"$multiply": ["$mean", 1000]}}}],  # milliseconds, by now
        [{"$project": {"name": 1, "mean": 1}}],
        [{"$group": {"_id": "$name", "name": {"$first": "$name"}, "mean": {"$avg": "$mean"}}}],
    ],
)
def test_of_what_a_pipeline_computes_no_document_says_the_unit(
    stages: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert told(WRONG, tmp_path, _with_stages(stages)) == []


def _with_stages(stages: list[dict[str, Any]]) -> dict[str, Any]:
    body = {key: value for key, value in BODY.items() if key not in ("where", "sort")}
    return {**body, "pipeline": [*stages, {"$sort": {"_id": 1}}]}


def test_rows_of_different_units_have_none_in_common(tmp_path: Path) -> None:
    assert told(WRONG, tmp_path, unit_of_grep="MB") == []


def test_a_count_beside_the_figures_has_no_unit(tmp_path: Path) -> None:
    assert told(WRONG, tmp_path, {**BODY, "columns": ["name", "count"]}) == []


def test_a_header_says_another_unit_than_the_documents(tmp_path: Path) -> None:
    assert told("grep takes 1.27 ms.", tmp_path, {**BODY, "headers": ["Name", "Mean (ms)"]}) == []
