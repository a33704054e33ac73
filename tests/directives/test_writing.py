"""JSON stands in a comment as it is, but for what would end the comment or begin another."""

from __future__ import annotations

import json

import pytest

from mongo_tables.directives.comments import keep_in_comment
from mongo_tables.directives.page_scan import find


@pytest.mark.parametrize(
    "title", ["a --> b", "a --!> b", "<!-- MONGO_TABLE: {} -->", "a -- b", "--", "a < b > c"]
)
def test_whatever_a_text_has_its_comment_is_one_with_that_text(title: str) -> None:
    written = keep_in_comment(json.dumps({"title": title}))
    scan = find(f"<!-- MONGO_TABLE: {written} -->\n", "page.md")
    assert [one.parsed.value for one in scan.comments] == [{"title": title}]
    assert not scan.findings


def test_signs_that_end_nothing_are_written_as_they_are() -> None:
    assert keep_in_comment('{"title": "a < b -> c"}') == '{"title": "a < b -> c"}'


@pytest.mark.parametrize("end", ["-->", "--!>"])
def test_an_end_in_a_string_is_told_with_what_to_write_for_it(end: str) -> None:
    body = json.dumps({"title": f"a {end} b"})
    (told,) = find(f"<!-- MONGO_TABLE: {body} -->\n", "page.md").findings
    assert told.rule == "MT102"
    written = told.hint.removeprefix("write ").partition(" ")[0]
    scan = find(f"<!-- MONGO_TABLE: {body.replace(end, written)} -->\n", "page.md")
    assert [one.parsed.value for one in scan.comments] == [{"title": f"a {end} b"}]
