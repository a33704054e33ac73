"""The local target: a replica set that a run starts for itself, in a directory that it makes and removes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mongo_tables.runner import cachesize, leftovers, supervisor
from mongo_tables.runner.binary import find_mongod
from mongo_tables.runner.cachesize import SMALLEST_AT_START_GB
from mongo_tables.runner.controlgroups import ControlGroup, open_group
from mongo_tables.runner.credentials import Credentials
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.exitreason import demise
from mongo_tables.runner.fulldisk import is_full, say_no_space
from mongo_tables.runner.localaddress import SMALLEST_OPLOG_MB

if TYPE_CHECKING:
    from pymongo import MongoClient

MEMBERS = 3
"""Of a set, where nothing says how many."""
START_SECONDS = 120.0
_HOLDER_KILLED = "the process that holds mongod was killed"
ANSWERS_WITHIN_MS = 10_000
"""How long to look for a member that has listened already."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the members are started with: how many, and the oplog of each in MB. Their cache is the smallest.

    ``program`` is the ``mongod``, None for the one that is found; ``parameters`` are names and values.
    """

    members: int = MEMBERS
    oplog_mb: int = SMALLEST_OPLOG_MB
    program: Path | None = None
    parameters: tuple[tuple[str, str], ...] = ()


class LocalReplicaSet:
    """A running replica set on loopback; ``close`` ends its members by pid and removes their files.

    Every secondary copies from the primary. Left to themselves, members choose by round trips that differ by noise
    alone, and change their minds while a run measures; one that copies from another secondary acknowledges later,
    or not at all while that one is held
    (https://www.mongodb.com/docs/manual/tutorial/manage-chained-replication/).
    """

    def __init__(self, settings: Settings) -> None:
        """Start the members and wait until there is a primary and every other member follows it.

        Raises TargetError when there is no ``mongod``, or when it does not come up in two minutes.
        """
        self.settings = settings
        self.cache_gb = SMALLEST_AT_START_GB
        """Of each member, now."""
        self.cache_shrunk = True
        """Whether no member held more than that when it was given."""
        self._credentials = Credentials()
        leftovers.sweep()
        self.directory, self._lock = leftovers.make_directory()
        self._supervisor: subprocess.Popen[str] | None = None
        self._groups: list[ControlGroup] | None = None
        self._killed: set[int] = set()
        try:
            self._ports = _free_ports(settings.members)
            self._supervisor, self.pids = _start(self.directory, self._commands(), self._lock)
            self._initiate()
        except BaseException:
            self.close()
            raise

    @property
    def uri(self) -> str:
        """The connection string of the whole set, with its password."""
        hosts = ",".join(f"localhost:{port}" for port in self._ports)
        return f"mongodb://{self._credentials.in_uri}@{hosts}/?replicaSet=local&authSource=admin"

    def describe(self) -> Mapping[str, Any]:
        """Settings as they are written into result documents."""
        return {
            "kind": "replica set",
            "members": self.settings.members,
            "oplog_mb": self.settings.oplog_mb,
            "block_compressor": "snappy",
            "place": "all members and the client on one machine",
        }

    def resize_cache(self, size_gb: float) -> None:
        """Give every member that runs a cache of that size, without a new start."""
        with ExitStack() as held:
            members = [held.enter_context(member) for member in self.members()]
            self.cache_shrunk = cachesize.resize(members, size_gb)
        self.cache_gb = size_gb

    def members(self) -> list[MongoClient[dict[str, Any]]]:
        """A client of each member, whatever it is in the set, in the order of ``pids``."""
        from pymongo import MongoClient

        signed_in = self._credentials.of_user
        return [MongoClient(_direct(port), **signed_in) for port in self._ports]

    def groups(self, *, make: bool) -> list[ControlGroup]:
        """A control group for each member, once they were to be made; none where that is not permitted."""
        if self._groups is None and not make:
            return []
        if self._groups is None:
            named = zip(self._ports, self.pids, strict=True)
            made = [open_group(f"{self.directory.name}-{port}", pid) for port, pid in named]
            self._groups = [group for group in made if group]
            self._tell_supervisor([str(group.path) for group in self._groups])
            if len(self._groups) < len(made):
                self._groups = []
        return self._groups

    def _tell_supervisor(self, groups: list[str]) -> None:
        if self._supervisor and self._supervisor.stdin:
            self._supervisor.stdin.write("".join(f"{group}\n" for group in groups))
            self._supervisor.stdin.flush()

    def fault(self) -> str:
        """Why a member has ended, empty while all of them run."""
        if self._supervisor is not None and self._supervisor.poll() is not None:
            return _HOLDER_KILLED
        return demise(self.directory, [pid for pid in self.pids if pid not in self._killed])

    @property
    def is_whole(self) -> bool:
        """Whether no member was killed on purpose."""
        return not self._killed

    def kill_member(self, number: int) -> None:
        """End a member at once, as a crash of its machine would; its end is no fault then."""
        self._killed.add(self.pids[number])
        os.kill(self.pids[number], signal.SIGKILL)

    def close(self) -> None:
        """End the members and remove their directory; twice does no harm."""
        held, self._supervisor = self._supervisor, None
        if held is not None and held.stdin is not None:
            with suppress(BrokenPipeError):  # it was killed, with something unsaid
                held.stdin.close()
            held.wait(timeout=START_SECONDS)
            if held.stdout is not None:
                held.stdout.close()
        if self.directory.exists():  # it was killed, or never began
            leftovers.remove(self.directory)
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _commands(self) -> list[list[str]]:
        mongod = str(self.settings.program or find_mongod(self.directory))
        parameters = [f"{name}={value}" for name, value in self.settings.parameters]
        signed_in = self._credentials.options(self.directory)
        commands = []
        for port in self._ports:
            data = self.directory / f"{leftovers.MEMBER}{port}"
            data.mkdir()
            commands.append([mongod, "--replSet", "local", "--bind_ip", "localhost", "--port", str(port),
                             "--dbpath", str(data), "--logpath", str(data / "mongod.log"), "--nounixsocket", *signed_in,
                             "--wiredTigerCacheSizeGB", str(SMALLEST_AT_START_GB),
                             "--oplogSize", str(self.settings.oplog_mb),
                             *chain.from_iterable(("--setParameter", one) for one in parameters)])  # fmt: skip
        return commands

    def _initiate(self) -> None:
        from pymongo import MongoClient

        members = [{"_id": number, "host": f"localhost:{port}"} for number, port in enumerate(self._ports)]
        with ExitStack() as held:
            clients: list[MongoClient[dict[str, Any]]] = [
                held.enter_context(
                    MongoClient(
                        _direct(port),
                        serverSelectionTimeoutMS=ANSWERS_WITHIN_MS,
                        **self._credentials.of_members,
                    )
                )
                for port in self._ports
            ]
            try:
                # The first member asks the others, once: one that is not up yet would end it.
                for port, pid, client in zip(self._ports, self.pids, clients, strict=True):
                    self._await_port(port)
                    _check_process(client, pid)
                config = {"_id": "local", "members": members, "settings": {"chainingAllowed": False}}
                clients[0].admin.command("replSetInitiate", config)
                self._wait(clients[0])
                self._credentials.make_user(self._writable(clients), self.settings.members)
            except Exception as error:
                reason = self.fault() or (
                    say_no_space(self.directory.parent) if is_full(self.directory) else str(error)
                )
                raise TargetError(
                    f"the local replica set did not start: {reason}", "TMPDIR says where its files are"
                ) from None

    def _await_port(self, port: int) -> None:
        """Wait until the member listens, or has ended."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self.fault():
            with suppress(OSError), socket.create_connection(("localhost", port)):
                return
            time.sleep(0.02)
        raise TargetError("a member does not listen")

    def _wait(self, client: Any) -> None:
        from pymongo.errors import ConnectionFailure, OperationFailure

        wanted = ["PRIMARY"] + ["SECONDARY"] * (self.settings.members - 1)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self.fault():
            with suppress(ConnectionFailure):  # on a busy machine an answer may take its time
                members = client.admin.command("replSetGetStatus")["members"]
                states = [member["stateStr"] for member in members]
                if sorted(states) == wanted:
                    return
                if "PRIMARY" not in states:
                    # Else the members wait ten seconds before one of them stands for election.
                    with suppress(OperationFailure):
                        client.admin.command("replSetStepUp")
            time.sleep(0.05)
        raise TargetError("its members did not agree on a primary in two minutes")

    def _writable(self, clients: Sequence[Any]) -> Any:
        """The client of the primary, once it takes writes: a new one first does what its predecessor left."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self.fault():
            for client in clients:
                if client.admin.command("hello")["isWritablePrimary"]:
                    return client
            time.sleep(0.02)
        raise TargetError("no member takes writes")


def _check_process(client: MongoClient[dict[str, Any]], pid: int) -> None:
    """Raise TargetError when the server is not the process that was started: its processor time would be missed."""
    if client.admin.command("serverStatus")["pid"] != pid:
        raise TargetError("mongod is not the process that was started; a script that starts it must exec it")


def _direct(port: int) -> str:
    return f"mongodb://localhost:{port}/?directConnection=true"


def _free_ports(count: int) -> list[int]:
    sockets: list[socket.socket] = []
    try:
        for _ in range(count):
            held = socket.socket()
            sockets.append(held)
            held.bind(("127.0.0.1", 0))
        return [held.getsockname()[1] for held in sockets]
    finally:
        for held in sockets:
            held.close()


def _start(
    directory: Path, commands: list[list[str]], lock: int | None
) -> tuple[subprocess.Popen[str], list[int]]:
    # In a session of its own: Ctrl-C in the terminal must reach the runner alone.
    held = subprocess.Popen(
        [sys.executable, str(supervisor.__file__)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        pass_fds=() if lock is None else (lock,),  # held by both: whoever is left holds it still
    )  # fmt: skip
    stdin, stdout = _pipes(held)
    stdin.write(json.dumps({"directory": str(directory), "commands": commands}) + "\n")
    stdin.flush()
    answer = stdout.readline()
    if not answer and held.wait() < 0:  # It has closed its end, and ends.
        raise TargetError(_HOLDER_KILLED)
    if not answer:
        raise TargetError("the local mongod could not be started", "is it a program for this machine?")
    return held, json.loads(answer)["pids"]


def _pipes(held: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    if held.stdin is None or held.stdout is None:
        raise TargetError("the local mongod could not be started")
    return held.stdin, held.stdout
