"""A replica set that a run starts for itself, in a directory that it creates and removes.

If the run or its supervisor is killed, the other one ends the servers and removes their folder. If both are killed,
Linux ends the servers, but their folder stays in the folder for temporary files.

Every connection must authenticate, because otherwise each user of the machine could connect during a run. The members
authenticate with a key file (https://www.mongodb.com/docs/manual/core/security-internal-authentication/) that only the
user of the run can read. The run uses the key once, to create a database user. All other connections authenticate as
this user.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import psutil
from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, OperationFailure

from mongo_tables.runner import cache_size, supervisor
from mongo_tables.runner.cache_size import SMALLEST_AT_START_GB
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.host import NO_SPACE, is_full, say_no_space
from mongo_tables.runner.local_address import SMALLEST_OPLOG_MB, LocalAddress, find_mongod
from mongo_tables.runner.supervisor import OUTPUT

Found = TypeVar("Found")
END_SECONDS: Final = 30.0
PREFIX: Final = "mongo-tables-run-"


USER: Final = "mongo-tables"
_MECHANISM: Final = "SCRAM-SHA-256"
_FILE: Final = "key"
_KEY_BYTES: Final = 48  # A key has 6 to 1,024 characters.
KNOWN_WITHIN_MS = 60_000
"""Milliseconds within which all members must have the new user."""


@dataclass(frozen=True, slots=True)
class SetSecrets:
    """The secrets of one set: the key of its members and the password of its user. Each set has new secrets."""

    key: str = field(default_factory=lambda: secrets.token_hex(_KEY_BYTES), repr=False)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES), repr=False)

    def options(self, directory: Path) -> list[str]:
        """Write the key into the directory. Return the options for a member, which show only the path of the key."""
        file = directory / _FILE
        file.touch(mode=0o600)
        file.write_text(self.key, encoding="ascii")
        # Without the second option, any client on this machine could create the first user.
        return ["--keyFile", str(file), "--setParameter", "enableLocalhostAuthBypass=false"]

    def open_member(
        self, port: int, *, as_member: bool = False, **options: Any
    ) -> MongoClient[dict[str, Any]]:
        """Return a client of one member. It authenticates as the user or, if ``as_member``, with the members' key."""
        user = ("__system", self.key, "local") if as_member else (USER, self.password, "admin")
        options |= zip(("username", "password", "authSource"), user, strict=True)
        where = f"mongodb://localhost:{port}/?directConnection=true"
        return MongoClient(where, authMechanism=_MECHANISM, **options)


LONGEST = 300
_ENDS = ('"s":"F"', '"msg":"Shutting down"')
"""Texts in the log of a server that ended by itself. If a log has none of these texts, its errors are harmless."""


def demise(directory: Path, pids: Sequence[int]) -> str:
    """Return the reason why one of the processes ``pids`` has ended, or "" while all of them run.

    ``directory`` has a folder with data and ``mongod.log`` for each process.
    """
    if not any(_has_ended(pid) for pid in pids):
        return ""
    try:
        return _reason(directory)
    except FileNotFoundError:  # the supervisor has removed the files
        return "mongod ended, and its files were removed"


def _reason(directory: Path) -> str:
    logs = [
        log.read_text(encoding="utf-8", errors="replace") for log in sorted(directory.glob("*/mongod.log"))
    ]
    entries = [entry for log in logs for entry in _errors(log)]
    if is_full(directory) or any(NO_SPACE in entry for entry in entries):
        return f"mongod ended, because {say_no_space(directory.parent)}"
    if not logs:  # the servers ended before they created a log
        return f"mongod ended: {_last_words(directory)}"[:LONGEST]
    reasons = [entry for log in logs if any(end in log for end in _ENDS) for entry in _errors(log)]
    if not reasons:
        return "mongod was killed: its log gives no reason; is there enough memory?"
    return f"mongod ended: {reasons[0]}"[:LONGEST]


def _last_words(directory: Path) -> str:
    """Return the first error that the servers wrote before they had logs: a log entry, or plain text."""
    said = (directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
    plain = (line for line in said.splitlines() if line.strip() and not line.startswith("{"))
    return next(chain(_errors(said), plain), "it printed nothing")


def _has_ended(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _errors(log: str) -> Iterator[str]:
    """Yield each error in the log as one line."""
    for line in log.splitlines():
        if '"s":"F"' in line or '"s":"E"' in line:
            yield _told(line)


def _told(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:  # the server ended while it wrote the line
        return line
    return f"{entry.get('msg')} {entry.get('attr') or ''}".strip().replace("\n", " ")


MEMBERS = 3
"""The default number of members."""
START_SECONDS = 120.0
_HOLDER_KILLED = "the process that holds mongod was killed"
ANSWERS_WITHIN_MS = 10_000
"""Milliseconds to wait for the first answer of a member that already listens."""


class LocalReplicaSet:
    """A running replica set on loopback. ``close`` ends its members by pid and removes their files.

    Every secondary copies from the primary. By default, secondaries may copy from each other, and may change their
    source during a run. A member that copies from another secondary acknowledges writes later, or not at all while that
    secondary is locked (https://www.mongodb.com/docs/manual/tutorial/manage-chained-replication/).
    """

    def __init__(self, asked: LocalAddress) -> None:
        """Start the members with the smallest cache, and wait until every secondary follows the primary.

        Raises TargetError if there is no ``mongod``, or if the set is not ready in two minutes.
        """
        self.asked = asked
        self._members = asked.members or MEMBERS
        self.cache_gb = SMALLEST_AT_START_GB
        """The current cache size of each member."""
        self.cache_shrunk = True
        """Whether the cached data of every member fitted into its cache when the cache size was set."""
        self._credentials = SetSecrets()
        self.directory = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.pids: list[int] = []
        self._supervisor: subprocess.Popen[str] | None = None
        self._killed: set[int] = set()
        try:
            self._ports = _free_ports(self._members)
            self._supervisor, self.pids = _start(self.directory, self._commands())
            self._initiate()
        except BaseException:
            self.close()
            raise

    @property
    def uri(self) -> str:
        """The connection string of the whole set, with its password."""
        hosts = ",".join(f"localhost:{port}" for port in self._ports)
        return f"mongodb://{USER}:{self._credentials.password}@{hosts}/?replicaSet=local&authSource=admin"

    def describe(self) -> Mapping[str, Any]:
        """Return the description of the set in rows."""
        return {
            "kind": "replica set",
            "members": self._members,
            "oplog_mb": self.asked.oplog_mb or SMALLEST_OPLOG_MB,
            "block_compressor": "snappy",
            "place": "all members and the client on one machine",
        }

    def resize_cache(self, size_gb: float) -> None:
        """Set the cache size of every running member, without a restart."""
        with ExitStack() as held:
            members = [held.enter_context(member) for member in self.members()]
            self.cache_shrunk = cache_size.resize(members, size_gb)
        self.cache_gb = size_gb

    def members(self) -> list[MongoClient[dict[str, Any]]]:
        """Return a client of each member, in the order of ``pids``."""
        return list(map(self._credentials.open_member, self._ports))

    def fault(self) -> str:
        """Return the reason why a member has ended, or "" while all members run."""
        if self._supervisor is not None and self._supervisor.poll() is not None:
            return _HOLDER_KILLED
        return demise(self.directory, [pid for pid in self.pids if pid not in self._killed])

    @property
    def is_whole(self) -> bool:
        """Return whether no member was killed by ``kill_member``."""
        return not self._killed

    def kill_member(self, number: int) -> None:
        """Kill a member, as if its machine crashed. ``fault`` does not report this."""
        self._killed.add(self.pids[number])
        os.kill(self.pids[number], signal.SIGKILL)

    def close(self) -> None:
        """End the members and remove their directory. Calling it twice is harmless."""
        held, self._supervisor = self._supervisor, None
        if held is not None and held.stdin is not None:
            with suppress(BrokenPipeError):  # the supervisor was killed before it read its input
                held.stdin.close()
            held.wait(timeout=START_SECONDS)
            if held.stdout is not None:
                held.stdout.close()
        if self.directory.exists():  # the supervisor was killed, or never started
            _end([pid for pid in self.pids if pid not in self._killed])
            shutil.rmtree(self.directory, ignore_errors=True)

    def _commands(self) -> list[list[str]]:
        mongod = self.asked.program or str(find_mongod())
        parameters = [f"{name}={value}" for name, value in self.asked.parameters]
        signed_in = self._credentials.options(self.directory)
        commands = []
        for port in self._ports:
            data = self.directory / f"member-{port}"
            data.mkdir()
            commands.append([mongod, "--replSet", "local", "--bind_ip", "localhost", "--port", str(port),
                             "--dbpath", str(data), "--logpath", str(data / "mongod.log"), "--nounixsocket", *signed_in,
                             "--wiredTigerCacheSizeGB", str(SMALLEST_AT_START_GB),
                             "--oplogSize", str(self.asked.oplog_mb or SMALLEST_OPLOG_MB),
                             *chain.from_iterable(("--setParameter", one) for one in parameters)])  # fmt: skip
        return commands

    def _initiate(self) -> None:
        members = [{"_id": number, "host": f"localhost:{port}"} for number, port in enumerate(self._ports)]
        config = {"_id": "local", "members": members, "settings": {"chainingAllowed": False}}
        secret, patience = self._credentials, ANSWERS_WITHIN_MS
        with ExitStack() as held:
            opened = (
                secret.open_member(port, as_member=True, serverSelectionTimeoutMS=patience)
                for port in self._ports
            )
            clients = [held.enter_context(client) for client in opened]

            def writable() -> MongoClient[dict[str, Any]] | None:
                # A new primary is not writable at once.
                hellos = ((client, client.admin.command("hello")) for client in clients)
                return next((client for client, hello in hellos if hello["isWritablePrimary"]), None)

            try:
                # The first member contacts the others only once, so all of them must listen by then.
                for port, pid, client in zip(self._ports, self.pids, clients, strict=True):
                    self._await(partial(_listens, port), "a member does not listen")
                    # The processor time is read for this process id, so the server must have it.
                    if client.admin.command("serverStatus")["pid"] != pid:
                        raise TargetError(
                            "mongod is not the process that was started; a script that starts it must use exec"
                        )
                clients[0].admin.command("replSetInitiate", config)
                self._wait(clients[0])
                # Raises PyMongoError if a member does not know the user in time, for example because it has
                # ended.
                concern = {"w": self._members, "wtimeout": KNOWN_WITHIN_MS}
                self._await(writable, "no member accepts writes").admin.command(
                    "createUser",
                    USER,
                    pwd=secret.password,
                    roles=["root"],
                    mechanisms=[_MECHANISM],
                    writeConcern=concern,
                )
            except Exception as error:
                reason = self.fault() or (
                    say_no_space(self.directory.parent) if is_full(self.directory) else str(error)
                )
                raise TargetError(
                    f"the local replica set did not start: {reason}",
                    "set the folder of its files with the environment variable TMPDIR",
                ) from None

    def _await(self, ready: Callable[[], Found | None], complaint: str) -> Found:
        """Return the first true result of ``ready``. Raises TargetError after two minutes, or if a member has ended."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self.fault():
            if found := ready():
                return found
            time.sleep(0.02)
        raise TargetError(complaint)

    def _wait(self, client: Any) -> None:
        wanted = ["PRIMARY"] + ["SECONDARY"] * (self._members - 1)

        def agree() -> bool:
            with suppress(ConnectionFailure):  # on a busy machine an answer may be slow
                members = client.admin.command("replSetGetStatus")["members"]
                states = sorted(member["stateStr"] for member in members)
                if "PRIMARY" not in states:
                    # Otherwise the members wait for ten seconds before they hold an election.
                    with suppress(OperationFailure):
                        client.admin.command("replSetStepUp")
                return states == wanted
            return False

        self._await(agree, "its members did not agree on a primary in two minutes")


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("localhost", port)):
        return True
    return False


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _end(pids: Sequence[int]) -> None:
    """Kill servers whose supervisor was killed, and wait until they have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + END_SECONDS
    while not all(map(_has_ended, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)


def _start(directory: Path, commands: list[list[str]]) -> tuple[subprocess.Popen[str], list[int]]:
    # In its own session, so that Ctrl-C in the terminal reaches only the runner.
    held = subprocess.Popen(
        [sys.executable, str(supervisor.__file__)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    stdin, stdout = held.stdin, held.stdout
    if stdin is None or stdout is None:
        raise TargetError("the local mongod could not be started")
    stdin.write(json.dumps({"directory": str(directory), "commands": commands}) + "\n")
    stdin.flush()
    answer = stdout.readline()
    if not answer and held.wait() < 0:  # a signal has ended the supervisor
        raise TargetError(_HOLDER_KILLED)
    if not answer:
        raise TargetError("the local mongod could not be started", "is it a program for this machine?")
    return held, json.loads(answer)["pids"]
