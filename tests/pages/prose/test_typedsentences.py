"""Of sentences as READMEs have them, those become values that quote one cell; whatever says more stays as it is typed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from mongo_tables.pages.build import Build
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.model import Page
from mongo_tables.pages.prose.fixing import Fixed, fix_page
from mongo_tables.pages.reading import read_page
from tests.pages.prose.typedsentences import HARMFUL, ORDINARY, ROWS, comment_of

_WRITTEN = re.compile(r"<!-- RESULT_VALUE: (\{.*?\}) -->")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptAnswers]:
    folder = tmp_path_factory.mktemp("results")
    for collection, rows in ROWS.items():
        (folder / f"{collection}.json").write_text(json.dumps(rows))
    opened = KeptAnswers(str(folder))
    yield opened
    opened.close()


def read(text: str, file: str = "README.md") -> Page:
    return read_page(text, file, lambda _: None)


def fix(table: str, prose: str, source: KeptAnswers) -> Fixed:
    page = read(f"# Tool\n\n{prose}\n\n## Results\n\n{comment_of(table)}\n")
    build = Build(source, [page])
    build.ask()
    return fix_page(page, build, read, in_place=True)


def list_values(text: str) -> list[str]:
    """The values of a page: the column of each, and by what its row is selected."""
    bodies = map(json.loads, _WRITTEN.findall(text))
    return [f"{body['column']} of {' '.join(map(str, body['where'].values()))}" for body in bodies]


@pytest.mark.parametrize(("table", "prose", "values"), ORDINARY)
def test_a_sentence_that_quotes_a_cell_gets_its_value(
    table: str, prose: str, values: list[str], source: KeptAnswers
) -> None:
    assert list_values(fix(table, prose, source).text) == values


@pytest.mark.parametrize(("table", "prose"), HARMFUL)
def test_a_sentence_that_says_something_else_stays_as_it_is_typed(
    table: str, prose: str, source: KeptAnswers
) -> None:
    done = fix(table, prose, source)
    assert done.text == done.page.text
