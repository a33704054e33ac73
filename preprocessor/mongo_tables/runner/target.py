"""The targets of an experiment: a local replica set or a deployment with a URI, and the variants that each measures.

A variant names its machine in ``instance``. A deployment given by its address has a fixed machine: the rows of variants
that differ only in their machine would differ only by noise. A local target provides the cache that a variant needs.
Variants that would be equal work on a target are measured once.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
from pymongo import MongoClient
from pymongo.uri_parser import parse_uri

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import cache_size
from mongo_tables.runner.cache_size import SMALLEST_AT_START_GB
from mongo_tables.runner.connection_strings import measured_options, used
from mongo_tables.runner.errors import TargetError, shown
from mongo_tables.runner.experiment import LABELS, Experiment
from mongo_tables.runner.local_address import (
    PLAIN,
    LocalAddress,
    expand_version,
    find_program,
    is_local,
    parse_local,
)
from mongo_tables.runner.local_set import MEMBERS, LocalReplicaSet
from mongo_tables.runner.workloads import Config

LAST_WORDS_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Machine:
    """The deployment that runs for one variant.

    ``bench_config`` has the fields that tables about the base instance show (None: unknown). ``topology`` describes the
    deployment. ``varied`` has the machine properties that the variant requires and the deployment has; ``not_varied``
    names the required properties that the deployment lacks. ``data_directory`` is set if the data is on this machine,
    so that disk and processors can be measured here. Then ``pids`` are the members' process ids.
    """

    bench_config: Mapping[str, Any]
    topology: Mapping[str, Any]
    varied: Mapping[str, Any] = field(default_factory=dict)
    not_varied: tuple[str, ...] = ()
    data_directory: Path | None = None
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedTarget:
    """A deployment that a run may measure. The name may be empty if the run has only one target."""

    name: str
    where: str = field(repr=False)
    """The argument of ``open_target``; it may contain a password."""


ALONE = NamedTarget("", "")
"""The only target of a run, without a name."""


class Target:
    """A deployment for experiments. Subclasses override the methods that differ from a fixed deployment."""

    name: str
    named = ALONE
    ends_with_run = True
    """Whether ``close`` removes the deployment itself, with every database."""
    options = ""
    """The options and settings in the target's address that affect measurements, without secrets and paths."""
    given: Mapping[str, Any] = MappingProxyType({})
    """All options of the target's connection string as PyMongo returns them; empty without a connection string."""

    def __str__(self) -> str:
        """Return the target for messages and for the comparison of runs: its name and ``options``, without secrets."""
        where = f"{self.name} {self.options}".rstrip()
        return f"{self.named.name}={where}" if self.named.name else where

    @property
    def uri(self) -> str:
        """Return the connection string with its password, which no message may show. ``prepare`` may change it."""
        raise NotImplementedError

    def check_config(self, config: Config) -> None:
        """Raise TargetError if this config cannot be measured on the target.

        The message has no subject: the caller writes the experiment's name in front of it.
        """

    def machine_for(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Mapping[str, Any]:
        """Return the known properties of the machine that ``prepare`` would provide for the same arguments."""
        return {}

    def prepare(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Adapt the deployment to a variant as far as possible. Return the resulting machine.

        ``config`` has the experiment's parameters, overridden by the variant's. ``cache_gb`` is the cache that
        keeps the published ratio of data to cache. ``least_gb`` is the smallest cache that the variant's requests need.
        """
        raise NotImplementedError

    def set_cache(self, *, loading: bool = False) -> None:
        """Set the cache that the variant needs, or a larger one for ``loading``, which is not measured."""

    @property
    def cache_shrunk(self) -> bool | None:
        """Return whether the cached data of every member fitted into the new cache size, or None if no size was set."""
        return None

    def check(self) -> None:
        """Raise TargetError if somebody has changed the deployment. The run calls this after each window."""

    def fault(self, patience: float = LAST_WORDS_SECONDS) -> str:
        """Return the reason why a member of the deployment has ended, or "" if none has ended or no reason is known.

        A member may end shortly after the failure that it causes. So the method waits for up to ``patience`` seconds.
        """
        return ""

    def close(self) -> None:
        """Release the target's resources."""


class LocalTarget(Target):
    """Replica sets on this machine. A variant that needs a different set starts a new one."""

    name = "local"

    def __init__(self, address: LocalAddress = PLAIN, sets: int = 1) -> None:
        """``sets`` is the number of local targets that run at once and share the machine.

        Raises TargetError if the program cannot run, or if the caches do not fit into the memory.
        """
        program = str(find_program(address.program)) if address.program else ""
        self._address = replace(address, program=program)
        self._sets = sets
        self._set: LocalReplicaSet | None = None
        self._cache_gb = SMALLEST_AT_START_GB
        _check_caches(address, sets)
        # The options contain the program's name, and a digest in place of its path.
        digest = hashlib.sha256(program.encode()).hexdigest()[:12]
        path = {"path": digest} if program else {}
        options = {**self._named_program(), **path, **address.settings}
        self.options = json.dumps(options) if options else ""

    def check_config(self, config: Config) -> None:
        """Raise TargetError if the config needs another number of members."""
        members, asked = self._address.members, config.get("members")
        if members and asked and members != asked:
            raise TargetError(f"asks for {asked} members, and the target has {members}", "leave out members")

    @property
    def uri(self) -> str:
        """Return the connection string of the running replica set. Raises TargetError if no set is prepared."""
        return self.running.uri

    def machine_for(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Mapping[str, Any]:
        """Return only the cache, because all local sets have the disk, memory and processors of this machine."""
        return {"cache_gb": self._cache(config, cache_gb, least_gb)}

    def _cache(self, config: Mapping[str, Any], wanted_gb: float, least_gb: float) -> float:
        return self._address.cache_gb or cache_size.of_local(
            config, wanted_gb, self._sets * self._members(config), least_gb
        )

    def prepare(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Start a set for the variant if the running set does not fit. ``set_cache`` sets its cache afterwards.

        Of the machine properties that a variant requires, a local set provides only the cache.
        """
        wanted_set = replace(self._address, members=self._members(config))
        if self._set is None or self._set.asked != wanted_set or not self._set.is_whole:
            self.close()
            self._set = LocalReplicaSet(wanted_set)
        asked = config.get("instance", {})
        size = self._cache(config, cache_gb, least_gb)
        self._cache_gb = size
        # If the number of records follows the cache, every cache keeps the ratio.
        wanted = size if "workingSetRatio" in config else cache_gb
        if size > self._set.cache_gb or "workingSetRatio" in config:
            self._set.resize_cache(size)
        return Machine(
            bench_config=self._bench_config(),
            topology={
                **self._set.describe(),
                **self._named_program(),
                **({"settings": self._address.settings} if self._address.settings else {}),
                **cache_size.describe(size, wanted),
            },
            varied={"cache_gb": size} if asked and size == round(cache_gb, 3) else {},
            not_varied=tuple(sorted(asked)),
            data_directory=self._set.directory,
            pids=tuple(self._set.pids),
        )

    def set_cache(self, *, loading: bool = False) -> None:
        """Set the members' cache to the variant's cache or, for ``loading``, to the cache at start if it is larger."""
        running = self.running
        size = max(self._cache_gb, SMALLEST_AT_START_GB) if loading else self._cache_gb
        if size != running.cache_gb or not running.cache_shrunk:
            running.resize_cache(size)

    @property
    def cache_shrunk(self) -> bool | None:
        """Return whether the cached data of every member fitted, or None if no set is running."""
        return None if self._set is None else self._set.cache_shrunk

    def _members(self, config: Mapping[str, Any]) -> int:
        return int(config.get("members", self._address.members or MEMBERS))

    def _named_program(self) -> dict[str, str]:
        """Return the name of the program for rows, without its path, which may contain a user's name."""
        return {"program": Path(self._address.program).name} if self._address.program else {}

    def fault(self, patience: float = LAST_WORDS_SECONDS) -> str:
        """Return the reason why a member has ended, or ""."""
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

    @property
    def running(self) -> LocalReplicaSet:
        """Return the running replica set. Raises TargetError if no set is prepared."""
        if self._set is None:
            raise TargetError("the local target is not prepared")
        return self._set

    def _bench_config(self) -> Mapping[str, Any]:
        return {
            "comment": "replica set on one machine, started by mongo-tables run",
            "atlasInstanceType": "local",
            "atlasDiskType": "local disk",
            "atlasIOPS": None,
            "atlasDiskSizeGB": psutil.disk_usage(str(self.running.directory)).total // 2**30,
        }


class UriTarget(Target):
    """Any deployment with a connection string. Its machine stays as it is."""

    ends_with_run = False

    def __init__(self, uri: str) -> None:
        """Raises CommandError for an invalid connection string."""
        parts = used(uri, "the target", lambda: _parts(uri))
        self.name = ",".join(f"{host}:{port}" for host, port in parts["nodelist"])
        self.given = parts["options"]
        self.options = measured_options(self.given)
        self._uri = uri

    @property
    def uri(self) -> str:
        """Return the given connection string."""
        return self._uri

    def prepare(self, config: Config, cache_gb: float, least_gb: float = 0.0) -> Machine:
        """Return a description of the deployment, whose machine properties stay as they are."""
        return Machine(
            bench_config={"comment": "a given deployment",
 "atlasInstanceType": "not known", "atlasDiskType": "not known",
                          "atlasIOPS": None, "atlasDiskSizeGB": None},
            topology={"kind": "given by its address"},
            not_varied=tuple(sorted(config.get("instance", {}))),
        )  # fmt: skip


def _parts(uri: str) -> Mapping[str, Any]:
    # A client notices missing certificates, even without a connection.
    MongoClient[dict[str, Any]](uri, connect=False).close()
    parts: Mapping[str, Any] = parse_uri(uri)
    return parts


def _check_caches(address: LocalAddress, sets: int) -> None:
    """Raise TargetError if the caches of all members do not fit into each set's share of the memory."""
    members, memory = address.members or MEMBERS, psutil.virtual_memory().total / 2**30 / sets
    if address.cache_gb and address.cache_gb * members > memory:
        raise TargetError(
            f"the caches of {members} members with {address.cache_gb:g} GB do not fit into {memory:.1f} GB, which "
            "this machine has for a local target",
            "give a smaller cacheGB, or fewer members",
        )


def open_target(where: str, sets: int = 1) -> Target:
    """Open a local target or the target of a connection string. ``sets`` is the number of local targets of the run.

    Raises CommandError if the text names neither, or if the target cannot be used.
    """
    if is_local(where):
        return LocalTarget(parse_local(where), sets)
    if where.startswith(("mongodb://", "mongodb+srv://")):
        return UriTarget(where)
    raise CommandError(
        f"there is no target {shown(where)!r}", "use local, local:PATH, mongodb://… or mongodb+srv://…"
    )


_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)
"""A target with a name. A connection string does not match, because it has a colon before its first ``=``."""


def parse_targets(given: Sequence[str]) -> tuple[NamedTarget, ...]:
    """Parse several targets ``NAME=WHERE``, or a single ``WHERE``, which needs no name.

    If there are several targets, a server version such as ``5.0`` needs no name: the version is its name. Raises
    CommandError if any other target has no name, or if two targets have the same name or database.

    Example:
        >>> [target.name for target in parse_targets(["a=local", "b=mongodb://host"])]
        ['a', 'b']
    """
    targets = tuple(_parse(one, several=len(given) > 1) for one in given)
    if len(targets) > 1:
        if unnamed := [one for one in targets if not one.name]:
            raise CommandError(
                f"the target {shown(unnamed[0].where)!r} has no name",
                "with several targets, name each: --target M30=mongodb://… --target M40=mongodb://…",
            )
        if twice := [name for name, count in Counter(one.name for one in targets).items() if count > 1]:
            raise CommandError(f"two targets are called {twice[0]}", "give each its own name")
        _check_databases(targets)
    return targets


def _check_databases(targets: Sequence[NamedTarget]) -> None:
    """Raise CommandError if two targets would use the same database, because both may be one deployment."""
    names: dict[str, str] = {}
    for one in targets:
        # A server permits no two databases whose names differ only in case.
        other = names.setdefault(_database_ending(one).lower(), one.name)
        if other != one.name:
            raise CommandError(
                f"the targets {other} and {one.name} would have the same database",
                "give them names that differ in more than case and punctuation",
            )


def database_on(experiment: Experiment, target: NamedTarget) -> str:
    """Return the name of the experiment's database on a target.

    The name ends with the target's name, because two targets may be one deployment. ``_`` replaces the dots and dashes
    of the target's name, because a database name must not contain dots.
    """
    return f"{experiment.parameters['database']}{_database_ending(target)}"


def _database_ending(target: NamedTarget) -> str:
    return "".join(f"_{part}" for part in re.findall("[A-Za-z0-9]+", target.name))


def _parse(text: str, *, several: bool) -> NamedTarget:
    found = _NAMED.fullmatch(text)
    name, where = found.groups() if found else ("", text)
    version, where = expand_version(where) or ("", where)
    return NamedTarget(name or (version if several else ""), where)


TIER = "atlasInstanceType"
"""The machine property whose value is the name of a target."""
_ENDS = "teardown"
"""The machine property that says what happens to the machine after the run."""


def differing(experiment: Experiment, numbers: Collection[int]) -> list[str]:
    """Return the names of the machine properties in which these variants differ, sorted."""
    machines = [experiment.variants[number].get("instance", {}) for number in numbers]
    names = {name for machine in machines for name in machine} - LABELS - {_ENDS}
    return sorted(name for name in names if any(one.get(name) != machines[0].get(name) for one in machines))


def _tiers(experiment: Experiment) -> list[str]:
    """Return the machine name of each variant, or "" for a variant without one."""
    return [str(variant.get("instance", {}).get(TIER, "")) for variant in experiment.variants]


def names_machines(experiment: Experiment) -> bool:
    """Return whether any variant names its machine."""
    return any(_tiers(experiment))


def variants_for(experiment: Experiment, target: NamedTarget) -> list[int]:
    """Return the numbers of the variants whose machine has the name of the target.

    Return all variants if the target has no name, or if no variant names its machine.
    """
    tiers = _tiers(experiment)
    all_of_them = not target.name or not any(tiers)
    return [number for number, tier in enumerate(tiers) if all_of_them or tier == target.name]


def drop_equal(
    experiment: Experiment, numbers: Sequence[int], machine_for: Callable[[int], Any]
) -> list[int]:
    """Return the variants without duplicates: of variants that are equal work on the target, only one stays.

    The reference stays or, if the reference is not among the equal variants, the first of them in the file.
    ``machine_for`` returns the machine that a variant gets. If variants require no machine, or all require the same
    machine, no variant is dropped.
    """
    if not differing(experiment, numbers):
        return [*numbers]
    kept: dict[str, int] = {}
    for number in sorted(numbers, key=lambda number: (number != experiment.baseline, number)):
        work = {
            name: value
            for name, value in experiment.variants[number].items()
            if name not in LABELS and name != "instance"
        }
        kept.setdefault(json.dumps([work, machine_for(number)], sort_keys=True, default=str), number)
    return sorted(kept.values())


def machines_without_target(experiment: Experiment, targets: Sequence[NamedTarget]) -> list[str]:
    """Return the machine names of variants without a target, in the order of the variants.

    Raises TargetError if no variant has a target.
    """
    served = {number for target in targets for number in variants_for(experiment, target)}
    machines = [tier or "variants without a machine" for tier in _tiers(experiment)]
    if not served:
        known = ", ".join(dict.fromkeys(machines))
        raise TargetError(f"{experiment.name} has no variant for the named targets", f"its machines: {known}")
    return list(dict.fromkeys(tier for number, tier in enumerate(machines) if number not in served))
