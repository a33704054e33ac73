"""What the client uses and waits for is counted between the edges of a window.

A client that is kept from running is told of: its lag is in every latency.

What a process of the client uses is that of the window, whatever it did before and whoever was idle at its edges.
"""

from __future__ import annotations

import multiprocessing
import socket
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from mongo_tables.runner import driving, window, worker
from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.outcome import list_limits
from mongo_tables.runner.window import (
    Board,
    Lag,
    MeasuredWindow,
    Meter,
    Usage,
    in_all,
    in_window,
    receive_stamped,
    stamp,
)
from mongo_tables.runner.wire import client as wire
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Done


def test_how_long_an_answer_waited_to_be_read_is_known():
    with ExitStack() as held:
        listening = held.enter_context(socket.create_server(("localhost", 0)))
        reading = held.enter_context(socket.create_connection(listening.getsockname()))
        sending = held.enter_context(listening.accept()[0])
        assert stamp(reading)
        lag = Lag()
        while not lag.sampled:  # the system begins to stamp a little later
            sending.send(b"an answer")
            time.sleep(0.05)
            assert receive_stamped(reading, 100, lag) == b"an answer"
    assert lag.sampled == 1
    assert lag.of_an_answer() >= 50_000


@pytest.mark.parametrize(
    ("busiest", "lag", "bound"),
    [
        (0.2, Lag(), False),
        (0.9, Lag(), True),
        (0.2, Lag(in_run_queue=4_000_000), False),
        (0.2, Lag(in_run_queue=6_000_000), True),
        (0.2, Lag(unread=400_000, sampled=10), False),
        (0.2, Lag(unread=600_000, sampled=10), True),
    ],
)
def test_more_than_a_twentieth_of_the_latency_is_the_clients(busiest, lag, bound):
    hundred_of_a_millisecond = SimpleNamespace(latencies={1000: 100}, usage=Usage(lag=lag), service={})
    assert bool(list_limits(hundred_of_a_millisecond, busiest)) is bound


def test_a_client_that_makes_a_backlog_itself_is_not_excused_by_it():
    backlog = SimpleNamespace(
        latencies={1_000_000: 100}, usage=Usage(lag=Lag(unread=600_000, sampled=10)), service={1000: 100}
    )
    assert list_limits(backlog, 0.2)


class Connection:
    """Each has an answer that waited to be read; the second cannot be opened."""

    opened = 0

    def __init__(self, *_):
        if Connection.opened == 1:
            Connection.opened += 1
            raise ConnectionError
        Connection.opened += 1
        self.lag = Lag(unread=100, sampled=1)

    def exchange(self, message):
        raise AssertionError(message)

    def give_up(self):
        """Nothing is held."""


def test_answers_of_a_connection_that_broke_are_counted_once_however_long_there_is_no_other(monkeypatch):
    monkeypatch.setattr(wire, "WireConnection", Connection)
    client = wire.WireClient(None, ("a", "b"), RequestOptions())
    with pytest.raises(ConnectionError):
        client.reconnect()
    client.reconnect()
    assert (client.lag.unread, client.lag.sampled) == (200, 2)


SECOND = 10**9


class Process:
    """A process that uses a hundredth of the time of a clock, and whose threads wait for a tenth of it."""

    def __init__(self):
        self.now = 5 * SECOND

    def process_time(self):
        return self.now / 100 / SECOND

    def waited(self):
        return self.now // 10


@pytest.fixture
def process(monkeypatch):
    made = Process()
    monkeypatch.setattr(window, "time", made)
    monkeypatch.setattr(window, "run_queue_delay", made.waited)
    return made


def unopened():
    board = Board.of(multiprocessing)
    board.clear(1.0)
    return board, MeasuredWindow(board, 2, by_amount=False)


def answered(process, held, *seconds):
    """An answer at each of these moments."""
    for second in seconds:
        process.now = round(second * SECOND)
        opens, closes, *_ = held.window.edges
        if opens <= process.now:
            held.note(closes, process.now)


def test_what_is_used_and_waited_for_before_and_behind_the_window_is_not_of_the_window(process):
    board, window = unopened()
    with Meter(window) as held:
        answered(process, held, 6, 7)
        board.open(8 * SECOND)
        answered(process, held, 8.0, 8.5, 9.1, 12)
    assert in_window([held]).cpu_seconds == pytest.approx(0.011)
    assert in_window([held]).lag.in_run_queue == pytest.approx(0.11 * SECOND)
    assert in_all([held]).cpu_seconds == pytest.approx(0.07)
    assert in_all([held]).lag.in_run_queue == pytest.approx(0.7 * SECOND)


def test_a_window_that_opens_with_the_work_has_what_was_used_until_the_first_answer(process):
    board, window = unopened()
    board.open(5 * SECOND)
    with Meter(window) as held:
        answered(process, held, 5.8, 6.1)
    assert in_window([held]).cpu_seconds == pytest.approx(0.011)


def test_who_is_answered_never_in_the_window_used_nothing_in_it(process):
    board, window = unopened()
    with Meter(window) as held:
        answered(process, held, 6)
        board.open(8 * SECOND)
        answered(process, held, 20)
    assert in_window([held]).cpu_seconds == 0
    assert in_window([held]).lag == Lag()


def test_processor_time_of_a_process_is_counted_once_and_waiting_for_each_thread(process):
    board, window = unopened()
    with Meter(window) as first, Meter(window) as second:
        board.open(8 * SECOND)
        answered(process, first, 8, 9.1)
        answered(process, second, 8.5, 9.6)
    assert in_window([first, second]).cpu_seconds == pytest.approx(0.011)
    assert in_window([first, second]).lag.in_run_queue == pytest.approx(0.22 * SECOND)


def test_how_long_answers_waited_for_being_read_is_that_of_the_window(process):
    client = SimpleNamespace(lag=Lag(unread=1000, sampled=10))
    board, window = unopened()
    with Meter(window, [client]) as held:
        board.open(8 * SECOND)
        answered(process, held, 8)
        client.lag = Lag(unread=1600, sampled=12)
        answered(process, held, 9.1)
        client.lag = Lag(unread=9000, sampled=20)
    assert in_window([held]).lag.of_an_answer() == pytest.approx(0.3)


class Clock:
    """A clock that work and sleeping move; at a moment of it, while somebody sleeps, something happens."""

    def __init__(self, at, happens):
        self.now, self._at, self._happens, self.used = 0, at, happens, 0.0

    def monotonic(self):
        return self.now / SECOND

    def monotonic_ns(self):
        return self.now

    def process_time(self):
        return self.used

    def sleep(self, seconds):
        before, self.now = self.now, self.now + round(seconds * SECOND)
        if before < self._at <= self.now:
            self._happens(self._at)

    def work(self, seconds):
        self.now += round(seconds * SECOND)
        self.used += seconds


def test_a_connection_that_waits_for_its_time_when_the_window_opens_leaves_out_what_was_before(monkeypatch):
    config = {"collection": "things", "totalDocsToInsert": 10**6, "docSizeKB": 0.1, "writeBatchSize": 1}
    load = Load("", "a", "insert", config, "s", 1, seconds=0.2, rates=(20.0,))
    board = Board.of(multiprocessing)
    board.clear(load.seconds)
    board.count_from(0)
    # Requests are due at 0, 50, 100 ms and so on; the window opens between two.
    clock = Clock(round(0.14 * SECOND), board.open)
    for module in (driving, window):
        monkeypatch.setattr(module, "time", clock)

    def step():
        clock.work(0.03 if board.opens > clock.now else 0.001)
        return Done(1, 1, 1)

    client = SimpleNamespace(sleep=clock.sleep, can_share_thread=False, lag=window.Lag())
    side = SimpleNamespace(load=load, mine=(0,), clients=[client], steps=[step], options=None)
    done = worker.do_timed(side, 0.0, board, print)
    assert done.inside.requests == 4
    assert done.whole_usage.cpu_seconds == pytest.approx(3 * 0.03 + 4 * 0.001)
    # The meter reads at the first answer behind each edge.
    assert done.usage.cpu_seconds == pytest.approx(3 * 0.001)
