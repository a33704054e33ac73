"""Connections of one thread share a count, and the series is that of all of them."""

from __future__ import annotations

import pytest
from greenlet import getcurrent, greenlet

from mongo_tables.runner import driving
from mongo_tables.runner.driving import Pace, Recording, Surroundings, drive
from mongo_tables.runner.workloads import Done
from tests.runner.test_driving import Clock
from tests.runner.windows import alone, nothing_done, opened

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
    intervals = tallies[0].series.intervals
    assert sorted(intervals) == list(range(10))
    assert sum(one.operations for one in intervals.values()) == sum(
        sum(one.latencies().get("", {}).values()) + 3 * sum(one.latencies().get("batch", {}).values())
        for one in intervals.values()
    )
    # Each connection is answered every 42 ms, two or three times in a tenth of a second.
    assert all(8 <= one.operations <= 12 for number, one in intervals.items() if 0 < number < 9)
    assert [tally.operations / 3**slot for slot, tally in enumerate(tallies)] == pytest.approx(
        [(1 + opens) / 0.042] * 2, abs=1
    )
    assert sum(tally.inside.operations for tally in tallies) == pytest.approx(4 / 0.042, abs=4)
    assert tallies[0].inside.documents == tallies[0].inside.operations
    assert tallies[1].inside.bytes == pytest.approx(10 * tallies[1].inside.operations)
