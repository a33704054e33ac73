"""The deployment for an experiment: our own replica set, or any deployment with a URI."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mongo_tables.runner import cache_size, local_limits
from mongo_tables.runner.cache_size import SMALLEST_AT_START_GB
from mongo_tables.runner.connection_strings import measured_options, shown, used
from mongo_tables.runner.errors import RunnerError, TargetError
from mongo_tables.runner.local_address import (
    PLAIN,
    SMALLEST_OPLOG_MB,
    LocalAddress,
    find_program,
    is_local,
    parse_local,
)
from mongo_tables.runner.local_set import MEMBERS, LocalReplicaSet, Settings
from mongo_tables.runner.sampling import Monitored

if TYPE_CHECKING:
    from pymongo import MongoClient

ATLAS_CACHE_GB = {"M30": 2, "M40": 8, "M50": 16, "M60": 32, "M80": 64}
"""Cache by Atlas tier: half of 16, 32, 64, 128 GB of memory, up to M30 a quarter of 8 GB.

https://www.mongodb.com/docs/atlas/sizing-tier-selection/"""

LAST_WORDS_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs for one variant.

    ``bench_config`` has the four fields that the tables of a base instance show (None: not known). ``topology``
    describes the deployment. ``varied`` and ``not_varied`` name the machine properties that the variant asked for and
    got, or did not get. ``data_directory`` is set if the data is on this machine, so that its disk and processors may
    be measured here; ``pids`` are then its members.
    """

    bench_config: Mapping[str, Any]
    topology: Mapping[str, Any]
    varied: Mapping[str, Any] = field(default_factory=dict)
    not_varied: tuple[str, ...] = ()
    data_directory: Path | None = None
    pids: tuple[int, ...] = ()


class Target:
    """A deployment for experiments; subclasses override what differs from a fixed deployment."""

    name: str
    ends_with_run = True
    """Whether ``close`` removes the deployment itself, with every database."""
    options = ""
    """What its address sets for all requests, or for a local set; it contains no secret and no path."""
    given: Mapping[str, Any] = MappingProxyType({})
    """All options of its connection string, if one was given, as PyMongo returns them."""

    @property
    def uri(self) -> str:
        """Return the connection string with its password, for clients only. ``prepare`` may change it."""
        raise NotImplementedError

    def obstacle(self, config: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return why this config cannot be measured there, and the remedy, or None if it can."""
        return None

    def machine_for(
        self, config: Mapping[str, Any], cache_gb: float, least_gb: float = 0.0
    ) -> Mapping[str, Any]:
        """Return the machine that ``prepare`` would provide for the same arguments, as far as it is known."""
        return {}

    def prepare(self, config: Mapping[str, Any], cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Adapt the deployment to a variant as far as possible, and return what runs now.

        ``config`` is the experiment's parameters with those of the variant on top; ``cache_gb`` is the cache that
        keeps the published ratio of data to cache, ``least_gb`` the cache that the variant's requests need.
        """
        raise NotImplementedError

    def give_room(self) -> None:
        """Enlarge the cache for loading data, if possible: loading is not measured."""

    def give_cache(self) -> None:
        """Set the cache that the variant asks for, after its data is loaded."""

    @property
    def cache_shrunk(self) -> bool | None:
        """Return whether every member's content fitted when the cache was set, or None if it was not set."""
        return None

    def monitored(self, start: datetime, end: datetime) -> Monitored | None:
        """Wait for measurements of the servers that others made between the two times; None if there are none.

        Raises TargetError if the deployment is no longer the prepared one.
        """
        return None

    def fault(self, patience: float = LAST_WORDS_SECONDS) -> str:
        """Return why a member of the deployment has ended, or "" if none has or it is unknown.

        After a failure a member may be about to end: wait up to ``patience`` seconds for it.
        """
        return ""

    def close(self) -> None:
        """Release the target's resources."""


class LocalTarget(Target):
    """Replica sets on this machine: a variant that asks for another set starts one."""

    name = "local"

    def __init__(self, address: LocalAddress = PLAIN, sets: int = 1) -> None:
        """``sets`` is the number of local targets that run at once and share the machine.

        Raises TargetError if the program cannot run, or if the caches do not fit into the memory.
        """
        self._address = address
        self._sets = sets
        self._program = find_program(address.program) if address.program else None
        self._set: LocalReplicaSet | None = None
        self._cache_gb = SMALLEST_AT_START_GB
        _check_caches(address, sets)
        # The program by its name, and a digest that distinguishes its path.
        options = {**self._named_program(), **self._told_path(), **address.settings}
        self.options = json.dumps(options) if options else ""

    def obstacle(self, config: Mapping[str, Any]) -> tuple[str, str] | None:
        """Refuse another number of members, or memory that the cache size must follow."""
        members, asked = self._address.members, config.get("members")
        if members and asked and members != asked:
            return f"asks for {asked} members, and the target has {members}", "leave out members"
        small = (self._address.cache_gb or SMALLEST_AT_START_GB) < SMALLEST_AT_START_GB
        if small and "memoryRatio" in config.get("instance", {}):
            return (
                f"limits the memory to a multiple of the cache, and that is less than {SMALLEST_AT_START_GB} GB",
                "leave out cacheGB, or give more",
            )
        return None

    @property
    def uri(self) -> str:
        """Return the connection string of the running replica set; raise TargetError if none is prepared."""
        return self._running().uri

    def machine_for(
        self, config: Mapping[str, Any], cache_gb: float, least_gb: float = 0.0
    ) -> Mapping[str, Any]:
        """Return the cache, and the limits that this machine can impose."""
        expected = local_limits.expect(config.get("instance", {}), self._settings(config).members)
        return {"cache_gb": self._cache(config, cache_gb, least_gb), **expected}

    def _cache(self, config: Mapping[str, Any], wanted_gb: float, least_gb: float) -> float:
        """Return the cache size of each member in GB."""
        return self._address.cache_gb or cache_size.of_local(config, wanted_gb, least_gb, self._sets)

    def prepare(self, config: Mapping[str, Any], cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Run a set for the variant, whose cache ``give_cache`` sets within the limits of mongod and this machine.

        Of the requested machine, a local set provides the cache, and what ``local_limits`` can impose.
        """
        if self._set is None or self._set.settings != self._settings(config) or not self._set.is_whole:
            self.close()
            self._set = LocalReplicaSet(self._settings(config))
        asked = config.get("instance", {})
        size = self._cache(config, cache_gb, least_gb)
        self._cache_gb = size
        # If the data follows the cache, any cache keeps the ratio.
        wanted = size if "workingSetRatio" in config else cache_gb
        if size > self._set.cache_gb or "workingSetRatio" in config:
            self._set.resize_cache(size)
        groups = self._set.groups(make=local_limits.needs_groups(asked))
        holds = local_limits.impose(asked, groups, self._set.pids, self._set.directory, size)
        memory = local_limits.memory_bytes(asked, size) if "memoryRatio" in holds else None
        return Machine(
            bench_config=self._bench_config(),
            topology={
                **self._set.describe(),
                **self._named_program(),
                **({"settings": self._address.settings} if self._address.settings else {}),
                **cache_size.describe(size, wanted, memory),
            },
            varied={**({"cache_gb": size} if asked and size == round(cache_gb, 3) else {}), **holds},
            not_varied=tuple(sorted(asked.keys() - holds.keys())),
            data_directory=self._set.directory,
            pids=tuple(self._set.pids),
        )

    def give_room(self) -> None:
        """Let the members load data with their start cache, if the variant's is smaller."""
        running = self._running()
        if running.cache_gb < SMALLEST_AT_START_GB:
            running.resize_cache(SMALLEST_AT_START_GB)

    def give_cache(self) -> None:
        """Set the members' cache to that of the prepared variant."""
        running = self._running()
        if self._cache_gb != running.cache_gb or not running.cache_shrunk:
            running.resize_cache(self._cache_gb)

    @property
    def cache_shrunk(self) -> bool | None:
        """Return the result for the members of the running set."""
        return None if self._set is None else self._set.cache_shrunk

    def members(self) -> list[MongoClient[dict[str, Any]]]:
        """Return a client of each member, whatever its role."""
        return self._running().members()

    def kill_member(self, number: int) -> None:
        """Kill one of the members; the next window starts a new set."""
        self._running().kill_member(number)

    def _settings(self, config: Mapping[str, Any]) -> Settings:
        given = self._address
        return Settings(
            config.get("members", given.members or MEMBERS),
            given.oplog_mb or SMALLEST_OPLOG_MB,
            self._program,
            given.parameters,
        )

    def _named_program(self) -> dict[str, str]:
        """Return its name alone: folders contain people's names."""
        return {"program": self._program.name} if self._program else {}

    def _told_path(self) -> dict[str, str]:
        """Return a digest that distinguishes programs of the same name in different folders."""
        return {"path": hashlib.sha256(str(self._program).encode()).hexdigest()[:12]} if self._program else {}

    def fault(self, patience: float = LAST_WORDS_SECONDS) -> str:
        """Return why a member has ended."""
        if self._set is None:
            return ""
        deadline = time.monotonic() + patience
        while not (reason := self._set.fault()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return reason

    def close(self) -> None:
        """End the members and remove their files."""
        if self._set is not None:
            self._set.close()
            self._set = None

    def _running(self) -> LocalReplicaSet:
        if self._set is None:
            raise TargetError("the local target is not prepared")
        return self._set

    def _bench_config(self) -> Mapping[str, Any]:
        import psutil

        return {
            "comment": "replica set on one machine, started by mongo-tables run",
            "atlasInstanceType": "local",
            "atlasDiskType": "local disk",
            "atlasIOPS": None,
            "atlasDiskSizeGB": psutil.disk_usage(str(self._running().directory)).total // 2**30,
        }


class UriTarget(Target):
    """Any deployment with a connection string; its machine stays as it is."""

    ends_with_run = False

    def __init__(self, uri: str) -> None:
        """Raises RunnerError for an invalid connection string."""
        parts = used(uri, "the target", lambda: _parts(uri))
        self.name = ",".join(f"{host}:{port}" for host, port in parts["nodelist"])
        self.given = parts["options"]
        self.options = measured_options(self.given)
        self._uri = uri

    @property
    def uri(self) -> str:
        """Return the given connection string."""
        return self._uri

    def prepare(self, config: Mapping[str, Any], cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Return the machine as given; all that the variant asks of it is listed as not varied."""
        return Machine(
            bench_config={"comment": "a given deployment",
 "atlasInstanceType": "not known", "atlasDiskType": "not known",
                          "atlasIOPS": None, "atlasDiskSizeGB": None},
            topology={"kind": "given by its address"},
            not_varied=tuple(sorted(config.get("instance", {}))),
        )  # fmt: skip


def _parts(uri: str) -> Mapping[str, Any]:
    from pymongo import MongoClient
    from pymongo.uri_parser import parse_uri

    # Only a client notices missing certificates, and it need not connect for that.
    MongoClient[dict[str, Any]](uri, connect=False).close()
    parts: Mapping[str, Any] = parse_uri(uri)
    return parts


def _check_caches(address: LocalAddress, sets: int) -> None:
    """Raise TargetError if the caches of all members do not fit into each set's share of the memory."""
    import psutil

    members, memory = address.members or MEMBERS, psutil.virtual_memory().total / 2**30 / sets
    if address.cache_gb and address.cache_gb * members > memory:
        raise TargetError(
            f"the caches of {members} members with {address.cache_gb:g} GB do not fit into {memory:.1f} GB, which "
            "this machine has for a local target",
            "give less (cacheGB), or fewer members",
        )


def open_target(where: str, sets: int = 1) -> Target:
    """Open a local target, one of ``sets``, or a connection string; raise RunnerError."""
    if is_local(where):
        return LocalTarget(parse_local(where), sets)
    if where.startswith(("mongodb://", "mongodb+srv://")):
        return UriTarget(where)
    raise RunnerError(
        f"no target is called {shown(where)!r}", "use local, local:PATH, mongodb://… or mongodb+srv://…"
    )


def wanted_cache_gb(reference: Mapping[str, Any], variant: Mapping[str, Any], scale: float) -> float:
    """Return the cache of the published machine of a variant in GB, scaled down with the data."""
    instance = variant.get("instance", {}).get("atlasInstanceType")
    published = ATLAS_CACHE_GB.get(instance, reference.get("cache_gb", 8))
    return float(published * scale)
