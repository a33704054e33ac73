"""An event loop for many connections in one thread. While a connection waits, others run.

With a thread for each connection, every answer costs two thread switches and a handover of the interpreter lock, which
take longer than the request itself. Here each connection has a greenlet, a stack without a thread. So its code can be
written as if it blocked, and one system call reports which answers have arrived.

The timeouts of epoll have millisecond resolution. For microsecond resolution, the loop also waits for a ``timerfd``
(https://man7.org/linux/man-pages/man2/timerfd_create.2.html). It uses ``ctypes``, because Python has no ``timerfd``
before version 3.13.
"""

from __future__ import annotations

import ctypes
import heapq
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from itertools import count

from greenlet import getcurrent, greenlet

_NON_BLOCKING, _AT_A_MOMENT = 0o4000, 1


class _Times(ctypes.Structure):
    """The C structure ``itimerspec``: the interval, and the time of the first expiration."""

    _fields_ = (
        ("_again_seconds", ctypes.c_long),
        ("_again_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class Alarm:
    """A timer that fires once, at the time that was set last."""

    def __init__(self) -> None:
        """Raises OSError if the process may open no more files."""
        self._system = ctypes.CDLL(None, use_errno=True)
        self.file = self._system.timerfd_create(time.CLOCK_MONOTONIC, _NON_BLOCKING)
        """The file descriptor to wait for."""
        if self.file < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._times = _Times()
        self._at = 0

    def ring_at(self, moment: int) -> None:
        """Fire at ``moment``, in nanoseconds on the monotonic clock, or at once if the moment is past."""
        if moment != self._at:
            self._at = moment
            self._times.seconds, self._times.nanoseconds = divmod(moment, 1_000_000_000)
            self._system.timerfd_settime(self.file, _AT_A_MOMENT, ctypes.byref(self._times), None)

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)


Task = Callable[[], None]
AVAILABLE = hasattr(select, "epoll") and hasattr(ctypes.CDLL(None), "timerfd_create")
"""Whether this system has all functions that the loop needs. Linux has them."""
_EVENTS = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET if AVAILABLE else 0
"""The awaited events. ``EPOLLET``: the system reports new data once, even if the data is not read."""


class Hub:
    """The loop. It runs a task until that task waits, and then another task."""

    def __init__(self) -> None:
        """Create the hub in the thread that calls ``run``."""
        self.wait: Callable[[], object] = getcurrent().switch
        """Lets other tasks run until a file of this task is readable or writable. It may return before that."""
        self._sleeping: list[tuple[int, int, greenlet]] = []
        self._order = count()
        self._going: dict[int, greenlet] = {}

    def sleep(self, seconds: float) -> None:
        """Let other tasks run for ``seconds`` seconds."""
        until = time.monotonic_ns() + round(seconds * 1e9)
        heapq.heappush(self._sleeping, (until, next(self._order), getcurrent()))
        while time.monotonic_ns() < until:
            self.wait()

    def wait_for(self, *files: int) -> None:
        """Make the calling task wait for ``files`` from now on, and for no other files."""
        task = getcurrent()
        self._forget(task)
        for file in files:
            self._going[file] = task
            with suppress(FileExistsError):  # the file is already registered
                self._ready.register(file, _EVENTS)

    def do_elsewhere(self, work: Callable[[], object]) -> None:
        """Run blocking work in a thread while other tasks run. Raises the exception of the work.

        The loop forgets the files of the task, which must call ``wait_for`` again.
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
            thread.join()  # the thread may not yet have written to the file
        finally:
            os.close(done)
        if finished[0] is not None:
            raise finished[0]

    def run(self, tasks: Mapping[tuple[int, ...], Task]) -> None:
        """Run the tasks to their end. Each key has the file descriptors that the task waits for.

        If a task raises an exception, the others stay unfinished. The loop uses epoll, which only Linux has, because
        the cost of waiting then does not depend on the number of files.
        """
        with select.epoll() as ready, closing(Alarm()) as alarm:
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
        """Resume the tasks whose files are ready, until a task sleeps."""
        going, sleeping = self._going, self._sleeping
        poll, most, waiting = ready.poll, len(going) + 1, going.get
        while going:
            for file, _ in poll(None, most):
                task = waiting(file)  # None for the alarm, and for the file of a task that has ended
                # ``switch`` returns () if the task waits, and its result, None, if it ends.
                if task is not None and task.switch() is None:
                    self._forget(task)
            if sleeping:
                return

    def _wake(self) -> None:
        now, woken = time.monotonic_ns(), []
        while self._sleeping and self._sleeping[0][0] <= now:
            woken.append(heapq.heappop(self._sleeping)[2])
        for task in woken:
            if not task.dead and task.switch() is None:
                self._forget(task)

    def _forget(self, task: greenlet) -> None:
        for file in [file for file, one in self._going.items() if one is task]:
            del self._going[file]
