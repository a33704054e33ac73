"""A client that is kept from running is told of: its lag is in every latency."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from mongo_tables.runner.client_limits import list_limits
from mongo_tables.runner.meter import Lag, receive_stamped, stamp
from mongo_tables.runner.request_options import RequestOptions
from mongo_tables.runner.wire import client as wire


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
    unpaced = SimpleNamespace(service={})
    hundred_of_a_millisecond = SimpleNamespace(latencies={1000: 100}, lag=lag, paced=unpaced)
    assert bool(list_limits(hundred_of_a_millisecond, busiest)) is bound


def test_a_client_that_makes_a_backlog_itself_is_not_excused_by_it():
    paced = SimpleNamespace(service={1000: 100})
    backlog = SimpleNamespace(latencies={1_000_000: 100}, lag=Lag(unread=600_000, sampled=10), paced=paced)
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
