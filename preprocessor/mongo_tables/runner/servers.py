"""What the servers of a deployment report about themselves: machine, role, storage, counters.

Each server is queried separately, with the permissions of the connection string. The answers contain names of hosts,
folders and files, keys and passwords. This module selects each field explicitly, so none of these gets into a row. Only
the addresses that a user gives as the target are in each row, as ``target``.

A document stores only a part of ``serverStatus``, because the whole answer has 80 kB and occurs twice. It stores the
counters that are used by tables of this project and of the publications behind its experiments. It also stores the
counters that show the mechanism behind a figure: pages read and written, evictions by thread, journal, requests,
examined documents, conflicts, queues, and a restart between the two answers.

Counters are sums since the start of a server process. So the difference of two answers is meaningful only if one
process gave both. After an election or a restart, another process answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from bson.int64 import Int64
from pymongo import MongoClient, ReadPreference
from pymongo.errors import OperationFailure, PyMongoError

from mongo_tables.runner.connection_strings import MONITOR, is_refused, selection_ms, unknown
from mongo_tables.runner.errors import TargetError

OVERTAKEN_MS = 10_000
"""Milliseconds by which the uptime of a process may seem to decrease, because its answers may arrive out of order."""


def value_at(found: Any, path: Sequence[str]) -> Any:
    """Return the value at a path of fields in an answer, or None if the answer has no such field."""
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


class ServerProcess(NamedTuple):
    """A server process: its address, its process id, and its uptime in milliseconds at the time of the query."""

    host: str
    pid: int
    uptime: int


def process_of(status: Mapping[str, Any]) -> ServerProcess | None:
    """Return the process of this ``serverStatus``, or None if the answer is empty for lack of permission."""
    if not status:
        return None
    uptime = status.get("uptimeMillis", 0)
    return ServerProcess(str(status.get("host", "")), int(status.get("pid", 0)), int(uptime))


def is_one_process(before: ServerProcess | None, after: ServerProcess | None) -> bool:
    """Return whether the counters belong to one process. An unknown process counts as the same process."""
    if before is None or after is None:
        return True
    # In containers, each process may have the same id. Then a smaller uptime shows a new process.
    return before[:2] == after[:2] and before.uptime <= after.uptime + OVERTAKEN_MS


def describe_change(
    before: ServerProcess | None, after: ServerProcess | None, between: Sequence[ServerProcess | None]
) -> str | None:
    """Return how the observed server changed in a window, or None if it was one process throughout.

    ``between`` are the processes that gave samples. The result does not name these processes, because their addresses
    are the names of machines.
    """
    if before and after and not is_one_process(before, after):
        if before.host == after.host:
            return f"{after.host} was restarted during the window"
        return f"the primary changed from {before.host} to {after.host} in the window"
    if all(is_one_process(*pair) for pair in pairwise(between)):
        return None
    return "another server was the primary in a part of the window"


_WHOLE: Mapping[str, Any] = {}


def _names(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _WHOLE)


_CACHE: Final = _names(
    "application threads page read from disk to cache count",
    "application threads page read from disk to cache time (usecs)",
    "application threads page write from cache to disk count",
    "application threads page write from cache to disk time (usecs)",
    "bytes currently in the cache",
    "bytes dirty in the cache cumulative",
    "bytes read into cache",
    "bytes written from cache",
    "checkpoint blocked page eviction",
    "eviction server evicting pages",
    "eviction worker thread evicting pages",
    "forced eviction - pages selected count",
    "hazard pointer blocked page eviction",
    "history store table insert calls",
    "history store table reads",
    "in-memory page splits",
    "internal pages evicted",
    "internal pages split during eviction",
    "leaf pages split during eviction",
    "maximum bytes configured",
    "modified pages evicted",
    "modified pages evicted by application threads",
    "overflow pages read into cache",
    "pages currently held in the cache",
    "pages evicted by application threads",
    "pages read into cache",
    "pages requested from the cache",
    "pages selected for eviction unable to be evicted",
    "pages written from cache",
    "tracked dirty bytes in the cache",
    "tracked dirty pages in the cache",
    "unmodified pages evicted",
)
_LOG: Final = _names(
    "log bytes of payload data",
    "log bytes written",
    "log flush operations",
    "log sync operations",
    "log sync time duration (usecs)",
    "log write operations",
    "total size of compressed records",
)
KEPT: Final[Mapping[str, Any]] = {
    **_names("host", "version", "process", "pid", "uptime", "uptimeMillis", "localTime", "opcountersRepl"),
    "connections": _names("current", "totalCreated"),
    "extra_info": _names("user_time_us", "system_time_us", "page_faults", "input_blocks", "output_blocks"),
    "flowControl": _names("timeAcquiringMicros", "isLaggedCount"),
    "globalLock": _names("currentQueue"),
    "mem": _names("resident"),
    "network": _names("bytesIn", "bytesOut", "physicalBytesIn", "physicalBytesOut", "numRequests"),
    "opLatencies": _names("reads", "writes", "commands"),
    "opcounters": _WHOLE,
    "metrics": {
        **_names("document", "queryExecutor"),
        "getLastError": _names("wtime", "wtimeouts"),
        "operation": _names("scanAndOrder", "writeConflicts"),
    },
    "wiredTiger": {
        "block-manager": _names(
            "blocks read", "blocks written", "bytes read", "bytes written", "bytes written for checkpoint"
        ),
        "cache": _CACHE,
        "checkpoint": _WHOLE,
        "concurrentTransactions": _WHOLE,
        "connection": _names("total fsync I/Os", "total read I/Os", "total write I/Os"),
        "log": _LOG,
        "transaction": _names("transaction checkpoints", "transaction checkpoint total time (msecs)"),
    },
}
"""The stored counters by section (https://www.mongodb.com/docs/manual/reference/command/serverStatus/).

An empty value means the whole section.
"""


LIGHT_STATUS: Final = {
    "serverStatus": 1,
    **dict.fromkeys(
        ("metrics", "tcmalloc", "locks", "repl", "transactions", "electionMetrics", "network"), 0
    ),
}
"""The command ``serverStatus`` without the slow sections that no series uses."""


def status(client: MongoClient[dict[str, Any]]) -> dict[str, Any]:
    """Return the counters of ``serverStatus`` that rows store and the server has, in the server's order.

    ``host`` becomes the member's name in its replica set, or the address of the connection, because the machine's own
    name is private. The result is empty without permission, or if several mongos answer in turn. It has no
    ``wiredTiger`` if the server has none, for example a mongos.
    """
    found = _ask(client)
    if not found or is_one_of_several(client, found):
        return {}
    kept = _kept(found, KEPT)
    kept["host"] = found.get("repl", {}).get("me") or ":".join(map(str, client.address or ("unknown",)))
    return kept


def is_one_of_several(client: MongoClient[dict[str, Any]], found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` comes from one of several mongos, which does not count the work of the others."""
    return found.get("process") == "mongos" and len(client.topology_description.server_descriptions()) > 1


def cache_bytes(client: MongoClient[dict[str, Any]]) -> int:
    """Return the size of the primary's WiredTiger cache. Raises TargetError if it is unknown."""
    found = _ask(client)
    if "wiredTiger" in found:
        return int(found["wiredTiger"]["cache"]["maximum bytes configured"])
    message = "the experiment needs the size of WiredTiger's cache, which the server does not report"
    hint = f"the role {MONITOR} permits serverStatus" if not found else "name the mongod of a replica set"
    raise TargetError(message, hint)


def counters(client: MongoClient[dict[str, Any]]) -> Mapping[str, Any]:
    """Return the counters for series.

    Return an empty mapping without permission, or if several mongos answer in turn.
    """
    found = _ask(client, LIGHT_STATUS)
    return {} if is_one_of_several(client, found) else found


def _ask(client: MongoClient[dict[str, Any]], command: Any = "serverStatus") -> Mapping[str, Any]:
    try:
        return client.admin.command(command)
    except OperationFailure as error:
        if not is_refused(error):
            raise
        return {}


def _kept(section: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _kept(inner, wanted[name]) if wanted[name] else _plain(inner)
        for name, inner in section.items()
        if name in wanted
    }


def _plain(value: Any) -> Any:
    """Return the value with ``int`` in place of ``Int64``: BSON then stores small numbers in 32 bits."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return int(value) if isinstance(value, Int64) else value


GIVEN: Final = "given by its address"
"""The kind and the place of a deployment that the run did not start, unless more is known."""
_SHARDED: Final = "sharded cluster"
_PATIENCE_MS: Final = 5_000
PARAMETERS: Final = (
    "enableFlowControl", "internalInsertMaxBatchSize", "internalQueryEnableSlotBasedExecutionEngine",
    "internalQueryForceClassicEngine", "journalCommitInterval", "maxTargetSnapshotHistoryWindowInSeconds",
    "minSnapshotHistoryWindowInSeconds", "syncdelay", "wiredTigerFileHandleCloseIdleTime",
)  # fmt: skip
"""Parameters of ``mongod`` that affect speeds, and whose names or defaults differ between versions."""
_FEATURES: Final = {"getParameter": 1, "featureCompatibilityVersion": 1, **dict.fromkeys(PARAMETERS, 1)}
_SAMPLES: Final = "getDiagnosticData"
_FEW_SAMPLES: Final = (
    "the server gave fewer than two samples of its machine: a mongod takes one a second, a mongos none"
)
_COUNTED: Final = "what the server counted in the window"
_OPTIONS: Final[Mapping[str, Sequence[str]]] = {
    "cache_size_gb": ("storage", "wiredTiger", "engineConfig", "cacheSizeGB"),
    "block_compressor": ("storage", "wiredTiger", "collectionConfig", "blockCompressor"),
    "journal_compressor": ("storage", "wiredTiger", "engineConfig", "journalCompressor"),
    "prefix_compression": ("storage", "wiredTiger", "indexConfig", "prefixCompression"),
    "directory_per_db": ("storage", "directoryPerDB"),
    "sync_period_secs": ("storage", "syncPeriodSecs"),
    "commit_interval_ms": ("storage", "journal", "commitIntervalMs"),
    "oplog_size_mb": ("replication", "oplogSizeMB"),
}
"""The options of ``mongod`` in rows, and the path of each in ``getCmdLineOpts``."""
_COMPRESSOR: Final = "snappy"
"""The default block compressor of collections (https://www.mongodb.com/docs/manual/reference/program/mongod/)."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a deployment. ``members`` has the facts of each server by its address; rows omit the address.

    For a sharded cluster, ``members`` are the mongos, and ``shards`` is the number of shards, if known.
    """

    kind: str
    members: Mapping[str, Mapping[str, Any]]
    feature_compatibility: str | None
    not_known: Sequence[Mapping[str, str]]
    shards: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def describe(
        self,
        primary: tuple[str, int] | None = None,
        cpu: str = "",
        *,
        seen: bool = True,
        change: str | None = None,
    ) -> dict[str, Any]:
        """Return the servers' part of a row, the primary first.

        ``primary`` is the primary's current address. ``cpu`` is the model of the processor if all members run on this
        machine. ``seen`` says whether the servers' machine was observed in the window, ``change`` how the observed
        server changed.
        """
        now = None if primary is None else f"{primary[0]}:{primary[1]}"
        # ``members`` may be older than the last election. The driver knows the current primary.
        others = {"role": "secondary"} if now in self.members else {}
        members = [
            {
                **({"cpu": cpu} if cpu else {}),
                **facts,
                **(others if facts.get("role") == "primary" else {}),
                **({"role": "primary"} if address == now else {}),
            }
            for address, facts in self.members.items()
        ]
        features, not_known = self.feature_compatibility, list(map(dict, self.not_known))
        if not seen and not any(
            one["what"] == _SAMPLES for one in not_known
        ):  # otherwise the reason is noted already
            not_known.append({"what": "processors and disks in the window", "reason": _FEW_SAMPLES})
        return {
            "kind": self.kind,
            **({"shards": self.shards} if self.shards else {}),
            **({"feature_compatibility": features} if features else {}),
            **({"parameters": dict(self.parameters)} if self.parameters else {}),
            "members": sorted(members, key=lambda one: one.get("role") != "primary"),
            "not_known": [*not_known, *([{"what": _COUNTED, "reason": change}] if change else [])],
        }


def topology(servers: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology of a row: ``given``, completed by ``servers`` for a deployment that the run did not start.

    ``servers`` is the result of ``describe``. Properties in which the servers differ are omitted.
    """
    members: Sequence[Mapping[str, Any]] = servers["members"]
    if given.get("kind") != GIVEN or not members:
        return dict(given)
    if servers["kind"] == _SHARDED:
        shards = {"shards": servers["shards"]} if "shards" in servers else {}
        return {**given, "kind": _SHARDED, **shards, "place": GIVEN}
    return {
        **given,
        "kind": servers["kind"],
        "members": len(members),
        **_alike("cache_gb", [one.get("cache_gib") for one in members if one.get("role") != "arbiter"]),
        **_alike("block_compressor", [_compressor(one) for one in members if one.get("role") != "arbiter"]),
        "place": GIVEN,
    }


def _alike(name: str, values: Sequence[Any]) -> dict[str, Any]:
    return {name: values[0]} if values and values[0] is not None and len(set(values)) == 1 else {}


def _compressor(member: Mapping[str, Any]) -> str | None:
    if member.get("storage_engine") != "wiredTiger" or "options" not in member:
        return None
    return str(member["options"].get("block_compressor", _COMPRESSOR))


def ask_servers(uri: str) -> Servers:
    """Query every reachable server. Raises PyMongoError if no server answers."""
    with _interview(uri) as asked:
        hello = asked.client.admin.command("hello")
        config = {} if "setName" not in hello else asked.ask("replSetGetConfig").get("config", {})
        status = {} if "setName" not in hello else asked.ask("replSetGetStatus")
        settings = {one["host"]: _settings(one) for one in config.get("members", ())}
        settings = settings or {host: {} for host in _hosts(hello)}
        for one in status.get("members", ()):
            name = one["name"]
            settings[name] = {**settings.get(name, {}), "role": str(one["stateStr"]).lower()}
        for address in asked.reachable(hello):
            name, facts = asked.facts(address)
            settings[name] = {**settings.get(name, {}), **facts}
        asked.wanted.clear()  # the server that was queried last may be down
        routed = is_router(hello)
        features = {} if routed else asked.ask("getParameter", _FEATURES)
        shards = asked.ask("listShards").get("shards", ()) if routed else ()
        return Servers(
            kind=_SHARDED if routed else "replica set" if "setName" in hello else "single server",
            members=settings,
            feature_compatibility=features.get("featureCompatibilityVersion", {}).get("version"),
            not_known=tuple(asked.missing),
            shards=len(shards) or None,
            parameters={name: features[name] for name in PARAMETERS if name in features},
        )


@dataclass(slots=True)
class _Interview:
    """The client that sends commands to one server at a time, and notes missing answers."""

    client: MongoClient[dict[str, Any]]
    wanted: list[tuple[str, int]]
    missing: list[dict[str, str]] = field(default_factory=list)

    def ask(self, name: str, command: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Return the answer to a command. Without an answer, return an empty mapping and note the missing command."""
        try:
            return self.client.admin.command(
                dict(command or {name: 1}), read_preference=ReadPreference.NEAREST
            )
        except PyMongoError as error:
            self._note(**unknown(name, error if isinstance(error, OperationFailure) else None))
        return {}

    def _note(self, what: str, **why: str) -> None:
        missing = {"what": what, **why}
        if missing not in self.missing:
            self.missing.append(missing)

    def facts(self, address: tuple[str, int]) -> tuple[str, Mapping[str, Any]]:
        """Return the name of a server in its set, and its description."""
        self.wanted[:] = [address]
        name = f"{address[0]}:{address[1]}"
        hello = self.ask("hello")
        if not hello:  # the server will not answer the other commands, either
            return name, {}
        status = self.ask("serverStatus", LIGHT_STATUS)
        options = self.ask("getCmdLineOpts")
        facts = {
            **_role_of(hello),
            **_text("version", self.ask("buildInfo").get("version")),
            **_machine(self.ask("hostInfo")),
            **_storage(status),
            **({"options": _options(options["parsed"])} if "parsed" in options else {}),
        }
        if status and "wiredTiger" not in status:
            self._note("the cache", reason=f"{status.get('process', 'the server')} has no WiredTiger")
        if not is_router(hello):
            self.ask(_SAMPLES)
        self.wanted.clear()
        return str(hello.get("me", name)), facts

    def reachable(self, hello: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
        """Return the servers that hold data and may be queried with this connection string, in a fixed order."""
        if self.client.topology_description.topology_type_name.startswith("ReplicaSet"):
            arbiters = hello.get("arbiters", ())
            return [_address(host) for host in _hosts(hello) if host not in arbiters]
        # All servers in the connection string, even if they have not answered yet.
        return sorted(
            (host, port or 0) for host, port in self.client.topology_description.server_descriptions()
        )


@contextmanager
def _interview(uri: str) -> Iterator[_Interview]:
    wanted: list[tuple[str, int]] = []

    def choose(servers: Sequence[Any]) -> Sequence[Any]:
        return [one for one in servers if not wanted or one.address == wanted[0]]

    with MongoClient[dict[str, Any]](
        uri,
        appname="mongo-tables run",
        # Members that are down cost the whole timeout, so it is short.
        serverSelectionTimeoutMS=min(_PATIENCE_MS, selection_ms(uri, _PATIENCE_MS)),
        retryReads=False,
        server_selector=choose,
    ) as client:
        yield _Interview(client, wanted)


def is_router(hello: Mapping[str, Any]) -> bool:
    """Return whether this answer to ``hello`` comes from a mongos."""
    return hello.get("msg") == "isdbgrid"


def _hosts(hello: Mapping[str, Any]) -> list[str]:
    return [host for kind in ("hosts", "passives", "arbiters") for host in hello.get(kind, ())]


def _address(host: str) -> tuple[str, int]:
    name, _, port = host.rpartition(":")
    return name.strip("[]"), int(port)


def _settings(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a member that affect elections and reads."""
    delay = member.get("secondaryDelaySecs", member.get("slaveDelay", 0))
    return {
        "votes": int(member.get("votes", 1)),
        "priority": float(member.get("priority", 1)),
        "hidden": bool(member.get("hidden", False)),
        **({"delay_seconds": int(delay)} if delay else {}),
    }


def _role_of(hello: Mapping[str, Any]) -> dict[str, str]:
    if is_router(hello):
        return {"role": "mongos"}
    if hello.get("isWritablePrimary"):
        return {"role": "primary"}
    return {"role": "secondary"} if hello.get("secondary") else {}


def _machine(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return processors, memory and system, and ``memory_limit_gib`` if the server may not use all of the memory."""
    if not info:
        return {}
    system, known = info.get("system", {}), info.get("os", {})
    extra = info.get("extra", {})
    extra = extra.get("extra", extra)
    memory, limit = system.get("memSizeMB", 0), system.get("memLimitMB", 0)
    cores = system.get("numCores")
    return {
        **_text("cpu", extra.get("cpuString")),
        **_text("cpu_architecture", system.get("cpuArch")),
        **({"cores": int(cores)} if cores else {}),
        **({"memory_gib": round(memory / 1024, 1)} if memory else {}),
        **({"memory_limit_gib": round(limit / 1024, 1)} if 0 < limit < memory else {}),
        **_text("system", str(known.get("name", "")).removeprefix("PRETTY_NAME=").strip('"')),
        **_text("kernel", f"{known.get('type', '')} {extra.get('kernelVersion', '')}".strip()),
    }


def _storage(status: Mapping[str, Any]) -> dict[str, Any]:
    cache = value_at(status, ("wiredTiger", "cache", "maximum bytes configured"))
    return {
        **_text("storage_engine", value_at(status, ("storageEngine", "name"))),
        **({"cache_gib": round(cache / 2**30, 3)} if cache else {}),
    }


def _options(parsed: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: value_at(parsed, path) for name, path in _OPTIONS.items()}
    return {name: value for name, value in found.items() if isinstance(value, int | float | str)}


def _text(name: str, value: Any) -> dict[str, str]:
    return {name: str(value)} if value else {}
