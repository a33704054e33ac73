"""Inline Markdown shows the same on a site, on GitHub and with Python-Markdown, and nothing but what is stated."""

from __future__ import annotations

from html.parser import HTMLParser

import markdown
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mongo_tables.directives.addresses import safe_address
from mongo_tables.directives.columns import plain_text, read_inline
from mongo_tables.render.markup import inline_html, inline_markdown
from mongo_tables.render.values import visible
from tests.hostile.corpus import CORPUS
from tests.render.test_pipe_table import EXTENSIONS, GITHUB, shown

MARKED = st.text(alphabet=[*"\\|`*_[]()<>&#~!$^=+-.:\"' ahtp1/@é\n\u00a0"], max_size=16)
_PARTS = """**b** *i* _u_ `c` ``a`b`` `a|b` ~~d~~ [x](http://e.example/a_b) [*y*](../z) <https://e.example>
a ** * | \\ ` [ ]( ) _ &amp; <b> é . x_y -- !""".split()
PARTS = st.lists(st.sampled_from([*_PARTS, " ", "\n"]), max_size=7).map("".join)


class Reader(HTMLParser):
    """The text of some HTML, with its elements and where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags, self.links, self.marked = "", [], [], []
        self.open: list[str] = []
        # Where a line may break, nothing is shown.
        self.feed(html.replace("<wbr>", ""))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = {"s": "del"}.get(tag, tag)
        if tag == "br":
            self.text += "\n"
            return
        self.open.append(tag)
        self.tags.append((tag, sorted(name for name, _ in attrs)))
        self.links += [value for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        if tag != "br":
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        kinds = {one for one in self.open if one in ("strong", "em", "code", "del", "a")}
        self.marked += [(kind, data.strip()) for kind in sorted(kinds) if data.strip()]


def cell(html: str) -> Reader:
    """The first cell of the table's body."""
    return Reader(html.split("<td>", 1)[1].split("</td>", 1)[0])


@given(MARKED | PARTS | st.sampled_from(CORPUS))
@example("**a**")
@example("**b**` **b**`")
@example("a**b**c *d*, `e`")
@example("[x](http://e.example/?a=1&copy=2&b=(c)|d)")
@example("[a|b](mailto:a@b.example)")
@example("![x](http://evil.example/x.png)")
@example("\\![x](http://evil.example/x.png)")
def test_a_cell_shows_the_same_on_a_site_and_in_both_dialects(source: str) -> None:
    pieces = read_inline(visible(source))
    ours = Reader(inline_html(pieces))
    assert shown(ours.text) == shown(plain_text(pieces))
    page = f"| a | b |\n| --- | --- |\n| {inline_markdown(pieces)} | 1 |\n"
    for html in (GITHUB.render(page), markdown.markdown(page, extensions=EXTENSIONS)):
        theirs = cell(html)
        assert html.count("<td") == 2
        assert shown(theirs.text) == shown(ours.text)
        assert theirs.marked == ours.marked
        assert [safe_address(link) for link in theirs.links] == [*map(encoded, ours.links)]


def encoded(link: str) -> str:
    """The address as Markdown has it: a few signs are percent-encoded there."""
    return "".join(f"%{ord(one):02X}" if one in "()*$'[]!" else one for one in link)


@given(MARKED | PARTS | st.sampled_from(CORPUS))
def test_no_other_element_and_no_other_attribute_comes_about(source: str) -> None:
    allowed = {("strong", ()), ("em", ()), ("del", ()), ("code", ()), ("a", ("href",))}
    assert {(tag, tuple(names)) for tag, names in Reader(inline_html(read_inline(source))).tags} <= allowed


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("**fast** and *calm*", "<strong>fast</strong> and <em>calm</em>"),
        ("`a < b`", "<code>a &lt; b</code>"),
        ("~~old~~", "<del>old</del>"),
        ("[docs](https://example.org/a b)", "[docs](https://example.org/a b)"),
        ("[docs](<https://example.org/a b>)", '<a href="https://example.org/a%20b">docs</a>'),
        ("<https://example.org>", '<a href="https://example.org">https://example.org</a>'),
        ("one\ntwo", "one<br> two"),
        ("![i](x.png)", '!<a href="x.png">i</a>'),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("[](https://example.org)", ""),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](java&#115;cript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](JAVASCRIPT&colon;alert(1))", "[x](JAVASCRIPT:alert(1))"),
        ("[x](data:text/html,x)", "[x](data:text/html,x)"),
        ("[x](//evil.example)", "[x](//evil.example)"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)&gt;"),
        ("[x](\\\\evil.example)", "[x](\\evil.example)"),
        ("[x](https://user:secret@host.example/)", "[x](https://user:secret@host.example/)"),
    ],
)
def test_what_is_markup_and_what_stays_text(source: str, html: str) -> None:
    assert inline_html(read_inline(source)) == html


def test_a_text_that_is_too_long_to_be_a_cell_stays_text_and_takes_no_time() -> None:
    text = "[" * 200_000
    assert inline_html(read_inline(text)) == text
