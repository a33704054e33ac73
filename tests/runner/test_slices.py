"""Two loads take turns in slices: each sends in its own, as often first as second, and pairs say which is faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.options import PROFILES
from mongo_tables.runner.slices import Slices, Turns, plan_slices
from mongo_tables.runner.worker import Load

SLICES = Slices(width=100, pairs=4, seed="s")


def turns(firsts, load):
    """The moments, from 0 to 800, at which it is the turn of the load."""
    return [since for since in range(800) if Turns(SLICES, load, firsts=firsts).wait(since) == 0]


def test_each_load_has_one_slice_of_each_pair():
    firsts = bytes([0, 1, 1, 0])
    assert turns(firsts, 0) == [*range(100), *range(300, 400), *range(500, 600), *range(600, 700)]
    assert sorted(turns(firsts, 0) + turns(firsts, 1)) == list(range(800))


def test_who_waits_waits_until_just_its_turn():
    firsts = bytes([0, 1, 1, 0])
    for load in (0, 1):
        turns_of_it = Turns(SLICES, load, firsts=firsts)
        for since in range(700 if load == 0 else 800):
            wait = turns_of_it.wait(since)
            assert wait == 0 or turns_of_it.wait(since + wait) == 0
            assert not wait or turns_of_it.wait(since + wait - 1) != 0
    assert Turns(SLICES, 0, firsts=firsts).wait(750) == 50  # until all is over
    assert Turns(SLICES, 0, firsts=firsts).wait(800) is None


@pytest.mark.parametrize("pairs", [1, 2, 7, 100])
def test_each_load_is_first_as_often_as_the_other(pairs):
    firsts = Slices(1, pairs, "x").firsts()
    assert len(firsts) == pairs
    assert abs(pairs - 2 * sum(firsts)) <= 1
    assert firsts == Slices(1, pairs, "x").firsts()


@pytest.mark.parametrize(
    ("sent", "answered", "part"),
    [(0, 100, 1.0), (50, 100, 1.0), (50, 150, 0.5), (90, 290, 0.05), (520, 690, 1.0), (650, 750, 0.5)],
)
def test_a_request_counts_with_the_part_before_the_turn_of_the_other(sent, answered, part):
    # Load 0 has 0 to 100, 300 to 400, and 500 to 700.
    assert Turns(SLICES, 0, firsts=bytes([0, 1, 1, 0])).part(sent, answered) == pytest.approx(part)


def test_what_warms_counts_for_nothing_and_each_load_is_warmed_as_long_as_for_a_published_window():
    slices = Slices(100, 4, "s", lead=1)
    assert (slices.counted_from, slices.counted, slices.length) == (200, 600, 800)
    cold, warm = (plan_slices(0.04, "s", warm=warm) for warm in (False, True))
    assert (cold.counted, cold.counted_from) == (2_000_000_000, 160_000_000)
    assert (warm.counted, warm.counted_from) == (2_000_000_000, 1_440_000_000)
    assert warm.counted_from / 2e9 >= PROFILES["publish"].seconds


def load_of(uri, connections=4):
    return Load(uri, "a", "query", READS, "s", connections)


def test_two_servers_take_turns_and_none_does_more_than_it_can():
    slices, looks = Slices(40_000_000, 40, "s", lead=2), []
    with (
        pretending(milliseconds=5) as fast,
        pretending(milliseconds=10) as slow,
        WorkerPool(1) as crew,
    ):
        sides = crew.alternate(
            (load_of(fast), load_of(slow)),
            slices,
            opened=lambda: looks.append("opened"),
            over=lambda: looks.append("over"),
        )
    assert looks == ["opened", "over"]
    for side, milliseconds in zip(sides, (5, 10), strict=True):
        # Four connections in half of the slices that count, and at each turn one request that began before.
        assert 0 < side.operations <= 4 * (slices.counted / 2e6 / milliseconds + slices.pairs)
        assert side.requests >= side.operations
        assert side.busy / side.requests / 1e6 >= milliseconds


def test_a_request_that_fails_is_counted_for_its_side_and_the_turns_go_on():
    with (
        pretending(milliseconds=5, fail_every=7) as failing,
        pretending(milliseconds=5) as sound,
        WorkerPool(1) as crew,
    ):
        one, other = crew.alternate((load_of(failing), load_of(sound)), Slices(40_000_000, 40, "s"))
    assert one.failures.counts() == {"UnexpectedReply 50": pytest.approx(one.requests / 6, abs=3)}
    assert other.failures.counts() == {}
    assert min(one.requests, other.requests) > 0


def test_a_connection_that_breaks_is_opened_again_where_that_was_asked_for():
    with (
        pretending(milliseconds=5, close_after=3) as breaking,
        pretending(milliseconds=5) as sound,
        WorkerPool(1) as crew,
    ):
        loads = [replace(load_of(uri), on_error="reconnect") for uri in (breaking, sound)]
        one, other = crew.alternate((loads[0], loads[1]), Slices(40_000_000, 40, "s"))
    assert one.failures.lost > 0
    assert other.failures.lost == 0
    assert one.requests > 0


def test_a_server_that_goes_away_is_told_of():
    told = pytest.raises(WorkFailed, match="the server closed the connection")
    with (
        pretending(milliseconds=1, close_after=20) as gone,
        pretending() as there,
        WorkerPool(1) as crew,
        told,
    ):
        crew.alternate((load_of(gone), load_of(there)), Slices(40_000_000, 40, "s"))
