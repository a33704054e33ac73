"""Tables compare rows with the variant that the run of their experiment compares the others with."""

from __future__ import annotations

from pathlib import Path

import pytest

from preprocessor.pages.reading import read_page
from preprocessor.render.comparison import baseline_rows
from preprocessor.results.fixtures import FixtureSource
from preprocessor.results.model import Query
from preprocessor.runner.experiment import load
from preprocessor.runner.result import row_id
from preprocessor.specs.sharedpipelines import SharedPipelines

HERE = Path(__file__).parents[2]
SOURCE = FixtureSource(HERE / "fixtures")
PAGES = sorted((HERE / "docs" / "experiments").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_baseline_of_a_table_of_speeds_is_the_reference_of_its_experiment(page: Path) -> None:
    read = read_page(page.read_text("utf-8"), page.name, SharedPipelines(HERE / "docs" / "pipelines"))
    for table in read.tables:
        if table.baseline is None or table.baseline["column"] != "speed":
            continue
        rows = SOURCE.aggregate(Query(table.collection, tuple(table.pipeline), table.let))
        (number,) = baseline_rows(table, rows)
        experiment = load(rows[number]["_id"]["testname"])
        assert rows[number]["_id"] == row_id(experiment, experiment.baseline), table.id
