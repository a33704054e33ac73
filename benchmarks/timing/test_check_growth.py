"""A page of many tables is checked in a time that grows with their number, and not faster."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mongo_tables.site.pages import read_page
from tests.judged import asked

FIXTURES = Path(__file__).parents[2] / "tests" / "lint" / "pages" / "fixtures"


def table(number: int, more: str = "", stage: str = '{"$sort": {"_id": 1}}', header: str = "Goals") -> str:
    return (
        f'<!-- MONGO_TABLE: {{"id": "t{number}", "collection": "players", "pipeline": [{{"$match": {{"goals": {{"$gt": '
        f'-{number}}}}}}}, {stage}], "columns": ["goals"], "headers": ["{header}"]{more}}} -->\n\n'
    )


def sound(number: int) -> str:
    value = f'Words <!-- MONGO_VALUE: {{"table": "t{number}", "column": "goals", "where": {{"_id": 1}}}} --> here.\n\n'
    return value + table(number)


def ignoring(number: int) -> str:
    rules = ", ".join(f'"MT{rule}": "fine"' for rule in (401, 402, 403, 404, 417, 501, 502, 503, 504))
    return table(number, f', "ignore": {{{rules}}}', '{"$set": {"a": 1}}')


def unknown(number: int) -> str:
    return (
        table(number) + f'Words <!-- MONGO_VALUE: {{"table": "u{number}", "column": "goals"}} --> here.\n\n'
    )


def misnamed(number: int) -> str:
    return table(number, header=("Goals", "Games", "Goals scored")[number % 3])


def faulty(number: int) -> str:
    return table(number, stage='{"$srt": {"_id": 1}}')


def seconds(text: str) -> float:
    start = time.process_time()
    assert asked(FIXTURES, read_page(text, "page.md", lambda _: None)).findings is not None
    return time.process_time() - start


@pytest.mark.parametrize(
    "make",
    [sound, ignoring, unknown, misnamed, faulty],
)
def test_the_time_of_a_check_grows_with_the_number_of_tables_and_not_faster(make) -> None:
    small, large = ("".join(map(make, range(count))) for count in (50, 800))
    seconds(small)
    longest = 32 * max(min(seconds(small) for _ in range(2)), 0.01)
    # Again, where one went to what others left for the garbage collector.
    assert any(seconds(large) < longest for _ in range(3))
