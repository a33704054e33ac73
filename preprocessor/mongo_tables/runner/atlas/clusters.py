"""A cluster's resources and measurements: access, users, addresses, deletion, and the sweep after killed runs.

Atlas acknowledges a request at once and executes it in the following minutes. A cluster also reports IDLE between two
steps of one change, so it counts as ready when it has reported IDLE twice in a row and its members are in place. Each
run has its own database user and an access list entry for this machine's address; both expire after some days if no
run removes them.

Atlas provides one point a minute of the primary's machine and disk, some minutes late. A point whose minute lies
inside a window describes the window alone; a window shorter than a minute has only points that also cover time before
and after it. Points without a value are kept: the first of a rate has none. A process unknown to Atlas (NO_DATA) has
no points.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas.address import (
    ALREADY_THERE,
    UNTIL_TAG,
    Owner,
    owner_in,
    owner_of_cluster,
    owner_of_user,
    tag_of,
    words,
)
from mongo_tables.runner.atlas.api import LOOPBACK, Api, ApiError, LocalClock, iso
from mongo_tables.runner.connection_strings import driver_fault
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.sampling import INSIDE, Monitored

ROLES: Final = ("readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor")
"""The roles of Atlas that a run needs on a deployment with users."""
LASTS: Final = timedelta(days=6)
"""The lifetime of database users and access list entries that are not removed; Atlas permits up to a week."""
IDLE: Final = "IDLE"
WORKING: Final = frozenset({"CREATING", "UPDATING", "REPAIRING"})
POLL_SECONDS: Final = 30.0
LONGEST_CHANGE: Final = timedelta(minutes=60)
"""The longest time to wait for a cluster."""
LONGEST_DELETION: Final = timedelta(minutes=30)
IN_USE: Final = timedelta(hours=48)
"""For this long after its creation, a sweep on another machine does not treat a cluster as abandoned."""
SETTLES_SECONDS: Final = 60.0
"""Seconds until a request without an answer must have shown its effect."""
LONGEST_CONNECTING: Final = timedelta(minutes=10)
"""The longest time to wait for host names and users, which reach all servers only after the cluster is ready."""
CONNECT_POLL_SECONDS: Final = 20.0
SELECTION_MS: Final = 10_000
_DNS_SECONDS: Final = 10.0
_SECRET_BYTES: Final = 32
LEFT_HINT: Final = (
    "mongo-tables run --sweep --target atlas:PROJECT removes what is left; a cluster costs money until it is "
    "gone"
)


def lacks_entry(api: Api, owner: Owner, address: str) -> bool:
    """Return whether the project's access list lacks the address.

    Raises TargetError if another run owns the entry: that run would remove it when it ends.
    """
    entries = list(api.pages("accessList"))  # fails here, early, without the permission
    for entry in entries:
        if _is_for(entry, address):
            other = owner_in(entry.get("comment"))
            if other and other.run != owner.run:
                raise TargetError(
                    f"the access list has {address} for the run {other.run}, which removes it when it ends",
                    "wait until that has ended; run --sweep removes what a killed run left",
                )
            return False
    return address != ALREADY_THERE


def let_in(api: Api, owner: Owner, address: str) -> None:
    """Add the address to the project's access list. Raises ApiError."""
    network = "cidrBlock" if "/" in address else "ipAddress"
    ends = iso(api.clock.now() + LASTS)
    api.post("accessList", body=[{network: address, "comment": words(owner), "deleteAfterDate": ends}])


def _is_for(entry: Mapping[str, Any], address: str) -> bool:
    """Return whether the entry is for this single address. Atlas may return one as a network."""
    forms = (address, f"{address}/32", f"{address}/128")
    return any(str(entry.get(name, "")) in forms for name in ("ipAddress", "cidrBlock"))


def shut_out(api: Api, owner: Owner, address: str) -> None:
    """Remove the run's entry from the access list, if it exists. Raises ApiError."""
    for entry in api.pages("accessList"):
        if _is_for(entry, address) and is_of(owner_in(entry.get("comment")), owner):
            _remove(api, "accessList", str(entry.get("cidrBlock") or entry.get("ipAddress")))
            return


def make_user(api: Api, owner: Owner, name: str) -> str:
    """Create a database user for the cluster of the same name only. Return the password. Raises ApiError."""
    password = secrets.token_urlsafe(_SECRET_BYTES)
    api.hide(password)
    body = {
        "databaseName": "admin",
        "groupId": api.project,
        "username": name,
        "password": password,
        "description": words(owner),
        "roles": [{"databaseName": "admin", "roleName": role} for role in ROLES],
        "scopes": [{"name": name, "type": "CLUSTER"}],
        "deleteAfterDate": iso(api.clock.now() + LASTS),
    }
    try:
        api.post("databaseUsers", body=body)
    except ApiError as error:
        if error.status != 409:
            raise
        # A retry after a lost answer: only this run uses the name, and the password is the same.
    return password


def remove_user(api: Api, owner: Owner, name: str) -> None:
    """Remove the run's database user, if it exists. Raises ApiError."""
    user = api.find("databaseUsers", "admin", name)
    if user is not None and is_of(owner_of_user(user), owner):
        _remove(api, "databaseUsers", "admin", name)


def is_of(found: Owner | None, owner: Owner) -> bool:
    """Return whether a resource belongs to the run of ``owner``."""
    return found is not None and found.run == owner.run


def _remove(api: Api, *path: str) -> None:
    try:
        api.delete(*path)
    except ApiError as error:
        if error.status != 404:
            raise


def connection_string(cluster: Mapping[str, Any], user: str, password: str) -> str:
    """Return the connection string for a client. Raise TargetError if there is none, or it is not encrypted.

    It is the form with all hosts, so that no worker has to resolve them: the runner waits once until they resolve.
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


def await_names(cluster: Mapping[str, Any], clock: LocalClock) -> None:
    """Wait until the cluster's SRV record resolves to its hosts. Raise TargetError if it does not in time."""
    import dns.exception
    import dns.resolver

    host = urlsplit(str((cluster.get("connectionStrings") or {}).get("standardSrv") or "")).hostname
    if not host:
        raise TargetError(f"Atlas gives no name for the cluster {cluster.get('name')}")

    def fault() -> str:
        try:
            dns.resolver.resolve(f"_mongodb._tcp.{host}", "SRV", lifetime=_DNS_SECONDS)
        except dns.exception.DNSException as error:
            return f"the name {host} does not resolve to hosts yet ({type(error).__name__})"
        return ""

    _await(fault, clock)


def await_user(uri: str, clock: LocalClock) -> None:
    """Wait until the user can authenticate. Raise TargetError with the driver's last message."""

    def fault() -> str:
        try:
            with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=SELECTION_MS) as client:
                client.admin.command("ping")
        except PyMongoError as error:
            return f"the cluster lets its user not in: {driver_fault(error, uri)}"
        return ""

    _await(fault, clock)


def _await(fault: Callable[[], str], clock: LocalClock) -> None:
    """Wait until ``fault`` returns "". Raise TargetError with its last text."""
    ends = clock.now() + LONGEST_CONNECTING
    while found := fault():
        if clock.now() >= ends:
            raise TargetError(found)
        clock.sleep(CONNECT_POLL_SECONDS)


def delete_cluster(api: Api, name: str) -> None:
    """Delete a cluster that is known to be ours, and wait until it is gone. Raises TargetError.

    While another change is in progress, Atlas may refuse, or may accept the request and ignore it.
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
    raise TargetError(
        f"the cluster {name} could not be removed: {refusal or f'it is still there after {minutes:g} minutes'}"
    )


class _Left(NamedTuple):
    """A resource of ours in the project: its owner, its description, and how to remove it.

    ``is_over`` says whether the time has passed for which a run on another machine may use it.
    """

    owner: Owner
    words: str
    remove: Callable[[], None]
    is_over: bool


def sweep(api: Api, note: Callable[[str], None]) -> int:
    """Remove what ended runs have left in the project, and report it. Return the number of resources.

    Resources of a running run stay; so do those of a run on another machine, until the time in their tag has passed.
    Raises CommandError if a resource cannot be removed, after removing all others.
    """
    note("Atlas: the last request may need a minute to take effect")
    api.clock.sleep(SETTLES_SECONDS)
    refused: dict[str, TargetError] = {}
    removed = 0
    for left in _find_ours(api):
        run, process = left.owner
        if process.runs if process.is_here else not left.is_over:
            note(f"{left.words} stays: its run {run} goes on, or is one of another machine")
            continue
        try:
            left.remove()
        except TargetError as error:
            refused[run] = error
        else:
            removed += 1
            note(f"{left.words} of the run {run} is removed")
    if refused:
        hint = next(iter(refused.values())).hint or LEFT_HINT
        raise CommandError("; ".join(error.message for error in refused.values()), hint)
    return removed


def _find_ours(api: Api) -> Iterator[_Left]:
    """Yield our resources, clusters first, which cost most. Users and addresses show no use; they expire."""
    over: dict[str, bool] = {}
    for cluster in list(api.pages("clusters")):
        if owner := owner_of_cluster(cluster):
            until, name = tag_of(cluster, UNTIL_TAG), str(cluster["name"])
            is_over = bool(until) and until < iso(api.clock.now())
            over[owner.run] = over.get(owner.run, True) and is_over
            yield _Left(owner, f"the cluster {name}", partial(delete_cluster, api, name), over[owner.run])
    for user in list(api.pages("databaseUsers")):
        if owner := owner_of_user(user):
            name, is_over = str(user["username"]), over.get(owner.run, False)
            yield _Left(owner, f"the user {name}", partial(remove_user, api, owner, name), is_over)
    for entry in list(api.pages("accessList")):
        if owner := owner_in(entry.get("comment")):
            address = str(entry.get("ipAddress") or entry.get("cidrBlock"))
            is_over = over.get(owner.run, False)
            yield _Left(owner, f"the address {address}", partial(shut_out, api, owner, address), is_over)


SOURCE: Final = "Atlas Administration API"
GRANULARITY: Final = "PT1M"
GRANULE: Final = timedelta(minutes=1)
PARTITION: Final = "data"
"""Atlas's name of the data disk, the same on all clusters."""
PROCESS: Final = (
    "SYSTEM_NORMALIZED_CPU_USER",
    "SYSTEM_NORMALIZED_CPU_KERNEL",
    "SYSTEM_NORMALIZED_CPU_IOWAIT",
    "SYSTEM_NORMALIZED_CPU_STEAL",
    "OP_EXECUTION_TIME_READS",
    "OP_EXECUTION_TIME_WRITES",
    "OP_EXECUTION_TIME_COMMANDS",
    "CACHE_BYTES_READ_INTO",
    "CACHE_BYTES_WRITTEN_FROM",
    "CACHE_FILL_RATIO",
)
"""Measurements per request."""
DISK: Final = (
    "DISK_PARTITION_IOPS_READ",
    "DISK_PARTITION_IOPS_WRITE",
    "DISK_PARTITION_IOPS_TOTAL",
    "DISK_PARTITION_THROUGHPUT_READ",
    "DISK_PARTITION_THROUGHPUT_WRITE",
    "DISK_PARTITION_LATENCY_READ",
    "DISK_PARTITION_LATENCY_WRITE",
)
LONGEST_LAG: Final = timedelta(minutes=8)
"""The longest time to wait for points."""
_PRIMARY: Final = "REPLICA_PRIMARY"
_NO_DATA: Final = "NO_DATA"

_Series = list[dict[str, Any]]


def measured(api: Api, name: str, start: datetime, end: datetime) -> Monitored:
    """Return the series of the cluster's primary for the window. It names what Atlas does not provide."""
    ends = end + LONGEST_LAG
    while True:
        try:
            process, disk, reason = _look(api, name, start, end)
        except ApiError as error:
            return Monitored(SOURCE, [], [], _facts("none", None, error.message))
        now = api.clock.now()
        if _reaches(process, end) and _reaches(disk, end):
            lag = (now - end).total_seconds()
            return _chosen(process, disk, start, end, lag)
        if now >= ends:
            minutes = LONGEST_LAG.total_seconds() / 60
            reason = reason or f"no point had come {minutes:g} minutes after the window"
            return _chosen(process, disk, start, end, None, reason)
        api.clock.sleep(POLL_SECONDS)


def _look(api: Api, name: str, start: datetime, end: datetime) -> tuple[_Series, _Series, str]:
    """Return the current series of process and disk, and the reason if there can be none."""
    members = [
        one
        for one in api.pages("processes")
        if str(one.get("userAlias", "")).startswith(f"{name.lower()}-shard-")
    ]
    primary = next((one for one in members if one.get("typeName") == _PRIMARY), None)
    if primary is None:
        return [], [], _NO_DATA if any(one.get("typeName") == _NO_DATA for one in members) else "no primary"
    place = ("processes", str(primary["id"]))
    query = [("granularity", GRANULARITY), ("start", iso(start - GRANULE)), ("end", iso(end + 2 * GRANULE))]
    process = api.get(*place, "measurements", query=[*query, *(("m", one) for one in PROCESS)])
    disk = api.get(*place, "disks", PARTITION, "measurements", query=[*query, *(("m", one) for one in DISK)])
    return list(_series(process)), list(_series(disk)), ""


def _series(answer: Any) -> Iterator[dict[str, Any]]:
    for one in (answer or {}).get("measurements") or ():
        points = [
            {
                "timestamp": datetime.fromisoformat(point["timestamp"]).astimezone(UTC),
                "value": point.get("value"),
            }
            for point in one.get("dataPoints") or ()
        ]
        yield {"name": one["name"], "units": one["units"], "dataPoints": points}


def _reaches(series: _Series, end: datetime) -> bool:
    """Return whether any series has a value after the end of the window."""
    return any(
        point["value"] is not None and point["timestamp"] >= end
        for one in series
        for point in one["dataPoints"]
    )


def _chosen(
    process: _Series, disk: _Series, start: datetime, end: datetime, lag: float | None, reason: str = ""
) -> Monitored:
    """Return the points of minutes inside the window, or, without any, of minutes that overlap it."""
    inside = [point for point in _points([*process, *disk]) if start + GRANULE <= point["timestamp"] <= end]
    first, last = (start + GRANULE, end) if inside else (start, end + GRANULE)

    def cut(series: _Series) -> _Series:
        return [
            {**one, "dataPoints": [p for p in one["dataPoints"] if first <= p["timestamp"] <= last]}
            for one in series
        ]

    found = [*cut(process), *cut(disk)]
    place = INSIDE if inside else "around the window" if any(_points(found)) else "none"
    return Monitored(SOURCE, cut(process), cut(disk), _facts(place, lag, reason))


def _points(series: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    return (point for one in series for point in one["dataPoints"])


def _facts(place: str, lag: float | None, reason: str) -> dict[str, Any]:
    """Return the facts about the points: their resolution, their lag, and where they lie."""
    return {
        "by": SOURCE,
        "granularity_seconds": GRANULE.total_seconds(),
        "lag_seconds": lag,
        "points": place,
        **({"not_known": reason} if reason else {}),
    }
