"""How long what has come waits for the client: the part of a latency that is not the server's.

In a closed loop neither the client's processor time nor Little's law shows a client that is kept from running: its lag
is in every latency. Two things do. One is how long its threads were ready to run and did not, which Linux counts
(https://docs.kernel.org/scheduler/sched-stats.html). The other is the time from the moment at which the system received
an answer, by its own stamp (SO_TIMESTAMPNS, https://docs.kernel.org/networking/timestamping.html), to the one at which
it was read, of a sample of the answers.
"""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVERY = 16
"""Of so many answers the lag of one is looked at."""
_STAMP = 35
_TIME = struct.Struct("qq")
_ROOM = socket.CMSG_SPACE(_TIME.size) if hasattr(socket, "CMSG_SPACE") else 0


@dataclass(slots=True)
class Lag:
    """What was waited for on the client's side: nanoseconds in the run queue, and after sampled answers had come."""

    in_run_queue: int = 0
    unread: int = 0
    sampled: int = 0

    def add(self, other: Lag) -> None:
        """Count what another has as well."""
        self.in_run_queue += other.in_run_queue
        self.unread += other.unread
        self.sampled += other.sampled

    def since(self, earlier: Lag) -> Lag:
        """What was added after another was read."""
        return Lag(
            self.in_run_queue - earlier.in_run_queue,
            self.unread - earlier.unread,
            self.sampled - earlier.sampled,
        )

    def of_an_answer(self) -> float | None:
        """Microseconds from an answer's coming to its reading on average; None when no answer was looked at."""
        return self.unread / self.sampled / 1000 if self.sampled else None


def stamp(held: Any) -> bool:
    """Have the system say when what is received came; whether it does, which it does not where TLS lies between."""
    if type(held) is not socket.socket or not _ROOM:
        return False
    with suppress(OSError):
        held.setsockopt(socket.SOL_SOCKET, _STAMP, 1)
        return True
    return False


def receive_stamped(held: socket.socket, most: int, lag: Lag) -> bytes:
    """What has come, at most so much, its lag being counted; raises as ``recv`` does."""
    received, stamps, _, _ = held.recvmsg(most, _ROOM)
    for _, kind, content in stamps:
        if kind == _STAMP and len(content) >= _TIME.size:
            seconds, nanoseconds = _TIME.unpack_from(content)
            lag.unread += max(0, time.time_ns() - seconds * 1_000_000_000 - nanoseconds)
            lag.sampled += 1
    return received


def run_queue_delay() -> int:
    """Nanoseconds for which this thread was ready to run and did not; 0 where the system does not count them."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1])
    return 0
