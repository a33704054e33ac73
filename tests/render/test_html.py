"""HTML that is complete without a script, can be read aloud, and in which no cell is markup."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.render.html import figure_html
from mongo_tables.render.values import visible
from tests.hosts.builds import read
from tests.render.specs import table

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="x',
    "-->",
    "]]>",
    "&lt;b&gt;",
    "<!--",
    "' x",
    "\x00",
    "\\1 \\g<0> $&",
]


def test_the_structure_is_that_of_a_table_with_row_and_column_headers() -> None:
    html = figure_html(table("n", "v", id="t1", title="Title", caption="What it shows"), [{"n": 1, "v": "a"}])
    assert html == "\n".join(
        [
            '<figure class="mongo-table" id="t1">',
            '<figcaption><strong>Title</strong> <a class="mongo-table__link" href="#t1" '
            'title="Link to this figure" aria-label="Link to this figure"></a> '
            "<span>What it shows</span></figcaption>",
            '<div class="mongo-table__scroll" role="group" tabindex="0" aria-label="Title">',
            "<table>",
            "<thead>",
            "<tr>",
            '<th scope="col" style="text-align: right;">n</th>',
            '<th scope="col">v</th>',
            "</tr>",
            "</thead>",
            "<tbody>",
            '<tr id="t1--1"><th scope="row" style="text-align: right;"><a href="#t1--1">1</a></th>',
            "<td>a</td></tr>",
            "</tbody>",
            "</table>",
            "</div>",
            "</figure>",
        ]
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_is_text_wherever_it_lands(text: str) -> None:
    spec = table("a", "b", title=text, caption=text, headers=[text, "B"], format={"b": {"unit": text}})
    html = figure_html(spec, [{"a": text, "b": text}])
    page = read(html)
    assert page.tags == {
        "figure",
        "figcaption",
        "strong",
        "span",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert not page.comments
    assert page.tables[0][1] == [visible(text), visible(text)]
    assert page.attributes <= {
        "class",
        "role",
        "tabindex",
        "aria-label",
        "scope",
        "style",
        "data-t",
        "data-v",
    }


@given(st.text(max_size=30))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    page = read(figure_html(table("a"), [{"a": text}]))
    # Browsers do not show blanks after a line break.
    assert page.tables == [[["a"], [re.sub("\n +", "\n", visible(text))]]]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({"v": 1.5}, "<td>1.5"),
        ({"v": "x"}, "<td>x"),
        ({"v": True}, "<td>true"),
        ({"v": [1]}, "<td>[1]"),
        ({"v": None}, '<td data-t="null" title="null">n/a'),
        ({}, '<td data-t="missing" title="missing: the row has no such field">—'),
    ],
)
def test_a_cell_is_its_value_and_says_when_there_is_none(row: dict[str, Any], shown: str) -> None:
    assert f"{shown}</td>" in figure_html(
        table("k", "v", headers=["K", "V"]), [{"k": "k", **row}, {"k": "k", "v": "text"}]
    )


def test_a_formatted_number_keeps_its_raw_value() -> None:
    html = figure_html(table("n", format={"n": {"decimals": 1, "thousands": True}}), [{"n": 1234.56}])
    assert 'data-v="1234.56">1,234.6</th>' in html


def test_numbers_stand_right_unless_a_text_is_among_them() -> None:
    rows = [{"k": "a", "n": 1, "m": 1}, {"k": "b", "n": None, "m": "?"}]
    html = figure_html(table("k", "n", "m"), rows)
    assert [
        line.count("right") for line in html.splitlines() if line.startswith("<t") and ">" in line[3:]
    ].count(1) == 3


def test_no_rows_give_a_sentence_instead_of_a_table() -> None:
    html = figure_html(table("n", id="t1", empty="Not <yet>."), [])
    assert (
        html
        == '<figure class="mongo-table" id="t1">\n<p class="mongo-table__empty">Not &lt;yet&gt;.</p>\n</figure>'
    )


def test_cells_begin_lines_so_that_search_does_not_glue_numbers() -> None:
    html = figure_html(table("a", "b"), [{"a": 1, "b": 2}])
    assert not re.search(r"</t[hd]><t", html)
