"""Many connections in one thread: while one waits, for its answer, for room to send or for its time, others go on.

With a thread for each connection, every answer costs two changes of threads and handing on the interpreter's lock:
more than the request itself. Here each connection has a greenlet, a stack without a thread, so that what runs in it
is written as if it blocked, and one call of the system says what has come.
"""

from __future__ import annotations

import heapq
import select
import time
from collections.abc import Callable, Mapping
from itertools import count

from greenlet import getcurrent, greenlet

from preprocessor.runner.wire.alarm import RINGS, Alarm

Task = Callable[[], None]
AVAILABLE = hasattr(select, "epoll") and RINGS
"""Whether this system has what it needs: Linux has."""


class Hub:
    """Runs tasks in turn, each until it waits, in the thread that made it."""

    def __init__(self) -> None:
        """Made where ``run`` is to be called."""
        self.wait: Callable[[], object] = getcurrent().switch
        """What a task calls so that the others go on, until its file may be read or written; it may come back early."""
        self._sleeping: list[tuple[int, int, greenlet]] = []
        self._order = count()

    def sleep(self, seconds: float) -> None:
        """What a task calls so that the others go on for so long."""
        until = time.monotonic_ns() + round(seconds * 1e9)
        heapq.heappush(self._sleeping, (until, next(self._order), getcurrent()))
        while time.monotonic_ns() < until:
            self.wait()

    def run(self, tasks: Mapping[int, Task]) -> None:
        """Run the tasks to their end; each is named by the number of the file that it waits for.

        What a task raises is raised, and the other tasks are not ended. Linux only: it is epoll that makes the cost of
        waiting independent of the number of files.
        """
        with select.epoll() as ready, Alarm() as alarm:
            going: dict[int, greenlet] = {}
            for file, task in tasks.items():
                started = greenlet(task)
                if started.switch() is not None:
                    going[file] = started
                    # Told once of what comes, not until it is read: the system need not look again.
                    ready.register(file, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
            ready.register(alarm.file, select.EPOLLIN | select.EPOLLET)
            switches = {file: task.switch for file, task in going.items()}
            poll, most = ready.poll, max(1, len(going)) + 1
            while switches:
                if self._sleeping:
                    self._wake(going, switches)
                    if not switches:
                        return
                    if self._sleeping:
                        alarm.ring_at(self._sleeping[0][0])
                for file, _ in poll(None, most):
                    # A task that waits gives an empty tuple, one that ends gives what it returns.
                    if file in switches and switches[file]() is None:
                        del switches[file]

    def _wake(self, going: Mapping[int, greenlet], switches: dict[int, Callable[[], object]]) -> None:
        """Let those go on whose time has come."""
        now = time.monotonic_ns()
        woken = []
        while self._sleeping and self._sleeping[0][0] <= now:
            woken.append(heapq.heappop(self._sleeping)[2])
        for task in woken:
            if not task.dead and task.switch() is None:
                del switches[next(file for file, one in going.items() if one is task)]
