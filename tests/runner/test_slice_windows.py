"""Windows in slices are looked at as other windows are: for something else on the machine, failures, long requests."""

from __future__ import annotations

import pytest

from mongo_tables.runner.blocks import Turn, WindowKey
from mongo_tables.runner.driving import Failures
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.slices import SideStats, Slices, SliceWindows, compose, describe, doubts
from mongo_tables.runner.windows import _check_share

SLICES = Slices(width=40_000_000, pairs=25, seed="s", lead=2)


def side(operations=100.0, milliseconds=1.0, failed=0):
    """A hundred requests that took so long, and some that failed."""
    failures = Failures({"OperationFailure 50": {1000: failed}} if failed else {})
    return SideStats(operations, 100, round(100 * milliseconds * 1e6), failures)


def window(block=0, other=None, attempt=0, target=1, sides=None):
    """The place of a window, and what is kept of it."""
    place = WindowKey(block, attempt, Turn(target, 0), slices=True)
    processors = None if other is None else {"busy": 2.0, "other": other}
    return place, compose(place, SLICES, sides or (side(), side()), processors)


def windows(*some):
    found = SliceWindows()
    for place, kept in some:
        found.add(place, kept)
    return found


def test_a_window_is_measured_again_while_something_else_used_the_machine_three_times_in_all():
    found = windows(window(0, 0.1), window(1, 0.5), window(2, 0.25))
    assert found.next_again() == WindowKey(1, 1, Turn(1, 0), slices=True)
    found.add(*window(1, 0.4, attempt=1))
    assert found.next_again() == WindowKey(1, 2, Turn(1, 0), slices=True)
    found.add(*window(1, 0.6, attempt=2))
    assert found.next_again() is None
    counted = found.counted()[Turn(1, 0)]
    assert [(one.block, one.attempts) for one in counted] == [(0, 1), (1, 3), (2, 1)]
    assert counted[1].window == window(1, 0.4, attempt=1)[1]  # the least disturbed
    assert doubts(counted) == {
        "measured_again": 2,
        "disturbed": 1,
        "failed": 0,
        "mean_latency": 1000.0,
        "long_requests": False,
    }


def test_what_targets_use_by_themselves_is_told_apart():
    # The second target always needs more of the machine than the first with itself.
    found = windows(*(window(block, 0.1, target=0) for block in range(3)))
    for block in range(3):
        found.add(*window(block, 0.5))
    assert found.next_again() is None


def test_where_processors_are_not_known_nothing_is_measured_again_and_nobody_says_it_was_quiet():
    found = windows(window(0), window(1))
    assert found.next_again() is None
    assert doubts(found.counted()[Turn(1, 0)])["disturbed"] is None


@pytest.mark.parametrize(("milliseconds", "long"), [(9.9, False), (10.1, True)])
def test_requests_longer_than_a_quarter_of_a_slice_are_told_of(milliseconds, long):
    place, kept = window(sides=(side(), side(milliseconds=milliseconds)))
    assert doubts(windows((place, kept)).counted()[Turn(1, 0)])["long_requests"] is long
    assert ("more than a quarter of a slice of 40 ms" in describe(kept, ("a", "b"))) is long


def test_failures_are_told_of_with_the_target_and_are_in_the_row():
    place, kept = window(sides=(side(), side(failed=3)))
    assert describe(kept, ("a", "b")) == "100 and 100 operations; 3 errors of b"
    assert doubts(windows((place, kept)).counted()[Turn(1, 0)])["failed"] == 3
    assert kept["errors"] == [{}, {"OperationFailure 50": 3}]


def test_a_target_of_which_more_requests_fail_than_may_has_no_speed():
    _check_share({"OperationFailure 50": 5}, 95, "b")
    told = pytest.raises(WorkFailed, match=r"b: 6 of 101 requests failed: OperationFailure 50 \(6 times\)")
    with told:
        _check_share({"OperationFailure 50": 6}, 95, "b")


def test_a_target_without_an_answer_has_no_latency():
    place, kept = window(sides=(SideStats(), SideStats()))
    assert kept["mean_latency"] == [None, None]
    found = windows((place, kept)).counted()[Turn(1, 0)]
    assert doubts(found)["mean_latency"] is None
