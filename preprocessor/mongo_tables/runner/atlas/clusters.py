"""A cluster's resources: access, users, addresses, deletion.

Atlas acknowledges a request at once and executes it in the following minutes. A cluster also reports IDLE between two
steps of one change, so it counts as ready when it has reported IDLE twice in a row and its members are in place. Each
run has its own database user and an access list entry for this machine's address; both expire after some days if no
run removes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.runner.atlas.address import ALREADY_THERE, run_in, run_of_user, words
from mongo_tables.runner.atlas.api import LOOPBACK, Api, ApiError, LocalClock, iso
from mongo_tables.runner.connection_strings import driver_fault
from mongo_tables.runner.errors import TargetError

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
SETTLES_SECONDS: Final = 60.0
"""Seconds until a request without an answer must have shown its effect."""
LONGEST_CONNECTING: Final = timedelta(minutes=10)
"""The longest time to wait for host names and users, which reach all servers only after the cluster is ready."""
CONNECT_POLL_SECONDS: Final = 20.0
SELECTION_MS: Final = 10_000
_DNS_SECONDS: Final = 10.0
_SECRET_BYTES: Final = 32
LEFT_HINT: Final = (
    "remove in the project what is called mongo-tables-…; a cluster costs money until it is gone"
)


def lacks_entry(api: Api, run: str, address: str) -> bool:
    """Return whether the project's access list lacks the address.

    Raises TargetError if another run owns the entry: that run would remove it when it ends.
    """
    entries = list(api.pages("accessList"))  # fails here, early, without the permission
    for entry in entries:
        if _is_for(entry, address):
            other = run_in(entry.get("comment"))
            if other and other != run:
                raise TargetError(
                    f"the access list has {address} for the run {other}, which removes it when it ends",
                    "wait until that has ended, or remove the entry of a killed run",
                )
            return False
    return address != ALREADY_THERE


def let_in(api: Api, run: str, address: str) -> None:
    """Add the address to the project's access list. Raises ApiError."""
    network = "cidrBlock" if "/" in address else "ipAddress"
    ends = iso(api.clock.now() + LASTS)
    api.post("accessList", body=[{network: address, "comment": words(run), "deleteAfterDate": ends}])


def _is_for(entry: Mapping[str, Any], address: str) -> bool:
    """Return whether the entry is for this single address. Atlas may return one as a network."""
    forms = (address, f"{address}/32", f"{address}/128")
    return any(str(entry.get(name, "")) in forms for name in ("ipAddress", "cidrBlock"))


def shut_out(api: Api, run: str, address: str) -> None:
    """Remove the run's entry from the access list, if it exists. Raises ApiError."""
    for entry in api.pages("accessList"):
        if _is_for(entry, address) and run_in(entry.get("comment")) == run:
            _remove(api, "accessList", str(entry.get("cidrBlock") or entry.get("ipAddress")))
            return


def make_user(api: Api, run: str, name: str) -> str:
    """Create a database user for the cluster of the same name only. Return the password. Raises ApiError."""
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
        # A retry after a lost answer: only this run uses the name, and the password is the same.
    return password


def remove_user(api: Api, run: str, name: str) -> None:
    """Remove the run's database user, if it exists. Raises ApiError."""
    user = api.find("databaseUsers", "admin", name)
    if user is not None and run_of_user(user) == run:
        _remove(api, "databaseUsers", "admin", name)


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
