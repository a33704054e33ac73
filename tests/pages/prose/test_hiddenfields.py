"""What a benchmark tool prints beside the figure that our table shows is held to its own field, and is no contradiction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.pages.build import Build
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.prose.fixing import fix_page
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.pages.prose.telling import list_quoted

OURS = {
    "id": "bench",
    "collection": "bench",
    "where": {"metric": "time"},
    "columns": ["name", "value"],
    "headers": ["Benchmark", "Time"],
    "sort": "_id",
    "format": {"value": {"duration": "s"}},
}
TIMES = {"sleep 0.05": [0.0531, 0.0558, 0.0591], "sleep 0.2": [0.2031, 0.2059, 0.2093]}
HEADERS = ("Command", "Mean [ms]", "Min [ms]", "Max [ms]", "User [ms]", "Relative")
ROWS = {
    "sleep 0.05": ["55.8 ± 2.8", "53.1", "59.1", "1.4", "1.00"],
    "sleep 0.2": ["205.9 ± 2.8", "203.1", "209.3", "1.3", "3.69 ± 0.19"],
}


@pytest.fixture
def source(tmp_path: Path):
    """The file of hyperfine that the table was printed beside."""
    results = [
        {
            "command": name,
            "mean": times[1],
            "stddev": 0.0028,
            "user": 0.0013,
            "system": 0.0011,
            "median": times[1],
            "min": times[0],
            "max": times[2],
            "times": times,
        }
        for name, times in TIMES.items()
    ]
    (tmp_path / "bench.json").write_text(json.dumps({"results": results}))
    opened = KeptAnswers(str(tmp_path))
    yield opened
    opened.close()


def page_with(rows: dict[str, list[str]], headers: tuple[str, ...], *, beside: bool) -> str:
    lines = [headers, ["---"] * len(headers), *([f"`{name}`", *cells] for name, cells in rows.items())]
    typed = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    heading = "" if beside else "## Results\n\n"
    return f"# Tool\n\n## Benchmarks\n\n{typed}\n\n{heading}<!-- MONGO_TABLE: {json.dumps(OURS)} -->\n"


def built(text: str, source: KeptAnswers) -> Build:
    build = Build(source, [read_page(text, "README.md", lambda _: None)])
    build.ask()
    assert [one for one in build.findings() if one.severity == "error"] == []
    return build


def told(
    rows: dict[str, list[str]],
    source: KeptAnswers,
    headers: tuple[str, ...] = HEADERS,
    *,
    beside: bool = True,
) -> list[str]:
    build = built(page_with(rows, headers, beside=beside), source)
    return list_quoted(prose_findings(build.pages, build.answers))


@pytest.mark.parametrize("beside", [True, False])
def test_the_table_that_hyperfine_prints_agrees_with_its_file(beside: bool, source: KeptAnswers) -> None:
    assert told(ROWS, source, beside=beside) == []


@pytest.mark.parametrize("beside", [True, False])
def test_names_that_were_mixed_up_in_it_are_told(beside: bool, source: KeptAnswers) -> None:
    first, second = ROWS.values()
    means = {"sleep 0.2": [first[0], *second[1:]], "sleep 0.05": [second[0], *first[1:]]}
    assert told(means, source, beside=beside) == ["55.8", "205.9"]


def test_the_least_and_the_greatest_are_held_to_their_fields_in_that_row(source: KeptAnswers) -> None:
    first, second = ROWS.values()
    mixed_up = {"sleep 0.05": [first[0], *second[1:3], *first[3:]], "sleep 0.2": second}
    assert told(mixed_up, source) == ["203.1", "209.3"]
    assert told({"sleep 0.05": ["55.8"]}, source, ("Command", "Max [ms]")) == ["55.8"]
    assert told({"sleep 0.05": ["59.1 ms"]}, source, ("Command", "Maximum")) == []
    assert told({"sleep 0.05": ["59.1 ms"]}, source, ("Command", "Min")) == ["59.1 ms"]


def test_what_no_field_says_is_of_something_else(source: KeptAnswers) -> None:
    assert told({"sleep 0.05": ["77", "99"]}, source, ("Command", "System [ms]", "p99 (ms)")) == []
    assert told({"sleep 0.05": ["77"]}, source, ("Command", "Time (ms)")) == ["77"]


def test_a_factor_compares_rows_whatever_stands_above_it(source: KeptAnswers) -> None:
    assert told({"sleep 0.2": ["3.69x"]}, source, ("Command", "Max")) == []
    assert told({"sleep 0.2": ["5.69x"]}, source, ("Command", "Max")) == ["5.69x"]


def test_no_value_of_our_column_is_written_there(source: KeptAnswers) -> None:
    text = page_with({"sleep 0.05": ["55.8 ms"]}, ("Command", "Max"), beside=True)
    build = built(text, source)
    done = fix_page(
        build.pages[0], build, lambda text, file: read_page(text, file, lambda _: None), in_place=True
    )
    assert done.text == text
    assert [one.message.rpartition(" names ")[2] for one in done.left] == ["`max`"]
