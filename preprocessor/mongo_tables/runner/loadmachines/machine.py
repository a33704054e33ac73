"""A load machine's side: one Dask task that owns worker processes until its work ends, and what it is told and says.

Orders reach it as messages to the Dask worker that runs it. That worker's event loop answers them at once, while the
task does the work in a thread. An order contains the connection string of the target with its password: as a message
it is encrypted, in no task graph and on no dashboard.

Load machines as Dask clusters: ``local:2``, ``tls://HOST:PORT``.

The runner uses these parts of Dask: starting workers, encryption with certificates on both sides, one pinned task for
each machine, and its connections. The load itself is not a Dask task.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import host
from mongo_tables.runner.driving import one_line
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import Edges, WorkerPool, until_answered
from mongo_tables.runner.outcome import Network, read_network
from mongo_tables.runner.terminal import signals_ignored
from mongo_tables.runner.worker import Assignment, Scheduling

if TYPE_CHECKING:
    from distributed import Client

MOST_LOCAL = 64
_HINT = "use local:N or tls://HOST:PORT, where a scheduler of Dask is"


@dataclass(frozen=True, slots=True)
class LoadMachines:
    """The machines: ``count`` local processes, or those of the ``scheduler``."""

    kind: Literal["local", "tls"]
    count: int = 0
    scheduler: str = ""


def parse_load_machines(where: str) -> LoadMachines:
    """Parse the value of the option. Raise CommandError for an invalid one."""
    kind, _, rest = where.partition(":")
    if kind == "local" and rest.isdecimal() and 0 < int(rest) <= MOST_LOCAL:
        return LoadMachines("local", count=int(rest))
    if kind == "tls" and re.fullmatch(r"//[^/@?]+:\d+", rest):
        return LoadMachines("tls", scheduler=where)
    if kind == "tcp":
        raise CommandError(
            f"the load machines {where!r} would receive the password of the target unencrypted",
            "start scheduler and workers with certificates, and name them as tls://HOST:PORT",
        )
    raise CommandError(f"no load machines are called {where!r}", _HINT)


CONNECT_SECONDS = 15.0
END_SECONDS = 5.0
_SETTINGS: Mapping[str, Any] = {
    "distributed.worker.daemon": False,  # a daemon process may not have child processes
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.comm.require-encryption": True,
    # Useful for tasks only, and as expensive as all our messages together:
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Dask's client, and all machines of the cluster by address, with their names."""

    client: Client
    machines: Mapping[str, str]

    def pin(self, function: Any, address: str, *arguments: Any) -> Any:
        """Run a function on this machine only, without a retry if it is lost. Return its future."""
        from distributed import Event

        begun = Event(f"mongo-tables-{secrets.token_hex(8)}", client=self.client)
        task = self.client.submit(
            function, begun, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        ends = self.client.loop.time() + CONNECT_SECONDS
        while not begun.wait(timeout=0.5):
            if task.done() or self.client.loop.time() > ends:
                raise CommandError(
                    f"the load machine {self.machines[address]} cannot work: {self.why_it_ended(task)}",
                    "is mongo-tables with its extras runner and cluster installed there?",
                )
        return task

    def why_it_ended(self, task: Any) -> str:
        """Return in a few words why a task has ended too early."""
        if not task.done():
            return "its worker is busy with another task"
        error = task.exception() if task.status == "error" else None
        if error is None:
            return "its worker has left" if task.status == "cancelled" else "its task has ended"
        return (
            "its worker has ended" if type(error).__name__ == "KilledWorker" else f"{error}".splitlines()[0]
        )

    def wait(self, tasks: Sequence[Any]) -> None:
        """Wait until tasks that should end have ended, with a short timeout."""
        from distributed import wait

        with suppress(Exception):  # the scheduler may be gone
            wait(tasks, timeout=END_SECONDS)


@contextmanager
def open_cluster(wanted: LoadMachines) -> Iterator[Cluster]:
    """Open the named machines. Raise CommandError if they are not available."""
    import dask
    import distributed  # noqa: F401  (it reads its settings)

    for name in ("distributed", "asyncio"):  # we report their messages in one line of our own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as held:
        held.enter_context(dask.config.set(_SETTINGS))
        client = held.enter_context(_local(wanted) if wanted.kind == "local" else _given(wanted))
        yield Cluster(client, _machines(client))


def _machines(client: Client) -> dict[str, str]:
    """Return the workers in a fixed order: address → name, or the address if it has none."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    found = sorted((str(one["name"]), address) for address, one in workers.items())
    return {address: name.partition("://")[2] or name for name, address in found}


@contextmanager
def _local(wanted: LoadMachines) -> Iterator[Client]:
    from distributed import Client, LocalCluster, Security

    security = Security.temporary()
    with (
        signals_ignored(),
        LocalCluster(
            n_workers=wanted.count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            protocol="tls://",
            security=security,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _given(wanted: LoadMachines) -> Iterator[Client]:
    """Connect to an existing scheduler. Dask's own settings name its certificates."""
    from distributed import Client, Security

    security = Security()
    if not (security.tls_ca_file and security.tls_client_cert and security.tls_client_key):
        raise CommandError(
            "the settings of Dask name no certificates for the load machines",
            "set distributed.comm.tls.ca-file, and cert and key of distributed.comm.tls.client",
        )
    try:
        client = Client(wanted.scheduler, security=security, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        reason = f"{error}".splitlines()[0] if str(error) else type(error).__name__
        raise CommandError(
            f"the scheduler of the load machines does not answer: {reason}",
            "is it there, and are the certificates of both of one authority?",
        ) from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise CommandError(f"{wanted.scheduler} has no load machines", "start a dask worker on each")
        client.run_on_scheduler(_allow_no_failures)
        yield client


def _allow_no_failures(dask_scheduler: Any = None) -> None:
    """Let a task fail with its machine."""
    dask_scheduler.allowed_failures = 0


OPERATION: Final = "mongo_tables_load"
"""The name under which a Dask worker handles our messages."""
GONE_SECONDS = 15.0
"""Seconds without a message after which the runner counts as gone and the work ends."""
LOOK_SECONDS = 0.5
POLL_SECONDS = 0.1
"""Seconds between two looks at the edges of the window, at which the network counters are read."""
DISMISS: Final = "dismiss"
"""The order to end the current work."""
END: Final = "end"
"""The order to end the current work and the task."""
READY: Final = "ready"
"""The report that everything is prepared."""


@dataclass(frozen=True, slots=True, repr=False)
class Work:
    """The connections of a machine in a window, and its part of work by amount: numbers from ``first`` on."""

    assignment: Assignment
    first: int


Order = Work | float | Literal["dismiss", "end"]
"""A number says when to begin, on the machine's clock."""


class Greeting(NamedTuple):
    """The first report of a machine: the version of the program, and the machine's description."""

    harness: str
    hardware: Mapping[str, Any]


class Failed(NamedTuple):
    """The report that the work was given up."""

    reason: str


class LoadResults(NamedTuple):
    """The results of each process, for two loads that took turns of each, and the machine's network traffic.

    ``network`` is that of the window, ``whole_network`` that of all work.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Network
    whole_network: Network


Report = Greeting | Failed | LoadResults | Literal["ready"]


class Sent(NamedTuple):
    """A message to a machine: orders, and the edges of the window on its clock."""

    orders: Sequence[Order] = ()
    edges: Sequence[int] | None = None


class Told(NamedTuple):
    """A message from a machine: its clock, reports, its counters, and when its window closed.

    ``first_answers`` are on its clock; 0 means none yet.
    """

    clock: int
    said: Sequence[Report]
    counters: Sequence[int]
    first_answers: Sequence[int]
    closes: int


class Tended:
    """The worker processes of a machine, the orders received and the reports to send."""

    def __init__(self, processes: int | None, gives_way: bool) -> None:
        """Use this many processes, by default one per processor. They start with the first work."""
        self._pool = WorkerPool(processes or os.cpu_count() or 1, self._why_it_ends, gives_way)
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._said.put(Greeting(host.harness(), host.hardware(None)))
        self._slots: Sequence[int] = ()
        self._dismissed = False
        self._heard = time.monotonic()

    def answer(self, message: bytes) -> bytes:
        """Handle a message, and return the pending reports. Never raise, since Dask would log it."""
        try:
            self._take(pickle.loads(message))
        except Exception as error:
            self._said.put(Failed(f"a message was not understood: {type(error).__name__}"))
        said = [self._said.get() for _ in range(self._said.qsize())]
        board, slots = self._pool.board, self._slots
        counters, answers = (
            [shared[slot] for slot in slots] for shared in (board.counters, board.first_answers)
        )
        return pickle.dumps(Told(time.monotonic_ns(), said, counters, answers, board.closes))

    def _take(self, sent: Sent) -> None:
        self._heard = time.monotonic()
        if sent.edges is not None and self._slots:
            self._pool.board.take_over(sent.edges)
        for order in sent.orders:
            self._dismissed |= order in (DISMISS, END)
            self._orders.put(order)

    def tend(self) -> None:
        """Execute one order after another until the last, or until the runner is gone."""
        with self._pool:
            while (order := self._next()) != END:
                self._dismissed = False
                if isinstance(order, Work):
                    self._work(order)
                elif order == DISMISS:
                    self._pool.dismiss()

    def _next(self) -> Order:
        while True:
            try:
                return self._orders.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._is_alone():
                    return END

    def _is_alone(self) -> bool:
        return time.monotonic() - self._heard > GONE_SECONDS

    def _work(self, work: Work) -> None:
        """Do the work and report each step, or why it failed."""
        try:
            self._perform(work)
        except Exception as error:
            if not self._dismissed:
                reason = error.message if isinstance(error, WorkFailed) else one_line(error)
                self._said.put(Failed(reason.removeprefix("the work was given up: ")))
            self._pool.dismiss()
        finally:
            self._slots = ()

    def _perform(self, work: Work) -> None:
        pool, assignment = self._pool, work.assignment
        pool.board.clear(assignment.longest, work.first)
        self._slots = assignment.mine
        pool.prepare(assignment.loads, lambda part: replace(assignment, mine=part), assignment.mine)
        self._said.put(READY)
        start = self._next()
        if not isinstance(start, float):  # dismissed, or without a runner
            return pool.dismiss()
        pool.go(start)
        readings = [read_network()]

        def note() -> None:
            readings.append(read_network())

        edges = Edges(pool.board, note, note)
        tallies = pool.collect(edges.look, POLL_SECONDS, until_answered(pool.board))
        edges.end()
        begun, first, last = readings[0], readings[1], readings[-1]
        return self._said.put(LoadResults(tallies, pool.scheduling, last.since(first), last.since(begun)))

    def _why_it_ends(self) -> str:
        """Return why the work must end, or "". Called during work."""
        return "it is dismissed" if self._dismissed or self._is_alone() else ""


def tend(begun: Any, processes: int | None, gives_way: bool) -> None:
    """Run the task: own the processes of this machine and execute orders until the end.

    ``begun`` is a Dask event, set when the machine handles messages.
    """
    from distributed import get_worker

    tended = Tended(processes, gives_way)
    handlers = get_worker().handlers
    handlers[OPERATION] = tended.answer
    begun.set()
    try:
        tended.tend()
    finally:
        handlers.pop(OPERATION, None)
