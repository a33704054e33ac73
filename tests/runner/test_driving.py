"""One connection does its work at its pace, and all of it is counted.

A step is repeated at its pace, and all that it did is counted.

Connections of one thread share a count, and the series is that of all of them.

What was meant to be sent and was not is counted, and nothing that nobody meant.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
from array import array
from itertools import pairwise

import pytest
from greenlet import getcurrent, greenlet

from mongo_tables.runner import driving
from mongo_tables.runner.driving import (
    ERRORS_IN_A_ROW,
    NO_LONGER_PRIMARY,
    UNSENT,
    Failures,
    Pace,
    Recording,
    Schedule,
    Surroundings,
    add_up,
    drive,
)
from mongo_tables.runner.errors import UnexpectedReply
from mongo_tables.runner.series import bucket, merge
from mongo_tables.runner.window import NEVER, Board, MeasuredWindow
from mongo_tables.runner.workloads import Done
from tests.runner.windows import alone, nothing_done, opened

DONE = Done(1, 1, 1)


class Clock:
    """A clock that only sleeping moves, in nanoseconds."""

    def __init__(self):
        self.now = 1_000_000_000

    def monotonic_ns(self):
        return self.now

    def monotonic(self):
        return self.now / 1e9

    def sleep(self, seconds):
        self.now += round(seconds * 1e9)

    def process_time(self):
        return 0.0


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(driving, "time", made)
    monkeypatch.setattr(driving, "time", made)
    return made


def driven(step, pace=None, seconds=None, opens=0.0):
    """A connection's work; the window opens when it begins, or ``opens`` seconds later."""
    pace = pace or Pace(driving.time.monotonic())
    window, tally = opened(pace.first + opens, seconds), nothing_done()
    drive(step, tally, pace, window, 1, Surroundings(driving.time.sleep), alone(tally, window, 1))
    assert list(window.counters[:2]) == [0, tally.operations]
    return tally


def latencies(tally):
    counts = tally.series.latencies
    merge(counts, {kind: counts for kind, counts in tally.late.items() if kind != UNSENT})
    return counts


def following(*answers):
    """A step that gives or raises these, and then has no more to do."""
    left = iter(answers)

    def step():
        answer = next(left, None)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return step


def test_operations_documents_and_bytes_add_up_and_kinds_are_counted_apart():
    tally = driven(following(Done(1, 2, 30, "read"), Done(5, 5, 100, "write", 77), Done(1, 1, 1, "read")))
    assert (tally.operations, tally.documents, tally.bytes) == (7, 8, 131)
    assert latencies(tally)["write"] == {77: 1}
    assert sum(latencies(tally)["read"].values()) == 2
    both = add_up([tally, tally])
    assert (both.operations, both.inside.requests) == (14, 6)


def test_failures_are_counted_by_name_and_success_between_them_forgives():
    refused = UnexpectedReply("no such thing", 11000)
    some = [refused] * (ERRORS_IN_A_ROW - 1)
    tally = driven(following(*some, Done(1, 1, 1), *some, ValueError("x"), Done(1, 1, 1)))
    assert tally.gave_up == "ValueError: x"
    failed = {name: sum(counts.values()) for name, counts in tally.failures.times.items()}
    assert failed == {"UnexpectedReply 11000": 18, "ValueError": 1}
    assert tally.operations == 1


def test_times_of_requests_that_failed_are_kept_apart_from_those_of_answers(clock):
    answers = following(UnexpectedReply("not now", 50), DONE, UnexpectedReply("not now", 50), DONE)
    took = iter((0.001, 0.002, 0.003, 0.002, 0.0))
    tally = driven(lambda: clock.sleep(next(took)) or answers())
    assert tally.failures.times == {"UnexpectedReply 50": {1_000: 1, bucket(3_000): 1}}
    assert latencies(tally) == {"": {2_000: 2}}


@pytest.mark.parametrize("intervals", [(), (0.1,)], ids=["a closed loop", "a rate"])
def test_how_late_a_connection_began_is_known(clock, intervals):
    pace = Pace(clock.monotonic(), intervals, 1.0)
    clock.sleep(0.007)
    assert driven(following(DONE), pace, 1.0).first_late == [pytest.approx(7_000_000)]


def test_a_broken_connection_ends_the_work_at_once():
    tally = driven(following(Done(1, 1, 1), ConnectionResetError("the server has gone\nwith details")))
    assert tally.gave_up == "ConnectionResetError: the server has gone"
    assert tally.operations == 1


def test_a_closed_loop_begins_no_operation_before_its_start_nor_after_its_end(clock):
    begun = []
    start = clock.monotonic() + 0.05
    tally = driven(lambda: begun.append(clock.monotonic()) or clock.sleep(0.02) or DONE, Pace(start), 0.05)
    assert begun == pytest.approx([start, start + 0.02, start + 0.04])
    assert (tally.operations, tally.unfinished) == (3, 1)
    assert tally.inside.operations == pytest.approx(2.5)
    assert tally.inside.busy == pytest.approx(0.05e9)
    assert latencies(tally) == {"": {20_000: 3}}
    assert tally.finished == pytest.approx(start + 0.06)


def test_what_is_done_before_the_window_opens_is_in_it_with_the_part_that_lies_inside(clock):
    pace = Pace(clock.monotonic())
    tally = driven(lambda: clock.sleep(0.04) or DONE, pace, seconds=0.1, opens=0.05)
    # Four requests of 40 ms, of which the window from 50 to 150 ms has 0, 30, 40 and 30.
    assert (tally.operations, tally.unfinished) == (4, 1)
    assert tally.inside.operations == tally.inside.documents == pytest.approx(2.5)
    assert sum(latencies(tally)[""].values()) == 2
    assert tally.series.operations.total() == 1


def test_a_request_that_is_longer_than_the_window_is_in_it_with_a_part(clock):
    tally = driven(lambda: clock.sleep(1.0) or DONE, Pace(clock.monotonic()), seconds=0.1, opens=0.2)
    assert tally.inside.operations == pytest.approx(0.1)
    assert tally.inside.busy == pytest.approx(0.1e9)


@pytest.mark.parametrize(
    ("slow", "counted"),
    [(0.0, {0: 10}), (0.004, {4_000: 10}), (0.03, {30_000 // 16 * 16: 1, 49_984: 1, 69_952: 1, 89_984: 1})],
)
def test_with_a_rate_operations_count_from_when_they_were_meant_to_start(clock, slow, counted):
    start = clock.monotonic()
    tally = driven(lambda: clock.sleep(slow) or DONE, Pace(start, (0.01,), 0.1), 0.1)
    assert latencies(tally)[""] == counted


@pytest.mark.parametrize(
    ("first", "operations"), [(0.0, 2), (5.0, 0)], ids=["the next is due later", "its first is"]
)
def test_with_a_rate_a_window_is_as_long_as_it_was_to_be_however_rare_operations_are(
    clock, first, operations
):
    start = clock.monotonic()
    tally = driven(lambda: DONE, Pace(start + first, (0.2,), 0.3), 0.3, -first)
    assert tally.operations == operations
    assert tally.finished == pytest.approx(start + 0.3)


def test_a_server_that_is_no_longer_the_primary_ends_the_work_at_once():
    tally = driven(following(Done(1, 1, 1), UnexpectedReply("not primary", 10107), Done(1, 1, 1)))
    assert tally.gave_up == "UnexpectedReply: not primary"
    assert tally.operations == 1


def test_what_tells_that_there_is_another_primary_is_what_the_driver_takes_for_it():
    from pymongo import helpers_shared

    assert NO_LONGER_PRIMARY == helpers_shared._NOT_PRIMARY_CODES


def test_what_could_not_be_sent_at_its_time_is_counted_with_its_age(clock):
    # 10 ms each, and a request takes 25: four of ten are sent, of which the last is answered at the very end.
    start = clock.monotonic()
    tally = driven(lambda: clock.sleep(0.025) or DONE, Pace(start, (0.01,), 0.1), 0.1)
    assert (tally.sendings.operations, tally.unsent) == (4, 6)
    assert tally.oldest_unsent == pytest.approx(0.06e9)
    assert sorted(tally.late[UNSENT]) == [
        bucket(took) for took in (10_000, 20_000, 30_000, 40_000, 50_000, 60_000)
    ]
    assert {kind: list(counts) for kind, counts in tally.sendings.service.items()} == {"": [bucket(25_000)]}


def test_a_rate_is_one_of_operations_however_many_a_request_has(clock):
    begun = []
    start = clock.monotonic()
    pace = Pace(start, (0.01,), 1.0, each=20)
    tally = driven(lambda: begun.append(clock.monotonic()) or Done(20, 20, 20), pace, 1.0)
    assert begun == pytest.approx([start + 0.2 * number for number in range(5)])
    assert (tally.operations, tally.sendings.operations, tally.unsent) == (100, 100, 0)


def test_a_rate_may_have_steps(clock):
    start = clock.monotonic()
    tally = driven(lambda: DONE, Pace(start, (0.1, 0.01), 2.0), 2.0)
    assert tally.operations == pytest.approx(110, abs=1)


def test_random_arrivals_come_as_often_and_as_uneven_as_those_of_many_users(clock):
    moments = []
    start = clock.monotonic()
    pace = Pace(start, (0.01,), 40.0, random.Random("arrivals"))
    driven(lambda: moments.append(clock.monotonic()) or DONE, pace, 40.0)
    gaps = [after - before for before, after in pairwise(moments)]
    assert len(moments) == pytest.approx(4000, rel=0.05)
    assert statistics.stdev(gaps) == pytest.approx(0.01, rel=0.1)


def test_a_connection_that_is_opened_again_goes_on_and_says_how_long_it_had_no_answer(clock):
    answers = iter([DONE, ConnectionResetError("gone"), DONE, DONE])
    window, tally = opened(clock.monotonic()), nothing_done()

    def step():
        clock.sleep(0.01)
        answer = next(answers, None)
        if isinstance(answer, Exception):
            raise answer
        return answer

    around = Surroundings(clock.sleep, lambda: clock.sleep(0.5) is None)
    drive(step, tally, Pace(clock.monotonic()), window, 1, around, alone(tally, window, 1))
    assert (tally.operations, tally.failures.lost, tally.gave_up) == (3, 1, "")
    assert tally.failures.without_service == pytest.approx(0.52e9)
    assert tally.failures.times == {"ConnectionResetError": {bucket(10_000): 1}}


def breaking(clock, *broken):
    """A step of 10 ms that loses its connection where one of these moments, in seconds, lies in it."""

    def step():
        begun = clock.monotonic()
        clock.sleep(0.01)
        if any(begun < moment <= clock.monotonic() for moment in broken):
            raise ConnectionResetError("gone")
        return DONE

    return step


def driven_with_losses(clock, *broken, reconnecting):
    """A second of work of which the window is from 0.4 to 0.8; to connect again takes so many seconds."""
    start = clock.monotonic()
    window, tally = opened(start + 0.4, 0.4), nothing_done()
    around = Surroundings(clock.sleep, lambda: clock.sleep(reconnecting) is None)
    step = breaking(clock, *(start + moment for moment in broken))
    drive(step, tally, Pace(start), window, 1, around, alone(tally, window, 1))
    return tally


def test_what_fails_before_the_window_opens_is_not_of_the_window(clock):
    tally = driven_with_losses(clock, 0.105, 0.205, reconnecting=0.05)
    assert tally.failures == Failures()
    assert tally.failures_apart.counts() == {"ConnectionResetError": 2}
    assert tally.failures_apart.lost == 2
    assert tally.failures_apart.without_service == pytest.approx(0.07e9)


def test_time_without_service_is_the_part_that_lies_in_the_window(clock):
    before = driven_with_losses(clock, 0.305, reconnecting=0.2)
    assert (before.failures.lost, before.failures_apart.lost) == (0, 1)
    assert before.failures.without_service == pytest.approx(0.12e9)
    within = driven_with_losses(clock, 0.505, reconnecting=0.1)
    assert (within.failures.lost, within.failures_apart.lost) == (1, 0)
    assert within.failures.without_service == pytest.approx(0.12e9)
    until_the_end = driven_with_losses(clock, 0.605, reconnecting=0.5)
    assert until_the_end.failures.without_service == pytest.approx(0.2e9)
    assert until_the_end.failures_apart.without_service == pytest.approx(0.51e9)


def done_by_amount(clock, opens, requests, took=0.03):
    """So many requests of one connection, the steady part of which opens in the middle of them, and its length."""
    board = Board.of(multiprocessing)
    board.clear(None)
    start = clock.monotonic()
    board.count_from(round(start * 1e9))
    window, tally = MeasuredWindow(board, 2, by_amount=True), nothing_done()
    left = iter(range(requests))

    def step():
        clock.sleep(took)
        if board.opens == NEVER and clock.monotonic() >= start + opens:
            board.open(round((start + opens) * 1e9))
        return None if next(left, None) is None else DONE

    drive(step, tally, Pace(start), window, 1, Surroundings(clock.sleep), alone(tally, window, 1))
    return tally, (board.closes - board.opens) / 1e9


def test_of_work_by_amount_latencies_and_series_have_what_was_sent_in_its_steady_part(clock):
    # Ten requests of 30 ms, and 30 ms to find nothing left; four were sent before 100 ms.
    tally, _ = done_by_amount(clock, opens=0.1, requests=10)
    assert sum(tally.series.latencies[""].values()) == 6
    assert [count for _, count in sorted(tally.series.operations.items())] == [2, 3, 1]
    assert sum(tally.apart.latencies[""].values()) == 4
    assert tally.inside.requests == pytest.approx(6 + 2 / 3)
    assert (tally.operations, tally.late) == (10, {})


def test_the_steady_part_of_work_by_amount_ends_when_a_connection_finds_nothing_left(clock):
    # It asks for an eleventh request at 300 ms, and is told 30 ms later that there is none.
    tally, seconds = done_by_amount(clock, opens=0.1, requests=10)
    assert seconds == pytest.approx(0.23)
    assert tally.inside.busy == pytest.approx(0.2e9)


def test_a_connection_that_finds_nothing_left_later_does_not_make_the_steady_part_longer():
    board = Board.of(multiprocessing)
    board.clear(None)
    window = MeasuredWindow(board, 2, by_amount=True)
    for moment in (2_000, 1_000, 3_000):
        window.find_nothing_left(moment)
    assert board.closes == 1_000


def test_of_work_by_amount_without_a_steady_part_everything_is_kept_apart(clock):
    tally, _ = done_by_amount(clock, opens=5, requests=10)
    assert tally.series.latencies == {}
    assert [count for _, count in sorted(tally.apart.operations.items())] == [3, 3, 3, 1]
    assert tally.inside.requests == pytest.approx(0)


STEPS = (Done(1, 1, 10), Done(3, 3, 30, "batch"))


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("opens", [0.0, 0.25])
def test_intervals_have_what_was_answered_in_them_on_any_connection(monkeypatch, together, opens):
    clock = Clock()
    monkeypatch.setattr(driving, "time", clock)
    begins = clock.monotonic()
    window = opened(begins + opens, 1.0)
    tallies = [nothing_done(), nothing_done()]
    tallies[1].series = tallies[0].series
    each = [alone(tally, window, slot) for slot, tally in enumerate(tallies)]
    recordings = [Recording(tallies[0].series, window, (0, 1))] * 2 if together else each
    main = getcurrent()

    def step(slot):
        def work():
            clock.sleep(0.021)  # nobody is answered at the very end of an interval
            main.switch(True)
            return STEPS[slot]

        return work

    tasks = [
        greenlet(
            lambda slot=slot: drive(
                step(slot),
                tallies[slot],
                Pace(begins),
                window,
                slot,
                Surroundings(clock.sleep),
                recordings[slot],
            )
        )
        for slot in (0, 1)
    ]
    going = tasks
    while going:
        going = [task for task in going if task.switch()]
    operations, counts = tallies[0].series.operations, tallies[0].series.latencies
    assert sorted(operations) == list(range(10))
    assert operations.total() == sum(counts[""].values()) + 3 * sum(counts["batch"].values())
    # Each connection is answered every 42 ms, two or three times in a tenth of a second.
    assert all(8 <= count <= 12 for number, count in operations.items() if 0 < number < 9)
    assert [tally.operations / 3**slot for slot, tally in enumerate(tallies)] == pytest.approx(
        [(1 + opens) / 0.042] * 2, abs=1
    )
    assert sum(tally.inside.operations for tally in tallies) == pytest.approx(4 / 0.042, abs=4)
    assert tallies[0].inside.documents == tallies[0].inside.operations
    assert tallies[1].inside.bytes == pytest.approx(10 * tallies[1].inside.operations)


A_HUNDREDTH = 10_000_000


def schedule() -> Schedule:
    return Schedule(Pace(first=0.0, intervals=(0.001,)), memoryview(array("q", [0])), 0)


def test_what_was_meant_before_the_end_and_not_sent_is_told_with_its_age():
    ages = [age for _, age in schedule().unsent(A_HUNDREDTH)]
    assert ages == [A_HUNDREDTH - number * 1_000_000 for number in range(10)]


def test_when_all_work_is_done_nothing_more_was_meant(clock):
    paced = Pace(clock.monotonic(), (0.01,), 1.0)
    tally = driven(following(DONE, DONE), paced, seconds=1.0)
    assert (tally.operations, tally.sendings.operations, tally.unsent, tally.late) == (2, 2, 0, {})
