"""Many figures beside a table of thousands of rows are judged at once: held by calls, since times depend on the machine."""

from __future__ import annotations

import cProfile
import json
from pathlib import Path

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.judged import asked

BODY = {
    "id": "speed",
    "collection": "runs",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["name", "kind", "tools", "ops", "p99"],
    "headers": ["Name", "Kind", "Tools", "Speed (inserts/s)", "p99 (ms)"],
}
FIGURES = 40


def calls(sentence: str, count: int, rows: int, folder: Path) -> tuple[int, list[Finding]]:
    """How many calls it takes to judge so many sentences beside a table of so many rows, and what is found."""
    collection = folder / str(rows) / "runs"
    collection.mkdir(parents=True, exist_ok=True)
    documents = (
        {"_id": n, "name": f"case {n}", "kind": "hot", "tools": n, "ops": 1000 + n, "p99": 1 + n / 1000}
        for n in range(rows)
    )
    (collection / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    prose = "\n\n".join(sentence.format(n=n, large=20_000 + 100 * n) for n in range(count))
    page = read_page(
        f"# Runs\n\n{prose}\n\n<!-- MONGO_TABLE: {json.dumps(BODY)} -->\n", "page.md", lambda _: None
    )
    answers = asked(folder / str(rows), page).answers
    profile = cProfile.Profile()
    found = profile.runcall(prose_findings, [page], answers)
    return sum(one.callcount for one in profile.getstats()), found


@pytest.mark.parametrize(
    "sentence",
    [
        "It reaches {large} inserts/s.",
        "The `case {n}` reaches {large} inserts/s.",
        "The hot ones reach {large} inserts/s.",
        "`case {n}` is {large} times faster than `case 7`.",
        "It takes 900.{n}–950.{n} ms.",
    ],
)
def test_a_figure_costs_no_more_where_a_table_has_twenty_times_the_rows(
    sentence: str, tmp_path: Path
) -> None:
    calls(sentence, 1, 100, tmp_path)  # what is imported is imported once
    few, many = ([calls(sentence, count, rows, tmp_path) for count in (1, FIGURES)] for rows in (100, 2000))
    assert min(len(few[1][1]), len(many[1][1])) > 0.9 * FIGURES
    assert many[1][0] - many[0][0] < 1.5 * (few[1][0] - few[0][0])
