"""A replica set that a run starts for itself, in a directory that it makes and removes.

A run and its supervisor watch each other, and whoever is left ends the servers and removes the folder. Where both were
killed, the next run does. It knows such a folder by the lock in it: both hold it, and the system takes it from them
however they end.

Without a password every user of the machine could connect while a run lasts. The members know each other by a key file
(https://www.mongodb.com/docs/manual/core/security-internal-authentication/), which only the user who runs them can
read, and nobody gets in without signing in, the first user included. The run signs in by the key itself, as members
do, and makes the user that all its connections have.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from mongo_tables.runner import cache_size, local_limits, supervisor
from mongo_tables.runner.cache_size import SMALLEST_AT_START_GB
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.host import NO_SPACE, is_full, say_no_space
from mongo_tables.runner.local_address import SMALLEST_OPLOG_MB, find_mongod
from mongo_tables.runner.local_limits import ControlGroup, open_group
from mongo_tables.runner.supervisor import OUTPUT

if TYPE_CHECKING:
    import psutil
    from pymongo import MongoClient


END_SECONDS: Final = 30.0
PREFIX: Final = "mongo-tables-run-"
LOCK: Final = "lock"
MEMBER: Final = "member-"
"""How the folders of members begin; behind it stands the port."""


def make_directory() -> tuple[Path, int | None]:
    """A new folder for a set, and its lock, to be held by a supervisor too; None where the system has no such locks."""
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    file = directory / f".{LOCK}"
    held = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    if not _take(held):
        os.close(held)
        return directory, None
    file.rename(directory / LOCK)  # only now: a lock that nobody holds means that nobody is left
    return directory, held


def remove_set(directory: Path) -> None:
    """End the servers that have their data in the folder, remove it and their control groups."""
    groups = [f"{directory.name}-{member.name.removeprefix(MEMBER)}" for member in _members(directory)]
    for process in _servers(directory):
        _end(process)
    shutil.rmtree(directory, ignore_errors=True)
    for group in groups:
        local_limits.remove_group(group)


def sweep_sets() -> None:
    """Remove what killed runs of this user have left."""
    for directory in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        if _is_left(directory):
            remove_set(directory)


def _members(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"{MEMBER}*"))


def _servers(directory: Path) -> Iterator[psutil.Process]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            # By its data alone: any program may have been named as the mongod.
            if any(
                option == "--dbpath" and data.startswith(f"{directory}{os.sep}")
                for option, data in pairwise(process.cmdline())
            ):
                yield process


def _end(process: psutil.Process) -> None:
    """Kill a process that need not be a child of ours: nobody may ever ask how one ended that has lost its parent."""
    import psutil

    deadline = time.monotonic() + END_SECONDS
    with suppress(psutil.Error):
        process.kill()
        while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
            time.sleep(0.02)


def _is_left(directory: Path) -> bool:
    """Whether the folder is of this user, and nobody holds its lock any more."""
    if directory.is_symlink() or not hasattr(os, "getuid"):
        return False
    try:
        if directory.stat().st_uid != os.getuid():
            return False
        held = os.open(directory / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # another version's, which has no lock, or one that is just being removed
        return False
    try:
        return _take(held)
    finally:
        os.close(held)


def _take(held: int) -> bool:
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


USER: Final = "mongo-tables"
_MECHANISM: Final = "SCRAM-SHA-256"
_FILE: Final = "key"
_KEY_BYTES: Final = 48  # A key has 6 to 1,024 characters.
KNOWN_WITHIN_MS = 60_000
"""Until every member knows of a user."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets of one set, new for each: the key of its members, the password of its user."""

    key: str = field(default_factory=lambda: secrets.token_hex(_KEY_BYTES), repr=False)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES), repr=False)

    def options(self, directory: Path) -> list[str]:
        """Write the key into the directory; give what a member is started with: no secret, only where it is."""
        file = directory / _FILE
        file.touch(mode=0o600)
        file.write_text(self.key, encoding="ascii")
        # Else the first who comes from this machine may make the first user.
        return ["--keyFile", str(file), "--setParameter", "enableLocalhostAuthBypass=false"]

    @property
    def of_members(self) -> Mapping[str, Any]:
        """What a client signs in with where there is no user yet."""
        return {
            "username": "__system",
            "password": self.key,
            "authSource": "local",
            "authMechanism": _MECHANISM,
        }

    @property
    def of_user(self) -> Mapping[str, Any]:
        """What a client signs in with as the user."""
        return {
            "username": USER,
            "password": self.password,
            "authSource": "admin",
            "authMechanism": _MECHANISM,
        }

    @property
    def in_uri(self) -> str:
        """The user and the password as they stand in a connection string."""
        return f"{USER}:{self.password}"

    def make_user(self, client: MongoClient[dict[str, Any]], members: int) -> None:
        """Make the user; ``client`` is the primary's. Every member knows it then.

        Raises PyMongoError where one does not hear of it in time, such as one that has ended.
        """
        client.admin.command(
            "createUser", USER, pwd=self.password, roles=["root"], mechanisms=[_MECHANISM],
            writeConcern={"w": members, "wtimeout": KNOWN_WITHIN_MS},
        )  # fmt: skip


LONGEST = 300
_ENDS = ('"s":"F"', '"msg":"Shutting down"')
"""In the log of a server that ended by itself; servers that go on, or were killed, have harmless errors in theirs."""


def demise(directory: Path, pids: Sequence[int]) -> str:
    """Say why, when one of the processes ``pids`` has ended; empty while all of them run.

    ``directory`` holds a folder with data and ``mongod.log`` of each.
    """
    if not any(_has_ended(pid) for pid in pids):
        return ""
    try:
        return _reason(directory)
    except FileNotFoundError:  # who ended the servers removes their files, at this moment or before
        return "mongod ended, and its files are gone"


def _reason(directory: Path) -> str:
    logs = [
        log.read_text(encoding="utf-8", errors="replace") for log in sorted(directory.glob("*/mongod.log"))
    ]
    entries = [entry for log in logs for entry in _errors(log)]
    if is_full(directory) or any(NO_SPACE in entry for entry in entries):
        return f"mongod ended, because {say_no_space(directory.parent)}"
    if not logs:  # they did not come as far as having one
        return f"mongod ended: {_last_words(directory)}"[:LONGEST]
    reasons = [entry for log in logs if any(end in log for end in _ENDS) for entry in _errors(log)]
    if not reasons:
        return "mongod was killed: it wrote no reason into its log; is there enough memory?"
    return f"mongod ended: {reasons[0]}"[:LONGEST]


def _last_words(directory: Path) -> str:
    """What servers said of options that they do not take: an entry as of a log, or plain text."""
    said = (directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
    plain = (line for line in said.splitlines() if line.strip() and not line.startswith("{"))
    return next(chain(_errors(said), plain), "it said nothing")


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _errors(log: str) -> Iterator[str]:
    """What the log says of errors, in one line each: one that ends the server has others before it."""
    for line in log.splitlines():
        if '"s":"F"' in line or '"s":"E"' in line:
            yield _told(line)


def _told(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:  # the line was cut off with the server
        return line
    return f"{entry.get('msg')} {entry.get('attr') or ''}".strip().replace("\n", " ")


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
        sweep_sets()
        self.directory, self._lock = make_directory()
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
            self.cache_shrunk = cache_size.resize(members, size_gb)
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
            remove_set(self.directory)
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _commands(self) -> list[list[str]]:
        mongod = str(self.settings.program or find_mongod(self.directory))
        parameters = [f"{name}={value}" for name, value in self.settings.parameters]
        signed_in = self._credentials.options(self.directory)
        commands = []
        for port in self._ports:
            data = self.directory / f"{MEMBER}{port}"
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
                    # Else the processor time of the server would be missed.
                    if client.admin.command("serverStatus")["pid"] != pid:
                        raise TargetError(
                            "mongod is not the process that was started; a script that starts it must exec it"
                        )
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
