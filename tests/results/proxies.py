"""Servers between a client and a real one that spoil what comes back: garbage, silence, a sudden end."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Fault = Literal["garbage", "zeros", "silence", "end"]
_SPOILT = {"garbage": b"\xff" * 4096, "zeros": b"\0" * 4096}
_SILENT_SECONDS = 60.0


@dataclass(frozen=True)
class Proxy:
    """A listening port; every connection to it is spoilt after ``sound`` bytes of the server's."""

    port: int

    def uri(self, database: str = "") -> str:
        """A URI that leads through the proxy."""
        return f"mongodb://127.0.0.1:{self.port}/{database}?directConnection=true"


@contextlib.contextmanager
def spoiling(server_port: int, sound: int, fault: Fault, ignored: bytes | None = None) -> Iterator[Proxy]:
    """A proxy in front of the server until the block ends. Messages with the ``ignored`` bytes get no answer."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(
            target=_accept, args=(listening, server_port, sound, fault, ended, ignored), daemon=True
        )
        accepting.start()
        yield Proxy(listening.getsockname()[1])
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)
    accepting.join()


def _accept(
    listening: socket.socket,
    port: int,
    sound: int,
    fault: Fault,
    ended: threading.Event,
    ignored: bytes | None,
) -> None:
    while True:
        try:
            client, _ = listening.accept()
            server = socket.create_connection(("127.0.0.1", port))
        except OSError:
            return
        threading.Thread(target=_forward, args=(client, server, ignored), daemon=True).start()
        threading.Thread(target=_spoil, args=(server, client, sound, fault, ended), daemon=True).start()


def _forward(here: socket.socket, there: socket.socket, ignored: bytes | None) -> None:
    with contextlib.suppress(OSError):
        while data := here.recv(65536):
            if ignored is None or ignored not in data:
                there.sendall(data)
    _end(here, there)


def _spoil(
    here: socket.socket, there: socket.socket, sound: int, fault: Fault, ended: threading.Event
) -> None:
    left = sound
    with contextlib.suppress(OSError):
        while left and (data := here.recv(min(65536, left))):
            left -= len(data)
            there.sendall(data)
        here.recv(1)
        if fault in _SPOILT:
            there.sendall(_SPOILT[fault])
            time.sleep(0.2)
        elif fault == "silence":
            ended.wait(_SILENT_SECONDS)
    _end(here, there)


def _end(*connections: socket.socket) -> None:
    for each in connections:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
