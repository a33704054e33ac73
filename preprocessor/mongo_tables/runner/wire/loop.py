"""Many connections in one thread: while one waits, for its answer, for room to send or for its time, others go on.

With a thread for each connection, every answer costs two changes of threads and handing on the interpreter's lock:
more than the request itself. Here each connection has a greenlet, a stack without a thread, so that what runs in it
is written as if it blocked, and one call of the system says what has come. epoll knows milliseconds only; for
microseconds it waits for a ``timerfd`` (https://man7.org/linux/man-pages/man2/timerfd_create.2.html), which Python has
from 3.13 on.
"""

from __future__ import annotations

import ctypes
import heapq
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Self

from greenlet import getcurrent, greenlet

RINGS = hasattr(ctypes.CDLL(None), "timerfd_create")
"""Whether this system has such a file."""
_NON_BLOCKING, _AT_A_MOMENT = 0o4000, 1


class _Times(ctypes.Structure):
    """``struct itimerspec``: how often to ring, and when first."""

    _fields_ = (
        ("_again_seconds", ctypes.c_long),
        ("_again_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class Alarm:
    """Rings once at the moment it was last set to; a context manager that closes its file."""

    def __init__(self) -> None:
        """Raises OSError when the process may open no more files."""
        self._system = ctypes.CDLL(None, use_errno=True)
        self.file = self._system.timerfd_create(time.CLOCK_MONOTONIC, _NON_BLOCKING)
        """What is waited for."""
        if self.file < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._times = _Times()
        self._at = 0

    def ring_at(self, moment: int) -> None:
        """Ring at that moment, in nanoseconds on the monotonic clock, or at once when it is over."""
        if moment != self._at:
            self._at = moment
            self._times.seconds, self._times.nanoseconds = divmod(moment, 1_000_000_000)
            self._system.timerfd_settime(self.file, _AT_A_MOMENT, ctypes.byref(self._times), None)

    def __enter__(self) -> Self:
        """Give the alarm itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        os.close(self.file)


Task = Callable[[], None]
AVAILABLE = hasattr(select, "epoll") and RINGS
"""Whether this system has what it needs: Linux has."""
_EVENTS = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET if AVAILABLE else 0
"""Told once of what comes, not until it is read: the system need not look again."""


class Hub:
    """Runs tasks in turn, each until it waits, in the thread that made it."""

    def __init__(self) -> None:
        """Made where ``run`` is to be called."""
        self.wait: Callable[[], object] = getcurrent().switch
        """What a task calls so that the others go on, until its file may be read or written; it may come back early."""
        self._sleeping: list[tuple[int, int, greenlet]] = []
        self._order = count()
        self._going: dict[int, greenlet] = {}

    def sleep(self, seconds: float) -> None:
        """What a task calls so that the others go on for so long."""
        until = time.monotonic_ns() + round(seconds * 1e9)
        heapq.heappush(self._sleeping, (until, next(self._order), getcurrent()))
        while time.monotonic_ns() < until:
            self.wait()

    def wait_for(self, *files: int) -> None:
        """What a task calls that waits for these files from now on, and for none that it waited for before."""
        task = getcurrent()
        self._forget(task)
        for file in files:
            self._going[file] = task
            with suppress(FileExistsError):  # it is one of those before
                self._ready.register(file, _EVENTS)

    def do_elsewhere(self, work: Callable[[], object]) -> None:
        """What a task calls for work that blocks: a thread does it while the others go on; raises what it raises.

        The files of the task are forgotten; it says anew what it waits for.
        """
        finished: list[Exception | None] = []

        def perform() -> None:
            try:
                work()
            except Exception as error:
                finished.append(error)
            else:
                finished.append(None)
            os.eventfd_write(done, 1)

        done = os.eventfd(0, os.EFD_NONBLOCK)
        try:
            self.wait_for(done)
            thread = threading.Thread(target=perform, daemon=True)
            thread.start()
            while not finished:
                self.wait()
            thread.join()  # it may still be about to write to the file
        finally:
            os.close(done)
        if finished[0] is not None:
            raise finished[0]

    def run(self, tasks: Mapping[tuple[int, ...], Task]) -> None:
        """Run the tasks to their end; each is named by the numbers of the files that it waits for.

        What a task raises is raised, and the other tasks are not ended. Linux only: it is epoll that makes the cost of
        waiting independent of the number of files.
        """
        with select.epoll() as ready, Alarm() as alarm:
            self._ready = ready
            for files, task in tasks.items():
                started = greenlet(task)
                for file in files:
                    self._going[file] = started
                    ready.register(file, _EVENTS)
                if started.switch() is None:
                    self._forget(started)
            ready.register(alarm.file, select.EPOLLIN | select.EPOLLET)
            while self._going:
                self._wake()
                if self._sleeping:
                    alarm.ring_at(self._sleeping[0][0])
                if self._going:
                    self._serve(ready)

    def _serve(self, ready: select.epoll) -> None:
        """Let those go on whose file has something, until somebody sleeps."""
        going, sleeping = self._going, self._sleeping
        poll, most, waiting = ready.poll, len(going) + 1, going.get
        while going:
            for file, _ in poll(None, most):
                task = waiting(file)  # nobody waits for the alarm, nor for the file of a task that has ended
                # A task that waits gives an empty tuple, one that ends gives what it returns.
                if task is not None and task.switch() is None:
                    self._forget(task)
            if sleeping:
                return

    def _wake(self) -> None:
        """Let those go on whose time has come."""
        now, woken = time.monotonic_ns(), []
        while self._sleeping and self._sleeping[0][0] <= now:
            woken.append(heapq.heappop(self._sleeping)[2])
        for task in woken:
            if not task.dead and task.switch() is None:
                self._forget(task)

    def _forget(self, task: greenlet) -> None:
        for file in [file for file, one in self._going.items() if one is task]:
            del self._going[file]
