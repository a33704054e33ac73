"""A figure whose clause names a row or a column is held against these, and not against what another row happens to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages.prose.telling import judge, tell, write_rows

SAVED = {
    "id": "saved",
    "collection": "saved",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["kind", "calls", "size", "filter", "cache"],
    "headers": ["Kind", "Calls", "Size", "Filter", "+ cache"],
    "format": {"size": {"unit": "MB"}, "filter": {"unit": "%"}, "cache": {"unit": "%"}},
}
SAVED_ROWS = [
    {"_id": 1, "kind": "builds", "calls": 41, "size": 0.5, "filter": 9.0, "cache": 10.7},
    {"_id": 2, "kind": "searches", "calls": 810, "size": 4.2, "filter": 5.1, "cache": 6.4},
    {"_id": 3, "kind": "sum of these", "calls": 851, "size": 4.7, "filter": 1.4, "cache": 3.0},
]
SETUPS = {
    "id": "setups",
    "collection": "setups",
    "pipeline": [{"$sort": {"tools": 1}}],
    "columns": ["tools", "full", "part", "less"],
    "headers": ["Tools", "Full", "Part", "Reduction"],
    "format": {"less": {"unit": "%"}},
}
SETUP_ROWS = [
    {"_id": 1, "tools": 63, "full": 179181, "part": 47095, "less": 74},
    {"_id": 2, "tools": 183, "full": 471775, "part": 40354, "less": 91},
]
SERVERS = {
    "id": "servers",
    "collection": "servers",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["_id", "tools", "share"],
    "headers": ["Server", "Tools", "Share (%)"],
}
SERVER_ROWS = [
    {"_id": "mail", "tools": 93, "share": 99.5},
    {"_id": "shop", "tools": 44, "share": 0.4},
    {"_id": "chat", "tools": 8, "share": 0.1},
]
PARSERS = {
    "id": "parsers",
    "collection": "parsers",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["name", "rate"],
    "headers": ["Parser", "Files/s"],
}
PARSER_ROWS = [
    {"_id": number, "name": name, "rate": rate}
    for number, (name, rate) in enumerate(
        [
            ("quick", 1116),
            ("@x/quick", 550.2),
            ("plain", 108),
            ("plain-ts", 128),
            ("markup", 87.9),
            ("old", 69.5),
        ]
    )
]
RATES = {
    "id": "rates",
    "collection": "rates",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["_id", "hits", "of", "rate"],
    "headers": ["Metric", "Hits", "Cases", "Found"],
    "format": {"rate": {"percent": True}},
}
RATE_ROWS = [
    {"_id": "top-1", "hits": 6, "of": 12, "rate": 0.5},
    {"_id": "top-3", "hits": 8, "of": 12, "rate": 0.667},
]
CLASSES = {
    "id": "classes",
    "collection": "classes",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["_id", "plain", "indexed", "throughput", "gain"],
    "headers": ["Class", "Plain (ms)", "Indexed (ms)", "Throughput (rows/s)", "Gain"],
    "format": {"gain": {"unit": "×"}},
}
CLASS_ROWS = [
    {"_id": "H1", "plain": 30.0, "indexed": 10.0, "throughput": 700, "gain": 3.0},
    {"_id": "H2", "plain": 99.0, "indexed": 20.0, "throughput": 4900, "gain": 4.95},
    {"_id": "H3", "plain": 72.0, "indexed": 40.0, "throughput": 1820, "gain": 1.8},
]
LEADS = {
    "id": "leads",
    "collection": "leads",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["_id", "lead", "rows", "cost"],
    "headers": ["Model", "Lead (points)", "Rows per batch", "Cost"],
    "format": {"cost": {"unit": "credits"}},
}
LEAD_ROWS = [
    {"_id": "forest", "lead": 3.4, "rows": 2.5, "cost": 7.25},
    {"_id": "boost", "lead": 2.0, "rows": 12.75, "cost": 9.5},
]
ROWS = {
    "leads": LEAD_ROWS,
    "classes": CLASS_ROWS,
    "saved": SAVED_ROWS,
    "setups": SETUP_ROWS,
    "servers": SERVER_ROWS,
    "parsers": PARSER_ROWS,
    "rates": RATE_ROWS,
}


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    for name, rows in ROWS.items():
        write_rows(folder, name, rows)
    return folder


def table(body: dict[str, Any]) -> str:
    return f"<!-- MONGO_TABLE: {json.dumps(body)} -->"


def beside(body: dict[str, Any], prose: str) -> str:
    return f"# Runs\n\n## Speed\n\n{prose}\n\n{table(body)}\n"


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("Searches save 6.4% with the cache.", []),
        ("Searches save 10.7%.", ["10.7%"]),
        ("Searches save 5.1% and 6.4%.", []),
        ("Builds and searches save 10.7% and 6.4%.", []),
        ("We save 1.4% by the filter, 3.0% with the cache.", []),
        ("We save 1.4% by the filter, 5.1% with the cache.", ["5.1%"]),
        ("Searches save 9.0%, builds 6.4%.", ["9.0%", "6.4%"]),
        ("`builds` saves 6.4%.", ["6.4%"]),
        ("From a baseline of 4.2 MB builds grow.", []),  # whose baseline, nothing says
        ("Builds save 10.7% and the rest 6.4%.", []),  # of which of both the name speaks, nobody can tell
        ("Builds need 4.2 MB.", ["4.2 MB"]),
        ("Builds save 10.7% and searches save 6.4%.", []),
        ("Builds save 6.4% and searches save 10.7%.", ["6.4%", "10.7%"]),
        ("It is 10.7% for builds and 6.4% for searches.", []),
        ("It is 6.4% for builds and 10.7% for searches.", ["6.4%", "10.7%"]),
        ("Builds and searches save 6.4% and 10.7%.", ["6.4%", "10.7%"]),
        ("`builds` needs 4.2 MB and `searches` 0.5 MB.", ["4.2 MB", "0.5 MB"]),
        ("In builds the 4.2 MB of searches become 0.5 MB.", []),  # that order does not tell whose each is
    ],
)
def test_a_figure_beside_a_name_is_one_of_its_row_or_column(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(SAVED, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("builds need 4.2 MB warm and 4.7 MB cold.", ["4.2 MB", "4.7 MB"]),
        ("builds need 4.2 MB warm, 4.7 MB cold.", ["4.2 MB", "4.7 MB"]),
        ("builds need 4.2 MB on average and 4.7 MB at worst.", ["4.2 MB", "4.7 MB"]),
        ("builds need a median of 4.2 MB and a maximum of 4.7 MB.", ["4.2 MB", "4.7 MB"]),
        ("`builds` needs 0.5 MB (4.7 MB cold).", ["4.7 MB"]),
        ("`builds` needs 0.5 MB and 4.2 MB.", ["4.2 MB"]),
        ("builds need 0.5 MB and 4.7 MB with the others.", []),  # of these, it may be
        ("builds need 4.2 MB and 4.7 MB with the others.", ["4.2 MB"]),
        ("0.5 MB for builds and 4.7 MB with the others.", []),
        ("4.2 MB for builds and 4.7 MB with the others.", ["4.2 MB"]),
        ("Of 4.7 MB the builds need 0.5 MB.", []),
        ("builds go from 4.7 MB down to 0.5 MB.", []),
        ("builds need 0.5 MB against 4.7 MB in all.", []),
        ("Without `builds` it needs 4.2 MB and with them 4.7 MB.", []),
        ("builds need 512 KB and the sum of all 4.7 MB.", []),
        ("builds need 512 KB and 4.7 MB with the others.", []),
        ("builds need 4,300 KB and 4.7 MB with the others.", ["4,300 KB"]),
        ("builds need 512 KB and searches 4.2 MB.", []),
        ("builds need 4,300 KB and searches 0.5 MB.", ["4,300 KB", "0.5 MB"]),
        ("Searches save 5.1% on average and 6.4% at best.", []),  # two columns
        ("Searches save 5.1% on average and 10.7% at best.", ["10.7%"]),
    ],
)
def test_beside_one_name_the_figure_next_to_it_is_its_own_and_what_is_listed_with_that(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(SAVED, prose), fixtures) == figures


SPREADS = {**SAVED, "columns": ["kind", "size", "filter"], "headers": ["Kind", "Size", "SD (MB)"], "format": {"size": {"unit": "MB"}}}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "prose", "figures"),
    [
        (SAVED, "builds need 0.5 MB ± 2.1 MB.", []),  # no column says how far it spreads
        (SAVED, "builds need 0.5 ± 2.1 MB.", []),
        (SAVED, "builds need 4.2 MB ± 2.1 MB.", ["4.2 MB"]),
        (SAVED, "builds need 4.2 +/- 2.1 MB.", ["4.2"]),
        (SAVED, "builds save 9.0%, ±5%.", []),
        (SPREADS, "searches need 4.2 ± 5.1 MB.", []),
        (SPREADS, "searches need 4.2 MB ± 9.0 MB.", ["9.0 MB"]),
        (SPREADS, "searches need 0.5 ± 5.1 MB.", ["0.5"]),
    ],
)
def test_the_figure_before_its_spread_is_held_to_the_row_and_the_spread_to_a_column_of_these(
    body: dict[str, Any], prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(body, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "offered"),
    [
        ("`builds` needs 4.2 MB.", "0.5 MB, `size` of row 1"),
        ("`builds` needs 4.2 MB and `searches` 0.5 MB.", "0.5 MB, `size` of row 1"),
        ("Builds save 6.4%.", "9 %, `filter` of row 1"),
        ("It needs 2.9 MB.", "4.2 MB, `size` of row 2"),
    ],
)
def test_what_is_offered_instead_is_of_the_row_that_is_named(
    prose: str, offered: str, fixtures: Path
) -> None:
    first, *_ = judge(beside(SAVED, prose), fixtures)
    assert first.hint.startswith(f"the nearest is {offered} of table `saved`")


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("It is 74% at 63 tools, 91% at 183 tools.", []),
        ("It is 91% at 63 tools.", ["91%"]),
        ("The 63-tool run needs 47,095 of 179,181.", []),
        ("The 62-tool run.", ["62-tool"]),
        ("With 600 tools.", []),  # far from any row: about something else
        ("A default of 4 tools.", []),
        ("Ran with 246 tools in all.", []),  # those of all rows
    ],
)
def test_a_number_with_the_noun_of_its_header_names_a_row(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(SETUPS, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("`quick` is 10.3 times as fast as `plain`.", []),
        ("`quick` is 8.7 times as fast as `plain`, 8.7 times as fast as `plain-ts`.", ["8.7 times"]),
        ("`quick` is 8.7× faster than `plain`.", ["8.7×"]),  # than plain-ts
        ("`quick` is 8.7× faster than `plain` and `plain-ts`.", []),
        ("`quick` and `@x/quick` are 4.3 to 16.1 times as fast as `plain-ts` and `old`.", []),
        ("`quick` is 8.7× faster.", []),
        ("With 8.7× the files/s of `plain-ts`, `quick` leads.", []),
        ("`old` is 8.7× slower.", ["8.7×"]),
        ("`plain` has 84% of the rate of `plain-ts`, and is 16% slower.", []),
        ("`plain-ts` is 19% faster than `plain`.", []),
        ("`plain` is 84% slower than `plain-ts`.", ["84%"]),  # it has 84 % of it
        ("`plain-ts` is 84% faster than `plain`.", ["84%"]),
    ],
)
def test_a_factor_between_two_names_is_the_ratio_of_these(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(PARSERS, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("header", "prose", "figures"),
    [
        ("Decodes/s", "`quick` decodes 1,116 documents per second.", []),
        ("Decodes/s", "`quick` decodes 2,116 documents per second.", ["2,116 documents per second"]),
        ("Decodes/s", "`plain` decodes 1,116 documents per second.", ["1,116 documents per second"]),
        ("Decodes/s", "It decodes 1.1 k documents per second.", []),
        ("Decodes/s", "It decodes 2.2 k documents per second.", ["2.2 k documents per second"]),
        ("Decodes/s", "`quick` decodes 77 documents per second.", []),  # a small rate may be of anything
        ("Decodes/s", "The wire has 19,000 packets/s.", []),  # far from any row: about something else
        ("Decodes/s", "The disk has 2,116 MB/s.", []),
        ("Time (ns)", "`quick` decodes 2,116 documents per second.", []),
        ("Throughput", "`quick` answers 1,116 requests/s.", []),
        ("Throughput", "`quick` answers 2,116 requests/s.", ["2,116 requests/s"]),
        ("Requests/s", "`quick` answers 216 rps.", ["216 rps"]),
        ("Transactions/s", "`quick` does 216 tps.", ["216 tps"]),
        ("Transactions/s", "`quick` does 1,116 tps, `old` 70 tps.", []),
        ("TPS", "`quick` does 216 transactions per second.", ["216 transactions per second"]),
        ("Tokens/s", "`plain` makes 216 tok/s.", ["216 tok/s"]),
        ("Tokens/s", "`plain` makes 108 tok/s.", []),
        ("Frames/s", "`plain` draws 216 fps.", ["216 fps"]),
        ("Messages/s", "`plain` sends 216 msg/s.", ["216 msg/s"]),
        ("Iterations/s", "`plain` does 216 it/s.", ["216 it/s"]),
    ],
)
def test_a_rate_may_have_another_word_for_the_same_thing(
    header: str, prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside({**PARSERS, "headers": ["Parser", header]}, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("With the index H1 has 3.0×, H2 4.95×.", []),
        ("With the index H1 has 4.0×.", ["4.0×"]),  # the ratio of two rows in another column
        ("H3 (a scan), 3.3×.", ["3.3×"]),
        ("H3 (a scan), 1.8× – as ever.", []),
        ("H3 takes 4.0× longer than H1.", []),
        ("H2 has 7.0× the throughput of H1.", []),
        ("H2 has 3.3× the throughput of H1.", ["3.3×"]),  # its plain time is
        ("The throughput rises to 2.6×.", []),
        ("The throughput rises to 4.0×.", ["4.0×"]),
    ],
)
def test_a_factor_beside_a_name_is_that_of_its_row_or_a_ratio_in_its_column(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(CLASSES, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("It leads by 3.4 points, with 2.5 rows per batch for 7.3 credits.", []),
        ("It leads by 3.1 points.", ["3.1 points"]),
        ("It leads by 3 points, or 2.", []),  # rounded, as no count is
        ("It leads by 4 points, no 1 point.", ["4 points", "1 point"]),
        ("It has 3.5 rows per batch.", ["3.5 rows per batch"]),
        ("It has 3.5 rows/batch, and 3.5 rows each.", ["3.5 rows/batch"]),  # rows each of what?
        ("It costs 8.0 credits.", ["8.0 credits"]),
        ("The forest leads by 2.0 points.", ["2.0 points"]),
        ("Both lead by 5.4 points.", ["5.4 points"]),  # nobody adds them up
        ("In all they have 50 points.", []),  # far from any row: about something else
    ],
)
def test_a_noun_of_a_header_or_a_format_is_a_unit_of_numbers_with_decimals_as_well(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(LEADS, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("The 63-tool run above saves 74%.", []),
        ("It grows (74% at 63 tools, 91% at 183, 99.5% of mail).", []),
        ("It grows (90% at 62 tools).", ["90%", "62 tools"]),
        ("It is 91% at 63 tools.", ["91%"]),
    ],
)
def test_what_a_clause_names_may_stand_in_a_section_around(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    page = f"# Runs\n\n## Setups\n\n{table(SETUPS)}\n\n## Servers\n\n{prose}\n\n{table(SERVERS)}\n"
    assert tell(page, fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("`@x/quick` is 6.3–7.9× as fast.", []),
        ("`@x/quick` is 4.0–5.1× as fast.", ["4.0–5.1×"]),
        ("`@x/quick` is 6.3–6.6× as fast.", ["6.3–6.6×"]),
        ("`@x/quick` is 6–8× as fast.", []),
        ("`@x/quick` parses 69.5–128.0 files/s.", ["69.5–128.0 files/s"]),
        ("All parse 69.5–1116.0 files/s.", []),
        (
            "Against others `@x/quick` is fast: 6.3–7.9× of these; with large files it is 4.3–5.1×. `plain` is not.",
            [],
        ),
    ],
)
def test_both_ends_of_a_range_with_decimals_are_held(prose: str, figures: list[str], fixtures: Path) -> None:
    assert tell(beside(PARSERS, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("We find 50% and 67%.", []),
        ("We find 75%.", ["75%"]),  # 6 is 75 % of 8
        ("We find 80% more.", ["80%"]),
        ("We find 33% more.", []),
        ("That is a gain of 33%.", []),
        ("It has 33% overhead.", []),
        ("It is better by roughly 33%, a 33% performance gain.", []),
        ("It drops to 75%.", ["75%"]),
        ("We find 8 / 12 (67%).", []),
        ("We find 9 / 12 (75%).", ["75%"]),
        ("Top-1 is 67%.", ["67%"]),
        ("Top-1 and top-3 are 50% and 67%.", []),
    ],
)
def test_beside_a_column_of_shares_a_share_is_one_of_them_or_compares(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(RATES, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"), [("6 of 12 are 50%.", []), ("8 of 12 are 67%.", []), ("10 of 12 are 83%.", ["83%"])]
)
def test_a_share_may_be_that_of_two_counts_beside_it_that_one_row_has(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    columns = {"columns": ["_id", "hits", "of"], "headers": ["Metric", "Hits", "Cases"], "format": {}}
    pipeline = [{"$unset": "rate"}, {"$sort": {"_id": 1}}]
    assert tell(beside({**RATES, **columns, "pipeline": pipeline}, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("The machine has a disk of 205 MB and sends 2.1 KB each time.", []),
        ("It is 9.9 MB.", ["9.9 MB"]),
        ("Builds need 300 MB.", ["300 MB"]),
    ],
)
def test_bytes_of_another_size_are_of_something_else(prose: str, figures: list[str], fixtures: Path) -> None:
    assert tell(beside(SAVED, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("The old one saved 0.031% of 6,656 commands.", []),
        ("It saves 7.7%.", ["7.7%"]),
        ("Builds save 6.4%.", ["6.4%"]),
        ("Searches were 1,203.", ["1,203"]),
        ("There were 1,203.", []),
    ],
)
def test_a_section_without_tables_is_held_to_what_it_names_and_to_figures_of_the_size(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    page = f"# Runs\n\n## Speed\n\n{table(SAVED)}\n\n## Questions\n\n{prose}\n"
    assert tell(page, fixtures) == figures


@pytest.mark.parametrize(
    ("quote", "figures"),
    [
        (
            'Builds save <!-- MONGO_VALUE: {"table": "saved", "column": "cache", "where": {"_id": 1}} -->%.',
            [],
        ),
        (
            'Builds save 10.7%.<!-- MONGO_CHECK: {"table": "saved", "where": {"_id": 1}, "expect": {"cache": 10.7}} -->',
            [],
        ),
        (
            'Builds save 7.7%.<!-- MONGO_CHECK: {"table": "saved", "where": {"_id": 1}, "expect": {"cache": 10.7}} -->',
            ["7.7%"],
        ),
    ],
)
def test_a_table_that_somebody_typed_is_its_own_where_a_paragraph_beside_it_quotes_another(
    quote: str, figures: list[str], fixtures: Path
) -> None:
    typed = "It was 8.8%.\n\n| Year | Saved |\n| --- | --- |\n| 2021 | 7.8% |"
    page = f"# Runs\n\n## Speed\n\n{table(SAVED)}\n\n## Earlier\n\n{quote}\n\n{typed}\n"
    assert tell(page, fixtures) == figures


def test_a_section_with_a_table_that_somebody_typed_speaks_of_that_one(fixtures: Path) -> None:
    typed = "| Year | Saved |\n| --- | --- |\n| 2021 | 7.7% |"
    page = f"# Runs\n\n## Speed\n\n{table(SAVED)}\n\n## Earlier\n\nIt was 7.7%.\n\n"
    assert tell(page + typed, fixtures) == []
    assert tell(page, fixtures) == ["7.7%"]
    assert tell(f"# Runs\n\n## Speed\n\nIt is 7.7%.\n\n{typed}\n\n{table(SAVED)}\n", fixtures) == [
        "7.7%",
        "7.7%",
    ]


CACHES = {
    "id": "caches",
    "collection": "caches",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["cache", "threads", "n", "rate"],
    "headers": ["Cache", "Threads", "n", "Gets/s"],
}
CACHE_ROWS = [
    {"_id": number, "cache": cache, "threads": threads, "n": n, "rate": rate}
    for number, (cache, threads, n, rate) in enumerate([
        ("lru", 1, 10, 4210000),
        ("lru", 16, 100, 8120000),
        ("clock", 1, 10, 6650000),
        ("clock", 16, 100, 29400000),
    ])
]  # fmt: skip
ROWS["caches"] = CACHE_ROWS


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("lru does 8,120,000 gets/s at 16 threads.", []),
        ("At 16 threads lru does 4,210,000 gets/s.", ["4,210,000 gets/s"]),
        ("clock reaches 8,120,000 gets/s at 16 threads.", ["8,120,000 gets/s"]),
        ("`clock` reaches 29,400,000 gets/s for n = 100.", []),
        ("`clock` reaches 29,400,000 gets/s for n=10.", ["29,400,000 gets/s"]),
        ("lru and clock reach 8,120,000 and 29,400,000 gets/s at 16 threads.", []),
        ("lru reaches 4,210,000 gets/s at most.", []),  # of both of its rows
    ],
)
def test_a_name_and_a_number_beside_it_name_the_row_that_has_both(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(CACHES, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("lru does 4,210,000 gets/s at 1 thread and 8,120,000 gets/s at 16 threads.", []),
        ("lru does 8.12M gets/s at 1 thread and 4.21M gets/s at 16 threads.", ["8.12M gets/s", "4.21M gets/s"]),
        ("It does 8.12M gets/s for n = 10 and 6.65M gets/s for n = 100.", ["8.12M gets/s", "6.65M gets/s"]),
        ("It does 6.65M gets/s for n = 10 and 8.12M gets/s for n = 100.", []),
        ("At 1 thread it does 8.12M gets/s and at 16 threads 4.21M gets/s.", ["8.12M gets/s", "4.21M gets/s"]),
        ("For n = 10 and 100 lru does 4.21M gets/s and 8.12M gets/s.", []),
        ("For n = 10 and 100 lru does 8.12M gets/s and 4.21M gets/s.", ["8.12M gets/s", "4.21M gets/s"]),
        ("With 1 and 16 threads lru does 8.12M gets/s and 4.21M gets/s.", ["8.12M gets/s", "4.21M gets/s"]),
        ("One thread of lru does 4.21M gets/s and 16 threads do 8.12M gets/s.", []),
        ("A single thread does 8.12M gets/s.", ["8.12M gets/s"]),
        ("lru does 8.12M gets/s at 16 threads and clock 6.65M gets/s at 1 thread.", []),
        # Each is in a row of its name and in one of its setting, but in none of both.
        ("lru does 8.12M gets/s at 1 thread and clock 6.65M gets/s at 16 threads.", ["8.12M gets/s", "6.65M gets/s"]),
        # Of which of them the threads speak, the order does not tell.
        ("4,210,000 gets/s with one thread and 8,120,000 with sixteen.", []),
        ("With 16 threads instead of 1 thread 4.21M gets/s become 8.12M gets/s.", []),
        ("With 16 threads the 4.21M gets/s of lru become 8.12M gets/s.", []),
        ("With 16 threads it does 8.12M gets/s and 4.21M gets/s without them.", []),
        ("The rate with 1 thread rises from 4.21M gets/s to 8.12M gets/s with 16 threads.", []),
    ],
)  # fmt: skip
def test_of_two_settings_in_a_clause_each_figure_is_of_the_one_beside_it(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(CACHES, prose), fixtures) == figures


JOIN = {
    "id": "join",
    "collection": "join",
    "sort": ["benchmark", "parameters.n"],
    "columns": ["name", "parameters.n", "value"],
    "headers": ["Benchmark", "N", "Time"],
    "format": {"value": {"duration": "s"}},
}
GO = """goos: linux
pkg: example.com/join
BenchmarkJoin/plus/n=10-2 2702702 444.0 ns/op
BenchmarkJoin/plus/n=100-2 847457 1180 ns/op
BenchmarkJoin/builder/n=10-2 5000000 205.3 ns/op
BenchmarkJoin/builder/n=100-2 1000000 731.9 ns/op
BenchmarkSplit-2 9000000 91.2 ns/op
PASS
"""


@pytest.mark.parametrize(
    ("columns", "prose", "figures"),
    [
        (["name", "value"], "`BenchmarkJoin/plus/n=100-2` takes 1.18 µs.", []),
        (["name", "value"], "`BenchmarkJoin/plus/n=100-2` takes 444 ns.", ["444 ns"]),
        (["name", "value"], "BenchmarkJoin/plus/n=100 takes 444 ns.", ["444 ns"]),
        (["name", "value"], "`Join/plus/n=100` takes 1.18 µs.", []),
        (["name", "value"], "`Join/plus/n=100` takes 732 ns.", ["732 ns"]),
        (["name", "value"], "`Join/plus/n=10` takes 444 ns and `Join/builder/n=10` 205 ns.", []),
        (["name", "value"], "`Join/plus/n=10` takes 205 ns and `Join/builder/n=10` 444 ns.", ["205 ns", "444 ns"]),
        (["name", "value"], "`Join/plus` takes 444 ns and more.", []),
        (["name", "value"], "`Join/plus` takes 732 ns and more.", ["732 ns"]),
        (["name", "value"], "`Join/plus/warm` takes 732 ns.", []),  # which is none of ours
        (["name", "value"], "`BenchmarkSplit` takes 444 ns.", ["444 ns"]),
        (["name", "value"], "We split the 444 ns into parts.", []),
        (["benchmark", "parameters.n", "value"], "`BenchmarkJoin/plus/n=100-2` takes 1.18 µs.", []),
        (["benchmark", "parameters.n", "value"], "`BenchmarkJoin/plus/n=100-2` takes 444 ns.", ["444 ns"]),
        (["name", "parameters.n", "value"], "Join takes 444 ns for n = 10 and 1.18 µs for n = 100.", []),
        (["name", "parameters.n", "value"], "Join takes 1.18 µs for n = 10 and 444 ns for n = 100.", ["1.18 µs", "444 ns"]),
    ],
)  # fmt: skip
def test_a_benchmark_of_go_is_named_as_go_names_it(
    columns: list[str], prose: str, figures: list[str], tmp_path: Path
) -> None:
    (tmp_path / "join.txt").write_text(GO)
    assert tell(beside({**JOIN, "columns": columns, "headers": columns}, prose), tmp_path) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("`quick` and `rapid` read 1,116 files/s and 550.2 files/s.", []),  # the second is of another tool
        ("`quick` and `old` read 1,116 files/s and 550.2 files/s.", ["550.2 files/s"]),
        ("`rapid` reads 550.2 files/s and `quick` 1,116 files/s.", []),
        ("`rapid` reads 550.2 files/s and `quick` 108 files/s.", ["108 files/s"]),
        ("`quick` with `--hidden` reads 550.2 files/s.", ["550.2 files/s"]),
    ],
)
def test_a_name_in_code_of_no_row_has_a_figure_of_its_own(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(PARSERS, prose), fixtures) == figures


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("With 16 threads, lru reaches 8.12M gets/s and clock 29.4M gets/s.", []),
        ("With 16 threads, lru reaches 4.21M gets/s and clock 6.65M gets/s.", ["4.21M gets/s", "6.65M gets/s"]),
        ("With lru, 16 threads do 8.12M gets/s.", []),
        ("With lru, 16 threads do 29.4M gets/s.", ["29.4M gets/s"]),
        ("- 16 threads: 8.12M gets/s (lru)", []),
        ("- 16 threads: 4.21M gets/s (lru)", ["4.21M gets/s"]),
        ("`clock`: with 1 thread 6.65M gets/s.", []),
        ("`clock`: with 1 thread 4.21M gets/s.", ["4.21M gets/s"]),
        ("clock wins: 29.4M gets/s against 8.12M gets/s.", []),
        ("With 16 threads, it is 8.12M gets/s instead of the 4.21M gets/s with 1 thread.", []),
        ("Unlike clock, lru reaches 8.12M gets/s.", []),
    ],
)  # fmt: skip
def test_what_a_sentence_begins_with_belongs_to_its_first_clause(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(CACHES, prose), fixtures) == figures


JSON = {
    "id": "json",
    "collection": "json",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["test", "library", "time"],
    "headers": ["Test", "Library", "Time (µs)"],
}
ROWS["json"] = [
    {"_id": number, "test": test, "library": library, "time": time}
    for number, (test, library, time) in enumerate([
        ("loads", "orjson", 2.31),
        ("loads", "ujson", 4.87),
        ("dumps", "orjson", 1.12),
        ("dumps", "ujson", 3.46),
    ])
]  # fmt: skip


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("`loads` takes 4.87 µs with ujson and 2.31 µs with orjson.", []),
        ("`loads` takes 2.31 µs with ujson and 4.87 µs with orjson.", ["2.31 µs", "4.87 µs"]),
        ("ujson needs 3.46 µs for `dumps` and 4.87 µs for `loads`.", []),
        ("ujson needs 4.87 µs for `dumps` and 3.46 µs for `loads`.", ["4.87 µs", "3.46 µs"]),
        ("For `loads` and `dumps` orjson needs 2.31 µs and 1.12 µs.", []),
        ("For `loads` and `dumps` orjson needs 1.12 µs and 2.31 µs.", ["1.12 µs", "2.31 µs"]),
        ("orjson beats ujson by 2.1x in `loads` and by 3.1x in `dumps`.", []),
        ("orjson beats ujson by 3.1x in `loads` and by 2.1x in `dumps`.", ["3.1x", "2.1x"]),
        ("orjson takes half the time of ujson in `loads`.", []),
        ("orjson takes half the time of ujson in `dumps`.", ["half"]),
        ("orjson goes from 2.31 µs in `loads` down to 1.12 µs in `dumps`.", []),
    ],
)
def test_of_two_columns_of_names_each_tells_by_its_own_order(
    prose: str, figures: list[str], fixtures: Path
) -> None:
    assert tell(beside(JSON, prose), fixtures) == figures
