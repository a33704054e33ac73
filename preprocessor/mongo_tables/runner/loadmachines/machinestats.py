"""What one of several load machines did in a window, and how well its clock is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Network:
    """Bytes that the interfaces of a machine had sent and received, its own loopback left out."""

    sent: int = 0
    received: int = 0

    def since(self, earlier: Network) -> Network:
        """What came after another was read."""
        return Network(self.sent - earlier.sent, self.received - earlier.received)


def read_network() -> Network:
    """The counters of this machine by now."""
    import psutil

    interfaces = psutil.net_io_counters(pernic=True, nowrap=False)
    counted = [one for name, one in interfaces.items() if name != "lo"]
    return Network(sum(one.bytes_sent for one in counted), sum(one.bytes_recv for one in counted))


@dataclass(frozen=True, slots=True)
class MachineStats:
    """What a load machine did in a window.

    Its clock is known to ``clock_bound`` seconds. ``first_late`` are the seconds by which the first request of each
    connection was late, by process and on the machine's own clock. ``in_run_queue`` are the nanoseconds for which its
    threads were ready to run and did not.
    """

    connections: int
    processes: int
    operations: float
    requests: float
    cpu_seconds: float
    clock_bound: float
    first_late: tuple[tuple[float, ...], ...]
    in_run_queue: int
    network: Network
    hardware: Mapping[str, Any] = field(default_factory=dict)


class MachineWork(NamedTuple):
    """What a load machine did in the window, and in all its work, which is what counts where no window was open."""

    inside: MachineStats
    whole: MachineStats
