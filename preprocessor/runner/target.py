"""On what an experiment runs: a replica set of our own, or any deployment that has a URI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from preprocessor.runner.errors import RunnerError

LOCAL_CACHE_SHARE = 0.15
"""Of the machine's memory, at most, for the cache of each of three members."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs for one variant.

    ``bench_config`` has the four fields that the tables of a base instance show (None: not known).
    ``topology`` says how the deployment is built. ``varied`` and ``not_varied`` name what the variant asked
    of the machine and what of it the target could give. ``data_directory`` is set when the data is on this
    machine, so that its disk and its processors may be measured here; ``pids`` are then its members.
    """

    bench_config: Mapping[str, Any]
    topology: Mapping[str, Any]
    varied: Mapping[str, Any] = field(default_factory=dict)
    not_varied: tuple[str, ...] = ()
    data_directory: Path | None = None
    pids: tuple[int, ...] = ()


class Target(Protocol):
    """A deployment that experiments may run on."""

    name: str

    @property
    def uri(self) -> str:
        """Connection string, with its password: for clients only, never for people."""

    def prepare(self, variant: Mapping[str, Any]) -> Machine:
        """Make the deployment what ``variant`` asks for, as far as it can be, and say what runs now."""

    def close(self) -> None:
        """Give back what the target holds."""


class LocalTarget:
    """A replica set on this machine, started when the first variant asks for it."""

    name = "local"

    def __init__(self, *, members: int, cache_gb: float) -> None:
        """``cache_gb`` is the WiredTiger cache that every member gets."""
        from preprocessor.runner.local import LocalReplicaSet, Settings

        self._set = LocalReplicaSet(Settings(members=members, cache_gb=cache_gb))

    @property
    def uri(self) -> str:
        """Connection string of the replica set."""
        return self._set.uri

    def prepare(self, variant: Mapping[str, Any]) -> Machine:
        """Describe the replica set; what a variant asks of the machine is named as not varied."""
        import psutil

        disk = psutil.disk_usage(str(self._set.directory))
        asked = variant.get("instance", {})
        return Machine(
            bench_config={
                "comment": "replica set on one machine, started by mongo-tables run",
                "atlasInstanceType": "local",
                "atlasDiskType": "local disk",
                "atlasIOPS": None,
                "atlasDiskSizeGB": disk.total // 2**30,
            },
            topology=self._set.describe(),
            not_varied=tuple(sorted(asked)),
            data_directory=self._set.directory,
            pids=tuple(self._set.pids),
        )

    def close(self) -> None:
        """End the members and remove their files."""
        self._set.close()


class UriTarget:
    """Any deployment that a connection string reaches; its machine stays as it is."""

    def __init__(self, uri: str) -> None:
        """Raises RunnerError when the string is no connection string of MongoDB."""
        from pymongo.errors import PyMongoError
        from pymongo.uri_parser import parse_uri

        try:
            nodes = parse_uri(uri)["nodelist"]
        except PyMongoError as error:
            raise RunnerError(
                f"the target is no connection string: {hide_password(str(error), uri)}"
            ) from None
        self.name = ",".join(f"{host}:{port}" for host, port in nodes)
        self._uri = uri

    @property
    def uri(self) -> str:
        """Connection string as it was given."""
        return self._uri

    def prepare(self, variant: Mapping[str, Any]) -> Machine:
        """Say that the machine was given; whatever the variant asks of it is listed as not varied."""
        return Machine(
            bench_config={"comment": "a given deployment",
 "atlasInstanceType": "not known", "atlasDiskType": "not known",
                          "atlasIOPS": None, "atlasDiskSizeGB": None},
            topology={"kind": "given by its address"},
            not_varied=tuple(sorted(variant.get("instance", {}))),
        )  # fmt: skip

    def close(self) -> None:
        """Nothing was started, so there is nothing to end."""


def open_target(where: str, *, cache_gb: float, members: int = 3) -> Target:
    """Open ``local`` or a connection string."""
    if where == "local":
        return LocalTarget(members=members, cache_gb=cache_gb)
    if where.startswith(("mongodb://", "mongodb+srv://")):
        return UriTarget(where)
    raise RunnerError(f"no target is called {where!r}", "use local, mongodb://… or mongodb+srv://…")


def local_cache_gb(wanted: float) -> float:
    """The cache of a local member: as wanted, but within what mongod accepts and what the machine has."""
    import psutil

    from preprocessor.runner.local import SMALLEST_CACHE_GB

    most = psutil.virtual_memory().total / 2**30 * LOCAL_CACHE_SHARE
    return float(round(max(SMALLEST_CACHE_GB, min(wanted, most)), 3))


def hide_password(text: str, uri: str) -> str:
    """Give ``text`` without the user and password that ``uri`` carries."""
    head, found, _ = uri.rpartition("@")
    secret = head.partition("://")[2]
    return text.replace(secret, "…") if found and secret else text
