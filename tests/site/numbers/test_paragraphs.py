"""The prose of each kind of text: as long as the text, with its numbers where they are and nothing else."""

from __future__ import annotations

import re

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
        ("a.html", "<p>1 ms<b>2</b> ms <script>3 ms</script><!-- 4 ms -->5&nbsp;ms, 6&times;</p>", ["1 ms", "2 ms", "5 ms", "6×"]),
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
        ("a.md", "1&nbsp;ms, 2&#160;%, 3&times; and <kbd>4</kbd> ms, <b>5</b>&thinsp;s\n", ["1 ms", "2 %", "3×", "4 ms", "5 s"]),
        ("a.html", "<p><kbd>1</kbd> ms, <b>2</b>&nbsp;%</p>", ["1 ms", "2 %"]),
        ("README.fr.md", "18&nbsp;250&nbsp;ms, 68,9&nbsp;%\n", ["18 250 ms", "68,9 %"]),
        ("README.vi.md", "68,9 %, 1.388 ms, 3,2 lần\n", ["68,9 %", "1.388 ms", "3,2 lần"]),
        ("a.md", "12 msec, 3 secs, 1.7e2 ms, 2e-3 s, 96k req/s, 2.5M ops/s, 3 million rows/s, 5 QPS\n",
         ["12 msec", "3 secs", "1.7e2 ms", "2e-3 s", "96k req/s", "2.5M ops/s", "3 million rows/s", "5 QPS"]),
        ("a.md", "1.50·10⁹ bytes, 2 × 10^6 B, 3·10⁻³ s, 4 × 10 ms\n", ["1.50·10⁹ bytes", "2 × 10^6 B", "3·10⁻³ s", "4 ×", "10 ms"]),
        ("a.md", "8b, 14B, 4k, 12 Mb, 3e, 1e6\n", ["14B"]),
        ("README.zh.md", "为2.84 毫秒，3 万 req/s，5秒。\n", ["2.84 毫秒", "3 万 req/s", "5秒"]),
        ("README.de.md", "35-mal, 3,2-fach, 68,9 Prozent\n", ["35-mal", "3,2-fach", "68,9 Prozent"]),
        # A text that names no language has the notation of most of its numbers.
        ("README.md", "Es spart 68,9 % bei 1.730 ms.\n", ["68,9 %", "1.730 ms"]),
        ("README.md", "In 1,2 and 3.4 ms, v1,2 s, 5,678 ms\n", ["3.4 ms", "5,678 ms"]),
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


@pytest.mark.parametrize(
    ("file", "image"),
    [
        ("README.md", "[![Tests](https://img.shields.io/badge/{})](x)"),
        ("README.md", '<p align="center">\n<img src="https://img.shields.io/badge/{}">\n</p>'),
        ("README.rst", ".. image:: https://img.shields.io/badge/{}"),
        ("a.html", "<img src='https://img.shields.io/badge/{}'>"),
        ("a.mdx", "![](https://img.shields.io/badge/{})"),
    ],
)
def test_the_text_of_a_badge_is_read(file: str, image: str) -> None:
    for badge, expected in (
        ("speed-2.5%20ms-green", ["2.5 ms"]),
        ("size-2%2C055%20kB-green", ["2,055 kB"]),
        ("coverage-94.2%25-green.svg?style=flat", ["94.2%"]),
        ("python-3.11%20%7C%203.12-blue", []),
        ("time_per_run-7_ms-green", ["7 ms"]),
    ):
        assert numbers(file, f"# A\n\n{image.format(badge)}\n") == expected


def test_a_badge_in_a_sample_is_not_read() -> None:
    badge = "![](https://img.shields.io/badge/speed-2.5%20ms-green)"
    assert numbers("README.md", f"```md\n{badge}\n```\n\n<!-- {badge} -->\n") == []


RST_TABLES = """
.. list-table:: Times
   :header-rows: 1

   * - Name
     - Time (ms)
     - allocs/op
   * - Parse 3
     - 11.1
     - 6

.. csv-table:: Times
   :header: "Name", "Time (s)"

   "Parse, quick", 12.1

=====  =========  ====
Name   Time (us)  Size
=====  =========  ====
Parse  13.1       5
=====  =========  ====

+-------+-----------+
| Name  | Time (ns) |
+=======+===========+
| Parse | 14.1      |
+-------+-----------+

Prose of 15 things | 16.
"""
HTML_TABLES = """<table><tr><th>Name</th><th>Time (ms)</th></tr>
<tr><th>Parse 3</th><td>11.1</td></tr></table>
<table><tr><th>Name</th><th>MB</th></tr><tr><td>Parse</td><td>12.1</td></tr></table><p>It has 13 | 14.</p>"""


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "a.rst", RST_TABLES,
            [["Name", "Time (ms)", "allocs/op"], ["Time (s)"], ["Time (us)", "Size"], ["Time (ns)"], ["", ""]],
        ),
        ("a.html", HTML_TABLES, [["Name", "Time (ms)"], ["MB"], ["", ""]]),
    ],
)  # fmt: skip
def test_each_row_of_a_table_is_a_sentence_whose_numbers_have_the_headers_above(
    file: str, text: str, expected: list[list[str]]
) -> None:
    found = read_paragraphs(Page(file, text, (), (), ()))
    headers = [[one.header_of(at.start()) for at in re.finditer(r"\d+(\.\d)?", one.text)] for one in found]
    assert headers == expected
