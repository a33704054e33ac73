"""Many connections in one thread: while one waits for its answer, those whose answer has come go on.

With a thread for each connection, every answer costs two changes of threads and handing on the interpreter's lock:
more than the request itself. Here each connection has a greenlet, a stack without a thread, so that what runs in it
is written as if it blocked, and one call of the system says which answers have come.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Mapping

from greenlet import getcurrent, greenlet

Task = Callable[[], None]
AVAILABLE = hasattr(select, "epoll")
"""Whether this system has what it needs: Linux has."""


class Hub:
    """Runs tasks in turn, each until it waits, in the thread that made it."""

    def __init__(self) -> None:
        """Made where ``run`` is to be called."""
        self.wait: Callable[[], object] = getcurrent().switch
        """What a task calls so that the others go on, until something more has come for it to read."""

    def run(self, tasks: Mapping[int, Task]) -> None:
        """Run the tasks to their end; each is named by the number of the file that it waits to read from.

        What a task raises is raised, and the other tasks are not ended. Linux only: it is epoll that makes the cost of
        waiting independent of the number of files.
        """
        with select.epoll() as ready:
            going: dict[int, Callable[[], object]] = {}
            for file, task in tasks.items():
                go_on = greenlet(task).switch
                if go_on() is not None:
                    going[file] = go_on
                    # Told once of what comes, not until it is read: the system need not look again.
                    ready.register(file, select.EPOLLIN | select.EPOLLET)
            poll, most = ready.poll, max(1, len(going))
            while going:
                for file, _ in poll(None, most):
                    # A task that waits gives an empty tuple, one that ends gives what it returns.
                    if going[file]() is None:
                        ready.unregister(file)
                        del going[file]
