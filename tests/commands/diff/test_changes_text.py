"""Whatever stands in a pull request is shown as it is in a comment, and GitHub makes nothing of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mongo_tables.commands.diff.changes import show
from mongo_tables.findings.reporters import escape_control_chars

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Reader(HTMLParser):
    """The cells of a table as a reader sees them, the tags in them, and what stands outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.outside = ""
        self._in_code = 0
        self._in_cell = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th"):
            self.cells.append("")
            self._in_cell = True
        self.tags.add(tag)
        self._in_code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._in_cell &= tag not in ("td", "th")
        self._in_code -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self.cells and self._in_cell:
            self.cells[-1] += data
        if not self._in_code:
            self.outside += data


def read(text: str) -> Reader:
    return Reader(RENDERER.render(f"| a | b |\n| --- | --- |\n| x {show(text)} | end |\n"))


@settings(max_examples=300)
@given(st.text(st.characters(codec="utf-8"), max_size=40))
@example("a|b\\|c")
@example("`` ` ` ``")
@example("&amp; &#64; &lt;")
@example("**b** _i_ ~~s~~ ![a](b) <b>")
def test_any_text_is_one_cell_that_shows_it(text: str) -> None:
    found = read(text)
    assert len(found.cells) == 4 and found.cells[3] == "end"
    assert found.cells[2].split() == ["x", *escape_control_chars(text).split()]
    assert found.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    # What GitHub looks for, once the Markdown is HTML: names, numbers of issues, commits of a repository, addresses.
    assert not re.search(r"[@#<>\[]|://|www\.|GH-", found.outside)


@pytest.mark.parametrize(
    "text", ["30,100", "-5.25", "1,034 (1,001–1,067)", "7 % slower", "Speed (ops/s)", "6.0.5", ""]
)
def test_words_and_numbers_stand_as_they_are(text: str) -> None:
    assert show(text) == text


@pytest.mark.parametrize("text", ["@team", "GH-12", "owner/name#3", "a.b", ":smile:", "1. one", "- x", "x_y"])
def test_what_could_mean_something_is_code(text: str) -> None:
    assert show(text).startswith("<code>")


def test_a_very_long_text_is_cut() -> None:
    assert len(read("a" * 10_000).cells[2]) < 250
