"""Figures typed into sentences: those that no row beside them supports are told, at their place, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.pages.reading import read_page
from tests.judged import asked
from tests.pages.prose.telling import judge, write_rows

BODY = {
    "id": "speed",
    "collection": "runs",
    "pipeline": [{"$sort": {"n": 1}}],
    "columns": ["n", "ops", "p99"],
    "headers": ["Threads", "Speed (inserts/s)", "p99 (ms)"],
}
TABLE = f"<!-- MONGO_TABLE: {json.dumps(BODY)} -->"
ROWS = (
    '{"_id": 1, "n": 1, "ops": 4200.4, "p99": 1.9}\n'
    '{"_id": 2, "n": 8, "ops": 30100, "p99": 2.44}\n'
    '{"_id": 3, "n": 16, "ops": 41821, "p99": 12.5}\n'
)


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(ROWS)
    return tmp_path / "fixtures"


def beside(prose: str) -> str:
    return f"# Runs\n\n## Speed\n\n{prose}\n\n{TABLE}\n"


@pytest.mark.parametrize(
    "prose",
    [
        "Sixteen threads reach 55,000 inserts/s.",
        "Sixteen threads reach 55 k inserts a second.",
        "Sixteen threads reach 7 inserts/s.",
        "Sixteen threads reach 900,000,000 inserts/s.",
        "One thread waits 0.1 ms.",
        "One thread waits 5 s.",
        "Eight threads wait 2.46 ms.",
        "One thread waits 7.5 ms.",
        "That is 55% faster.",
        "Sixteen threads are 50 times as fast as one.",
        "With sixteen threads the speed grew 50 times.",
        "It takes 50.5 times.",
        "Ten times as many threads: 24 threads.",
        "Eight threads have half the latency of one.",
        "One thread is half as fast as eight.",
        "Sixteen threads are four times as fast as eight.",
        "Doubling the threads helps: five threads.",
        "Doubling the threads triples the speed.",
        "| Threads | Speed |\n| --- | --- |\n| 16 | 55,000 inserts/s |",
        "### Sixteen threads reach 55,000 inserts/s",
        '<p align="center">\n  Sixteen threads reach <b>55,000 inserts/s</b>.\n</p>',
        "<h3>Sixteen threads reach 55,000 inserts/s</h3>",
        "Sixteen threads reach **55,000** inserts/s.",
        "Sixteen threads reach 55,000 **inserts/s**.",
        "One thread waits __77__ ms.",
        "One thread waits *77* ms.",
        "One thread waits _77_ ms.",
        "One thread waits ***77*** ms.",
        "One thread waits 77 **ms**.",
        "Sixteen threads are **50**× as fast as one.",
        "Sixteen threads are **50**x as fast as one.",
        "Sixteen threads are **50 times** as fast as one.",
        "One thread is **twice** as fast as eight.",
        "One thread waits 77 ms/op.",
        "One thread waits 77 msec.",
        "One thread waits 7.7e1 ms.",
        "Sixteen threads reach 99_130 inserts/s.",
        "They wait 1.9/2.44/500 ms.",
        "They wait **1.9**/**2.44**/**500** ms.",
        "They wait about 2/2/500 ms.",
        "They wait 1.9/7.7 ms.",
    ],
)
def test_a_figure_that_no_row_supports_is_told(prose: str, fixtures: Path) -> None:
    (found,) = judge(beside(prose), fixtures)
    assert (found.rule, found.severity) == ("MT324", "warning")


@pytest.mark.parametrize(
    "prose",
    [
        "Sixteen threads reach 41,800 inserts/s, 8 threads 30 k inserts/s.",
        "One thread waits 1.9 ms, none more than 12 ms.",
        "Sixteen are 39% faster than eight, and 10 times as fast as one.",
        "The disk has 200 GB.",
        "Each command ran 50 times after a warm-up, 3 to 5 times each, 5,000 times in all.",
        "A batch is `55000 inserts/s` of [a page](55,000 inserts/s).",
        "1. Begun in 2026 with MongoDB 6.0.5.\n2. 4,096 each.",
        "| Threads | Speed |\n| --- | --- |\n| 16 | 41,800 inserts/s |",
        "### Sixteen threads reach 41,800 inserts/s",
        "A screen of 1994 × 2832 as ISO 32000-2 has it, and RFC 9110.",
        '<p align="center" title="55,000 inserts/s">Sixteen threads reach 41,800 inserts/s.</p>',
        "<svg><text>55,000 inserts/s</text></svg>",
        "<script>\nvar speed = '55,000 inserts/s';\n</script>",
        "Sixteen threads reach about **44,000** inserts/s.",
        "One thread waits **1.9** ms, eight _2.44_ ms/op, sixteen 12.5 msec.",
        "One thread waits 1.9e0 ms, sixteen reach 41_821 inserts/s.",
        "They wait 1.9/2.44/12.5 ms, about 2/2/12 ms.",
        "Sixteen threads are **ten** times as fast as one.",
        "The seed is 1e6, the build 77_130, the commit 12e4f9, 24/7 hours a week, 1/2 s each.",
        "It takes 8/16/32 threads, and 3 * 4 of `77` ms.",
        "That is 77 ns/row, 77 µs/document.",
        "Sixteen threads are ten times as fast as one, eight seven times as fast.",
        "Eight threads reach about three quarters of the speed of sixteen, half of them waiting.",
        "By the third run, half a second later, twelve were there twice.",
        "```\n55,000 inserts/s\n```",
        'They reach <!-- MONGO_VALUE: {"table": "speed", "column": "ops", "where": {"n": 8}} -->.',
    ],
)
def test_what_rows_support_and_what_is_no_figure_of_theirs_is_not_told(prose: str, fixtures: Path) -> None:
    assert judge(beside(prose), fixtures) == []


def test_the_place_is_that_of_the_figure_and_the_hint_writes_the_value(fixtures: Path) -> None:
    (found,) = judge(beside("A line.\nThey reach 55,000 inserts/s."), fixtures)
    assert (found.line, found.column) == (6, 12)
    assert found.message == "no row of the section's tables has `55,000 inserts/s`"
    assert "the nearest is 41821" in found.hint
    assert '<!-- MONGO_VALUE: {"table": "speed", "column": "ops", "where": {"n": 16}} -->' in found.hint


def test_a_number_of_another_kind_is_no_hint(fixtures: Path) -> None:
    (found,) = judge(beside("That is 55% faster."), fixtures)
    assert found.hint == ""


def test_the_hint_can_be_followed(fixtures: Path) -> None:
    (found,) = judge(beside("They reach 55,000 inserts/s."), fixtures)
    comment = found.hint[found.hint.index("<!--") :]
    page = read_page(beside(comment), "page.md", lambda _: None)
    assert asked(fixtures, page).findings() == []


def test_sections_without_tables_are_held_against_those_around_them(fixtures: Path) -> None:
    def text(prose: str) -> str:
        return f"# Runs\n\n## Speed\n\n{TABLE}\n\n### Takeaways\n\n{prose}\n\n## Other\n\nWords.\n"

    assert len(judge(text("As much as 55,000 inserts/s."), fixtures)) == 1
    assert judge(text("At most 42,000 inserts/s."), fixtures) == []


def with_check(prose: str, expect: str, **more: object) -> str:
    body = json.dumps({"table": "speed", "where": {}, "expect": json.loads(expect), **more})
    return beside(f"{prose}\n<!-- MONGO_CHECK: {body} -->")


def test_a_figure_beside_a_check_is_one_of_the_rows_or_one_that_the_check_expects(fixtures: Path) -> None:
    below = '{"ops": {"$lt": 55000}}'
    assert judge(with_check("Never 55,000 inserts/s, and 41,800 inserts/s at most.", below), fixtures) == []
    (found,) = judge(with_check("Never 65,000 inserts/s.", below), fixtures)
    assert found.message == "no row of the section's tables has `65,000 inserts/s`"


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ("Less than a tenth of a second.", "a tenth of a second"),
        ("Three quarters of a second at most.", "Three quarters of a second"),
        ("Less than half a second.", None),
        ("Done in a quarter of an hour, half of a run.", "a quarter of an hour"),
    ],
)
def test_a_part_of_a_second_beside_a_check_of_durations_is_held_against_it(
    prose: str, told: str | None, fixtures: Path
) -> None:
    found = judge(with_check(prose, '{"p99": {"$lt": 500}}'), fixtures)
    assert [one.message for one in found] == (
        [f"no row of the section's tables has `{told}`"] if told else []
    )
    assert judge(with_check(prose, '{"ops": {"$gt": 500}}'), fixtures) == []


def test_a_share_beside_a_check_may_be_the_bound_of_the_check(fixtures: Path) -> None:
    share = '{"$expr": {"$gte": ["$ops", {"$multiply": ["$p99", 0.45]}]}}'
    assert judge(with_check("It loses at most 55 %, that is 45% of it.", share), fixtures) == []
    assert len(judge(with_check("It loses 35 %.", share), fixtures)) == 1


def test_a_check_can_take_the_figures_of_its_paragraph_upon_itself(fixtures: Path) -> None:
    expect, why = '{"ops": {"$gt": 0}}', {"MT324": "quoted from a report"}
    assert judge(with_check("They reached 65,000 inserts/s.", expect, ignore=why), fixtures) == []


@pytest.mark.parametrize("key", ["title", "caption"])
def test_figures_in_titles_and_captions_are_judged_and_support_nothing(key: str, fixtures: Path) -> None:
    table = json.dumps({**BODY, key: "Always 55,000 inserts/s"})
    (found,) = judge(f"# Runs\n\n<!-- MONGO_TABLE: {table} -->\n", fixtures)
    assert found.column == len("<!-- MONGO_TABLE: ") + table.index("55,000") + 1
    told = judge(f"# Runs\n\nThey reach 55,000 inserts/s.\n\n<!-- MONGO_TABLE: {table} -->\n", fixtures)
    assert [one.line for one in told] == [3, 5]


def test_a_table_can_take_the_figures_of_its_section_upon_itself(fixtures: Path) -> None:
    table = f"<!-- MONGO_TABLE: {json.dumps({**BODY, 'ignore': {'MT324': 'quoted from elsewhere'}})} -->"
    assert judge(f"# Runs\n\nThey had 55,000 inserts/s.\n\n{table}\n", fixtures) == []


def test_numbers_that_are_none_support_nothing_and_do_no_harm(fixtures: Path) -> None:
    odd = '{"_id": 4, "n": 99, "ops": {"$numberDouble": "Infinity"}, "p99": {"$numberDouble": "NaN"}}\n'
    tiny = '{"_id": 5, "n": 5e-324, "ops": 1e308, "p99": 1}\n'
    (fixtures / "runs" / "a.jsonl").write_text(ROWS + odd)
    assert len(judge(beside("One waits 7.5 ms, none reaches 900,000 inserts/s; 55% faster."), fixtures)) == 3
    (fixtures / "runs" / "a.jsonl").write_text(ROWS + tiny)
    assert judge(beside("Sixteen are 39% faster than eight."), fixtures) == []


def test_text_that_a_program_wrote_under_a_comment_is_not_judged(fixtures: Path) -> None:
    from mongo_tables.comments.model import END_MARKER, begin_marker

    inner = "\nThey reach 55,000 inserts/s.\n"
    text = f"# Runs\n\n{TABLE}\n{begin_marker(inner)}\n{inner}\n{END_MARKER}\n"
    assert judge(text, fixtures) == []


def test_check_prose_warns_and_fails_and_check_alone_does_not(fixtures: Path) -> None:
    (fixtures.parent / "page.md").write_text(beside("They reach 55,000 inserts/s."))

    def check(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mongo_tables.cli", "check", "page.md", *options]
        return subprocess.run(command, cwd=fixtures.parent, capture_output=True, text=True, check=False)

    assert check().returncode == 0
    told = check("--prose")
    assert told.returncode == 1
    assert told.stdout.startswith("page.md:5:12: warning MT324 ")
    assert check("--prose", "--static").returncode == 2


RANGED = {
    **BODY,
    "columns": ["n", "ops"],
    "headers": ["Threads", "Speed (inserts/s)"],
    "spread": {"ops": ["low", "high", "runs"]},
    "pipeline": [
        {"$sort": {"n": 1}},
        {"$set": {"low": {"$subtract": ["$ops", 900]}, "high": {"$add": ["$ops", 700]}, "runs": 3}},
    ],
}


@pytest.mark.parametrize(("figure", "supported"), [("29,200", True), ("30,800", True), ("27,500", False)])
def test_the_ends_of_a_range_support_a_figure_with_its_unit(
    figure: str, supported: bool, fixtures: Path
) -> None:
    text = f"# Runs\n\n## Speed\n\nEight threads were seen at {figure} inserts/s.\n\n<!-- MONGO_TABLE: {json.dumps(RANGED)} -->\n"
    assert (judge(text, fixtures) == []) is supported


def test_a_comparison_supports_its_ratio_and_the_ends_of_its_interval(fixtures: Path) -> None:
    found = {
        "against": "1",
        "ratio": 1.12,
        "low": 1.08,
        "high": 1.17,
        "blocks": 20,
        "margin": 0.1,
        "verdict": "faster",
    }
    rows = [
        {"_id": 1, "n": 1, "ops": 1, "c": {**found, "against": "itself"}},
        {"_id": 2, "n": 8, "ops": 9000, "c": found},
    ]
    (fixtures / "runs" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    body = {
        **BODY,
        "columns": ["n", "ops"],
        "headers": ["Threads", "Speed (inserts/s)"],
        "baseline": {"row": 1, "column": "ops", "comparison": "c"},
    }
    text = f"# Runs\n\n## Speed\n\nEight are %s %% faster.\n\n<!-- MONGO_TABLE: {json.dumps(body)} -->\n"
    assert [judge(text % percent, fixtures) for percent in ("12", "8", "17")] == [[], [], []]
    assert [len(judge(text % percent, fixtures)) for percent in ("31", "20")] == [1, 1]


SHARES = {
    "id": "shares",
    "collection": "shares",
    "pipeline": [{"$sort": {"_id": 1}}],
    "columns": ["name", "share"],
    "headers": ["Name", "Share (%)"],
}


@pytest.mark.parametrize(
    ("prose", "told"), [("It is 44.4%.", 1), ("It is 3.0% of all.", 0), ("It is 37%.", 1)]
)
def test_shares_are_held_against_a_column_of_shares_alone(prose: str, told: int, tmp_path: Path) -> None:
    """And never against fields that are not shown: here an _id of 37 and a time of 44.4."""
    (tmp_path / "fixtures" / "shares").mkdir(parents=True)
    rows = '{"_id": 37, "name": "a", "share": 3.0, "time": 44.4}\n{"_id": 38, "name": "b", "share": 5.1, "time": 9}\n'
    (tmp_path / "fixtures" / "shares" / "a.jsonl").write_text(rows)
    page = f"# Shares\n\n{prose}\n\n<!-- MONGO_TABLE: {json.dumps(SHARES)} -->\n"
    assert len(judge(page, tmp_path / "fixtures")) == told


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ("They made 19,002 calls.", 0),
        ("They made 19,100 calls.", 1),  # no rounding of what nobody can look up
        ("They made 20 k calls.", 1),
        ("One waits 77 ms.", 1),
        ("They reach 19,002 inserts/s.", 1),
        ('They waited <!-- MONGO_VALUE: {"table": "speed", "column": "wait", "where": {"n": 1}} --> ms.', 0),
    ],
)
def test_a_field_that_no_reader_sees_says_a_large_figure_without_a_unit_alone(
    prose: str, told: int, fixtures: Path
) -> None:
    rows = ROWS.replace('"n": 1,', '"n": 1, "wait": 77, "made": {"calls": 19002},')
    (fixtures / "runs" / "a.jsonl").write_text(rows)
    assert len(judge(beside(prose), fixtures)) == told


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ("It takes 1.8 ms.", 0),
        ("It takes 1.98 ms, the other 14 ms.", 2),
        ("It has 2 cores.", 0),
        ("Of 19,002 files.", 0),
        ("With 8.4 ms each.", 0),  # which a name says
        ("With 8.4 s each.", 1),
    ],
)
def test_a_number_in_a_name_is_no_time(prose: str, told: int, tmp_path: Path) -> None:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    names = ("echo 2", "14 threads, 19,002 files", "waits 8.4 ms")
    rows = [{"_id": n, "name": name, "time": 1.75 + n / 100} for n, name in enumerate(names)]
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    body = {**SHARES, "collection": "runs", "columns": ["name", "time"], "headers": ["Name", "Time (ms)"]}
    page = f"# Runs\n\n{prose}\n\n<!-- MONGO_TABLE: {json.dumps(body)} -->\n"
    assert len(judge(page, tmp_path / "fixtures")) == told


@pytest.mark.parametrize(("header", "told"), [("Time (ns)", 1), ("Time (ms)", 1), ("Took", 0)])
def test_nanoseconds_are_a_unit(header: str, told: int, tmp_path: Path) -> None:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 1, "name": "Parse", "time": 350}\n')
    body = {**SHARES, "collection": "runs", "columns": ["name", "time"], "headers": ["Name", header]}
    page = f"# Runs\n\nParse takes 123 ns.\n\n<!-- MONGO_TABLE: {json.dumps(body)} -->\n"
    assert len(judge(page, tmp_path / "fixtures")) == told


@pytest.mark.parametrize(("heading", "told"), [("", 1), ("## Limits\n\n", 0)])
def test_a_figure_far_off_is_told_in_a_section_of_tables_alone(
    heading: str, told: int, fixtures: Path
) -> None:
    page = f"# Runs\n\n## Speed\n\n{TABLE}\n\n{heading}It waits 900 ms.\n"
    assert len(judge(page, fixtures)) == told


def test_the_hint_for_a_row_whose_name_would_end_the_comment_is_one_that_does_not_end_there(
    tmp_path: Path,
) -> None:
    write_rows(tmp_path, "arrows", [{"_id": "a --> b", "time": 4.5}, {"_id": "c", "time": 9.5}])
    table = {
        "id": "arrows",
        "collection": "arrows",
        "sort": "_id",
        "columns": ["_id", "time"],
        "headers": ["Case", "Time (ms)"],
    }
    written = json.dumps(table)
    (found,) = judge(f"# Arrows\n\nOne takes 4.7 ms.\n\n<!-- MONGO_TABLE: {written} -->\n", tmp_path)
    comment = found.hint.partition("<!--")[2]
    assert comment.count("-->") == 1
    assert r'{"_id": "a --\u003e b"}' in comment
