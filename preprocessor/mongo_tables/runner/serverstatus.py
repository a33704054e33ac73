"""What a result document keeps of ``serverStatus``, before and after its window.

The whole of it is 80 kB, twice in every document: nine tenths of all results would be counters of commands that no
experiment sends, and a site that reads them pays for that at every first build. Kept is what a table of this project
or of the document that its experiments come from subtracts, and what explains a number that looks wrong: evictions,
queues, tickets, flow control, connections, a restart between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.rights import MONITOR, is_refused

if TYPE_CHECKING:
    from pymongo import MongoClient

_WHOLE: Mapping[str, Any] = {}
_SERVER = (
    "host", "version", "process", "pid", "uptime", "uptimeMillis", "localTime", "storageEngine",
    "asserts", "connections", "extra_info", "flowControl", "globalLock", "mem", "network",
    "opLatencies", "opcounters", "opcountersRepl",
)  # fmt: skip
_REPLICATION = ("setName", "setVersion", "isWritablePrimary", "primary", "me", "hosts")
_ENGINE = ("block-manager", "cache", "checkpoint", "concurrentTransactions", "connection", "log")
_METRICS = ("document", "getLastError", "operation", "queryExecutor")
KEPT: Mapping[str, Any] = {
    **dict.fromkeys(_SERVER, _WHOLE),
    "repl": dict.fromkeys(_REPLICATION, _WHOLE),
    "wiredTiger": dict.fromkeys(_ENGINE, _WHOLE),
    "metrics": dict.fromkeys(_METRICS, _WHOLE),
}
"""Sections by name (https://www.mongodb.com/docs/manual/reference/command/serverStatus/); an empty one is whole."""


def status(client: MongoClient[dict[str, Any]]) -> dict[str, Any]:
    """The kept sections of ``serverStatus``, in the server's order; what a version does not have is not there.

    ``host`` becomes the member's name in its replica set, or the address it was reached by: the machine's own name is
    nobody's business. Empty when the command is not permitted, and when others answer it in turn; without
    ``wiredTiger`` of a server that has none, as the mongos of a sharded cluster.
    """
    kept = _kept(_ask(client), KEPT)
    if not kept or is_one_of_several(client, kept):
        return {}
    kept["host"] = kept.get("repl", {}).get("me") or ":".join(map(str, client.address or ("unknown",)))
    return kept


def is_one_of_several(client: MongoClient[dict[str, Any]], found: Mapping[str, Any]) -> bool:
    """Whether ``found`` is of one mongos, and others answer in turn: what one has counted says nothing of the rest."""
    return found.get("process") == "mongos" and len(client.topology_description.server_descriptions()) > 1


def cache_bytes(client: MongoClient[dict[str, Any]]) -> int:
    """The size of WiredTiger's cache that the primary says it has. Raises TargetError when it does not say."""
    found = _ask(client)
    if "wiredTiger" in found:
        return int(found["wiredTiger"]["cache"]["maximum bytes configured"])
    message = "the experiment needs the size of WiredTiger's cache, which the server does not tell"
    hint = f"the role {MONITOR} permits serverStatus" if not found else "name the mongod of a replica set"
    raise TargetError(message, hint)


def _ask(client: MongoClient[dict[str, Any]]) -> Mapping[str, Any]:
    from pymongo.errors import OperationFailure

    try:
        return client.admin.command("serverStatus")
    except OperationFailure as error:
        if not is_refused(error):
            raise
        return {}


def _kept(section: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _kept(inner, wanted[name]) if wanted[name] else inner
        for name, inner in section.items()
        if name in wanted
    }
