"""The life of a cluster and of what belongs to it.

What a run does on Atlas, written down before it is done: whoever finds it knows what may be there.

A line for each action, in a file of its own for each run, on disk before the request is sent. It holds names and no
secret. The file goes with the last of what it names; one whose process has ended is that of a killed run.

Who may use a run's cluster: a database user of its own, from the address of this machine.

Both end by themselves after some days, as Atlas permits for up to a week, should nobody come to remove them.

From a cluster that is ready to a connection string that works.

The life of a cluster: made, waited for, read back, changed, removed.

Atlas answers a request when it has been understood, and does it in the minutes that follow. A cluster says IDLE between
two steps of one change too: it is ready when it has said so twice in a row, and where its members are.

What killed runs have left in a project: found by name and tag, and removed.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit
from uuid import uuid4

from mongo_tables.files.environment import read_variable
from mongo_tables.runner.atlas.address import (
    ALREADY_THERE,
    UNTIL_TAG,
    AtlasMachine,
    differences,
    order,
    run_of_cluster,
    run_of_entry,
    run_of_user,
    specs,
    tag_of,
    words,
)
from mongo_tables.runner.atlas.api import LOOPBACK, Api, ApiError, Clock, iso
from mongo_tables.runner.atlas.costs import Budget
from mongo_tables.runner.connection_strings import driver_fault
from mongo_tables.runner.errors import RunnerError, TargetError
from mongo_tables.runner.ownership import OwningProcess, this_process

_SUFFIX: Final = ".jsonl"


def folder() -> Path:
    """Where journals are: by the XDG Base Directory Specification among what a program remembers."""
    return (
        Path(read_variable("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "mongo-tables" / "atlas"
    )


class Journal:
    """That of one target of a run, in one project."""

    def __init__(self, project: str, clock: Clock, run: str) -> None:
        """``run`` is the name that its clusters have in their tag."""
        self.run = run
        self.project = project
        self._clock = clock
        self._path = folder() / f"{self.run}-{uuid4().hex[:6]}{_SUFFIX}"
        self.begun = False
        """Whether something may have been made: nothing is that was not written down."""
        self.fault = ""
        """Why something was removed that is not written down; "" where nothing was."""

    @property
    def is_there(self) -> bool:
        """Whether a sweep finds it."""
        return self.begun and self._path.is_file()

    def note(self, action: str, **what: str) -> None:
        """Write down what is about to be made or changed.

        Raises RunnerError where that fails, and then it is not to be done.
        """
        try:
            self._add(action, what)
        except OSError as error:
            raise RunnerError(
                f"nothing is made on Atlas that cannot be written down in {self._path.parent}: {error.strerror}",
                "XDG_STATE_HOME names another place",
            ) from None

    def note_removal(self, action: str, **what: str) -> None:
        """Write down what is about to be removed: it is, also where that fails, since it costs money."""
        try:
            self._add(action, what)
        except OSError as error:
            self.fault = (
                f"what is removed on Atlas cannot be written down in {self._path.parent}: {error.strerror}"
            )

    def end(self) -> None:
        """Nothing of what it names is there any more."""
        with suppress(OSError):
            self._path.unlink()

    def _add(self, action: str, what: Mapping[str, str]) -> None:
        line: dict[str, Any] = {"do": action, **what, "at": iso(self._clock.now())}
        if not self.begun:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            head = {"run": self.run, "project": self.project, "process": asdict(this_process())}
            self._write(head, os.O_CREAT | os.O_EXCL)
            self.begun = True
        self._write(line, 0)

    def _write(self, line: Mapping[str, Any], flags: int) -> None:
        """Add the line, or nothing: one that was cut off would make another of the next, and no sweep could read it."""
        content = (json.dumps(line) + "\n").encode()
        held = os.open(self._path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
        try:
            before = os.fstat(held).st_size
            if os.write(held, content) < len(content):
                os.ftruncate(held, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(held)
        finally:
            os.close(held)


@dataclass(frozen=True, slots=True)
class Found:
    """A journal that is there: whose it is, and what it says was done."""

    path: Path = field(repr=False)
    run: str
    project: str
    process: OwningProcess
    actions: tuple[Mapping[str, Any], ...]

    @property
    def is_left(self) -> bool:
        """Whether its run has ended on this machine, and can remove nothing any more."""
        return self.process.is_here and not self.process.runs

    def named(self, action: str) -> list[str]:
        """The names of what such an action was about."""
        return list(dict.fromkeys(str(one["name"]) for one in self.actions if one.get("do") == action))


def found() -> Iterator[Found]:
    """All journals of this user; one that was cut off within its first line made nothing."""
    for path in sorted(folder().glob(f"*{_SUFFIX}")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            head, *actions = _lines(path.read_text("utf-8"))
            yield Found(path, head["run"], head["project"], OwningProcess(**head["process"]), tuple(actions))


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    """What is on the lines; the last may be cut off, and then what it names was not done."""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


LASTS: Final = timedelta(days=6)
ROLES: Final = ("readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor")
"""What a run asks of a deployment with users, of those roles that Atlas gives."""
_SECRET_BYTES: Final = 32


def let_in(api: Api, journal: Journal, address: str) -> bool:
    """Put the address on the project's access list; give whether that was done: one that is there stays as it is.

    Raises TargetError where the entry is that of another run, which would take it away when it ends.
    """
    entries = list(api.pages("accessList"))  # who may not ask is told so before anything is written down
    if address == ALREADY_THERE:
        return False
    for entry in entries:
        if _is_for(entry, address):
            run = run_of_entry(entry)
            if run and run != journal.run:
                raise TargetError(
                    f"the access list has {address} for the run {run}, which takes it away when it ends",
                    "wait until that has ended; run --sweep removes what a killed run left",
                )
            return False
    journal.note("let in", name=address)
    network = "cidrBlock" if "/" in address else "ipAddress"
    ends = iso(api.clock.now() + LASTS)
    api.post("accessList", body=[{network: address, "comment": words(journal.run), "deleteAfterDate": ends}])
    return True


def _is_for(entry: Mapping[str, Any], address: str) -> bool:
    """Whether the entry is just that address: Atlas gives one of an address alone as a network too."""
    lengths = ("/32", "/128")
    return any(
        str(entry.get(name, "")) in (address, *(f"{address}{length}" for length in lengths))
        for name in ("ipAddress", "cidrBlock")
    )


def shut_out(api: Api, address: str, run: str) -> None:
    """Take from the access list what ``let_in`` put there for the run, if it is there. Raises ApiError."""
    for entry in api.pages("accessList"):
        if _is_for(entry, address) and run_of_entry(entry) == run:
            _unless_gone(api, "accessList", str(entry.get("cidrBlock") or entry.get("ipAddress")))
            return


def make_user(api: Api, journal: Journal, name: str) -> str:
    """Make a database user who may use the cluster of the same name alone; give the password. Raises ApiError."""
    password = secrets.token_urlsafe(_SECRET_BYTES)
    api.hide(password)
    journal.note("make user", name=name)
    body = {
        "databaseName": "admin",
        "groupId": api.project,
        "username": name,
        "password": password,
        "description": words(journal.run),
        "roles": [{"databaseName": "admin", "roleName": role} for role in ROLES],
        "scopes": [{"name": name, "type": "CLUSTER"}],
        "deleteAfterDate": iso(api.clock.now() + LASTS),
    }
    try:
        api.post("databaseUsers", body=body)
    except ApiError as error:
        if error.status != 409:
            raise
        # It was sent again since its answer was lost: the name is this run's alone, and the password the same.
    return password


def remove_user(api: Api, name: str, run: str) -> None:
    """Remove what ``make_user`` made for the run, if it is there. Raises ApiError."""
    user = api.find("databaseUsers", "admin", name)
    if user is not None and run_of_user(user) == run:
        _unless_gone(api, "databaseUsers", "admin", name)


def _unless_gone(api: Api, *path: str) -> None:
    try:
        api.delete(*path)
    except ApiError as error:
        if error.status != 404:
            raise


LONGEST: Final = timedelta(minutes=10)
"""For so long names and users are waited for, which reach all servers after a cluster is ready."""
CONNECT_POLL_SECONDS: Final = 20.0
SELECTION_MS: Final = 10_000
_DNS_SECONDS: Final = 10.0


def connection_string(cluster: Mapping[str, Any], user: str, password: str) -> str:
    """The string for a client; raises TargetError where Atlas gives none, or one that is not encrypted.

    It is the one with all hosts, so that no worker has to ask for their names: when they are known is waited for once.
    """
    standard = str((cluster.get("connectionStrings") or {}).get("standard") or "")
    scheme, _, rest = standard.partition("://")
    if scheme != "mongodb" or "@" in rest or not rest:
        raise TargetError(f"Atlas names no hosts of the cluster {cluster.get('name')}")
    options = {name.lower(): value for name, value in parse_qsl(rest.partition("?")[2])}
    encrypted = "true" in (options.get("tls"), options.get("ssl"))
    hosts = rest.partition("/")[0].split(",")
    if not encrypted and not all(host.rpartition(":")[0].strip("[]") in LOOPBACK for host in hosts):
        raise TargetError(f"the cluster {cluster.get('name')} would be used without encryption")
    return f"mongodb://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def await_names(cluster: Mapping[str, Any], clock: Clock) -> None:
    """Wait until the name of the cluster stands for its hosts (a record SRV); raises TargetError when it does not."""
    import dns.exception
    import dns.resolver

    host = urlsplit(str((cluster.get("connectionStrings") or {}).get("standardSrv") or "")).hostname
    if not host:
        raise TargetError(f"Atlas gives no name for the cluster {cluster.get('name')}")

    def fault() -> str:
        try:
            dns.resolver.resolve(f"_mongodb._tcp.{host}", "SRV", lifetime=_DNS_SECONDS)
        except dns.exception.DNSException as error:
            return f"the name {host} stands for no hosts yet ({type(error).__name__})"
        return ""

    _await(fault, clock)


def await_user(uri: str, clock: Clock) -> None:
    """Wait until the user may sign in; raises TargetError with what the driver said last."""
    from pymongo import MongoClient
    from pymongo.errors import PyMongoError

    def fault() -> str:
        try:
            with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=SELECTION_MS) as client:
                client.admin.command("ping")
        except PyMongoError as error:
            return f"the cluster lets its user not in: {driver_fault(error, uri)}"
        return ""

    _await(fault, clock)


def _await(fault: Callable[[], str], clock: Clock) -> None:
    """Wait until nothing is in the way; raises TargetError with what is at the end."""
    ends = clock.now() + LONGEST
    while found := fault():
        if clock.now() >= ends:
            raise TargetError(found)
        clock.sleep(CONNECT_POLL_SECONDS)


IDLE: Final = "IDLE"
POLL_SECONDS: Final = 30.0
LONGEST_CHANGE: Final = timedelta(minutes=60)
"""For so long a cluster is waited for."""
LONGEST_DELETION: Final = timedelta(minutes=30)
IN_USE: Final = timedelta(hours=48)
"""For so long after it was made, no sweep of another machine takes a cluster for one that was left."""
SETTLES_SECONDS: Final = 60.0
"""A request whose answer is not known may take so long to show."""
_WORKING: Final = frozenset({"CREATING", "UPDATING", "REPAIRING"})
LEFT_HINT: Final = "mongo-tables run --sweep removes what is left; a cluster costs money until it is gone"


class Clusters:
    """Those of one run in a project."""

    def __init__(self, api: Api, journal: Journal, budget: Budget, note: Callable[[str], None]) -> None:
        """``note`` tells people what is waited for."""
        self._api = api
        self._journal = journal
        self._budget = budget
        self._note = note
        self._doubtful: set[str] = set()
        """Those whose order has no answer that says whether it will be done."""

    def create(self, machine: AtlasMachine, name: str) -> None:
        """Order the cluster, which is not ready then. Raises TargetError; an order without an answer may be there."""
        self._budget.begin(name, machine)
        self._journal.note("create cluster", name=name)
        self._note(f"Atlas: {name} is made: {machine}")
        until = self._api.clock.now() + IN_USE
        self._doubtful.add(name)
        try:
            self._api.post("clusters", body=order(machine, name, self._journal.run, until))
        except ApiError as error:
            if 400 <= error.status < 500:
                self._doubtful.discard(name)
            # An order that was sent again since its answer was lost is refused the second time.
            if error.status != 409 or not self._is_ours(self._find(name)):
                raise
        self._doubtful.discard(name)

    def change_tier(self, machine: AtlasMachine, name: str) -> None:
        """Give the cluster another tier, once nothing else is changed on it. Raises TargetError."""
        self._budget.begin(name, machine)
        self._journal.note("change cluster", name=name)
        self._note(f"Atlas: {name} becomes {machine.tier}")
        self._change_idle(name, {"replicationSpecs": specs(machine)})

    def wait(self, machine: AtlasMachine, name: str) -> Mapping[str, Any]:
        """What Atlas says of the cluster when it is ready, and is what was asked for. Raises TargetError."""
        cluster = self._await_idle(name)
        if different := list(differences(cluster, machine)):
            raise TargetError(f"the cluster {name} is not what was asked for: {'; '.join(different)}")
        return cluster

    def fault(self, machine: AtlasMachine, name: str) -> str:
        """How the cluster is no longer what was prepared, "" where it is. Raises ApiError."""
        cluster = self._find(name)
        if cluster is None:
            return _gone(name)
        different = "; ".join(differences(cluster, machine))
        return f"the cluster {name} was changed while it was measured: {different}" if different else ""

    def delete(self, name: str) -> None:
        """Remove the cluster, if it is there and ours, and wait until it is gone. Raises TargetError."""
        cluster = self._find(name)
        if cluster is None and name in self._doubtful:
            self._note(f"Atlas: whether {name} was ordered is not known; it is looked for once more")
            self._api.clock.sleep(SETTLES_SECONDS)
            cluster = self._find(name)
        if cluster is None:
            self._budget.end(name)
            return
        self._check_ours(cluster, name)
        self._journal.note_removal("delete cluster", name=name)
        self._note(f"Atlas: {name} is removed")
        delete_cluster(self._api, name)
        self._budget.end(name)

    def _find(self, name: str) -> Mapping[str, Any] | None:
        """What Atlas says of the cluster now; None when there is none. Raises ApiError."""
        found: Mapping[str, Any] | None = self._api.find("clusters", name)
        return found

    def _is_ours(self, cluster: Mapping[str, Any] | None) -> bool:
        return cluster is not None and run_of_cluster(cluster) == self._journal.run

    def _check_ours(self, cluster: Mapping[str, Any], name: str) -> None:
        """Raise TargetError for a cluster that is not to be touched."""
        if not self._is_ours(cluster):
            raise TargetError(f"the cluster {name} has not the tag of this run, and stays untouched")

    def _await_idle(self, name: str) -> Mapping[str, Any]:
        """The cluster, which has said twice in a row that nothing is changed on it."""
        ends, idle, state = self._api.clock.now() + LONGEST_CHANGE, 0, ""
        while self._api.clock.now() < ends:
            cluster = self._find(name)
            if cluster is None:
                raise TargetError(_gone(name))
            state = str(cluster.get("stateName"))
            if state != IDLE and state not in _WORKING:
                raise TargetError(f"the cluster {name} is {state} while this run waits for it")
            idle = idle + 1 if state == IDLE and cluster.get("connectionStrings") else 0
            if idle == 2:
                return cluster
            self._budget.check()
            self._api.clock.sleep(POLL_SECONDS)
        minutes = LONGEST_CHANGE.total_seconds() / 60
        lacks = ", and Atlas says no hosts of it," if state == IDLE else ""
        raise TargetError(f"the cluster {name} is still {state}{lacks} after {minutes:g} minutes")

    def _change_idle(self, name: str, body: Mapping[str, Any]) -> None:
        """Change the cluster to what the body says when nothing else is changed on it, if it is ours."""
        ends = self._api.clock.now() + LONGEST_CHANGE
        while True:
            self._check_ours(self._await_idle(name), name)
            try:
                self._api.patch("clusters", name, body=body)
            except ApiError as error:
                if error.status != 409 or self._api.clock.now() >= ends:
                    raise
            else:
                return


def _gone(name: str) -> str:
    return f"the cluster {name} is gone from the project; this run has not removed it"


def delete_cluster(api: Api, name: str) -> None:
    """Have a cluster removed that is known to be ours, and wait until it is gone. Raises TargetError.

    While something else is changed on it, Atlas may refuse; and it may go on as if nothing had been asked.
    """
    ends, refusal = api.clock.now() + LONGEST_DELETION, ""
    while api.clock.now() < ends:
        try:
            cluster = api.find("clusters", name)
            if cluster is None:
                return
            if cluster.get("stateName") != "DELETING":
                api.delete("clusters", name)
        except ApiError as error:
            if error.status != 404:
                refusal = error.message
                if error.status != 409:
                    break
        api.clock.sleep(POLL_SECONDS)
    minutes = LONGEST_DELETION.total_seconds() / 60
    reason = refusal or f"it is still there after {minutes:g} minutes"
    raise TargetError(f"the cluster {name} could not be removed: {reason}")


class _Left(NamedTuple):
    """Something of ours in the project: of which run, what it is in words, and how it is removed.

    ``is_over`` is whether it says itself that no run uses it any more.
    """

    run: str
    words: str
    remove: Callable[[], None]
    is_over: bool


def sweep(api: Api, note: Callable[[str], None]) -> int:
    """Remove what ended runs have left in the project, and say what; give how much it was.

    What belongs to a run that goes on stays, and so does what a run of another machine made, until the time in its tag
    has passed. Raises RunnerError where something could not be removed: everything else is.
    """
    journals = [one for one in found() if one.project == api.project]
    ended = {one.run: one.is_left for one in journals}
    _let_settle([one for one in journals if one.is_left], api.clock)
    refused: dict[str, TargetError] = {}
    removed = 0
    for left in _find(api):
        if not ended.get(left.run, left.is_over):
            note(f"{left.words} stays: its run {left.run} goes on, or is one of another machine")
            continue
        try:
            left.remove()
        except TargetError as error:
            refused[left.run] = error
        else:
            removed += 1
            note(f"{left.words} of the run {left.run} is removed")
    for one in journals:
        if one.is_left and one.run not in refused:
            one.path.unlink(missing_ok=True)
    if refused:
        raise RunnerError(
            "; ".join(error.message for error in refused.values()),
            next(iter(refused.values())).hint or LEFT_HINT,
        )
    return removed


def projects() -> list[str]:
    """The projects in which killed runs of this user may have left something, as their journals say."""
    return list(dict.fromkeys(one.project for one in found() if one.is_left))


def _let_settle(journals: Sequence[Found], clock: Clock) -> None:
    """Wait until what was asked for last would show."""
    latest = max((str(one.actions[-1]["at"]) for one in journals if one.actions), default="")
    if latest >= iso(clock.now() - timedelta(seconds=SETTLES_SECONDS)):
        clock.sleep(SETTLES_SECONDS)


def _find(api: Api) -> Iterator[_Left]:
    """Clusters first, which cost most. Users and addresses say nothing of whether they are in use, and end in days."""
    over: dict[str, bool] = {}
    for cluster in list(api.pages("clusters")):
        if run := run_of_cluster(cluster):
            over[run] = over.get(run, True) and _is_over(api, cluster)
            name = str(cluster["name"])
            yield _Left(run, f"the cluster {name}", partial(delete_cluster, api, name), over[run])
    for user in list(api.pages("databaseUsers")):
        if run := run_of_user(user):
            name = str(user["username"])
            yield _Left(run, f"the user {name}", partial(remove_user, api, name, run), over.get(run, False))
    for entry in list(api.pages("accessList")):
        if run := run_of_entry(entry):
            address = str(entry.get("ipAddress") or entry.get("cidrBlock"))
            yield _Left(
                run, f"the address {address}", partial(shut_out, api, address, run), over.get(run, False)
            )


def _is_over(api: Api, cluster: Mapping[str, Any]) -> bool:
    until = tag_of(cluster, UNTIL_TAG)
    return bool(until) and until < iso(api.clock.now())
