"""Each case of fixtures/*.md: a title, a page, and what is found on it, with a line of one dot behind each.

What is found is said line by line: ``KEYWORD line:column in where`` for a live comment (``where`` is the HTML
elements around it on the site; ``inline`` when text of its paragraph stands on its lines), ``RULE line:column``
for a complaint, ``source shown`` when the reader of the site sees the text of a comment.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.directives.keywords import PREFIXES
from mongo_tables.directives.page_scan import find
from tests.directives.oracle import Reading, convert, published

FIXTURES = Path(__file__).parent / "fixtures"


def _cases():
    for path in sorted(FIXTURES.glob("*.md")):
        *parts, rest = path.read_text(encoding="utf-8").split("\n.\n")
        assert not rest, f"{path.name} does not end with a line of one dot"
        for title, page, expected in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            name = title.strip().splitlines()[-1]
            yield pytest.param(page, expected.split("\n"), id=f"{path.stem}: {name}")


def described(page: str) -> list[str]:
    scan = find(page, "page.md")
    reading = Reading(convert(published(page, scan)))
    live = reading.live()
    lines = []
    for number, comment in enumerate(scan.comments):
        where = " > ".join(live[number]) or "page"
        region = " with region" if comment.region else ""
        inline = "inline " if comment.inline else ""
        lines.append(f"{comment.keyword} {comment.line}:{comment.column} {inline}in {where}{region}")
    lines += [f"{finding.rule} {finding.line}:{finding.column}" for finding in scan.findings]
    return lines + ["source shown"] * any(prefix in reading.text for prefix in PREFIXES) or ["nothing"]


@pytest.mark.parametrize(("page", "expected"), list(_cases()))
def test_a_page_of_the_fixtures_is_read_as_stated(page, expected):
    assert described(page) == expected


@pytest.mark.parametrize(("page", "_expected"), list(_cases()))
def test_the_json_of_every_live_comment_is_whole(page, _expected):
    for comment in find(page, "page.md").comments:
        assert "collection" in json.loads(comment.body)
