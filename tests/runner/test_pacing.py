"""Requests come at random moments about as often as they are to, and wait for no longer than the window."""

from __future__ import annotations

import random

import pytest

from mongo_tables.runner.workloads import Done
from mongo_tables.runner.workloads.events import Pacing, pace_requests


class Clock:
    """A clock that only sleeping and requests move, in nanoseconds."""

    def __init__(self):
        self.now = 1_000

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += round(seconds * 1e9)


def run(interval, length, took, seed="seed"):
    """Moments of the requests in seconds since the start, and what was counted; a request takes ``took`` seconds."""
    clock = Clock()
    moments, counted = [], []

    def send(prepared):
        assert prepared == len(moments)
        moments.append((clock.now - 1_000) / 1e9)
        clock.sleep(took)
        return Done(1, 2, 3, "kind")

    pacing = Pacing(interval, length, random.Random(seed))
    step = pace_requests(lambda: len(moments), send, pacing, clock.sleep, clock)
    while (done := step()) is not None:
        counted.append(done)
    return moments, counted, (clock.now - 1_000) / 1e9


def test_requests_come_as_often_as_they_are_to_while_answers_are_quick():
    moments, counted, end = run(lambda over: 0.1, 1000, 0.02)
    assert len(moments) == pytest.approx(10_000, rel=0.02)
    assert {(done.operations, done.documents, done.kind) for done in counted} == {(1, 2, "kind")}
    assert {done.microseconds for done in counted} == {20_000}
    assert end == pytest.approx(1000)


@pytest.mark.parametrize("length", [2, 10, 25])
def test_many_connections_keep_to_their_rate_together_however_short_the_window_is(length):
    counts = [len(run(lambda over: 10.0, length, 0.01, seed)[0]) for seed in range(3000)]
    assert sum(counts) / 3000 == pytest.approx(length / 10, rel=0.06)


def test_the_first_requests_of_many_connections_are_spread():
    firsts = [run(lambda over: 2.0, 10, 0.01, seed)[0][0] for seed in range(300)]
    assert min(firsts) < 0.1
    assert 2.0 < max(firsts) <= 4.0
    assert sum(firsts) / 300 == pytest.approx(4 / 3, abs=0.15)


def test_slow_answers_are_not_caught_up():
    moments, _, _ = run(lambda over: 0.1, 100, 0.4)
    assert len(moments) == pytest.approx(250, abs=2)


def test_the_rate_follows_the_course_of_the_window():
    moments, _, _ = run(lambda over: 0.1 if over < 0.5 else 0.05, 1000, 0.001)
    assert sum(moment < 500 for moment in moments) == pytest.approx(5_000, rel=0.03)
    assert sum(moment >= 500 for moment in moments) == pytest.approx(10_000, rel=0.03)


def test_without_an_interval_requests_follow_each_other():
    moments, _, end = run(lambda over: 0.0, 1, 0.01)
    assert len(moments) == 100
    assert end == pytest.approx(1.0)


def test_a_request_that_would_come_after_the_window_is_not_sent():
    moments, counted, end = run(lambda over: 1e9, 1, 0.01)
    assert (moments, counted, end) == ([], [], pytest.approx(1.0))
