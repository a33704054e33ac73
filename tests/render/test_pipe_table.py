"""A pipe table shows in GitHub-flavoured Markdown and in Python-Markdown exactly what is in the rows."""

from __future__ import annotations

import re

import markdown
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mongo_tables.render.markup import display_width, escape_cell
from mongo_tables.render.pipe_table import pipe_table
from mongo_tables.render.values import visible
from tests.hosts.builds import read
from tests.render.specs import table

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
EXTENSIONS = [
    "tables",
    "abbr",
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "pymdownx.betterem",
    "pymdownx.caret",
    "pymdownx.inlinehilite",
    "pymdownx.magiclink",
    "pymdownx.mark",
    "pymdownx.superfences",
    "pymdownx.tilde",
]
SPECIAL = st.text(
    alphabet=[*"\\|`*_[]{}<>&#~$^=+-.:!\"'()@ /ahtps1wW\n\t", *"\u00a0\u3000é\x00\u202e"], max_size=14
)
KNOWN = [
    "<script>alert(1)</script>",
    "<!-- x -->",
    "]]>",
    "{{ x }}",
    "{: .c }",
    "[^1]",
    "![a](b)",
    "[a]: b",
    "&amp;",
    "&#42;",
    "http://example.com/",
    "www.example.com",
    "a@example.com",
    "~~a~~",
    "$a$",
    ":smile:",
    "**a**",
    "a\\|b",
    "\\",
    "|",
    "`",
    "``a`b``",
    "- a",
    "1. a",
    "# a",
    "doc_size_kb",
]


def shown(text: str) -> list[str]:
    """What a reader sees of a text: its lines, white space collapsed as a browser does."""
    return [re.sub("[ \t]+", " ", line).strip(" ") for line in text.split("\n")]


@settings(max_examples=300, deadline=None)
@given(SPECIAL | st.text(max_size=20) | st.sampled_from(KNOWN))
@example("\\|")
@example("a\\")
def test_any_text_comes_back_from_its_cell_in_both_dialects(text: str) -> None:
    cell = escape_cell(text)
    source = f"| a | b | c |\n| --- | --- | --- |\n| x | {cell} | y |\n| {cell} | 1 | {cell} |\n"
    for html in (GITHUB.render(source), markdown.markdown(source, extensions=EXTENSIONS)):
        page = read(html)
        (rows,) = page.tables
        assert [len(row) for row in rows] == [3, 3, 3]
        for seen in (rows[1][1], rows[2][0], rows[2][2]):
            assert shown(seen) == shown(visible(text))
        assert page.tags <= {"table", "thead", "tbody", "tr", "td", "th", "br", "wbr", "div"}


@pytest.mark.parametrize("text", KNOWN)
def test_what_looks_like_markdown_is_text(text: str) -> None:
    assert "\n" not in escape_cell(text)
    html = GITHUB.render(f"| {escape_cell(text)} |\n| --- |\n")
    assert read(html).tables == [[[text]]]


def test_columns_are_aligned_and_numbers_stand_right() -> None:
    rows = [{"name": "数据", "n": 5}, {"name": "plain", "n": 1032240}, {"name": "a|b", "n": None}]
    lines = pipe_table(table("name", "n", headers=["Name", "Docs/s"]), rows)
    assert lines == [
        "| Name  |  Docs/s |",
        "| ----- | ------: |",
        "| 数据  |       5 |",
        "| plain | 1032240 |",
        "| a\\|b  |     n/a |",
    ]
    assert len({display_width(line) for line in lines}) == 1


def test_unit_format_and_alignment_are_the_authors() -> None:
    form = {"ms": {"unit": "ms", "decimals": 1, "align": "center"}}
    lines = pipe_table(table("ms", headers=["p99"], format=form), [{"ms": 12.25}])
    assert lines == ["| p99 (ms) |", "| :------: |", "|   12.3   |"]


def test_title_and_caption_stand_above_the_table() -> None:
    lines = pipe_table(table("n", title="All *runs*", caption="- two of them"), [{"n": 1}])
    assert lines[:2] == ["**All \\*runs\\*** _- two of them_", ""]


def test_no_rows_give_a_sentence() -> None:
    assert pipe_table(table("n", empty="Not measured."), []) == ["_Not measured._"]
    assert pipe_table(table("n"), []) == ["_There are no results for this table yet._"]
