"""A load machine's side: a Dask worker that owns worker processes until its work ends, and what it is told and says.

Orders reach it as messages. The event loop of the Dask worker answers them at once, while a thread does the work. An
order contains the connection string of the target with its password: as a message it is encrypted, in no task graph
and on no dashboard.

Load machines as Dask clusters: ``local:2``, ``tls://HOST:PORT``.

The runner uses these parts of Dask: starting workers, encryption with certificates on both sides, running a function
on each worker, and its connections. The load itself is not a Dask task.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import psutil

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import host
from mongo_tables.runner.driving import one_line
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import Edges, WorkerPool, until_answered
from mongo_tables.runner.terminal import signals_ignored
from mongo_tables.runner.worker import Assignment, Scheduling

if TYPE_CHECKING:
    from distributed import Client

MOST_LOCAL = 64
_HINT = "use local:N or tls://HOST:PORT, where a scheduler of Dask is"


@dataclass(frozen=True, slots=True)
class LoadMachines:
    """The machines: ``count`` local processes, or those of the ``scheduler``."""

    count: int = 0
    scheduler: str = ""


def parse_load_machines(where: str) -> LoadMachines:
    """Parse the value of the option. Raise CommandError for an invalid one."""
    kind, _, rest = where.partition(":")
    if kind == "local" and rest.isdecimal() and 0 < int(rest) <= MOST_LOCAL:
        return LoadMachines(count=int(rest))
    if kind == "tls" and re.fullmatch(r"//[^/@?]+:\d+", rest):
        return LoadMachines(scheduler=where)
    if kind == "tcp":
        raise CommandError(
            f"the load machines {where!r} would receive the password of the target unencrypted",
            "start scheduler and workers with certificates, and name them as tls://HOST:PORT",
        )
    raise CommandError(f"no load machines are called {where!r}", _HINT)


CONNECT_SECONDS = 15.0
_SETTINGS: Mapping[str, Any] = {
    "distributed.worker.daemon": False,  # a daemon process may not have child processes
    "distributed.worker.profile.enabled": False,
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


@contextmanager
def open_cluster(wanted: LoadMachines) -> Iterator[Cluster]:
    """Open the named machines. Raise CommandError if they are not available."""
    import dask
    import distributed  # noqa: F401  (it reads its settings)

    for name in ("distributed", "asyncio"):  # we report their messages in one line of our own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as held:
        held.enter_context(dask.config.set(_SETTINGS))
        client = held.enter_context(_given(wanted) if wanted.scheduler else _local(wanted))
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
            "check that the scheduler runs and that one authority signed its certificate and the client's",
        ) from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise CommandError(f"{wanted.scheduler} has no load machines", "start a dask worker on each")
        yield client


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
"""The order to end the current work and the processes."""
READY: Final = "ready"
"""The report that everything is prepared."""


Order = Assignment | float | Literal["dismiss", "end"]
"""A number says when to begin, on the machine's clock."""


class Greeting(NamedTuple):
    """The version of the program on a machine, and the machine's description."""

    harness: str
    hardware: Mapping[str, Any]


class Failed(NamedTuple):
    """The report that the work was given up."""

    reason: str


class LoadResults(NamedTuple):
    """The results of each process, for two loads that took turns of each.

    ``network`` has the bytes that the machine's interfaces had sent and received when the work began, when the window
    opened, and when it closed.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Sequence[tuple[int, int]]


Report = Failed | LoadResults | Literal["ready"]


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

    def __init__(self, processes: int | None, gives_way: bool, leave: Callable[[], object]) -> None:
        """Use this many processes, by default one per processor. ``leave`` ends the messages."""
        self._pool = WorkerPool(processes or os.cpu_count() or 1, self._why_it_ends, gives_way)
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._slots: Sequence[int] = ()
        self._dismissed = False
        self._heard = time.monotonic()
        self._leave = leave

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
            if order == END:
                self._leave()

    def tend(self) -> None:
        """Execute one order after another until the last, or until the runner is gone."""
        try:
            with self._pool:
                while (order := self._next()) != END:
                    self._dismissed = False
                    if isinstance(order, Assignment):
                        self._work(order)
                    elif order == DISMISS:
                        self._pool.dismiss()
        finally:
            self._leave()

    def _next(self) -> Order:
        while True:
            try:
                return self._orders.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._is_alone():
                    return END

    def _is_alone(self) -> bool:
        return time.monotonic() - self._heard > GONE_SECONDS

    def _work(self, work: Assignment) -> None:
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

    def _perform(self, work: Assignment) -> None:
        pool = self._pool
        pool.board.clear(work.longest, work.first)
        self._slots = work.connections
        pool.prepare(work)
        self._said.put(READY)
        start = self._next()
        if not isinstance(start, float):  # dismissed, or without a runner
            return pool.dismiss()
        pool.go(start)
        network = [_read_network()]
        edges = Edges(
            pool.board, lambda: network.append(_read_network()), lambda: network.append(_read_network())
        )
        tallies = pool.collect(edges.look, POLL_SECONDS, until_answered(pool.board))
        edges.end()
        return self._said.put(LoadResults(tallies, pool.scheduling, network))

    def _why_it_ends(self) -> str:
        """Return why the work must end, or "". Called during work."""
        return "it is dismissed" if self._dismissed or self._is_alone() else ""


def _read_network() -> tuple[int, int]:
    """Return the bytes that this machine's interfaces, except loopback, have sent and received."""
    interfaces = psutil.net_io_counters(pernic=True, nowrap=False)
    counted = [one for name, one in interfaces.items() if name != "lo"]
    return sum(one.bytes_sent for one in counted), sum(one.bytes_recv for one in counted)


def tend(processes: int | None, gives_way: bool, dask_worker: Any) -> Greeting | None:
    """Start the processes of the machine of a Dask worker, which execute orders until the end, and introduce it.

    Return None if the machine works for another run.
    """
    handlers = dask_worker.handlers
    if OPERATION in handlers:
        return None

    def leave() -> None:
        if handlers.get(OPERATION) == tended.answer:
            del handlers[OPERATION]

    tended = Tended(processes, gives_way, leave)
    handlers[OPERATION] = tended.answer
    threading.Thread(target=tended.tend, daemon=True).start()
    return Greeting(host.harness(), host.hardware(None))
