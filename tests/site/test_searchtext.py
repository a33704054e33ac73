"""Search plugins read the words of figures: all that they would find in the figures, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from material.plugins.search.plugin import Parser

from mongo_tables.render.html import html_chart, html_table
from mongo_tables.site.searchtext import in_full, in_words, words_of
from tests.render.specs import chart, table

ROWS = [{"n": 1, "note": "a <b> & c"}, {"n": 2.5, "note": None}]
NOTES = '<div class="mongo-table__source" data-search-exclude>\n<p>Said</p>\n<div>Deep</div>\n</div>'
TABLE = html_table(table("n", "note", title="Speeds", caption="Two <rows>", id="t"), ROWS, notes=NOTES)
CHART = html_chart(chart("n", "n", title="Drawn", mark="bar"), ROWS, notes=NOTES)
WITH_CHART = html_table(table("n", "note", chart={"mark": "line", "x": "n", "y": "n"}), ROWS)
EMPTY = html_table(table("n", empty="Not measured <yet>."), [])
FIGURES = {"table": TABLE, "chart": CHART, "table with a chart": WITH_CHART, "no rows": EMPTY}
TOKENS = [f"<!--mongo-tables:{'0' * 16}-{number}-->" for number in range(len(FIGURES))]


def shown(page: str, figures: Mapping[str, str]) -> str:
    """The page as search plugins get it."""
    return in_words(page, figures, {token: words_of(figure) for token, figure in figures.items()})


def found(html: str) -> list[str]:
    """The words that Material's search finds in a page."""
    parser = Parser()
    parser.feed(f'<h1 id="top">Top</h1>\n{html}\n<p>After.</p>')
    parser.close()
    texts = ["".join([*section.title, " ", *section.text]) for section in parser.data]
    return " ".join(texts).replace("<p>", " ").replace("</p>", " ").split()


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


def test_a_number_is_found_as_it_is_written_and_as_readers_type_it() -> None:
    spec = table("n", "note", format={"n": {"thousands": True}})
    rows = [{"n": 14909, "note": "1,234,567.5 a"}, {"n": 14909, "note": "2026, 100 of 1,000s"}]
    words = found(words_of(html_table(spec, rows)))
    assert [words.count(each) for each in ("14,909", "14909", "1234567.5", "1000")] == [2, 2, 1, 1]
    assert "2026100" not in words


def test_a_row_is_what_a_search_shows_of_a_table() -> None:
    spec = table("n", "note", format={"n": {"thousands": True}})
    words = words_of(html_table(spec, [{"n": 1909, "note": "x"}]))
    assert "<p>n\nnote</p>" in words
    assert "<p>1,909\nx 1909</p>" in words


def test_what_is_no_number_in_thousands_has_no_second_form() -> None:
    notes = ("1,5", "1,23,456", "0.1,000", "12")
    words = words_of(html_table(table("note"), [{"note": note} for note in notes]))
    assert [note for note in notes if f"<p>{note}</p>" not in words] == []


def test_figures_come_back_as_they_were() -> None:
    page = "<h1>Top</h1>\n" + "\n<p>Between.</p>\n".join(FIGURES.values()) + "\n<p>After.</p>"
    figures = dict(zip(TOKENS, FIGURES.values(), strict=True))
    words = shown(page, figures)
    assert "<table" not in words
    assert in_full(words, figures) == page


def test_what_search_changes_around_a_figure_stays_changed() -> None:
    words = shown(f'<p data-search-boost="2">One</p>\n{TABLE}', {TOKENS[0]: TABLE})
    assert in_full(words.replace(' data-search-boost="2"', ""), {TOKENS[0]: TABLE}) == f"<p>One</p>\n{TABLE}"


def test_a_figure_that_another_plugin_changed_stays_as_it_is() -> None:
    page = TABLE.replace("<table>", '<table class="mine">')
    assert shown(page, {TOKENS[0]: TABLE}) == page
    assert in_full(page, {TOKENS[0]: TABLE}) == page
