"""A long window can be followed in a log."""

from __future__ import annotations

import errno
import io
import time

from mongo_tables.runner.terminal import Progress


def test_every_so_many_seconds_a_line_says_what_was_done_and_how_fast(monkeypatch):
    now, log = [100.0], io.StringIO()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(log, line_every=10.0)
    progress.begin("update 1/8, repeat 1/3", 0)
    for done in (5_000, 20_000, 60_000, 61_000, 90_000):
        now[0] += 5.0
        progress.update(done)
    assert log.getvalue().splitlines() == [
        "update 1/8, repeat 1/3  10 s  20,000 operations  2,000/s",
        "update 1/8, repeat 1/3  20 s  61,000 operations  4,100/s",
    ]


def test_without_that_a_log_has_only_what_is_finished():
    log = io.StringIO()
    progress = Progress(log)
    progress.begin("update 1/8, repeat 1/3", 0)
    progress.update(10)
    progress.end("10 operations")
    assert log.getvalue() == "update 1/8, repeat 1/3  10 operations\n"


def test_a_terminal_that_was_closed_ends_no_measurement():
    class Closed(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            raise OSError(errno.EIO, "Input/output error")

    progress = Progress(Closed(), line_every=0.0001)
    progress.begin("update 1/8", 10)
    for done in range(10):
        progress.update(done)
    progress.end("10 operations")
    progress.note("a database is left")
