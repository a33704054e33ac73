"""Which process of which server has counted something.

Counters are sums since a process started. The difference of two of them says something only where it is one process
that both are of: with another primary, or with a server that was started anew, it is the difference of strangers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

OVERTAKEN_MS = 10_000
"""By so much an uptime may seem to go back: an answer that was held up comes behind one that was asked for later."""


class ServerProcess(NamedTuple):
    """A process of a server: the address that it gives, its number, and the milliseconds that it had run when asked."""

    host: str
    pid: int
    uptime: int


def process_of(status: Mapping[str, Any]) -> ServerProcess | None:
    """The process that gave this ``serverStatus``; None where it is empty, since nobody may ask for it."""
    if not status:
        return None
    uptime = status.get("uptimeMillis", 0)
    return ServerProcess(str(status.get("host", "")), int(status.get("pid", 0)), int(uptime))


def is_one_process(before: ServerProcess | None, after: ServerProcess | None) -> bool:
    """Whether counters of the one may be subtracted from those of the other; two that are not known may be one."""
    if before is None or after is None:
        return True
    # In containers, each process may have the same number; its uptime then begins again.
    return before[:2] == after[:2] and before.uptime <= after.uptime + OVERTAKEN_MS


def describe_change(
    before: ServerProcess | None, after: ServerProcess | None, between: Sequence[ServerProcess | None]
) -> str | None:
    """How the server that was asked changed in a window, None where it was one process all the time.

    ``between`` are those that gave samples, whose addresses are not told: they are names of machines.
    """
    if before and after and not is_one_process(before, after):
        if before.host == after.host:
            return f"{after.host} was started anew in the window"
        return f"the primary changed from {before.host} to {after.host} in the window"
    if all(is_one_process(*pair) for pair in pairwise(between)):
        return None
    return "another server was the primary in a part of the window"
