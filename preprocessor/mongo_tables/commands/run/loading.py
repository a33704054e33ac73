"""Which load machines are asked for, and what they can be asked to do."""

from __future__ import annotations

from argparse import Namespace

from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.loadmachines.clusters import LoadMachines, parse_load_machines
from mongo_tables.runner.local_address import is_local


def read_machines(arguments: Namespace) -> LoadMachines | None:
    """The load machines that are asked for; None where this machine loads its targets.

    Raises RunnerError for what is no address, and where such machines cannot do what is asked for.
    """
    if not arguments.load_machines:
        return None
    wanted = parse_load_machines(arguments.load_machines)
    if wanted.kind != "local" and any(is_local(named.where) for named in arguments.target):
        raise RunnerError(
            "a local target hears this machine alone, and its load machines are others",
            "name a deployment that all of them reach: --target mongodb://…",
        )
    return wanted


def describe_machines(wanted: LoadMachines, processes: int | None) -> str:
    """Who would share out the connections of each window, of whom none is asked for that."""
    if wanted.kind == "tls":
        which = f"the workers of {wanted.scheduler}"
    elif wanted.kind == "ssh":
        which = f"{len(wanted.hosts)} by SSH, {', '.join(host.name for host in wanted.hosts)}"
    else:
        which = f"{wanted.count} on this machine"
    each = "" if processes is None else f", each with {processes} process{'es' * (processes > 1)}"
    return f"load machines: {which}{each}; they share out the connections, and were not asked"
