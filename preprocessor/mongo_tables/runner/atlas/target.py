"""The target on Atlas. It creates a cluster for each requested machine, and has one cluster at a time.

Atlas acknowledges a request at once and executes it in the following minutes. Between two steps of a change, a cluster
also reports IDLE. So a cluster counts as ready when it has reported IDLE twice in a row and Atlas lists its members.
Each cluster has its own database user, who expires after some days if the run cannot remove them.

A run changes a cluster only if the cluster has a name of the run *and* the run's tag. Both are set when the cluster is
created.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cached_property, partial
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote
from uuid import uuid4

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas import api as administration
from mongo_tables.runner.atlas.address import (
    RUN_TAG,
    SETTINGS,
    STANDARD,
    AtlasMachine,
    differences,
    hardware_of,
    machine_of,
    order,
    parse_atlas,
)
from mongo_tables.runner.atlas.api import LOOPBACK, Api, ApiError, iso, open_api
from mongo_tables.runner.atlas.costs import Budget, Prices
from mongo_tables.runner.connection_strings import driver_fault
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.experiment import LABELS
from mongo_tables.runner.local_set import MEMBERS
from mongo_tables.runner.target import LAST_WORDS_SECONDS, Machine, Target
from mongo_tables.runner.terminal import first_signal_noted
from mongo_tables.runner.workloads import Config

ROLES: Final = ("readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor")
"""The roles on Atlas that the database user of a run needs."""
LASTS: Final = timedelta(days=6)
"""The lifetime of a database user whom the run does not remove. Atlas permits up to a week."""
IDLE: Final = "IDLE"
WORKING: Final = frozenset({"CREATING", "UPDATING", "REPAIRING"})
POLL_SECONDS: Final = 30.0
LONGEST_CHANGE: Final = timedelta(minutes=60)
"""The longest time to wait until a cluster is ready."""
LONGEST_DELETION: Final = timedelta(minutes=30)
LONGEST_CONNECTING: Final = timedelta(minutes=10)
"""The longest time to wait until the client can sign in. Host names and users take a while to reach the servers."""
CONNECT_POLL_SECONDS: Final = 20.0
SELECTION_MS: Final = 10_000
_SECRET_BYTES: Final = 32
LEFT_HINT: Final = (
    "remove the resources called mongo-tables-… from the project; a cluster costs money until it is deleted"
)


def words(run: str) -> str:
    """Return the description of a run's database users."""
    return f"mongo-tables run {run}"


def is_ours(cluster: Mapping[str, Any], run: str) -> bool:
    """Return whether the cluster has the tag of the run, which shows that the run created it."""
    return {"key": RUN_TAG, "value": run} in (cluster.get("tags") or ())


def make_user(api: Api, run: str, name: str) -> str:
    """Create a database user who may use only the cluster ``name``. Return the password. Raises ApiError."""
    password = secrets.token_urlsafe(_SECRET_BYTES)
    api.hide(password)
    body = {
        "databaseName": "admin",
        "groupId": api.project,
        "username": name,
        "password": password,
        "description": words(run),
        "roles": [{"databaseName": "admin", "roleName": role} for role in ROLES],
        "scopes": [{"name": name, "type": "CLUSTER"}],
        "deleteAfterDate": iso(api.clock.now() + LASTS),
    }
    try:
        api.post("databaseUsers", body=body)
    except ApiError as error:
        if error.status != 409:
            raise
        # An earlier attempt created the user with the same password, but its answer was lost.
    return password


def remove_user(api: Api, run: str, name: str) -> None:
    """Remove the run's database user, if it exists. Raises ApiError."""
    user = api.find("databaseUsers", "admin", name)
    if user is not None and user.get("description") == words(run):
        api.delete("databaseUsers", "admin", name)


def connection_string(cluster: Mapping[str, Any], user: str, password: str) -> str:
    """Return a connection string that lists all hosts of a cluster. With it, workers need no DNS query.

    Raises TargetError if Atlas names no hosts, or if connections would not be encrypted.
    """
    standard = str((cluster.get("connectionStrings") or {}).get("standard") or "")
    scheme, _, rest = standard.partition("://")
    if scheme != "mongodb" or "@" in rest or not rest:
        raise TargetError(f"Atlas names no hosts of the cluster {cluster.get('name')}")
    options = {name.lower(): value for name, value in parse_qsl(rest.partition("?")[2])}
    encrypted = "true" in (options.get("tls"), options.get("ssl"))
    hosts = rest.partition("/")[0].split(",")
    if not encrypted and not all(host.rpartition(":")[0].strip("[]") in LOOPBACK for host in hosts):
        raise TargetError(f"connections to the cluster {cluster.get('name')} would not be encrypted")
    return f"mongodb://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def await_user(uri: str, clock: administration.LocalClock) -> None:
    """Wait until the user can sign in from this machine. Raises TargetError with the driver's last message."""
    ends = clock.now() + LONGEST_CONNECTING
    while True:
        try:
            with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=SELECTION_MS) as client:
                client.admin.command("ping")
            return
        except PyMongoError as error:
            if clock.now() >= ends:
                raise TargetError(
                    f"the database user of the cluster cannot sign in: {driver_fault(error, uri)}",
                    "check that the address of this machine is on the access list of the project",
                ) from None
        clock.sleep(CONNECT_POLL_SECONDS)


_NO_WISHES = frozenset({*LABELS, "teardown"})
"""Properties of a variant's machine that the cluster need not have: labels, and ``teardown``, the step after a run."""
_IOPS = "atlasIOPS"
_GONE = "the cluster {} is gone from the project; this run has not removed it"
_GOES_ON = "Atlas: removing the run's resources; press Ctrl-C once more to keep them"


class _Running(NamedTuple):
    name: str
    machine: AtlasMachine
    uri: str
    told: Mapping[str, Any]


class AtlasTarget(Target):
    """A target on Atlas.

    It sends no request before the first ``prepare``. ``close`` removes all resources of the run.
    """

    name = "atlas"

    def __init__(self, where: str, run: AtlasRun, note: Callable[[str], None]) -> None:
        """All targets of a run share ``run``. Raises CommandError for an invalid address."""
        self._address = address = parse_atlas(where)
        self._run, self._names, self._budget = run
        self._note = note
        self._running: _Running | None = None
        self._made: list[str] = []
        """Names of clusters that may exist, which are also the names of their users."""
        # Rows identify the project by a digest, which does not reveal its id.
        project = hashlib.sha256(address.project.encode()).hexdigest()[:12]
        self.options = json.dumps({"project": project, **address.settings})

    @cached_property
    def _api(self) -> Api:
        return open_api(self._address.project)

    def check_config(self, config: Config) -> None:
        """Raise TargetError if settings of the cluster are missing, or if the config needs more or fewer members."""
        if "members" in config and config["members"] != MEMBERS:
            raise TargetError(
                f"asks for {config['members']} members, and a cluster on Atlas has {MEMBERS}",
                "use --target local",
            )
        self.cluster_for(config)

    def cluster_for(self, config: Config) -> AtlasMachine:
        """Return the cluster for a variant. Raise TargetError if a setting is missing."""
        return machine_of(config, self._address)

    def machine_for(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Mapping[str, Any]:
        """Return the settings of the variant's cluster by name."""
        return self.cluster_for(config)._asdict()

    def prepare(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Start the cluster of the variant, whose tier determines the size of the cache.

        Raises TargetError. ``close`` must then remove the resources that exist so far.
        """
        wanted = self.cluster_for(config)
        running = self._running
        if running is None or running.machine != wanted:
            self._remove()
            running = self._running = self._make(wanted)
        return _described(running, config.get("instance", {}))

    @property
    def uri(self) -> str:
        """Return the connection string of the running cluster. Raises TargetError if no cluster is prepared."""
        if self._running is None:
            raise TargetError("no cluster on Atlas is prepared")
        return self._running.uri

    def check(self) -> None:
        """Raise TargetError if the cluster was changed or deleted since ``prepare``."""
        if self._running and (reason := self._change_of(self._running)):
            raise TargetError(reason)

    def fault(self, patience: float = LAST_WORDS_SECONDS) -> str:
        """Return a message if the cluster was changed since ``prepare``, else "". If ``patience`` is 0, return ""."""
        if self._running is None or not patience:
            return ""
        with suppress(CommandError):  # the caller reports a failure already
            return self._change_of(self._running)
        return ""

    def close(self) -> None:
        """Remove the cluster and its user. Meanwhile, the first signal that would end the program only writes a note.

        Raises TargetError if the removal fails. If the run failed before, a note reports that failure first.
        """
        failure = sys.exc_info()[1]
        try:
            with first_signal_noted(partial(self._note, _GOES_ON)):
                self._remove()
        except CommandError as error:
            if isinstance(failure, KeyboardInterrupt):  # the program would not print another exception
                self._note(f"Atlas: {error.message}; {LEFT_HINT}")
                return
            if isinstance(failure, CommandError | OSError) and str(failure) != error.message:
                self._note(f"Atlas: the run had failed before: {failure}")
            raise TargetError(error.message, LEFT_HINT) from None
        except BaseException:
            self._note(f"Atlas: resources of this run may be left; {LEFT_HINT}")
            raise

    def _make(self, machine: AtlasMachine) -> _Running:
        name = next(self._names)
        self._find(name)  # without valid credentials, this fails before the run creates a resource
        self._made.append(name)
        self._create(machine, name)
        password = make_user(self._api, self._run, name)
        told = self._await_idle(name)
        if different := list(differences(told, machine)):
            raise TargetError(f"the cluster {name} differs from the requested one: {'; '.join(different)}")
        uri = connection_string(told, name, password)
        await_user(uri, self._api.clock)
        return _Running(name, machine, uri, told)

    def _remove(self) -> None:
        """Delete the clusters that may exist, each with its user. Raises TargetError."""
        self._running = None
        while self._made:
            self._delete(self._made[-1])
            remove_user(self._api, self._run, self._made[-1])
            self._made.pop()

    def _create(self, machine: AtlasMachine, name: str) -> None:
        """Request the cluster without waiting for it.

        Raises TargetError. The cluster may exist nevertheless, because the answer to a successful request can be lost.
        """
        self._budget.begin(name, machine)
        self._note(f"Atlas: creating {name}: {machine}")
        try:
            self._api.post("clusters", body=order(machine, name, self._run))
        except ApiError as error:
            # Atlas refuses another attempt if the first one succeeded and its answer was lost.
            if error.status != 409 or not is_ours(self._find(name) or {}, self._run):
                raise

    def _change_of(self, running: _Running) -> str:
        cluster = self._find(running.name)
        if cluster is None:
            return _GONE.format(running.name)
        different = "; ".join(differences(cluster, running.machine))
        return (
            f"the cluster {running.name} was changed while it was measured: {different}" if different else ""
        )

    def _delete(self, name: str) -> None:
        """Delete the cluster if it exists and the run created it. Wait until it is deleted. Raises TargetError.

        During another change of the cluster, Atlas may refuse or ignore the request, so it is sent again.
        """
        ends = self._api.clock.now() + LONGEST_DELETION
        refusal = f"it is still there after {LONGEST_DELETION.total_seconds() / 60:g} minutes"
        while cluster := self._find(name):
            if not is_ours(cluster, self._run):
                raise TargetError(f"the cluster {name} lacks the tag of this run, so it is not changed")
            try:
                if cluster.get("stateName") != "DELETING":
                    self._note(f"Atlas: removing {name}")
                    self._api.delete("clusters", name)
            except ApiError as error:
                refusal = error.message
                if error.status != 409:
                    ends = self._api.clock.now()
            if self._api.clock.now() >= ends:
                raise TargetError(f"the cluster {name} could not be removed: {refusal}")
            self._api.clock.sleep(POLL_SECONDS)
        self._budget.end(name)

    def _find(self, name: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self._api.find("clusters", name)
        return found

    def _await_idle(self, name: str) -> Mapping[str, Any]:
        """Return the cluster after it has reported IDLE twice in a row."""
        ends, idle, state = self._api.clock.now() + LONGEST_CHANGE, 0, ""
        while self._api.clock.now() < ends:
            cluster = self._find(name)
            if cluster is None:
                raise TargetError(_GONE.format(name))
            state = str(cluster.get("stateName"))
            if state != IDLE and state not in WORKING:
                raise TargetError(f"the cluster {name} is {state} while this run waits for it")
            idle = idle + 1 if state == IDLE and cluster.get("connectionStrings") else 0
            if idle == 2:
                return cluster
            self._budget.check()
            self._api.clock.sleep(POLL_SECONDS)
        minutes = LONGEST_CHANGE.total_seconds() / 60
        lacks = ", and Atlas lists no hosts of it," if state == IDLE else ""
        raise TargetError(f"the cluster {name} is still {state}{lacks} after {minutes:g} minutes")


def _described(running: _Running, asked: Mapping[str, Any]) -> Machine:
    """Return the running machine as Atlas describes it."""
    hardware, machine = hardware_of(running.told), running.machine
    iops = hardware.get("diskIOPS")
    ignored = _NO_WISHES | ({_IOPS} if machine.disk == STANDARD and asked.get(_IOPS) != iops else set())
    wishes = {name: value for name, value in asked.items() if name not in ignored}
    given = wishes.keys() & set(SETTINGS.values())
    return Machine(
        bench_config={
            "comment": "cluster on Atlas, made by mongo-tables run",
            "atlasInstanceType": machine.tier,
            "atlasDiskType": machine.disk,
            "atlasIOPS": None if iops is None else int(iops),
            "atlasDiskSizeGB": machine.gb,
        },
        topology={
            "kind": "replica set",
            "members": MEMBERS,
            "place": f"Atlas on AWS, {machine.region}; the client elsewhere",
        },
        varied={name: wishes[name] for name in sorted(given)},
        not_varied=tuple(sorted(wishes.keys() - given)),
    )


class AtlasRun(NamedTuple):
    """The common data of all Atlas targets of a run: the run's name, names for its clusters, and its budget."""

    name: str
    clusters: Iterator[str]
    budget: Budget


def begin_run(prices: Prices, most: float, name: str | None = None) -> AtlasRun:
    """Return a run that may cost ``most`` dollars. Without ``name``, the run gets a random name."""
    name = name or uuid4().hex[:12]
    names = (f"mongo-tables-{name[:6]}-{number}" for number in count(1))
    return AtlasRun(name, names, Budget(prices, most, administration.LocalClock()))
