"""Load machines as Dask clusters: ``local:2``, ``tls://HOST:PORT``.

The runner uses these parts of Dask: starting workers, encryption with certificates on both sides, one pinned task for
each machine, and its connections. The load itself is not a Dask task.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.terminal import signals_ignored

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
