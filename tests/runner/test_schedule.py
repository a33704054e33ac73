"""What was meant to be sent and was not is counted, and nothing that nobody meant."""

from __future__ import annotations

from array import array

from mongo_tables.runner.driving import Pace, Schedule

A_HUNDREDTH = 10_000_000


def schedule() -> Schedule:
    return Schedule(Pace(first=0.0, intervals=(0.001,)), memoryview(array("q", [0])), 0)


def test_what_was_meant_before_the_end_and_not_sent_is_told_with_its_age():
    ages = [age for _, age in schedule().unsent(A_HUNDREDTH)]
    assert ages == [A_HUNDREDTH - number * 1_000_000 for number in range(10)]


def test_when_all_work_is_done_nothing_more_was_meant():
    done = schedule()
    done.nothing_left = True
    assert list(done.unsent(A_HUNDREDTH)) == []
