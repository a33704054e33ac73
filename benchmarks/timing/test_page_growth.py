"""A page is read, and names in it that are mistyped are told, in a time that grows with its size and not faster."""

from __future__ import annotations

import time

import pytest

from mongo_tables.directives.page_scan import find
from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import read_page
from tests.directives.test_comments import TABLE
from tests.judged import report_on

MISTYPED = {
    "column": '{"collection": "runs", "sort": "_id", "columns": ["nn"], "headers": ["N"]}',
    "text": '{"collection": "runs", "where": {"kind": "crat"}, "columns": ["n"], "headers": ["N"]}',
}


def _seconds(text: str) -> float:
    start = time.process_time()
    find(text, "page.md")
    return time.process_time() - start


@pytest.mark.parametrize(
    "make",
    [
        lambda n: f"{TABLE}\n\n" * n,
        lambda n: f"{TABLE} " * n,
        lambda n: f"> {TABLE} and\n" * n,
        lambda n: "`" + f" {TABLE} ``" * n,
        lambda n: TABLE + "<!-- " * n,
        lambda n: TABLE + "\n<a <a" * n,
        lambda n: TABLE + "\n```\n~~~~" * n,
        lambda n: TABLE + "\n<div>" * n + "</p>" * n,
        lambda n: "<!-- MONGO_TABLE: {}" * n,
        lambda n: '<!-- MONGO_TABLE: {"a": "' + "x\\\\" * n * 40 + '"} -->',
        lambda n: f'> <!-- MONGO_TABLE: {{"a": "b"{" " * n}\n' + "> \n" * n + "> } -->",
        lambda n: "* " * n + TABLE,
        lambda n: "1. " * n + "- " * n + f"x\n\n{TABLE}",
    ],
)
def test_time_grows_with_the_size_of_the_page_and_not_faster(make):
    small, large = make(400), make(3200)
    _seconds(small)
    longest = 40 * max(min(_seconds(small) for _ in range(3)), 0.002)
    # Again, where one went to what others left for the garbage collector.
    assert any(_seconds(large) < longest for _ in range(3))


def test_a_line_of_twenty_thousand_list_markers_takes_no_more_than_a_moment():
    for line in ("* " * 20_000 + TABLE, "- " * 20_000 + f"x\n\n{TABLE}", ": " * 20_000 + f"x\n\n{TABLE}"):
        assert _seconds(line) < 1.5


@pytest.mark.parametrize("mistyped", MISTYPED)
def test_as_many_mistyped_tables_as_a_page_has_are_gone_through_once(mistyped, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/all.jsonl").write_text('{"_id": 1, "kind": "cart", "n": 1}\n')
    body = f"<!-- MONGO_TABLE: {MISTYPED[mistyped]} -->"
    times = []
    for number in (200, 1600):
        page = read_page("\n\n".join([body] * number), f"{number}.md", lambda _: None)
        begun = time.process_time()
        assert report_on(Answers(str(tmp_path)), page).faults
        times.append(time.process_time() - begun)
    assert times[1] < 24 * times[0], "8 times as many take 8 times as long, not 64 times"
