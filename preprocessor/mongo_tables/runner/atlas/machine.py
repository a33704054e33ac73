"""What a cluster is made with, from what a variant asks, what the address says, and the experiment's reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from mongo_tables.runner.atlas.address import AtlasAddress
from mongo_tables.runner.atlas.names import tags
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local import MEMBERS

REGION: Final = "EU_WEST_1"
"""Where the published figures were measured."""
VERSION: Final = "8.0"
CORE: Final = "core"
STANDARD: Final = "STANDARD"
_OFF: Final = {"compute": {"enabled": False, "scaleDownEnabled": False}, "diskGB": {"enabled": False}}
_MUST: Final = {"tier": "atlasInstanceType", "disk": "atlasDiskType", "gb": "atlasDiskSizeGB"}
"""Settings of an address by what variants and references call them: without these there is no cluster."""
_MAY: Final = {"iops": "atlasIOPS", "region": "atlasRegion", "edition": "atlasEdition", "version": "version"}
VARIED: Final = frozenset({*_MUST.values(), *_MAY.values()})
"""What a variant may ask of a cluster."""


class AtlasMachine(NamedTuple):
    """A cluster as it is asked for. Of a STANDARD disk nobody may ask the operations: its size decides."""

    tier: str
    disk: str
    iops: int | None
    gb: int
    region: str
    version: str
    edition: str

    def __str__(self) -> str:
        iops = f" {self.iops}/s" if self.iops else ""
        return f"{self.tier}, {self.disk}{iops}, {self.gb} GB, {self.region}, MongoDB {self.version}"

    @property
    def but_tier(self) -> tuple[Any, ...]:
        """What a cluster has to be made anew for; a tier is changed on the one that runs."""
        return self[1:]


def machine_of(config: Mapping[str, Any], address: AtlasAddress) -> AtlasMachine:
    """The cluster for a variant; raises TargetError where something of it is not said, or cannot be had."""
    asked, reference = config.get("instance", {}), config.get("reference", {})
    found: dict[str, Any] = {}
    for setting, name in {**_MUST, **_MAY}.items():
        found[setting] = asked.get(name, address.settings.get(setting) or reference.get(name))
    if missing := [setting for setting in _MUST if not found[setting]]:
        raise TargetError(
            f"names no {', '.join(missing)} of a cluster",
            f"say it in the target: atlas:PROJECT?{'&'.join(f'{setting}=…' for setting in missing)}",
        )
    edition = found["edition"] or CORE
    if edition != CORE:
        raise TargetError(
            f"asks for the edition {edition}, for which the specification of clusters (2024-10-23) has no field; its "
            "storage is paid by use, so that no limit of the cost could be kept",
            "make such a cluster yourself, and name it: --target mongodb+srv://…",
        )
    iops = found["iops"] if found["disk"] != STANDARD else None
    return AtlasMachine(
        str(found["tier"]), str(found["disk"]), int(iops) if iops else None, int(found["gb"]),
        str(found["region"] or REGION), str(found["version"] or VERSION), edition,
    )  # fmt: skip


def specs(machine: AtlasMachine) -> list[dict[str, Any]]:
    """The hardware of the cluster, as a request says it. Nothing of it grows or shrinks by itself."""
    hardware = {
        "instanceSize": machine.tier, "nodeCount": MEMBERS, "diskSizeGB": machine.gb,
        "ebsVolumeType": machine.disk,
        **({"diskIOPS": machine.iops} if machine.iops else {}),
    }  # fmt: skip
    region = {
        "providerName": "AWS", "regionName": machine.region, "priority": 7, "electableSpecs": hardware,
        "autoScaling": _OFF,
    }  # fmt: skip
    return [{"regionConfigs": [region]}]


def order(machine: AtlasMachine, name: str, run: str, until: datetime) -> dict[str, Any]:
    """The request that makes the cluster: nothing that costs more, or disturbs a measurement, is on."""
    return {
        "name": name,
        "clusterType": "REPLICASET",
        "mongoDBMajorVersion": machine.version,
        "replicationSpecs": specs(machine),
        "tags": tags(run, until),
        "backupEnabled": False,
        "pitEnabled": False,
        "biConnector": {"enabled": False},
        "diskWarmingMode": "FULLY_WARMED",
        "terminationProtectionEnabled": False,
    }


def hardware_of(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Atlas says that the members of the cluster are; empty where it does not say it as expected."""
    try:
        found: Mapping[str, Any] = _region(cluster)["electableSpecs"]
    except (KeyError, IndexError, TypeError):
        return {}
    return found


def differences(cluster: Mapping[str, Any], machine: AtlasMachine) -> Iterator[str]:
    """How the cluster that was made differs from what was asked for, in a few words each."""
    hardware = hardware_of(cluster)
    wanted: dict[str, tuple[Any, Any]] = {
        "tier": (hardware.get("instanceSize"), machine.tier),
        "disk": (hardware.get("ebsVolumeType", STANDARD), machine.disk),
        "size of the disk": (hardware.get("diskSizeGB"), machine.gb),
        "operations": (hardware.get("diskIOPS") if machine.iops else None, machine.iops),
        "members": (hardware.get("nodeCount"), MEMBERS),
        "region": (_region(cluster).get("regionName") if hardware else None, machine.region),
        "version": (str(cluster.get("mongoDBMajorVersion")), machine.version),
        # Newer answers say it, older ones know of one alone.
        "edition": (str(cluster.get("effectiveDatabaseEdition", CORE)).lower(), machine.edition),
        "backup": (bool(cluster.get("backupEnabled")), False),
        "continuous backup": (bool(cluster.get("pitEnabled")), False),
        "automatic scaling": (_scales(cluster) if hardware else False, False),
        "pause": (bool(cluster.get("paused")), False),
    }
    for what, (there, asked) in wanted.items():
        if there != asked:
            yield f"{what} is {_told(there)}, not {_told(asked)}"


def _region(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = cluster["replicationSpecs"][0]["regionConfigs"][0]
    return found


def _scales(cluster: Mapping[str, Any]) -> bool:
    scaling = _region(cluster).get("autoScaling") or {}
    return any((scaling.get(part) or {}).get("enabled") for part in ("compute", "diskGB"))


def _told(value: Any) -> str:
    if value is None:
        return "not known"
    return (
        ("on" if value else "off")
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
