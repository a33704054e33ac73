"""What the servers of a deployment say of themselves: machine, role, storage, counters.

Each server is asked for itself, with the rights that the connection string gives. Names of hosts, folders and files,
keys and passwords are among the answers; none of them gets into a row from here, since what is kept is chosen field by
field. The addresses that somebody gave as the target are in each row all the same, as ``target``.

A document keeps a part of ``serverStatus``: the whole is 80 kB, twice in every document, and nine tenths of it are
counters of commands that no experiment sends. Kept is what a table of this project or of the document that its
experiments come from subtracts, and what explains a number that looks wrong: evictions, queues, tickets, flow control,
connections, a restart between the two.

Counters are sums since a process started. A difference of two of them means something only within one process: after
an election or a restart they belong to two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.runner.connection_strings import MONITOR, is_refused, selection_ms, unknown
from mongo_tables.runner.errors import TargetError

if TYPE_CHECKING:
    from pymongo import MongoClient


OVERTAKEN_MS = 10_000
"""By so much an uptime may seem to go back: an answer that was held up comes behind one that was asked for later."""


class ServerProcess(NamedTuple):
    """A process of a server: the address that it gives, its number, and the milliseconds that it had run when asked."""

    host: str
    pid: int
    uptime: int


def process_of(status: Mapping[str, Any]) -> ServerProcess | None:
    """The process that gave this ``serverStatus``; None where it is empty, since nobody may ask for it."""
    if not status:
        return None
    uptime = status.get("uptimeMillis", 0)
    return ServerProcess(str(status.get("host", "")), int(status.get("pid", 0)), int(uptime))


def is_one_process(before: ServerProcess | None, after: ServerProcess | None) -> bool:
    """Whether counters of the one may be subtracted from those of the other; two that are not known may be one."""
    if before is None or after is None:
        return True
    # In containers, each process may have the same number; its uptime then begins again.
    return before[:2] == after[:2] and before.uptime <= after.uptime + OVERTAKEN_MS


def describe_change(
    before: ServerProcess | None, after: ServerProcess | None, between: Sequence[ServerProcess | None]
) -> str | None:
    """How the server that was asked changed in a window, None where it was one process all the time.

    ``between`` are those that gave samples, whose addresses are not told: they are names of machines.
    """
    if before and after and not is_one_process(before, after):
        if before.host == after.host:
            return f"{after.host} was started anew in the window"
        return f"the primary changed from {before.host} to {after.host} in the window"
    if all(is_one_process(*pair) for pair in pairwise(between)):
        return None
    return "another server was the primary in a part of the window"


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


GIVEN: Final = "given by its address"
"""What a deployment that was not started by the run is called."""
_SHARDED: Final = "sharded cluster"
_PATIENCE_MS: Final = 5_000
_SERVER_STATUS: Final = {
    "serverStatus": 1,
    **dict.fromkeys(
        ("metrics", "tcmalloc", "locks", "repl", "transactions", "electionMetrics", "network"), 0
    ),
}
_FEATURES: Final = {"getParameter": 1, "featureCompatibilityVersion": 1}
_SAMPLES: Final = ("getDiagnosticData", "systemMetrics")
_FEW_SAMPLES: Final = "it holds fewer than two samples, of which a server takes one a second"
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
"""The options of mongod that rows have, and where ``getCmdLineOpts`` has them."""
_COMPRESSOR: Final = "snappy"
"""Of collections, where no option says another (https://www.mongodb.com/docs/manual/reference/program/mongod/)."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a deployment. ``members`` has the facts of each by its address, which rows do not have.

    Of a sharded cluster they are those that route, and ``shards`` is how many others have data, where that is known.
    """

    kind: str
    members: Mapping[str, Mapping[str, Any]]
    feature_compatibility: str | None
    not_known: Sequence[Mapping[str, str]]
    shards: int | None = None

    def describe(
        self,
        primary: tuple[str, int] | None = None,
        cpu: str = "",
        *,
        seen: bool = True,
        change: str | None = None,
    ) -> dict[str, Any]:
        """What a row has of them: the primary first.

        ``primary`` is where it is by now, ``cpu`` the model of the processor, where all members run on this machine.
        ``seen`` is whether their machine was seen in the window, ``change`` how the one that counts became another.
        """
        now = None if primary is None else f"{primary[0]}:{primary[1]}"
        members = [
            {
                **({"cpu": cpu} if cpu else {}),
                **facts,
                **_role(facts, address, now if now in self.members else None),
            }
            for address, facts in self.members.items()
        ]
        features = self.feature_compatibility
        return {
            "kind": self.kind,
            **({"shards": self.shards} if self.shards else {}),
            **({"feature_compatibility": features} if features else {}),
            "members": sorted(members, key=lambda one: one.get("role") != "primary"),
            "not_known": [
                *map(dict, self.not_known),
                *(() if seen else self._unseen()),
                *([{"what": _COUNTED, "reason": change}] if change else []),
            ],
        }

    def _unseen(self) -> Iterator[Mapping[str, str]]:
        """Why the machine was not seen, unless it could not be in any window."""
        if not any(one["what"] in _SAMPLES for one in self.not_known):
            yield {"what": "processors and disks in the window", "reason": _FEW_SAMPLES}


def _role(facts: Mapping[str, Any], address: str, primary: str | None) -> dict[str, str]:
    """The role of a member after elections: ``primary`` is known by the driver at any time."""
    if address == primary:
        return {"role": "primary"}
    return {"role": "secondary"} if primary and facts.get("role") == "primary" else {}


def topology(servers: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The topology of a row: as it is ``given``, or, where only an address was, as the ``servers`` say.

    ``servers`` is what ``describe`` gives. What they do not all say alike is left out.
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
    """Ask every server that can be reached. Raises PyMongoError when none answers."""
    with _interview(uri) as asked:
        hello = asked.client.admin.command("hello")
        config = {} if "setName" not in hello else asked.ask("replSetGetConfig").get("config", {})
        states = {} if "setName" not in hello else _states(asked.ask("replSetGetStatus"))
        settings = {one["host"]: _settings(one) for one in config.get("members", ())}
        settings = settings or {host: {} for host in _hosts(hello)}
        for name, role in states.items():
            settings[name] = {**settings.get(name, {}), "role": role}
        for address in asked.reachable(hello):
            name, facts = asked.facts(address)
            settings[name] = {**settings.get(name, {}), **facts}
        asked.wanted.clear()  # the last one that was asked may be down
        routed = is_router(hello)
        features = {} if routed else asked.ask("getParameter", _FEATURES)
        shards = asked.ask("listShards").get("shards", ()) if routed else ()
        return Servers(
            kind=_kind(hello),
            members=settings,
            feature_compatibility=features.get("featureCompatibilityVersion", {}).get("version"),
            not_known=tuple(asked.missing),
            shards=len(shards) or None,
        )


@dataclass(slots=True)
class _Interview:
    """A client whose commands go to one server at a time, and what it was not told."""

    client: MongoClient[dict[str, Any]]
    wanted: list[tuple[str, int]]
    missing: list[dict[str, str]] = field(default_factory=list)

    def ask(self, name: str, command: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The answer; nothing, and a note of what is missing, where there is none."""
        from pymongo import ReadPreference
        from pymongo.errors import OperationFailure, PyMongoError

        try:
            return self.client.admin.command(
                dict(command or {name: 1}), read_preference=ReadPreference.NEAREST
            )
        except OperationFailure as error:
            self._note(unknown(name, error))
        except PyMongoError:
            self._note(unknown(name, None))
        return {}

    def facts(self, address: tuple[str, int]) -> tuple[str, Mapping[str, Any]]:
        """The name of a server in its set, and what it says of itself."""
        self.wanted[:] = [address]
        name = f"{address[0]}:{address[1]}"
        hello = self.ask("hello")
        if not hello:  # it will not answer the others either
            return name, {}
        status = self.ask("serverStatus", _SERVER_STATUS)
        options = self.ask("getCmdLineOpts")
        facts = {
            **_role_of(hello),
            **_text("version", self.ask("buildInfo").get("version")),
            **_machine(self.ask("hostInfo")),
            **_storage(status),
            **({"options": _options(options["parsed"])} if "parsed" in options else {}),
        }
        if status and "wiredTiger" not in status:
            self._note(
                {"what": "the cache", "reason": f"{status.get('process', 'the server')} has no WiredTiger"}
            )
        self._diagnostic_data(hello)
        self.wanted.clear()
        return str(hello.get("me", name)), facts

    def reachable(self, hello: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
        """The servers that hold data and that may be asked through this connection string, in a fixed order."""
        if self.client.topology_description.topology_type_name.startswith("ReplicaSet"):
            arbiters = hello.get("arbiters", ())
            return [_address(host) for host in _hosts(hello) if host not in arbiters]
        # All that are named, whether they have answered by now or not.
        return sorted(
            (host, port or 0) for host, port in self.client.topology_description.server_descriptions()
        )

    def _diagnostic_data(self, hello: Mapping[str, Any]) -> None:
        if is_router(hello):
            reason = "a mongos samples its own machine, and the data is on others"
            self._note({"what": _SAMPLES[1], "reason": reason})
            return
        found = self.ask("getDiagnosticData")
        if found and "systemMetrics" not in found.get("data", {}):
            self._note({"what": _SAMPLES[1], "reason": "getDiagnosticData does not have them"})

    def _note(self, missing: dict[str, str]) -> None:
        if missing not in self.missing:
            self.missing.append(missing)


@contextmanager
def _interview(uri: str) -> Iterator[_Interview]:
    from pymongo import MongoClient

    wanted: list[tuple[str, int]] = []

    def choose(servers: Sequence[Any]) -> Sequence[Any]:
        return [one for one in servers if not wanted or one.address == wanted[0]]

    with MongoClient[dict[str, Any]](
        uri,
        appname="mongo-tables run",
        # No longer than usual where that is longer: a member that is down is waited for as well.
        serverSelectionTimeoutMS=min(_PATIENCE_MS, selection_ms(uri, _PATIENCE_MS)),
        retryReads=False,
        server_selector=choose,
    ) as client:
        yield _Interview(client, wanted)


def is_router(hello: Mapping[str, Any]) -> bool:
    """Whether it is a mongos that says hello so."""
    return hello.get("msg") == "isdbgrid"


def _kind(hello: Mapping[str, Any]) -> str:
    if is_router(hello):
        return _SHARDED
    return "replica set" if "setName" in hello else "single server"


def _hosts(hello: Mapping[str, Any]) -> list[str]:
    return [host for kind in ("hosts", "passives", "arbiters") for host in hello.get(kind, ())]


def _address(host: str) -> tuple[str, int]:
    name, _, port = host.rpartition(":")
    return name.strip("[]"), int(port)


def _states(status: Mapping[str, Any]) -> dict[str, str]:
    return {one["name"]: str(one["stateStr"]).lower() for one in status.get("members", ())}


def _settings(member: Mapping[str, Any]) -> dict[str, Any]:
    """Of a member's place in the set: what elections and reads depend on."""
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
    """Processors, memory and system; ``memory_limit_gib`` where the server may not use all of the memory."""
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
    cache = status.get("wiredTiger", {}).get("cache", {}).get("maximum bytes configured")
    return {
        **_text("storage_engine", status.get("storageEngine", {}).get("name")),
        **({"cache_gib": round(cache / 2**30, 3)} if cache else {}),
    }


def _options(parsed: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, path in _OPTIONS.items():
        value: Any = parsed
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, int | float | str):
            found[name] = value
    return found


def _text(name: str, value: Any) -> dict[str, str]:
    return {name: str(value)} if value else {}
