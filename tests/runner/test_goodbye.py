"""A client of a server that is gone is closed, and nobody waits for its goodbye."""

from __future__ import annotations

import threading

from mongo_tables.runner.ownership import close_beside


class Silent:
    """A client that waits for its server until it is told that there is none."""

    def __init__(self):
        self.gone, self.closed = threading.Event(), threading.Event()

    def close(self):
        self.gone.wait(30)
        self.closed.set()


def test_a_goodbye_is_said_beside_what_goes_on():
    client = Silent()
    close_beside(client)
    assert not client.closed.is_set()
    client.gone.set()
    assert client.closed.wait(10)
