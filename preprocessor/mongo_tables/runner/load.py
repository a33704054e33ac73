"""The load: worker processes that share the connections, start together, and report their work.

Workers prepare everything possible before they report that they are ready. Then they begin together, and a window of
their work is measured (see ``window``). The processes are started once and serve every window of a run, because a start
takes longer than a short window.
"""

from __future__ import annotations

import multiprocessing
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Self, TypeVar

from mongo_tables.runner.connection_strings import selection_ms
from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.options import ends_after
from mongo_tables.runner.outcome import Outcome, sum_up
from mongo_tables.runner.series import add_counts, widest
from mongo_tables.runner.slices import Sides, SideStats, Slices
from mongo_tables.runner.terminal import signals_ignored
from mongo_tables.runner.warmup import Lead, lead_interval
from mongo_tables.runner.window import NEVER, Board
from mongo_tables.runner.worker import (
    SELECTION_MS,
    Assignment,
    Load,
    Scheduling,
    scheduling_of,
    serve,
)

START_DELAY_SECONDS = 0.05
"""Seconds from the start message to the start of the work: enough for the message to reach every worker."""
CONNECT_SECONDS = 60.0
"""Seconds that workers may take until the first connection: longer than the timeout for an unresponsive server."""
CONNECTION_SECONDS = 2.0
"""Seconds that workers may take to open and authenticate each connection, even to a distant deployment."""
PREPARE_SECONDS = 600.0
"""Seconds that workers may take to prepare requests: more than the largest experiment needs on a slow machine."""
UNANSWERED_SECONDS = 300.0
"""Seconds to wait for answers after the end of a window. A deadlocked server would never answer."""
POLL_SECONDS = 0.02
STEADY_PART_POLL_SECONDS = 0.005
"""Seconds between two checks of work that ends after an amount: few, as its steady part can end at any time."""
LOOK_SECONDS = 1.0
"""Seconds between two checks of the deployment during work: long enough not to slow down the work."""
Source = TypeVar("Source")


@dataclass(frozen=True, slots=True)
class Patience:
    """A deadline for the workers, and the message if they miss it.

    ``ends`` returns the deadline on the monotonic clock. The message consists of the number of late workers and
    ``complaint``. ``question`` is the part of the hint that asks about a possible cause.
    """

    ends: Callable[[], float]
    complaint: str
    question: str


class Crew(ABC):
    """The processes that load a target. As a context manager, it ends the processes at exit, even during their work.

    Subclasses define how to send the processes their work, and how to collect the results.
    """

    board: Board
    ahead = 0.0
    """The longest time in seconds until all processes see a change of the board."""
    workers = "worker processes"
    """The word for the processes in messages."""
    _fault: Callable[[], str]

    @abstractmethod
    def prepare(self, work: Assignment, look: Callable[[], None] = lambda: None) -> None:
        """Send each process its part of the connections, and wait until all are ready. Call ``look`` meanwhile.

        Raises WorkFailed if a process does not become ready.
        """

    @abstractmethod
    def go(self, at: float) -> None:
        """Make all processes begin at the moment ``at`` (monotonic clock). Raises WorkFailed if a process has ended."""

    @abstractmethod
    def collect(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Wait until all processes have done their work, and call ``look`` every ``poll`` seconds meanwhile.

        Return the results of each process. Raises WorkFailed if a process gave up or is lost, or misses the deadline of
        ``patience``.
        """

    @abstractmethod
    def dismiss(self) -> None:
        """End the current work. New work may follow."""

    def close(self) -> None:
        """Release all resources."""
        self.dismiss()

    @property
    @abstractmethod
    def scheduling(self) -> Scheduling:
        """Return how the system schedules the processes. It is known only after their first work."""

    @abstractmethod
    def pids(self) -> list[int]:
        """Return the ids of the processes on this machine."""

    def has_news(self) -> bool:
        """Return whether the counters on the board are up to date for all processes."""
        return True

    def describe_machines(self, outcome: Outcome) -> tuple[Mapping[str, Any], ...]:
        """Return the fields of a row about each load machine, or () if the processes run on this machine."""
        return ()

    def wait_for_all(
        self,
        sources: Sequence[Source],
        hear: Callable[[Source, float], list[Any]],
        look: Callable[[], None],
        poll: float,
        patience: Patience,
    ) -> list[Any]:
        """Return the messages of all sources. ``hear`` waits up to a number of seconds for a message of a source.

        ``look`` is called every ``poll`` seconds, and also when the window closes, to read the server's counters.
        Raises WorkFailed if a member of the deployment has ended, or if a source misses the deadline of ``patience``.
        """
        waiting, said = list(sources), list[Any]()
        next_look = time.monotonic() + LOOK_SECONDS
        while waiting:
            left = (self.board.closes - time.monotonic_ns()) / 1e9
            wait = (min(poll, left) if left > 0 else poll) / len(waiting)
            for source in list(waiting):
                if heard := hear(source, wait):
                    said += heard
                    waiting.remove(source)
            look()
            if waiting and time.monotonic() >= next_look:
                if reason := self._fault():
                    raise WorkFailed(f"the work was given up: {reason}", KEPT)
                if time.monotonic() >= patience.ends():
                    raise WorkFailed(
                        f"{len(waiting)} of {len(sources)} {self.workers} {patience.complaint}",
                        f"does the deployment answer, and {patience.question} {KEPT}",
                    )
                next_look = time.monotonic() + LOOK_SECONDS
        return said

    def __enter__(self) -> Self:
        """Return the crew."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        self.close()

    @property
    def window(self) -> tuple[int, int]:
        """Return when the last window opened and closed, in nanoseconds on the monotonic clock."""
        return self.board.opens, self.board.closes

    def perform(
        self,
        load: Load,
        *,
        before: Callable[[], None] = lambda: None,
        opened: Callable[[], None] = lambda: None,
        over: Callable[[], None] = lambda: None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Outcome:
        """Prepare and start the work, measure its window, and wait for its end.

        ``progress`` receives the number of operations so far. ``before`` is called just before the window opens. If the
        work ends after an amount, ``before`` is also called before the start, because all of the work may become the
        window. ``opened`` is called when the window is open, and ``over`` when it closes.

        Raises WorkFailed if a worker could not prepare or gave up, or if a member of the deployment has ended. Then the
        caller must dismiss the crew.
        """
        board = self.board
        board.clear(load.seconds)
        self.prepare(Assignment((load,), range(load.connections)), lambda: progress(0))
        if not load.lead:
            before()
        start = time.monotonic() + START_DELAY_SECONDS + self.ahead
        if load.has_steady_part:
            board.count_from(round(start * 1e9))
        elif not load.lead:
            board.open(round(start * 1e9), lengthens=load.lengthens)
        self.go(start)
        lead = Lead(load.lead, max(load.lead, load.longest_lead), lead_interval(load.seconds) / 1e9)
        ahead = round(self.ahead * 1e9)
        watch = _LoadWatch(board, before, Edges(board, opened, over), start, load, lead, ahead)

        def look() -> None:
            watch.look(news=self.has_news())
            progress(sum(board.counters[: load.connections]))

        tallies = self.collect(
            look, STEADY_PART_POLL_SECONDS if load.has_steady_part else POLL_SECONDS, until_answered(board)
        )
        watch.end()
        outcome = sum_up(tallies, start, board, lead, load)
        return replace(outcome, machines=self.describe_machines(outcome))

    def alternate(
        self,
        loads: tuple[Load, Load],
        slices: Slices,
        *,
        opened: Callable[[], None] = lambda: None,
        over: Callable[[], None] = lambda: None,
    ) -> Sides:
        """Let two loads with the same number of connections take turns. Return the work of both in their slices.

        ``opened`` is called when the counted slices begin, and ``over`` after the last slice. Raises WorkFailed as
        ``perform`` does.
        """
        board = self.board
        board.clear(slices.counted / 1e9)
        self.prepare(Assignment(loads, range(loads[0].connections), slices))
        start = time.monotonic() + START_DELAY_SECONDS + self.ahead
        board.open(round(start * 1e9) + slices.counted_from)
        self.go(start)
        edges = Edges(board, opened, over)
        found = self.collect(edges.look, POLL_SECONDS, until_answered(board))
        edges.end()
        total = SideStats(), SideStats()
        for of_process in found:
            for side, done in zip(total, of_process, strict=True):
                add_counts(side, done)
        return total


class WorkerPool(Crew):
    """Worker processes on this machine."""

    def __init__(
        self,
        processes: int,
        fault: Callable[[], str] = lambda: "",
        gives_way: bool = True,
    ) -> None:
        """Start ``processes`` processes. For ``gives_way`` see ``worker.give_way``.

        ``fault`` returns why a member of the deployment has ended, or "". It is called during work, because a write
        that needs every member gets no answer if a member has ended.
        """
        self._fault = fault
        self._count = processes
        self._gives_way = gives_way
        self._context = multiprocessing.get_context("spawn")
        with signals_ignored():  # Python starts a process for the lock on the board
            self.board = Board.of(self._context)
        self._pipes: list[Connection] = []
        self._at_work: Sequence[Connection] = ()
        self._processes: list[SpawnProcess] = []
        self.start()

    def start(self) -> None:
        """Start the processes."""
        for _ in range(self._count):
            ours, theirs = self._context.Pipe()
            process = self._context.Process(
                target=serve, args=(theirs, self.board, self._gives_way), daemon=True
            )
            with signals_ignored():
                process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    @property
    def scheduling(self) -> Scheduling:
        """Return how the system schedules the processes."""
        return scheduling_of(self.pids())

    def pids(self) -> list[int]:
        """Return the ids of the running processes."""
        return [process.pid for process in self._processes if process.pid]

    def dismiss(self) -> None:
        """End the processes, even during their work. New work starts new processes."""
        for process in self._processes:
            process.terminate()
            process.join()
        for pipe in self._pipes:
            pipe.close()
        self._processes.clear()
        self._pipes.clear()

    def prepare(self, work: Assignment, look: Callable[[], None] = lambda: None) -> None:
        """Send each process its connections, and wait until all processes are ready."""
        if not self._processes:
            self.start()
        pipes = self._at_work = self._pipes[: len(work.connections)]
        for number, pipe in enumerate(pipes):
            _tell(pipe, replace(work, connections=work.connections[number :: len(pipes)]))
        longest = connect_seconds(work.loads, len(work.connections) / len(pipes))
        self._await(pipes, longest, "opening connections", "does it permit so many connections?", look)
        self._await(pipes, PREPARE_SECONDS, "preparing what they send", "is there enough memory?", look)

    def go(self, at: float) -> None:
        """Send the start time to the processes that have work."""
        for pipe in self._at_work:
            _tell(pipe, at)

    def collect(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Return the statistics of each process."""
        return self.wait_for_all(self._at_work, _hear, look, poll, patience)

    def _await(
        self, pipes: Sequence[Connection], seconds: float, doing: str, question: str, look: Callable[[], None]
    ) -> None:
        ends = time.monotonic() + seconds
        patience = Patience(lambda: ends, f"were still {doing} after {seconds:,.0f} s", question)
        self.wait_for_all(pipes, _hear, look, POLL_SECONDS, patience)


def connect_seconds(loads: Sequence[Load], each: float) -> float:
    """Return the seconds that workers may take to open ``each`` connections for every load."""
    found = max(selection_ms(load.uri, SELECTION_MS) for load in loads) / 1000
    return CONNECT_SECONDS + found + CONNECTION_SECONDS * each * len(loads)


def until_answered(board: Board) -> Patience:
    """Return the deadline for the last answers, after the last request has been sent."""
    return Patience(
        lambda: board.stops / 1e9 + UNANSWERED_SECONDS,
        f"have requests that were not answered {UNANSWERED_SECONDS:,.0f} s after the window",
        "is its cache large enough for the work?",
    )


def _tell(pipe: Connection, what: Any) -> None:
    with _somebody_there():
        # On a closed pipe, an exception from `send` crashes Python 3.12.1:
        # https://github.com/python/cpython/issues/111049
        pipe.send_bytes(pickle.dumps(what))


def _hear(pipe: Connection, wait: float) -> list[Any]:
    if not pipe.poll(wait):
        return []
    with _somebody_there():
        answer = pipe.recv()
    if isinstance(answer, str):
        raise WorkFailed(f"the work was given up: {answer}", KEPT)
    return [answer]


@contextmanager
def _somebody_there() -> Iterator[None]:
    """Turn errors of a pipe into WorkFailed, because the process at its other end has ended."""
    try:
        yield
    except (EOFError, OSError):
        raise WorkFailed("a worker process ended without a message", "is there enough memory?") from None


@dataclass(slots=True)
class Edges:
    """Callbacks at the edges of a window: ``opened`` when it has opened, ``over`` when it closes."""

    board: Board
    opened: Callable[[], None] | None
    over: Callable[[], None] | None

    def look(self) -> None:
        """Call the callbacks that are due now."""
        if self.opened is not None and time.monotonic_ns() >= self.board.opens:
            self.opened()
            self.opened = None
        if time.monotonic_ns() >= self.board.closes:
            self.end()

    def end(self) -> None:
        """Handle the end of the window, or of all work."""
        over, self.over = self.over, None
        if over is not None:
            over()


@dataclass(slots=True)
class _LoadWatch:
    """Opens and ends a window whose times are not planned in advance, and calls the callbacks of ``edges``.

    ``start`` is when the work begins. ``ahead`` is the number of nanoseconds until all processes see a change of the
    board.
    """

    board: Board
    before: Callable[[], None]
    edges: Edges
    start: float
    load: Load
    lead: Lead
    ahead: int
    done_before: int = 0
    """The number of operations when the window opened."""

    def look(self, *, news: bool = True) -> None:
        """Open or end the window if that is due now, and call the callbacks.

        ``news`` says whether the counters are up to date.
        """
        board, now = self.board, time.monotonic_ns()
        done = sum(board.counters[: self.load.connections])
        if board.opens == NEVER and news and self._may_open(now, done):
            self.before()
            self.done_before = sum(board.counters[: self.load.connections])
            board.open(time.monotonic_ns() + self.ahead, lengthens=self.load.lengthens)
        if board.opens == NEVER:
            return  # if the work ends before the window opens, all of the work is measured
        self._end_when(done - self.done_before >= self.load.least)
        self.edges.look()

    def _end_when(self, enough: bool) -> None:
        """Set the end of the window, unless it is set or the window needs more operations."""
        board, asked = self.board, self.load.seconds
        if asked is None or board.opens == NEVER or board.stops != NEVER:
            return
        since = time.monotonic_ns() - board.opens
        ran_out = board.closes != NEVER
        ahead = self.ahead + widest(asked, since)
        length = ends_after(since, round(asked * 1e9), enough or ran_out, ahead)
        if length is not None:
            board.end(board.opens + length)

    def _may_open(self, now: int, done: int) -> bool:
        if self.load.has_steady_part:
            return now < self.board.closes and 0 not in self.board.first_answers[: self.load.connections]
        return self.lead.is_over(now / 1e9 - self.start, done)

    def end(self) -> None:
        """Handle the end of the window, or of all work."""
        self._end_when(enough=True)
        self.edges.end()
