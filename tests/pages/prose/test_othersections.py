"""A README with one table of times at its end: what its other sections say is held against the table only where it is about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages.prose.telling import tell, write_rows

BODY = {
    "id": "bench",
    "collection": "bench",
    "columns": ["name", "value"],
    "headers": ["Benchmark", "Time"],
    "sort": "_id",
    "format": {"value": {"duration": "s"}},
}
ROWS = [
    {"_id": 1, "name": "ag -n pattern", "value": 0.432},
    {"_id": 2, "name": "git grep -n pattern", "value": 0.225},
    {"_id": 3, "name": "grep -rn pattern", "value": 1.27},
    {"_id": 4, "name": "rg -n pattern", "value": 0.0812},
]


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    return write_rows(tmp_path, "bench", ROWS)


def told(prose: str, fixtures: Path, *, heading: str = "Configuration", **changed: object) -> list[str]:
    """The figures of a section that are told, with the table in another."""
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, **changed})} -->"
    return tell(f"# Seek\n\n## {heading}\n\n{prose}\n\n## Numbers\n\n{table}\n", fixtures)


@pytest.mark.parametrize(
    "prose",
    [
        "Watch mode polls every 500 ms.",
        "- `timeout`: the time limit of a search, 3 seconds by default",
        "- retries wait 100 ms, 200 ms and 400 ms",
        "The debounce is 250 ms.",
        "It caches for 24 hours.",
        "It is 100% compatible with grep.",
        "- [ ] reach 100% coverage",
        "Screens of 2x density are supported.",
        "A file is read again if it changed within 300 ms.",
        "Progress is shown for searches that take longer than 2 seconds.",
        "The time between two keys is 200 ms.",
        "A timeout is given in seconds: 2 s in the tests.",
    ],
)
def test_what_is_set_in_another_section_is_no_figure_of_the_table(prose: str, fixtures: Path) -> None:
    assert told(prose, fixtures) == []
    # Nor above the first heading of a section.
    table = f"<!-- RESULT_TABLE: {json.dumps(BODY)} -->"
    assert tell(f"# Seek\n\n{prose}\n\n## Numbers\n\n{table}\n", fixtures) == []


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("`rg -n pattern` takes 120 ms.", ["120 ms"]),
        ("By default `rg -n pattern` answers after 120 ms.", ["120 ms"]),
        ("`rg -n pattern` is the one to take. A search ends after 120 ms.", ["120 ms"]),
        ("A search takes 120 ms.", ["120 ms"]),
        ("Searches a kernel in 120 ms.", ["120 ms"]),
        ("The median is 120 ms.", ["120 ms"]),
        ("Five times as fast as ag. The fastest search: 120 ms.", ["120 ms"]),
        ("It is 9x faster than git grep.", ["9x"]),
        ("It needs 57% less time.", ["57%"]),
        ("`rg -n pattern` takes 81 ms, the others up to 1.27 s.", []),
    ],
)
def test_what_another_section_says_of_the_table_is_held_against_it(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert told(prose, fixtures, heading="Install") == figures


def test_a_header_of_its_own_names_its_column_in_another_section(fixtures: Path) -> None:
    own = {"headers": ["Benchmark", "Time to first match"]}
    assert told("The time to first match is 120 ms.", fixtures, **own) == ["120 ms"]
    assert told("The time to first match is 81 ms.", fixtures, **own) == []


@pytest.mark.parametrize("heading", ["Performance", "How fast is it?", "Seek vs. grep"])
def test_a_section_about_results_is_held_against_the_table(heading: str, fixtures: Path) -> None:
    assert told("A search is over after 120 ms.", fixtures, heading=heading) == ["120 ms"]
    assert told("A search is over after 120 ms.", fixtures, heading="Usage") == []


def test_the_section_of_the_table_is_held_against_it_whatever_it_says(fixtures: Path) -> None:
    table = f"<!-- RESULT_TABLE: {json.dumps(BODY)} -->"
    assert tell(f"# Seek\n\n## Numbers\n\nIt polls every 500 ms.\n\n{table}\n", fixtures) == ["500 ms"]
    assert tell(f"# Seek\n\nIt polls every 500 ms.\n\n{table}\n", fixtures) == ["500 ms"]
    nested = f"# Seek\n\n## Numbers\n\nIt polls every 500 ms.\n\n### All\n\n{table}\n\n## License\n\nMIT\n"
    assert tell(nested, fixtures) == ["500 ms"]


def test_what_a_table_ignores_it_ignores_in_its_own_section_alone(fixtures: Path) -> None:
    ignore = {"MT324": "quotes the limits that the disk is sold with"}
    assert told("`rg -n pattern` takes 120 ms.", fixtures, ignore=ignore) == ["120 ms"]
    table = f"<!-- RESULT_TABLE: {json.dumps({**BODY, 'ignore': ignore})} -->"
    own = f"# Seek\n\n## Numbers\n\n{table}\n\n### More\n\n`rg -n pattern` takes 120 ms.\n"
    assert tell(own, fixtures) == []


OF_OLD = "* `rg -n pattern` takes 99 ms, and took 120 ms before.\n* 3x faster: `ag -n pattern` needs 77 ms."


@pytest.mark.parametrize(
    "heading",
    [
        "Changelog",
        "Change log",
        "CHANGES",
        "Release notes",
        "Release history",
        "What's new in 2.0",
        "History",
        "📝 Changelog",
        "[Changelog](CHANGES.md)",
    ],
)
def test_what_older_versions_did_is_no_figure_of_the_table(heading: str, fixtures: Path) -> None:
    assert told(OF_OLD, fixtures, heading=heading) == []
    assert told(f"### v1.2.0\n\n{OF_OLD}", fixtures, heading=heading) == []
    assert told("`rg -n pattern` is slower than `ag -n pattern`.", fixtures, heading=heading) == []


@pytest.mark.parametrize(
    "heading", ["Features", "Performance history", "Changes of performance", "Newsreader"]
)
def test_under_other_headings_it_is(heading: str, fixtures: Path) -> None:
    assert "77 ms" in told(OF_OLD, fixtures, heading=heading)


def test_a_list_of_versions_with_a_table_or_a_value_of_its_own_speaks_of_it(fixtures: Path) -> None:
    table = f"<!-- RESULT_TABLE: {json.dumps(BODY)} -->"
    assert "99 ms" in tell(f"# Seek\n\n## Changelog\n\n{OF_OLD}\n\n{table}\n", fixtures)
    value = '<!-- RESULT_VALUE: {"table": "bench", "column": "value", "where": {"_id": 4}} -->'
    assert told(f"`rg -n pattern` takes {value}, and 99 ms cold.", fixtures, heading="Changelog") == ["99 ms"]
