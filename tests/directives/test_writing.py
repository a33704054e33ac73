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
