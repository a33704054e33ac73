"""A page of which one comment was edited is the page that a whole scan finds, and mostly no whole scan is needed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mongo_tables.comments.rescan import rescan
from mongo_tables.comments.search import find
from tests.comments.pages import samples
from tests.comments.test_comments_properties import MIXTURES, NEARLY_PLAIN

PIECES = st.sampled_from(
    [*'x"{}[]:, \n\r>-!<`~#', "-->", "--", "<!--", "```\n", "\n\n", "\r\n", "~~~", "> ", "    "]
)
HEADS = st.sampled_from(["", "", "", "---\ntitle: x\n---\n", "title: x\n", "---\n", "\ufeff", "```\n", "`a "])
PAGES = st.builds(lambda sample: sample.text, samples()) | MIXTURES | NEARLY_PLAIN


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(head=HEADS, page=PAGES, data=st.data())
def test_what_is_found_again_is_what_a_whole_scan_finds(head, page, data):
    text = head + page
    scan = find(text, "page.md")
    for _ in range(4):
        within = [at for one in scan.comments for at in range(one.start + 4, one.end - 2)]
        start = data.draw(st.sampled_from(within) if within else st.integers(0, len(text)))
        end = min(start + data.draw(st.sampled_from([0, 0, 1, 2, 9])), len(text))
        edited = text[:start] + data.draw(PIECES) + text[end:]
        whole, again = find(edited, "page.md"), rescan(edited, text, scan)
        assert again is None or again == whole
        text, scan = edited, again or whole


TABLE = '<!-- MONGO_TABLE:\n{"collection": "runs",\n "pipeline": []}\n-->'
VALUE = '<!-- MONGO_VALUE: {"table": "t"} -->'
FENCE = "```json\n{}\n```"
PAGE = f"---\ntitle: T\n---\n\n# T\n\n{FENCE}\n\n{TABLE}\n\nThe `qps` is {VALUE} here.\n\n- item\n\n    {VALUE}\n\n{TABLE}\n"


@pytest.mark.parametrize("piece", ["x", '"', "\n", " ", "}"])
def test_typing_into_a_comment_needs_no_whole_scan(piece: str) -> None:
    scan = find(PAGE, "page.md")
    assert len(scan.comments) == 4
    for comment in scan.comments:
        at = comment.end - len("}\n-->")
        if "\n" in piece and comment.inline:
            continue  # The span in its paragraph may end at another place.
        edited = PAGE[:at] + piece + PAGE[at:]
        again = rescan(edited, PAGE, scan)
        assert again == find(edited, "page.md")
        assert again.comments[-1].parsed is not None


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        (PAGE, "# T", "# To"),
        (PAGE, '"table"', '"-->"'),
        (PAGE, '"table"', "<!--"),
        (PAGE, '"table"', "`"),
        (PAGE, "MONGO_VALUE:", "MONGO_VALUES:"),
        (f"```\n\n{TABLE}\n", "runs", "run"),
        (
            f"{TABLE}\n\n<!-- mongo-tables: begin 0123456789abcdef -->\n<!-- mongo-tables: end -->\n",
            "runs",
            "run",
        ),
        (f"<!-- off\n{TABLE}\n\n{TABLE}\n", "runs", "run"),
        (f"{VALUE} and {VALUE}\n", "t", "tt"),
    ],
)
def test_where_more_than_a_body_may_be_another_only_a_whole_scan_tells(page: str, old: str, new: str) -> None:
    edited = (
        new.join(page.rsplit(old, 2 if page.count(old) > 1 else 1))
        if page != PAGE
        else page.replace(old, new, 1)
    )
    assert edited != page
    assert rescan(edited, page, find(page, "page.md")) is None
