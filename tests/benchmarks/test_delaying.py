"""The proxy that holds answers passes on what it is given, holds as long as it says, and closes with either side."""

from __future__ import annotations

import queue
import random
import socket
import threading
import time
from contextlib import contextmanager

from benchmarks.delaying import delaying

LARGEST = 300_000
"""More than a proxy passes on at once."""


@contextmanager
def answering(answer):
    """The port of a server that has one connection, and does with it what ``answer`` says."""
    with socket.create_server(("localhost", 0)) as listening:

        def serve():
            accepted, _ = listening.accept()
            with accepted:
                answer(accepted)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        yield listening.getsockname()[1]
        server.join(timeout=60)
        assert not server.is_alive()


def receive(connection, length):
    """So many bytes."""
    parts = []
    while length:
        parts.append(connection.recv(length))
        assert parts[-1], "closed too early"
        length -= len(parts[-1])
    return b"".join(parts)


def echo(connection):
    while length := connection.recv(4):
        connection.sendall(receive(connection, int.from_bytes(length, "little")))


def ask(connection, message):
    """The answer of ``echo``."""
    connection.sendall(len(message).to_bytes(4, "little") + message)
    return receive(connection, len(message))


def test_bytes_come_out_as_they_went_in_both_ways():
    draw = random.Random("bytes")
    with (
        answering(echo) as server,
        delaying(server) as proxy,
        socket.create_connection(("localhost", proxy.port)) as client,
    ):
        for length in (1, 2, 1000, LARGEST, 7):
            message = draw.randbytes(length)
            assert ask(client, message) == message


def test_each_answer_is_held_once_and_as_long_as_it_says():
    asked, times = 20_000, 8
    took = []
    with (
        answering(echo) as server,
        delaying(server, asked) as proxy,
        socket.create_connection(("localhost", proxy.port)) as client,
    ):
        for _ in range(times):
            began = time.monotonic()
            ask(client, bytes(LARGEST))
            took.append(1e6 * (time.monotonic() - began))
        held = proxy.held()
    assert held.answers == times
    assert asked <= held.mean <= sum(took) / times


def test_when_the_client_closes_the_server_hears_of_it():
    heard = queue.Queue()
    with (
        answering(lambda connection: heard.put(connection.recv(1))) as server,
        delaying(server) as proxy,
    ):
        socket.create_connection(("localhost", proxy.port)).close()
        assert heard.get(timeout=60) == b""


def test_when_the_server_closes_the_client_has_what_was_sent_before_and_hears_of_it():
    with (
        answering(lambda connection: connection.sendall(b"last words")) as server,
        delaying(server) as proxy,
        socket.create_connection(("localhost", proxy.port)) as client,
    ):
        assert receive(client, 10) == b"last words"
        assert client.recv(1) == b""


def test_where_no_server_is_the_connection_is_closed():
    with socket.create_server(("localhost", 0)) as closed:
        port = closed.getsockname()[1]
    with delaying(port) as proxy, socket.create_connection(("localhost", proxy.port)) as client:
        assert client.recv(1) == b""
