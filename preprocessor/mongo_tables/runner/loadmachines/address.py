"""Which load machines somebody names: ``local:2``, ``ssh:USER@HOST:PORT,HOST?python=PATH``, ``tls://HOST:PORT``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mongo_tables.runner.errors import RunnerError

MOST_LOCAL = 64
_HINT = "use local:N, ssh:HOST,HOST or tls://HOST:PORT, where a scheduler of Dask is"
_HOST = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d+))?")


@dataclass(frozen=True, slots=True)
class Host:
    """Where to sign in by SSH; what is not said, the configuration of SSH says."""

    name: str
    user: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class LoadMachines:
    """The machines: ``count`` of this one's processes, ``hosts`` by SSH, or those of the ``scheduler``."""

    kind: Literal["local", "ssh", "tls"]
    count: int = 0
    hosts: tuple[Host, ...] = ()
    scheduler: str = ""
    python: str | None = None


def parse_load_machines(where: str) -> LoadMachines:
    """Read what an option says. Raises RunnerError where it is no such address."""
    kind, _, rest = where.partition(":")
    if kind == "local" and rest.isdecimal() and 0 < int(rest) <= MOST_LOCAL:
        return LoadMachines("local", count=int(rest))
    if kind == "tls" and re.fullmatch(r"//[^/@?]+:\d+", rest):
        return LoadMachines("tls", scheduler=where)
    if kind == "ssh":
        hosts, _, python = rest.partition("?python=")
        found = [_HOST.fullmatch(host) for host in hosts.split(",")]
        if all(found):
            return LoadMachines("ssh", hosts=tuple(_host(one) for one in found if one), python=python or None)
    if kind == "tcp":
        raise RunnerError(
            f"the load machines {where!r} would be told the password of the target in clear",
            "start scheduler and workers with certificates, and name them as tls://HOST:PORT",
        )
    raise RunnerError(f"no load machines are called {where!r}", _HINT)


def _host(found: re.Match[str]) -> Host:
    port = found["port"]
    return Host(found["host"].strip("[]"), found["user"], int(port) if port else None)
