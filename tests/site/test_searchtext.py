"""Search plugins read the words of figures: all that they would find in the figures, and nothing else."""

from __future__ import annotations

import pytest
from material.plugins.search.plugin import Parser

from preprocessor.render.html import html_chart, html_table
from preprocessor.site.searchtext import in_full, in_words, words_of
from tests.render.specs import chart, table

ROWS = [{"n": 1, "note": "a <b> & c"}, {"n": 2.5, "note": None}]
NOTES = '<div class="mongo-table__source" data-search-exclude>\n<p>Said</p>\n<div>Deep</div>\n</div>'
TABLE = html_table(table("n", "note", title="Speeds", caption="Two <rows>", id="t"), ROWS, notes=NOTES)
CHART = html_chart(chart("n", "n", title="Drawn", mark="bar"), ROWS, notes=NOTES)
WITH_CHART = html_table(table("n", "note", chart={"mark": "line", "x": "n", "y": "n"}), ROWS)
EMPTY = html_table(table("n", empty="Not measured <yet>."), [])
FIGURES = {"table": TABLE, "chart": CHART, "table with a chart": WITH_CHART, "no rows": EMPTY}
TOKENS = [f"<!--mongo-tables:{'0' * 16}-{number}-->" for number in range(len(FIGURES))]


def found(html: str) -> list[str]:
    """The words that Material's search finds in a page."""
    parser = Parser()
    parser.feed(f'<h1 id="top">Top</h1>\n{html}\n<p>After.</p>')
    parser.close()
    return [word for section in parser.data for word in "".join([*section.title, " ", *section.text]).split()]


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_search_finds_the_same_words(figure: str) -> None:
    assert found(words_of(figure)) == found(figure)


def test_words_are_those_that_readers_see() -> None:
    words = words_of(TABLE)
    assert [
        each for each in ("Speeds", "Two &lt;rows&gt;", "a &lt;b&gt; &amp; c", "2.5") if each not in words
    ] == []
    assert "Said" not in words
    assert "Deep" not in words


def test_figures_come_back_as_they_were() -> None:
    page = "<h1>Top</h1>\n" + "\n<p>Between.</p>\n".join(FIGURES.values()) + "\n<p>After.</p>"
    figures = dict(zip(TOKENS, FIGURES.values(), strict=True))
    words = in_words(page, figures)
    assert "<table" not in words
    assert in_full(words, figures) == page


def test_what_search_changes_around_a_figure_stays_changed() -> None:
    words = in_words(f'<p data-search-boost="2">One</p>\n{TABLE}', {TOKENS[0]: TABLE})
    assert in_full(words.replace(' data-search-boost="2"', ""), {TOKENS[0]: TABLE}) == f"<p>One</p>\n{TABLE}"


def test_a_figure_that_another_plugin_changed_stays_as_it_is() -> None:
    page = TABLE.replace("<table>", '<table class="mine">')
    assert in_words(page, {TOKENS[0]: TABLE}) == page
    assert in_full(page, {TOKENS[0]: TABLE}) == page
