"""The Dask cluster of the load machines, as the runner opens it.

The runner uses these parts of Dask: starting workers, encryption with certificates on both sides, running a function
on each worker, and its connections. The load itself is not a Dask task.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.loadmachines.address import LoadMachines
from mongo_tables.runner.terminal import signals_ignored

CONNECT_SECONDS = 15.0
_SETTINGS: Mapping[str, Any] = {
    "distributed.worker.daemon": False,  # a daemon process may not have child processes
    "distributed.worker.profile.enabled": False,
    "distributed.comm.require-encryption": True,
    # These are useful only for tasks, and take as much time as all messages of a run:
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Dask's client, and the name of each machine of the cluster by its address."""

    client: Client
    machines: Mapping[str, str]


@contextmanager
def open_cluster(wanted: LoadMachines) -> Iterator[Cluster]:
    """Open the requested machines. Raises CommandError if they are not available."""
    for name in ("distributed", "asyncio"):  # the run reports their errors itself, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as held:
        held.enter_context(dask.config.set(_SETTINGS))
        client = held.enter_context(_given(wanted) if wanted.scheduler else _local(wanted))
        yield Cluster(client, _machines(client))


def _machines(client: Client) -> dict[str, str]:
    """Return the names of the workers by address, in a fixed order. A worker without a name has its address as name."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    found = sorted((str(one["name"]), address) for address, one in workers.items())
    return {address: name.partition("://")[2] or name for name, address in found}


@contextmanager
def _local(wanted: LoadMachines) -> Iterator[Client]:
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
    """Connect to an existing scheduler, with the certificates that the settings of Dask name."""
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
            "check that the scheduler runs, and that the same authority signed its certificate and the client's",
        ) from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise CommandError(
                f"{wanted.scheduler} has no load machines", "start a Dask worker on each load machine"
            )
        yield client
