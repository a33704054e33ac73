"""The page about two machines judges by the rule that ``mongo-tables compare`` judges by."""

from __future__ import annotations

from pathlib import Path

import pytest

from preprocessor.results.comparison import compare
from preprocessor.results.fixtures import FixtureSource
from preprocessor.results.model import Query
from preprocessor.specs.sharedpipelines import SharedPipelines

HERE = Path(__file__).parents[2]
NOT_COMPARED = {"at a set rate", "other amounts", "not measured earlier"}


def test_rows_have_the_ratios_and_the_verdicts_of_the_command() -> None:
    source = FixtureSource(HERE / "fixtures")
    stages = SharedPipelines(HERE / "docs" / "pipelines")("beside-earlier").stages
    shown = [row for row in source.aggregate(Query("results", stages)) if row["verdict"] not in NOT_COMPARED]
    assert len(shown) > 100
    sides = [
        [one for row in shown for one in source.documents(name) if one["_id"] == row["_id"]]
        for name in ("earlier", "results")
    ]
    told = compare(*sides).rows
    assert [row["verdict"] for row in shown] == [one.verdict for one in told]
    assert [row["ratio"] for row in shown] == pytest.approx([one.ratio for one in told])
