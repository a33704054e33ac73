"""A proxy that holds answers: bytes go on as they came, those of an answer later than they came.

    python -m benchmarks.delaying PORT [--microseconds 50]

It stands before the server on that port of loopback and listens on a free one, whose number is the first line of its
output. What a client sends goes on at once. What comes first after that is held for the given time, and the rest of the
answer with it, so that a large one is held once; of several requests that are under way on a connection at a time, the
first alone is. For each line of its input it says, as a line of JSON, for how long it held answers; at the end of its
input it ends.

Each direction of a connection has a thread, which sleeps: timers of event loops know milliseconds, and a loop that
waits for its time takes a processor from what is measured. Linux lets a sleep last up to 50 us longer than asked for,
unless a thread asks for less slack (prctl(2), PR_SET_TIMERSLACK), which it does here. A sleep is longer than asked for
nevertheless: what is recorded is how long each answer was held.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import socket
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, quantiles

CHUNK = 64 * 1024
PR_SET_TIMERSLACK = 29


@dataclass(frozen=True, slots=True)
class Held:
    """How many answers were held, and for how long, in microseconds."""

    answers: int
    mean: float
    median: float
    percentile_99: float


@dataclass(slots=True)
class Connection:
    """The answers of one connection: each is held when a request came before it."""

    seconds: float
    held: array[int]
    """Nanoseconds, of all connections."""
    _asked: bool = field(default=False)

    def note_request(self) -> None:
        """What comes next from the server begins an answer."""
        self._asked = True

    def hold_answer(self) -> None:
        """Wait, where an answer begins."""
        if not self._asked:
            return
        self._asked = False
        came = time.monotonic_ns()
        if self.seconds:
            time.sleep(self.seconds)  # even one of 0 seconds lasts some 15 us
        self.held.append(time.monotonic_ns() - came)


class Proxy:
    """All connections to the server, and for how long their answers were held."""

    def __init__(self, server: int, microseconds: float) -> None:
        """``server`` is the port of what stands behind."""
        self._server = server
        self._seconds = microseconds / 1e6
        self._held = array("q")
        self._listening = socket.create_server(("localhost", 0), backlog=512)
        self.port = self._listening.getsockname()[1]

    def serve(self) -> None:
        """Let clients connect until the process ends."""
        while True:
            client, _ = self._listening.accept()
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def held(self) -> Held:
        """For how long answers were held so far."""
        microseconds = [nanoseconds / 1000 for nanoseconds in self._held]
        if len(microseconds) < 2:
            return Held(len(microseconds), *[sum(microseconds)] * 3)
        parts = quantiles(microseconds, n=100)
        return Held(len(microseconds), fmean(microseconds), parts[49], parts[98])

    def _connect(self, client: socket.socket) -> None:
        """Carry what comes both ways, until one side closes; a server that is not there closes at once."""
        with client, suppress(OSError), socket.create_connection(("localhost", self._server)) as server:
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self._seconds, self._held)
            requests = threading.Thread(target=carry, args=(client, server, connection.note_request))
            requests.daemon = True
            requests.start()
            carry(server, client, connection.hold_answer)
            requests.join()


def carry(source: socket.socket, sink: socket.socket, before: Callable[[], None]) -> None:
    """Send on what comes, ``before`` called each time; when one side closes, both are shut down."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            before()
            sink.sendall(data)
    for one in (source, sink):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def sleep_exactly() -> None:
    """Have this thread, and those that it starts, sleep as exactly as the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Delay:
    """Such a proxy in a process of its own."""

    port: int
    _process: subprocess.Popen[str]

    def held(self) -> Held:
        """For how long it held answers so far."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Held(**json.loads(self._process.stdout.readline()))


@contextmanager
def delaying(server: int, microseconds: float = 0.0) -> Iterator[Delay]:
    """Start such a proxy before the server on that port."""
    command = [sys.executable, "-m", "benchmarks.delaying", str(server), f"--microseconds={microseconds}"]
    root = Path(__file__).parents[1]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield Delay(int(process.stdout.readline()), process)


def main() -> None:
    """Say the port, serve, and say what was held whenever it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--microseconds", type=float, default=0.0)
    arguments = parser.parse_args()
    sleep_exactly()
    proxy = Proxy(arguments.port, arguments.microseconds)
    threading.Thread(target=proxy.serve, daemon=True).start()
    print(proxy.port, flush=True)
    for _ in sys.stdin:
        print(json.dumps(asdict(proxy.held())), flush=True)


if __name__ == "__main__":
    main()
