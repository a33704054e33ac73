"""A table that somebody typed speaks for its section, but not against the rows that it repeats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.pages.build import Build
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.model import Page
from mongo_tables.pages.prose.fixing import Fixed, fix_page
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.pages.prose.telling import list_quoted, tell

ROWS = [
    {"name": "alpha", "ms": 120.4, "ops": 8300},
    {"name": "beta", "ms": 98.7, "ops": 10130},
    {"name": "gamma", "ms": 455, "ops": 2197},
]
TABLE = {
    "id": "bench",
    "collection": "bench",
    "sort": "name",
    "columns": ["name", "ms", "ops"],
    "headers": ["Case", "Time (ms)", "Ops"],
}
VALUE = '<!-- MONGO_VALUE: {"table": "bench", "column": "ms", "where": {"name": "beta"}} -->'


@pytest.fixture
def source(tmp_path: Path):
    (tmp_path / "bench.json").write_text(json.dumps(ROWS))
    opened = KeptAnswers(str(tmp_path))
    yield opened
    opened.close()


def read(text: str, file: str = "README.md") -> Page:
    return read_page(text, file, lambda _: None)


def built(typed: str, prose: str, source: KeptAnswers) -> Build:
    """A page with a typed table and a sentence in a section, and a table of ours in another."""
    ours = f"## Results\n\n<!-- MONGO_TABLE: {json.dumps(TABLE)} -->\n"
    build = Build(source, [read(f"# Tool\n\n## Benchmarks\n\n{typed}\n\n{prose}\n\n{ours}")])
    build.ask()
    assert [one for one in build.findings() if one.severity == "error"] == []
    return build


def told(typed: str, prose: str, source: KeptAnswers) -> list[str]:
    build = built(typed, prose, source)
    return list_quoted(prose_findings(build.pages, build.answers))


def fixed(typed: str, prose: str, source: KeptAnswers) -> Fixed:
    build = built(typed, prose, source)
    return fix_page(build.pages[0], build, read, in_place=True)


def table(*rows: str, headers: str = "Case | Time") -> str:
    delimiters = " | ".join("---" for _ in headers.split("|"))
    return "\n".join(f"| {row} |" for row in (headers, delimiters, *rows))


REPEATED = table("alpha | 120.4 ms", "beta | 98.7 ms", "gamma | 999 ms")


def test_a_wrong_cell_among_right_ones_is_told_and_so_is_the_sentence_that_quotes_it(
    source: KeptAnswers,
) -> None:
    assert told(REPEATED, "gamma needs 999 ms.", source) == ["999 ms", "999 ms"]
    assert told(REPEATED.replace("999", "455"), "gamma needs 455 ms, alpha about 120 ms.", source) == []


def test_a_wrong_figure_is_told_as_well_once_the_right_cells_are_values(source: KeptAnswers) -> None:
    typed = table("alpha | 131 ms", f"beta | {VALUE} ms", "gamma | 999 ms")
    assert told(typed, "gamma needs 9,999 ms.", source) == ["131 ms", "999 ms", "9,999 ms"]


def test_values_are_written_and_what_is_wrong_is_told_before_and_after(source: KeptAnswers) -> None:
    prose = "gamma needs 999 ms. beta does 10,130 ops."
    done = fixed(REPEATED, prose, source)
    assert done.text.count("MONGO_VALUE") == 3
    after = Build(source, [read(done.text)])
    assert list_quoted(prose_findings(after.pages, source.by_key)) == ["999 ms"] * 2


@pytest.mark.parametrize(
    "rows",
    [
        [
            "alpha | 121 ms",
            "beta | 98.7 ms",
            "gamma | 999 ms",
        ],  # an older run, of which one number is the same
        ["alpha | 150 ms", "beta | 140 ms", "gamma | 999 ms"],
        ["one | 120.4 ms", "two | 98.7 ms", "three | 999 ms"],  # of other things
        ["alpha | 120.4 MB", "beta | 98.7 MB", "gamma | 999 MB"],
    ],
)
def test_a_table_of_other_measurements_speaks_for_its_section(rows: list[str], source: KeptAnswers) -> None:
    assert told(table(*rows), "gamma needs 999 ms, and 77 ms elsewhere.", source) == []


def test_columns_and_rows_that_repeat_nothing_may_be_of_anything(source: KeptAnswers) -> None:
    headers = "Case | Before | Now | Theirs"
    rows = [
        "alpha | 180 ms | 120.4 ms | 77 ms",
        "beta | 150 ms | 98.7 ms | 60 ms",
        "gamma | 600 ms | 455 ms | 70 ms",
    ]
    typed = table(*rows, "delta | 610 ms | 321 ms | 75 ms", headers=headers)
    prose = "gamma took 600 ms before, theirs takes 70 ms, 6.5 times as fast; delta takes 321 ms."
    assert told(typed, prose, source) == []
    assert told(typed.replace("455", "999"), prose, source) == ["999 ms"]
    assert told(typed, "gamma takes 470 ms.", source) == ["470 ms"]


def test_a_second_table_of_a_section_speaks_for_it_as_before(source: KeptAnswers) -> None:
    other = table("one | 150 ms", "two | 999 ms")
    assert told(f"{REPEATED}\n\nWords.\n\n{other}", "gamma needs 999 ms.", source) == []


def test_a_note_says_all_that_a_value_would_bring_up(source: KeptAnswers) -> None:
    typed = table("one | 150 ms", "two | 999 ms")
    done = fixed(typed, "It takes 77 ms. It takes 66 ms. beta does 10,130 ops.", source)
    (note,) = done.left
    assert note.message == (
        "`10,130 ops` stays as it is typed: beside a value more would be told: "
        "no row of the section's tables has `77 ms`; no row of the section's tables has `66 ms`"
    )


@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (["alpha | 120 ms", "beta | 98.7 ms", "gamma | 455 ms"], []),
        (["alpha | 120 ms", "beta | 98.7 ms", "gamma | 455 ms", "delta | 12 ms"], []),
        (["alpha | 120 ms", "beta | 98.7 ms", "gamma | 999 ms"], ["999 ms"]),
        (["alpha | 455 ms", "beta | 98.7 ms", "gamma | 120 ms"], ["455 ms", "120 ms"]),
        (["alpha | 120 ms", "beta | 99 ms", "gamma | 999 ms"], []),  # two digits may be the same by chance
        (["alpha | 121 ms", "beta | 98.2 ms", "gamma | 999 ms"], []),
    ],
)
def test_numbers_that_are_rounded_to_three_digits_or_more_repeat_a_table_as_well(
    rows: list[str], figures: list[str], source: KeptAnswers
) -> None:
    assert told(table(*rows), "", source) == figures


OURS = f"<!-- MONGO_TABLE: {json.dumps({**TABLE, 'id': 'again'})} -->"


@pytest.mark.parametrize(
    ("header", "cell", "figures"),
    [
        ("Time [ms]", "120.4", []),
        ("Time [ms]", "98.7", ["98.7"]),
        ("Time in ms", "98.7", ["98.7"]),
        ("Time [s]", "0.1204", []),
        ("Time [s]", "0.0987", ["0.0987"]),
        ("Time in s", "0.0987", ["0.0987"]),
        ("Time in s", "0.1204", []),
        ("Time (ms)", "120 ± 6", []),
        ("Time (ms)", "98.7 ± 6", ["98.7"]),
        ("Time (ms)", "98.7 +/- 1.2 (cold)", ["98.7"]),
        ("Time (ms)", "98.7 (slow)", ["98.7"]),
        ("Time (ms)", "**120.4** (fast)", []),
        ("Time", "98.7 ms ± 120.4 ms", ["98.7 ms"]),
        ("Time (ms)", "98.7 of beta", []),  # words say whose it is
    ],
)
def test_a_typed_cell_is_read_with_its_spread_its_remark_and_the_unit_above_it(
    header: str, cell: str, figures: list[str], source: KeptAnswers
) -> None:
    assert told(table(f"alpha | {cell}", headers=f"Case | {header}"), OURS, source) == figures


@pytest.mark.parametrize(
    ("row", "figures"),
    [
        ("Time (ms) | 120.4 | 98.7", []),
        ("Time (ms) | 98.7 | 120.4", ["98.7", "120.4"]),
        ("Memory | 98.7 | 120.4", []),
        ("Insert of 4 KB | 98.7 | 120.4", []),  # the name of what was done, and no unit
    ],
)
def test_names_may_stand_above_the_cells_and_the_unit_before_them(
    row: str, figures: list[str], source: KeptAnswers
) -> None:
    assert told(table(row, headers=" | alpha | beta"), OURS, source) == figures


UNIT_ABOVE = table("alpha | 120.4", "beta | 98.7", "gamma | 999", headers="Case | Time (ms)")


def test_a_number_has_the_unit_that_stands_above_it(source: KeptAnswers) -> None:
    assert told(UNIT_ABOVE, "gamma needs 999 ms.", source) == ["999", "999 ms"]
    assert told(UNIT_ABOVE.replace("999", "455"), "gamma needs 455 ms.", source) == []
    assert told(UNIT_ABOVE.replace("98.7", "**98.7**"), "", source) == ["999"]


def test_a_number_below_a_unit_becomes_a_value_without_it(source: KeptAnswers) -> None:
    done = fixed(UNIT_ABOVE, "", source)
    assert done.text.count("MONGO_VALUE") == 2
    assert "-->98.7<!-- mongo-tables: end --> |\n| gamma | 999 |" in done.text


@pytest.mark.parametrize(
    "rows",
    [
        ["alpha | 98.7 ms", "beta | 120.4 ms", "gamma | 455 ms"],
        ["alpha | 98.7 ms", "beta | 120.4 ms"],
    ],
)
def test_cells_of_rows_that_were_mixed_up_are_told(rows: list[str], source: KeptAnswers) -> None:
    assert told(table(*rows), "", source) == ["98.7 ms", "120.4 ms"]


def test_a_row_beside_our_own_table_is_held_against_the_row_of_its_name(source: KeptAnswers) -> None:
    ours = f"<!-- MONGO_TABLE: {json.dumps({**TABLE, 'id': 'again'})} -->"
    typed = table("alpha | 98.7 ms", "beta | 98.7 ms", "delta | 98.7 ms")
    assert told(typed, ours, source) == ["98.7 ms"]


def test_a_second_table_behind_a_blank_line_has_headers_of_its_own(source: KeptAnswers) -> None:
    machines = table("a laptop | 8", headers="Machine | Processors")
    ours = f"<!-- MONGO_TABLE: {json.dumps({**TABLE, 'id': 'again'})} -->"
    assert told(f"{machines}\n\n{UNIT_ABOVE}", ours, source) == ["999"]


CACHES = {
    "id": "caches",
    "collection": "caches",
    "sort": ["cache", "threads"],
    "columns": ["cache", "threads", "ops"],
    "headers": ["Cache", "Threads", "Ops/s"],
}
CACHE_ROWS = [
    {"cache": "lru", "threads": 1, "ops": 4210},
    {"cache": "lru", "threads": 16, "ops": 8120},
    {"cache": "clock", "threads": 1, "ops": 665.5},
    {"cache": "clock", "threads": 16, "ops": 945.5},
]


def told_beside_caches(typed: str, tmp_path: Path) -> list[str]:
    """What is told of a typed table beside ours."""
    (tmp_path / "caches.json").write_text(json.dumps(CACHE_ROWS))
    return tell(f"# Caches\n\n{typed}\n\n<!-- MONGO_TABLE: {json.dumps(CACHES)} -->\n", tmp_path)


@pytest.mark.parametrize(
    "headers",
    [
        " | Ops/s (1 thread) | Ops/s (16 threads)",
        " | 1 thread (ops/s) | 16 threads (ops/s)",
        " | 1 thread | 16 threads",
        "Cache | threads = 1 | threads = 16",
        "Threads | 1 | 16",
    ],
)
def test_settings_may_stand_above_the_cells(headers: str, tmp_path: Path) -> None:
    right = table("lru | 4,210 | 8,120", "clock | 665.5 | 945.5", headers=headers)
    assert told_beside_caches(right, tmp_path) == []


@pytest.mark.parametrize(
    "headers",
    [" | Ops/s (1 thread) | Ops/s (16 threads)", " | 1 thread | 16 threads", "Threads | 1 | 16"],
)
@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (["lru | 8,120 | 4,210", "clock | 665.5 | 945.5"], ["8,120", "4,210"]),
        (["lru | 4,210 | 8,120", "clock | 945.5 | 665.5"], ["945.5", "665.5"]),
        (["clock | 4,210 | 8,120"], ["4,210", "8,120"]),
    ],
)
def test_cells_below_other_settings_are_told(
    headers: str, rows: list[str], figures: list[str], tmp_path: Path
) -> None:
    assert told_beside_caches(table(*rows, headers=headers), tmp_path) == figures


@pytest.mark.parametrize(
    "rows",
    [
        ["lru | 99.1 | 97.2", "clock | 98.7 | 96.3"],  # of something else, such as hits
        ["lru | 12 MB | 31 MB"],
        ["Users | 3 | 6.1"],
    ],
)
def test_small_numbers_below_settings_that_repeat_nothing_may_be_of_anything(
    rows: list[str], tmp_path: Path
) -> None:
    assert told_beside_caches(table(*rows, headers=" | 1 thread | 16 threads"), tmp_path) == []


@pytest.mark.parametrize(
    ("headers", "rows", "figures"),
    [
        ("Threads | lru | clock", ["1 | 4,210 | 665.5", "16 | 8,120 | 945.5"], []),
        ("Threads | lru | clock", ["1 | 8,120 | 665.5", "16 | 4,210 | 945.5"], ["8,120", "4,210"]),
        ("Threads | Ops/s", ["1 | 4,210", "16 | 8,120"], []),
        ("Threads | Ops/s", ["1 | 8,120", "16 | 4,210"], ["8,120", "4,210"]),
        ("Threads | Kops/s", ["1 | 4.21", "16 | 8.12"], []),
        ("Threads | Kops/s", ["1 | 8.12", "16 | 4.21"], ["8.12", "4.21"]),
    ],
)
def test_a_number_that_rows_are_called_by_may_stand_before_the_cells(
    headers: str, rows: list[str], figures: list[str], tmp_path: Path
) -> None:
    assert told_beside_caches(table(*rows, headers=headers), tmp_path) == figures
