"""Promises that hold on any page; what a comment is, Python-Markdown itself says."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mongo_tables.directives import page_scan
from mongo_tables.directives.comments import replace
from mongo_tables.directives.page_scan import find
from tests.directives.oracle import Reading, convert, published
from tests.directives.pages import samples

SLOW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PIECES = st.sampled_from(
    [
        "<!-- MONGO_TABLE:",
        "<!-- MONGO_VALUE: {} -->",
        "<!--MONGO_CHECK:{}-->",
        "<!-- mongo-table: {}",
        "<!-- mongo-tables: begin 0123456789abcdef -->",
        "<!-- mongo-tables: end -->",
        "<!--",
        "-->",
        "--!>",
        '{"a": "b"}',
        '"',
        "```",
        "~~~ x",
        "`",
        "``",
        "\\",
        "> ",
        "- ",
        "1. ",
        ":   ",
        "[^1]: ",
        "!!! note",
        '=== "T"',
        "??? x",
        "---",
        "a: b",
        "# ",
        "|",
        "|-|-|",
        "<div>",
        "</div>",
        "<pre>",
        "</pre>",
        "<script>",
        "<a b='",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\f",
        "\x00",
        "\u2028",
        "\ue000",
        "<!--\ue0000-->",
        "\ufeff",
        "word ",
    ]
)
PLAIN = st.sampled_from(
    [
        *("<!-- MONGO_VALUE: {} -->", "<!-- MONGO_VALUE: {} -->", "<!-- MONGO_TABLE: {} -->", "<!-- x -->"),
        *(
            "word ",
            "`a`",
            "a `b` c",
            "\n",
            "\n\n",
            "\n  ",
            "\n    ",
            "- ",
            "1. ",
            "> ",
            "| a | b |",
            "\n|-|-|\n",
        ),
        *("# T\n", "\n!!! note\n\n    ", "\n[^1]: ", "\n```\ncode\n```\n", "\n~~~ py\ncode\n~~~\n", "[a](b)"),
        *('\n<div id="x"></div>\n', "\n<details markdown>\n", "\n</details>\n", "<b>", "</b>", "\n<div>\n"),
        *('\n<script defer src="x"></script>\n', "<script></script>"),
        *("\n   ```sh\n   code\n   ```\n", "\n  ```\n   code\n  ```\n", "\n   "),
    ]
)
MIXTURES = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)
VALUE = "<!-- MONGO_VALUE: {} -->"


@SLOW
@given(samples())
def test_what_python_markdown_makes_a_comment_is_found_or_reported_and_nothing_else_is_found(sample):
    scan = find(sample.text, "page.md")
    live = {sample.starts[number] for number in Reading(convert(sample.folded)).live()}
    reported = {at for at in live if any(start <= at < end for start, end in scan.rejected)}
    assert {comment.start for comment in scan.comments} == live - reported


@SLOW
@given(samples())
def test_each_stand_in_comes_out_once_as_a_comment_and_none_is_shown_as_text(sample):
    scan = find(sample.text, "page.md")
    reading = Reading(convert(published(sample.text, scan)))
    assert sorted(reading.live()) == list(range(len(scan.comments)))
    assert "mt-" not in reading.text


@settings(max_examples=300, deadline=None)
@given(samples().map(lambda sample: sample.text) | st.lists(PLAIN, max_size=20).map("".join))
def test_a_page_that_all_dialects_surely_read_alike_is_the_same_if_commonmark_is_asked(text):
    scan = find(text, "page.md")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_scan, "_is_plain", lambda *given: False)
        assert scan == find(text, "page.md")


@SLOW
@given(samples())
def test_every_rejected_comment_has_an_error(sample):
    scan = find(sample.text, "page.md")
    assert len(scan.rejected) <= sum(finding.severity == "error" for finding in scan.findings)


@settings(max_examples=150, deadline=None)
@given(MIXTURES)
def test_any_text_is_scanned_and_put_back_byte_for_byte(text):
    scan = find(text, "page.md")
    originals = [text[comment.start : (comment.region or comment).end] for comment in scan.comments]
    assert replace(text, scan.comments, originals) == text
    for original in originals:
        assert original.startswith("<!--")
        assert original.endswith("-->")


@settings(max_examples=150, deadline=None)
@given(MIXTURES)
def test_positions_say_where_a_comment_and_its_json_are_in_the_file(text):
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    for comment in find(text, "page.md").comments:
        assert lines[comment.line - 1][comment.column - 1 :].startswith("<!--")
        body_lines = comment.body.split("\n")
        at = 0
        for expected in body_lines:
            line, column = comment.locate(at)
            assert lines[line - 1][column - 1 :].startswith(expected)
            at += len(expected) + 1


@settings(max_examples=80, deadline=None)
@given(MIXTURES)
def test_findings_stand_inside_the_file_and_come_in_order(text):
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    findings = find(text, "page.md").findings
    assert list(findings) == sorted(findings)
    for finding in findings:
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1


@settings(max_examples=80, deadline=None)
@given(samples())
def test_bodies_lose_the_prefix_of_their_container_and_nothing_else(sample):
    for comment in find(sample.text, "page.md").comments:
        plain = re.sub(r"(?m)^[> ]+", "", comment.body)
        assert re.fullmatch(r'\s*\{\s*"collection":\s*"results\d+"(,\s*"pipeline": \[\])?\s*\}\s*', plain)
        assert ">" not in comment.body
