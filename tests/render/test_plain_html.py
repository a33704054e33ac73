"""A table as plain HTML shows in GitHub-flavoured Markdown and in Python-Markdown exactly what is in the rows."""

from __future__ import annotations

import markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.render.html import plain_html_table
from mongo_tables.render.values import visible
from tests.hosts.builds import read
from tests.render.specs import table
from tests.render.test_pipe_table import EXTENSIONS, GITHUB, KNOWN, SPECIAL, shown


@settings(max_examples=100, deadline=None)
@given(SPECIAL | st.text(max_size=20) | st.sampled_from(KNOWN))
def test_any_text_comes_back_from_its_cell_in_both_dialects(text: str) -> None:
    lines = plain_html_table(table("a", "b"), [{"a": "x", "b": text}, {"a": text, "b": "y"}])
    source = "Above.\n\n" + "\n".join(lines) + "\n\nBelow.\n"
    for html in (GITHUB.render(source), markdown.markdown(source, extensions=EXTENSIONS)):
        page = read(html)
        (rows,) = page.tables
        assert [[shown(cell) for cell in row] for row in rows[1:]] == [
            [["x"], shown(visible(text))],
            [shown(visible(text)), ["y"]],
        ]
        assert page.tags <= {"p", "table", "thead", "tbody", "tr", "td", "th", "br"}


@pytest.mark.parametrize("container", ["> ", "    "])
def test_it_stays_in_its_container(container: str) -> None:
    lines = plain_html_table(table("a"), [{"a": "1\n\n2"}])
    source = {"> ": "", "    ": "- Item.\n\n"}[container] + "".join(f"{container}{line}\n" for line in lines)
    for html in (GITHUB.render(source), markdown.markdown(source, extensions=EXTENSIONS)):
        assert read(html).tables == [[["a"], ["1\n\n2"]]]


def test_title_unit_alignment_and_notes_are_those_of_the_table() -> None:
    form = {"ms": {"unit": "ms", "decimals": 1, "missing": "–", "reason": "not <measured>"}}
    spec = table("ms", headers=["p99"], format=form, title="All & more", caption="Of two.")
    assert plain_html_table(spec, [{"ms": 12.25}, {"ms": None}], below=["From here."]) == [
        "<table>",
        "<caption><strong>All &amp; more</strong> Of two.</caption>",
        "<thead>",
        '<tr><th align="right">p99 (ms)</th></tr>',
        "</thead>",
        "<tbody>",
        '<tr><td align="right">12.3</td></tr>',
        '<tr><td align="right">–</td></tr>',
        "</tbody>",
        "</table>",
        "<p><em>– under p99: not &lt;measured&gt;</em></p>",
        "<p><em>From here.</em></p>",
    ]


def test_no_rows_give_a_sentence() -> None:
    assert plain_html_table(table("n", title="All", empty="Not <measured>."), []) == [
        "<p><strong>All</strong> <em>Not &lt;measured&gt;.</em></p>"
    ]
    assert plain_html_table(table("n"), []) == ["<p><em>There are no results for this table yet.</em></p>"]
