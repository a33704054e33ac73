"""A published page of thirty-two tables with typed figures: how many that contradict its tables are told.

Neither the page nor its figures are part of this project; whoever has them holds them against the list of its claims by
``python -m tests.outside published FOLDER``. The rows of each table are the published ones.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.outside import outside_folder

SHARED = outside_folder()
PAGE = SHARED / "seeds/mongodb-performance-tables.md"
CLAIMS = SHARED / "published/unibench_prose_claims.csv"

IN_TABLES = {1023, 1287}
"""Lines with a number that a table of their section contradicts, of the claims that disagree.

Of the others two compare rows (20-30 percent, about 40 percent), where other rows of the section happen to fit; the
rest disagree with settings that no table of the page shows."""


def value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    rows: dict[int, list[dict[str, Any]]] = {}
    for file in sorted(SHARED.glob("published/unibench_*.csv")):
        for row in csv.DictReader(file.open(encoding="utf-8")):
            if at := re.search(r"MONGO_TABLE line (\d+)", row.get("source") or ""):
                rows.setdefault(int(at[1]), []).append(
                    {name: value(text) for name, text in row.items() if text}
                )
    page = read_page(PAGE.read_text("utf-8"), PAGE.name, lambda _: None)
    answers = {
        spec.query.key: [
            {name: one for name, one in row.items() if name in spec.columns}
            for row in rows[spec.comment.line]
        ]
        for spec in page.tables
    }
    return prose_findings([page], answers)


def claimed(verdicts: set[str]) -> set[int]:
    """Lines of the claims with one of these verdicts."""
    rows = csv.DictReader(CLAIMS.open(encoding="utf-8"))
    return {int(row["source"].rsplit(" ", 1)[1]) for row in rows if row["agrees"].split(" (")[0] in verdicts}


def test_figures_that_the_tables_contradict_are_told(found: list[Finding]) -> None:
    assert {one.line for one in found} >= IN_TABLES


def test_figures_that_agree_with_a_table_are_not_told(found: list[Finding]) -> None:
    agreeing = claimed({"yes", "approx."})
    told = [one for one in found if one.line in agreeing]
    # In line 1250 it is arithmetic, a quarter of a speed; in line 616 the one row of another table is called `standard`,
    # a word of the sentence. In line 212 it is another figure of the same line, which no table has.
    assert {one.line for one in told} <= {212, 616, 1250}


def test_a_figure_of_another_row_than_the_one_that_its_sentence_names_is_told(found: list[Finding]) -> None:
    assert claimed({"M60 only"}) <= {one.line for one in found}


def test_few_figures_are_told_in_vain(found: list[Finding]) -> None:
    """Every other one is a limit or a step that is quoted, and that no table has."""
    assert len(found) <= 13
