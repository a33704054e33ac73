"""A published page of thirty-two tables with typed numbers, whose claims somebody has held to its tables.

Neither the page nor its figures are part of this project: ``python -m tests.outside published FOLDER``.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest

from mongo_tables.commands.check.numbers import control
from mongo_tables.site.numbers.classes import TextNumber, classify_numbers, open_findings
from mongo_tables.site.pages import read_page, tables_by_id
from tests.outside import outside_folder

SHARED = outside_folder()
PAGE = SHARED / "seeds/mongodb-performance-tables.md"
CLAIMS = SHARED / "published/unibench_prose_claims.csv"


def value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@pytest.fixture(scope="module")
def numbers() -> list[TextNumber]:
    rows: dict[int, list[dict[str, Any]]] = {}
    for file in sorted(SHARED.glob("published/unibench_*.csv")):
        for row in csv.DictReader(file.open(encoding="utf-8")):
            if at := re.search(r"MONGO_TABLE line (\d+)", row.get("source") or ""):
                own = {name: value(text) for name, text in row.items() if text}
                rows.setdefault(int(at[1]), []).append(own)
    page = read_page(PAGE.read_text("utf-8"), PAGE.name, lambda _: None)
    answers = {
        spec.query.key: [
            {name: one for name, one in row.items() if name in spec.columns}
            for row in rows[spec.comment.line]
        ]
        for spec in page.tables
    }
    return classify_numbers([page], tables_by_id([page]), answers)


def claimed(*verdicts: str) -> set[int]:
    """Lines of the claims with one of these verdicts."""
    rows = csv.DictReader(CLAIMS.open(encoding="utf-8"))
    return {int(row["source"].rsplit(" ", 1)[1]) for row in rows if row["agrees"].split(" (")[0] in verdicts}


@pytest.mark.parametrize("line", [880, 1023, 1052, 1287, 1292])
def test_numbers_with_a_unit_that_the_tables_contradict_are_warnings(
    line: int, numbers: list[TextNumber]
) -> None:
    assert line in claimed("no", "M60 only") | {1023}
    assert line in {one.line for one in open_findings(numbers)}


def test_numbers_that_are_found_agree_with_the_tables(numbers: list[TextNumber]) -> None:
    found = {one.at[0] for one in numbers if one.kind == "found"}
    # Line 369 says of how many documents of 1 KB; the size is found, and the count has no unit.
    assert found & claimed("no") <= {369}
    assert len(found) >= 35


def test_few_numbers_are_found_by_chance(numbers: list[TextNumber]) -> None:
    # Rounded IOPS are many of its numbers, and 3,000 is in most rows.
    assert control(numbers) < 0.125
