"""Of sentences as READMEs have them, those become values that quote one cell; whatever says more stays as it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from preprocessor.pages.model import Page
from preprocessor.pages.prose.fixing import Fixed, fix_page
from preprocessor.pages.reading import read_page
from tests.judged import asked
from tests.pages.prose.typedsentences import HARMFUL, ORDINARY, ROWS, comment_of

_WRITTEN = re.compile(r"<!-- RESULT_VALUE: (\{.*?\}) -->")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for collection, rows in ROWS.items():
        (folder / f"{collection}.json").write_text(json.dumps(rows))
    return folder


def read(text: str, file: str = "README.md") -> Page:
    return read_page(text, file, lambda _: None)


def fix(table: str, prose: str, results: Path) -> Fixed:
    page = read(f"# Tool\n\n{prose}\n\n## Results\n\n{comment_of(table)}\n")
    return fix_page(page, asked(results, page), read, in_place=True)


def list_values(text: str) -> list[str]:
    """The values of a page: the column of each, and by what its row is selected."""
    bodies = map(json.loads, _WRITTEN.findall(text))
    return [f"{body['column']} of {' '.join(map(str, body['where'].values()))}" for body in bodies]


@pytest.mark.parametrize(("table", "prose", "values"), ORDINARY)
def test_a_sentence_that_quotes_a_cell_gets_its_value(
    table: str, prose: str, values: list[str], results: Path
) -> None:
    assert list_values(fix(table, prose, results).text) == values


@pytest.mark.parametrize(("table", "prose"), HARMFUL)
def test_a_sentence_that_says_something_else_stays_as_it_is_typed(
    table: str, prose: str, results: Path
) -> None:
    done = fix(table, prose, results)
    assert done.text == done.page.text
