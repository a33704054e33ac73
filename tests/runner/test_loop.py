"""Many connections in one thread: each waits for its own answer, and none for another's."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import ExitStack

import pytest

from mongo_tables.runner.wire.loop import Hub


@pytest.fixture
def pipes():
    """Three pipes: what can be read from, and what is written to."""
    with ExitStack() as held:
        found = [os.pipe() for _ in range(3)]
        for file in sum(found, ()):
            held.callback(os.close, file)
        yield found


def test_whoever_is_answered_goes_on_and_the_others_wait(pipes):
    hub = Hub()
    order = []

    def task(number, then):
        def work():
            order.append(f"{number} asks")
            hub.wait()
            order.append(f"{number} hears {os.read(pipes[number][0], 9).decode()}")
            os.write(pipes[then][1], f"from {number}".encode())
            hub.wait()
            order.append(f"{number} ends")
            os.read(pipes[number][0], 9)
            os.write(pipes[then][1], b"an end")

        return work

    os.write(pipes[1][1], b"me first")
    hub.run({(file,): task(number, (number + 1) % 3) for number, (file, _) in enumerate(pipes)})
    assert order[:3] == ["0 asks", "1 asks", "2 asks"]
    assert order[3:6] == ["1 hears me first", "2 hears from 1", "0 hears from 2"]
    assert order[6:] == ["1 ends", "2 ends", "0 ends"]


def test_a_task_that_has_nothing_to_wait_for_ends_at_once(pipes):
    done = []
    Hub().run({(file,): (lambda file=file: done.append(file)) for file, _ in pipes})
    assert done == [file for file, _ in pipes]


def test_a_task_that_ends_leaves_its_file_and_the_others_go_on(pipes):
    hub = Hub()
    heard = []

    def leaves_unread():
        hub.wait()

    def hears():
        hub.wait()
        heard.append(os.read(pipes[1][0], 9))

    def answers():
        hub.wait()
        os.write(pipes[1][1], b"late")

    os.write(pipes[0][1], b"unread")
    os.write(pipes[2][1], b"go")
    hub.run({(pipes[0][0],): leaves_unread, (pipes[1][0],): hears, (pipes[2][0],): answers})
    assert heard == [b"late"]


def test_what_a_task_raises_is_raised(pipes):
    def fails():
        raise OSError("no more memory")

    with pytest.raises(OSError, match="no more memory"):
        Hub().run({(pipes[0][0],): fails})


def test_tasks_sleep_beside_each_other_to_the_moment_and_wait_for_files_meanwhile(pipes):
    hub, began, order = Hub(), time.monotonic(), []

    def early():
        hub.sleep(0.0205)
        assert time.monotonic() - began >= 0.0205
        order.append("early")
        os.write(pipes[2][1], b"x")

    def late():
        hub.sleep(0.08)
        assert time.monotonic() - began >= 0.08
        while "heard" not in order:
            hub.sleep(0.001)
        order.append("late")

    def hears():
        while not order:
            hub.wait()
        order.append("heard")
        hub.sleep(0.0)

    hub.run({(file,): task for (file, _), task in zip(pipes, (late, early, hears), strict=True)})
    assert order == ["early", "heard", "late"]


def test_what_is_too_large_to_send_at_once_does_not_hold_up_the_others():
    hub, order = Hub(), []
    with ExitStack() as held:
        ours, theirs = zip(*(map(held.enter_context, socket.socketpair()) for _ in range(2)), strict=True)

        def sends():
            rest = memoryview(bytes(4 * 2**20))
            while rest:
                try:
                    rest = rest[ours[0].send(rest) :]
                except BlockingIOError:
                    hub.wait()
            order.append("all sent")

        def goes_on():
            order.append("went on")
            while received < 4 * 2**20:
                hub.sleep(0.001)
                receive()

        received = 0

        def receive():
            nonlocal received
            received += len(theirs[0].recv(2**20))

        for one in ours:
            one.setblocking(False)
        hub.run({(ours[0].fileno(),): sends, (ours[1].fileno(),): goes_on})
    assert order == ["went on", "all sent"]


def test_what_blocks_is_done_beside_the_others_and_its_failure_is_raised_where_it_was_asked_for(pipes):
    hub, order = Hub(), []

    def asks():
        hub.do_elsewhere(lambda: went_on.wait(20) and order.append("done"))
        with pytest.raises(OSError, match="nobody there"):
            hub.do_elsewhere(fails)
        hub.wait_for(pipes[0][0])
        os.write(pipes[0][1], b"x")
        hub.wait()
        order.append("heard")

    def fails():
        raise OSError("nobody there")

    def goes_on():
        hub.sleep(0.01)
        order.append("went on")
        went_on.set()

    went_on = threading.Event()
    hub.run({(pipes[0][0],): asks, (pipes[1][0],): goes_on})
    assert order == ["went on", "done", "heard"]
