"""From a cluster that is ready to a connection string that works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from mongo_tables.runner.addresses import driver_fault
from mongo_tables.runner.atlas.clock import Clock
from mongo_tables.runner.atlas.exchange import LOOPBACK
from mongo_tables.runner.errors import TargetError

LONGEST: Final = timedelta(minutes=10)
"""For so long names and users are waited for, which reach all servers after a cluster is ready."""
POLL_SECONDS: Final = 20.0
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
        clock.sleep(POLL_SECONDS)
