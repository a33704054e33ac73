"""Pages with tables as text: what is outside the comments stays, in place is idempotent, nothing ever raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.directives import comments
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.in_place import region_findings
from mongo_tables.site.markdown import render_markdown
from mongo_tables.site.pages import Page, read_page, tables_by_id
from tests.judged import composed_in_place, report_on

TABLE = '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["Run"]} -->'
FAULTY = '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"]} -->'
SHARED = SharedPipelines(Path("no such folder"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    folder = tmp_path_factory.mktemp("fixtures")
    (folder / "runs").mkdir()
    (folder / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 1}\n{"_id": 2, "n": "<b>|x"}\n')
    opened = Answers(str(folder))
    yield opened
    opened.close()


def read(text: str, source: Answers) -> tuple[Page, Mapping[str, Any]]:
    page = read_page(text, "page.md", SHARED)
    build = report_on(source, page)
    return page, build.answers


def rendered(text: str, source: Answers) -> str:
    page, answers = read(text, source)
    return render_markdown(page, answers, tables_by_id([page]))


def in_place(text: str, source: Answers) -> str:
    page, answers = read(text, source)
    return composed_in_place(page, answers, tables_by_id([page])).text


def test_a_table_stands_where_its_comment_stood(source: Answers) -> None:
    text = rendered(f"# Runs\n\n{TABLE}\n\nAnd on.\n", source)
    assert text.startswith("# Runs\n\n| Run")
    assert text.endswith("|\n\nAnd on.\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Text.\n", "\nMore.\n"),
        ("Text.\n\n", "\n\nMore.\n"),
        ("", ""),
        ("> Quoted.\n> ", "\n> More.\n"),
        ("- ", "\n- b\n"),
    ],
)
def test_a_table_is_a_block_of_its_own_and_stays_in_its_container(
    before: str, after: str, source: Answers
) -> None:
    lines = rendered(before + TABLE + after, source).splitlines()
    rows = [index for index, line in enumerate(lines) if "|" in line]
    above, below = lines[rows[0] - 1 : rows[0]], lines[rows[-1] + 1 : rows[-1] + 2]
    assert not above or not above[0].strip("> ") or before == "- "
    assert not below or not below[0].strip("> ") or below[0].startswith("- ")
    prefix = {"> Quoted.\n> ": "> ", "- ": "  "}.get(before, "")
    assert all(lines[index].startswith(prefix) for index in rows[1:])


def test_a_value_stands_in_its_sentence_and_a_statement_leaves_nothing(source: Answers) -> None:
    table = TABLE.replace('{"collection"', '{"id": "runs", "collection"')
    value = '<!-- MONGO_VALUE: {"table": "runs", "column": "n", "where": {"_id": 1}} -->'
    check = '<!-- MONGO_CHECK: {"table": "runs", "where": {"_id": 1}, "expect": {"n": {"$lt": 2}}} -->'
    text = rendered(f"Run {value} was first.{check}\n\n{table}\n", source)
    assert text.startswith("Run 1 was first.\n\n| Run")


def test_in_place_keeps_the_comment_and_every_other_byte(source: Answers) -> None:
    text = f"# Runs \r\n\r\n{TABLE}  \r\n\r\nNo newline at the end  "
    once = in_place(text, source)
    assert once.startswith(f"# Runs \r\n\r\n{TABLE}  \r\n<!-- mongo-tables: begin ")
    assert once.endswith("<!-- mongo-tables: end -->\r\n\r\nNo newline at the end  ")
    assert "\n" not in once.replace("\r\n", "")


def test_rendering_leaves_out_what_in_place_wrote(source: Answers) -> None:
    text = f"Above.\n\n{TABLE}\n\nBelow.\n"
    assert rendered(in_place(text, source), source) == rendered(text, source)


def test_a_table_edited_by_hand_is_noticed(source: Answers) -> None:
    once = in_place(f"{TABLE}\n", source)
    assert region_findings(read_page(once, "page.md", SHARED)) == []
    edited = once.replace("| 1 ", "| 7 ")
    assert edited != once
    (found,) = region_findings(read_page(edited, "page.md", SHARED))
    assert (found.rule, found.line, found.column) == ("MT164", 1, 1)


def test_a_comment_within_a_line_of_text_is_reported_in_place() -> None:
    (found,) = region_findings(read_page(f"See {TABLE} here.\n", "page.md", SHARED))
    assert (found.rule, found.line, found.column) == ("MT165", 1, 5)


_PIECES = st.one_of(
    st.sampled_from(
        [TABLE, FAULTY, "<!-- other -->", "<!-- MONGO_TABLE: {", "-->", "text", "# Title", "```", "    code"]
    ),
    st.sampled_from(
        [
            "> ",
            "- ",
            "1. ",
            "!!! note\n\n    ",
            "    ",
            '=== "Tab"\n\n    ',
            "[^1]: ",
            "<details>",
            "</details>",
            "|a|b|",
        ]
    ),
    st.text("ab `<>!-|\\*[]{}\"':", max_size=8),
)
_TEXTS = st.lists(st.one_of(_PIECES, st.sampled_from(["\n", "\n\n", "\r\n", " "])), max_size=14).map("".join)


@settings(max_examples=150, deadline=None)
@given(text=st.one_of(_TEXTS, st.text(max_size=60)))
def test_whatever_the_page_nothing_raises_and_all_else_stays(source: Answers, text: str) -> None:
    page, answers = read(text, source)
    kept = [text[comment.start : (comment.region or comment).end] for comment in page.comments]
    assert comments.replace(text, page.comments, kept) == text
    assert _without_blank(render_markdown(page, answers, tables_by_id([page])), text)


def _without_blank(result: str, text: str) -> bool:
    """Every run of visible characters outside the comments is still there, in order."""
    found = find(text, "page.md").comments
    outside = comments.replace(text, found, [" "] * len(found))
    at = 0
    for word in re.findall(r"\S+", outside):
        at = result.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True


@settings(max_examples=150, deadline=None)
@given(text=_TEXTS)
def test_in_place_is_idempotent(source: Answers, text: str) -> None:
    once = in_place(text, source)
    assert in_place(once, source) == once
    assert [one.rule for one in regions(once)] == [one.rule for one in regions(text)]


def regions(text: str) -> list[Finding]:
    return region_findings(read_page(text, "page.md", SHARED))


def test_in_markdown_a_chart_is_the_table_of_what_it_draws(source: Answers) -> None:
    chart = '<!-- MONGO_CHART: {"collection": "runs", "pipeline": [{"$match": {"_id": 1}}], "x": "n", "y": "_id"} -->'
    assert rendered(f"{chart}\n", source) == "|   n | \\_id |\n| --: | ---: |\n|   1 |    1 |\n"


def test_the_mark_of_the_encoding_is_no_text_beside_a_comment(source: Answers) -> None:
    text = f"\ufeff{TABLE}\n"
    assert regions(text) == []
    assert in_place(text, source).startswith(f"\ufeff{TABLE}\n<!-- mongo-tables: begin ")
    assert in_place(in_place(text, source), source) == in_place(text, source)
    assert rendered(text, source).startswith("\ufeff| Run")


def test_a_table_right_under_the_mark_of_the_encoding_has_no_blank_line(source: Answers) -> None:
    assert rendered(f"\ufeff\n{TABLE}\n", source).startswith("\ufeff\n| Run")


@pytest.mark.parametrize(
    ("before", "blank"),
    [("!!! note\n    ", ""), ("> Quoted.\n> ", ">"), ("- Item.\n  ", ""), ("Text.\r\n", "")],
)
def test_no_line_has_blanks_at_its_end(before: str, blank: str, source: Answers) -> None:
    lines = rendered(f"{before}{TABLE}\n", source).splitlines()
    assert lines[1] == blank
    assert [line for line in lines if line != line.rstrip()] == []


def test_where_rows_come_from_is_told_in_markdown_to_who_asks(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    line = '{"_id": 1, "n": 1, "start_time": {"$date": "2026-11-21T04:00:00Z"}, "versions": {"server": "8.0.4"}}\n'
    (tmp_path / "runs" / "a.jsonl").write_text(line)
    opened = Answers(str(tmp_path))
    asking = TABLE.replace('"pipeline"', '"provenance": true, "pipeline"')
    assert "_Measured 2026-11-21 · MongoDB 8.0.4 · Result documents: 1_" in rendered(asking, opened)
    assert "Measured" not in rendered(TABLE, opened)
    opened.close()
