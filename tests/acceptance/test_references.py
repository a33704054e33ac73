"""Tables compare rows with the variant that the run of their experiment compares the others with."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.render.comparison import find_baselines
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.model import Query
from mongo_tables.runner.experiment import load
from mongo_tables.runner.result_rows import row_id
from mongo_tables.site.pages import read_page

HERE = Path(__file__).parents[2]
SOURCE = open_fixtures(HERE / "fixtures")
PAGES = sorted((HERE / "docs" / "experiments").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_baseline_of_a_table_of_speeds_is_the_reference_of_its_experiment(page: Path) -> None:
    read = read_page(page.read_text("utf-8"), page.name, SharedPipelines(HERE / "docs" / "pipelines"))
    for table in read.tables:
        if table.baseline is None or table.baseline["column"] != "speed":
            continue
        rows = SOURCE.aggregate(Query(table.collection, tuple(table.pipeline), table.let))
        ((_, (number,)),) = find_baselines(table, rows)
        experiment = load(rows[number]["_id"]["testname"])
        assert rows[number]["_id"] == row_id(experiment, experiment.baseline), table.id
