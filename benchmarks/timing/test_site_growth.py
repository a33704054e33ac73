"""What a page costs grows with its tables, and not with their square."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from html import escape

import pytest

from mongo_tables.directives.page_scan import find
from mongo_tables.hosts.page_figures import PlainFigure
from mongo_tables.hosts.written_site import TokenFigures, swap_markdown, swap_markup
from mongo_tables.render.markup import distinct
from mongo_tables.site.markdown import TableSpan, standing_alone
from mongo_tables.site.pages import by_comment
from mongo_tables.site.placeholders import BEGIN, DIGITS, END, show_comments_again, swap_tokens

FEW = 500
TIMES = 8
MOST = TIMES**2 / 2
"""How many times as long the many may take: the square of ``TIMES`` is far beyond it.

The many leave the processor's cache where the few do not: behind other tests that has made twenty of eight.
"""


def figure(number: int) -> str:
    rows = f"<tr><td>{number}</td></tr>\n" * 40
    return f'<figure class="mongo-table" id="table-{number}">\n<table>\n{rows}</table>\n</figure>'


def name(number: int) -> str:
    digits = f"{number:051b}"
    return BEGIN + digits.translate({ord("0"): DIGITS[0], ord("1"): DIGITS[1]}) + END


def token(number: int) -> str:
    return f"<div>{name(number)}</div>"


def figures(count: int) -> dict[str, str]:
    return {name(number): figure(number) for number in range(count)}


def comment(number: int) -> str:
    return f'<!-- MONGO_TABLE: {{"collection": "r{number}"}} -->'


def page_swapped(count: int) -> Callable[[], object]:
    given = figures(count)
    page = "\n".join(f"<h2>{number}</h2>\n{token(number)}" for number in range(count))
    return lambda: swap_tokens(page, given)


def page_of_lost_figures(count: int) -> Callable[[], object]:
    page = "\n".join(token(number) for number in range(count))
    return lambda: show_comments_again(page, {name(number): comment(number) for number in range(count)})


def page_as_markdown(count: int) -> Callable[[], object]:
    page = "\n\n".join(f"Words {'and more ' * 40}\n\n{token(number)}" for number in range(count))
    known = set(map(name, range(count)))
    plain = PlainFigure(["| a |", "| - |"], is_block=True)
    given = TokenFigures(known, lambda name: "", lambda name: "", lambda name: plain)
    return lambda: swap_markdown(page, given)


def page_in_a_feed(count: int) -> Callable[[], object]:
    page = escape("\n".join(f"<p>Words</p>{token(number)} {name(number)}" for number in range(count)))
    given = TokenFigures(
        set(map(name, range(count))),
        lambda name: "<b>1</b>",
        lambda name: "1",
        lambda name: PlainFigure((), False),
    )
    return lambda: swap_markup(page, given)


def place_for_each(count: int) -> Callable[[], object]:
    page = "\n\n".join(f"Words {'and more ' * 40}" for _ in range(count))
    step = len(page) // count
    return lambda: [standing_alone(page, TableSpan(n * step, n * step, ""), ["|"]) for n in range(count)]


def names_alike(count: int) -> Callable[[], object]:
    return lambda: distinct(["table"] * count, set())


def faults_of_comments(count: int) -> Callable[[], object]:
    scan = find("\n\n".join(map(comment, range(count))), "page.md")
    faulty = find("<!-- MONGO_TABLES: {} -->", "page.md").findings[0]
    found = [faulty._replace(line=each.line, column=each.column + 20) for each in scan.comments]
    return lambda: by_comment(scan.comments, found)


def seconds(work: Callable[[], object]) -> float:
    spent = []
    gc.collect()
    gc.disable()  # what it would look through is all that other tests have left, at every so many objects of the work
    try:
        for _ in range(5):
            start = time.process_time()
            work()
            spent.append(time.process_time() - start)
    finally:
        gc.enable()
    return max(min(spent), 1e-4)


@pytest.mark.parametrize(
    "work",
    [
        page_swapped,
        page_of_lost_figures,
        page_as_markdown,
        page_in_a_feed,
        place_for_each,
        names_alike,
        faults_of_comments,
    ],
)
def test_a_page_costs_as_many_times_more_as_it_has_more_tables(
    work: Callable[[int], Callable[[], object]],
) -> None:
    few, many = work(FEW), work(FEW * TIMES)
    # Below a millisecond, what else the machine does can make one ratio anything; a square would be far above in each.
    ratios = (seconds(many) / seconds(few) for _ in range(3))
    assert any(ratio < MOST for ratio in ratios)
