"""Addresses of load machines: ``local:2`` or ``tls://HOST:PORT``, the scheduler of a Dask cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mongo_tables.findings.usage import CommandError

MOST_LOCAL = 64
_HINT = "use local:N, or tls://HOST:PORT of a Dask scheduler"


@dataclass(frozen=True, slots=True)
class LoadMachines:
    """The requested load machines: ``count`` processes on this machine, or the workers of ``scheduler``."""

    count: int = 0
    scheduler: str = ""


def parse_load_machines(where: str) -> LoadMachines:
    """Parse the value of ``--load-machines``. Raises CommandError for an invalid value."""
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
    raise CommandError(f"{where!r} is not an address of load machines", _HINT)
