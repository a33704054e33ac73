"""The prose of each kind of text: as long as the text, with its numbers where they are and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.site.numbers.classes import classify_numbers
from mongo_tables.site.numbers.paragraphs import TEXT_SUFFIXES, read_paragraphs
from mongo_tables.site.numbers.text import language_of, without_language
from mongo_tables.site.pages import Page

PIECES = st.sampled_from(
    [
        "<p>", "</p>", '<a href="x">', "<!--", "-->", "<script>", "</script>", '"', "'", "`", '"""', "#", "//", "/*", "*/",
        "\n", "\r\n", "  ", ".. note::", ".. code::", "::", "* ", "1. ", "5 ms", "=== ===", "{/*", "*/}", "{x}",
        "import y", "&nbsp;", "&times;", ' data-n="7">', "<div", "\t", "é", "的",
    ]
)  # fmt: skip


def numbers(file: str, text: str) -> list[str]:
    """The numbers of a text, each at its place."""
    found = classify_numbers([Page(file, text, (), (), ())], {}, {})
    lines = text.split("\n")
    for one in found:
        assert lines[one.at[0] - 1][one.at[1] - 1 :].startswith(one.written[:1]), one
    return [one.written for one in found]


@given(st.sampled_from(TEXT_SUFFIXES), st.lists(PIECES, max_size=30).map("".join))
def test_paragraphs_have_the_length_of_their_text(suffix: str, text: str) -> None:
    end = 0
    for one in read_paragraphs(Page(f"a{suffix}", text, (), (), ())):
        assert end <= one.start < one.end <= len(text)
        assert len(one.words) == len(one.text)
        end = one.end
    numbers(f"a{suffix}", text)


def test_the_text_of_a_comment_moves_no_other_text() -> None:
    (one,) = read_paragraphs(Page("a.md", "a <!-- x --> 5 ms", (), (), ()))
    for said in ("b", "a text that is longer"):
        filled = one.fill({(2, 12): said})
        assert said in filled.text
        assert [filled.offsets[filled.text.index(sign)] for sign in (said, "5")] == [2, 13]


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
@pytest.mark.parametrize(
    "text", ["<!-- ", "<a '", '<a "', "/* ", "{/* ", "`", '"""', ".. ", "* ", "  ::\n", "&", "<p"]
)
def test_a_long_text_ends(suffix: str, text: str) -> None:
    assert numbers(f"a{suffix}", text * 5_000) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("a.html", "<p>1 ms<b>2</b> ms <script>3 ms</script><!-- 4 ms -->5&nbsp;ms, 6&times;</p>", ["1 ms", "2 ms", "5 ms", "6 ×"]),
        ("a.html", '<p title="7 ms" data-n="8" data-x="9px">a</p><code>10 ms</code>', ["8"]),
        ("a.html", "<ul><li>1 ms<li>2 ms</ul><pre>3 ms</pre>", ["1 ms", "2 ms"]),
        ("a.mdx", "import x\nexport const y = '1 ms'\n\n# 2 ms\n\n{/* 3 ms */} 4 ms {y} <X a={'5 ms'} />\n", ["2 ms", "4 ms"]),
        ("a.rst", "1 ms ``2 ms``::\n\n   3 ms\n\n4 ms\n\n.. 5 ms\n\n   6 ms\n\n7 ms\n", ["1 ms", "4 ms", "7 ms"]),
        ("a.rst", ".. note:: 1 ms\n   :class: x2 ms\n\n   3 ms\n\n.. code-block:: py\n   :x: y\n\n   4 ms\n\n5 ms\n", ["1 ms", "3 ms", "5 ms"]),
        ("a.rst", ".. [1] 1 ms\n.. _x: 2 ms\n.. image:: 3 ms\n   :width: 4 %\n\n:Time: 5 ms\n", ["1 ms", "5 ms"]),
        ("a.txt", "1 ms\n    2 ms\n", ["1 ms", "2 ms"]),
        ("llms.txt", "1 ms\n\n    2 ms\n", ["1 ms"]),
        ("a.py", '"""1 ms\n\n2 ms"""\nx = """3 ms"""  # 4 ms\ny = "# 5 ms"\n', ["1 ms", "2 ms", "4 ms"]),
        ("a.ts", "/**\n * 1 ms\n */\nlet a = '2 ms' // 3 ms\nlet b = `// 4 ms`\n", ["1 ms", "3 ms"]),
        ("a.go", "// 1 ms\nvar x = 2 /* 3 ms */\n", ["1 ms", "3 ms"]),
        ("README.fr.md", "1 234,5 ms, 1\u202f234 ms, 1,5 s, 2.5 s\n", ["1 234,5 ms", "1 234 ms", "1,5 s", "2.5 s"]),
        ("a.md", "12\u2009345 ms\n", ["12 345 ms"]),
        ("README.zh.md", "为181 ms，3.2倍。\n", ["181 ms", "3.2倍"]),
        ("a.md", "**181** ms and [3.2](x)×\n", ["181 ms", "3.2 ×"]),
    ],
)  # fmt: skip
def test_numbers_of_each_kind_of_text(file: str, text: str, expected: list[str]) -> None:
    assert numbers(file, text) == expected


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("README.fr.md", "", "fr"),
        ("README_pt.md", "", "pt-BR"),
        ("docs/de/a.md", "", "de"),
        ("docs/de/a.fr.md", "", "fr"),
        ("docs/ru/a.md", "", "pl"),
        ("a.md", "---\ntitle: x\nlang: sv\n---\n", "sv"),
        ("a.html", '<!doctype html>\n<html class="x" lang="es">', "es"),
        ("how-to-do-it.md", "", None),
        ("docs/go/a.md", "", None),
    ],
)
def test_the_language_of_a_text(file: str, text: str, expected: str | None) -> None:
    assert language_of(file, text) == expected


def test_translations_have_one_name() -> None:
    files = ("docs/a.md", "docs/a.fr.md", "docs/de/a.md", "docs/pt-BR/a.md", "docs/a.zh-CN.md")
    assert {without_language(file) for file in files} == {"docs/a.md"}
