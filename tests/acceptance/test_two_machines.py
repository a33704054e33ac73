"""The page about two machines has the ratios that ``mongo-tables compare`` gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from preprocessor.results.comparison import compare
from preprocessor.results.fixtures import FixtureSource
from preprocessor.results.model import Query
from preprocessor.specs.sharedpipelines import SharedPipelines

HERE = Path(__file__).parents[2]


def test_rows_have_the_ratios_of_the_command() -> None:
    source = FixtureSource(HERE / "fixtures")
    stages = SharedPipelines(HERE / "docs" / "pipelines")("beside-earlier").stages
    shown = [row for row in source.aggregate(Query("results", stages)) if row["asked"] == "the same"]
    assert len(shown) > 100
    sides = [
        [one for row in shown for one in source.documents(name) if one["_id"] == row["_id"]]
        for name in ("earlier", "results")
    ]
    told = compare(*sides).rows
    assert [row["ratio"] for row in shown] == pytest.approx([one.ratio for one in told])
