"""Atlas addresses (``atlas:PROJECT?NAME=VALUE&…``), and the clusters that they describe.

A cluster has the properties that its variant sets, such as tier and disk. The address sets further properties for all
variants; the rest come from the experiment's reference machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import read_settings
from mongo_tables.runner.local_set import MEMBERS

RUN_TAG: Final = "mongo-tables-run"
REGION: Final = "EU_WEST_1"
"""The region in which the published figures were measured."""
VERSION: Final = "8.0"
STANDARD: Final = "STANDARD"
_PROJECT: Final = re.compile(r"[a-f0-9]{24}")
_OFF: Final = {"compute": {"enabled": False, "scaleDownEnabled": False}, "diskGB": {"enabled": False}}
SETTINGS: Final = {
    "tier": "atlasInstanceType",
    "disk": "atlasDiskType",
    "gb": "atlasDiskSizeGB",
    "iops": "atlasIOPS",
    "region": "atlasRegion",
    "version": "version",
}
"""The settings of a cluster: the name in an address → the name in a variant and in the reference machine."""
_REQUIRED: Final = ("tier", "disk", "gb")
_NUMBERS: Final = ("gb", "iops")


@dataclass(frozen=True, slots=True)
class AtlasAddress:
    """A project, and the settings that the address gives for its clusters, sorted by name."""

    project: str
    settings: Mapping[str, str]


def is_atlas(where: str) -> bool:
    """Return whether ``where`` is an Atlas address."""
    return where.startswith("atlas:")


def parse_atlas(where: str) -> AtlasAddress:
    """Parse a target that ``is_atlas`` accepts. Raises CommandError for an invalid project or setting."""
    project, _, given = where.removeprefix("atlas:").partition("?")
    if not _PROJECT.fullmatch(project):
        raise CommandError(
            f"{project!r} is not a project of Atlas",
            "write atlas:PROJECT with its id, 24 digits from 0 to f, as the project's settings show it",
        )
    settings = read_settings(given, "a target on Atlas", SETTINGS)
    for name in _NUMBERS:
        if not settings.get(name, "0").isdecimal():
            raise CommandError(f"{name} is {settings[name]!r}, not a whole number")
    return AtlasAddress(project, dict(sorted(settings.items())))


class AtlasMachine(NamedTuple):
    """A requested cluster. ``iops`` is None for a STANDARD disk, whose size determines its IOPS."""

    tier: str
    disk: str
    iops: int | None
    gb: int
    region: str
    version: str

    def __str__(self) -> str:
        iops = f" {self.iops}/s" if self.iops else ""
        return f"{self.tier}, {self.disk}{iops}, {self.gb} GB, {self.region}, MongoDB {self.version}"


def machine_of(config: Mapping[str, Any], address: AtlasAddress) -> AtlasMachine:
    """Return the cluster for a variant. Raises TargetError if a setting is missing."""
    asked, reference = config.get("instance", {}), config.get("reference", {})
    found = {
        setting: asked.get(name, address.settings.get(setting) or reference.get(name))
        for setting, name in SETTINGS.items()
    }
    if missing := [setting for setting in _REQUIRED if not found[setting]]:
        raise TargetError(
            f"names no {', '.join(missing)} of a cluster",
            f"write it into the target: atlas:PROJECT?{'&'.join(f'{setting}=…' for setting in missing)}",
        )
    iops = found["iops"] if found["disk"] != STANDARD else None
    return AtlasMachine(
        str(found["tier"]), str(found["disk"]), int(iops) if iops else None, int(found["gb"]),
        str(found["region"] or REGION), str(found["version"] or VERSION),
    )  # fmt: skip


def order(machine: AtlasMachine, name: str, run: str) -> dict[str, Any]:
    """Return the request that creates the cluster. Options that cost money or disturb measurements are off."""
    hardware = {
        "instanceSize": machine.tier, "nodeCount": MEMBERS, "diskSizeGB": machine.gb,
        "ebsVolumeType": machine.disk,
        **({"diskIOPS": machine.iops} if machine.iops else {}),
    }  # fmt: skip
    region = {
        "providerName": "AWS", "regionName": machine.region, "priority": 7, "electableSpecs": hardware,
        "autoScaling": _OFF,
    }  # fmt: skip
    return {
        "name": name,
        "clusterType": "REPLICASET",
        "mongoDBMajorVersion": machine.version,
        "replicationSpecs": [{"regionConfigs": [region]}],
        "tags": [{"key": RUN_TAG, "value": run}],
        "backupEnabled": False,
        "pitEnabled": False,
        "biConnector": {"enabled": False},
        "diskWarmingMode": "FULLY_WARMED",
        "terminationProtectionEnabled": False,
    }


def _region_of(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the region in Atlas's description of a cluster, or an empty mapping if the answer has another form."""
    with suppress(KeyError, IndexError, TypeError):
        found: Mapping[str, Any] = cluster["replicationSpecs"][0]["regionConfigs"][0]
        return found if found["electableSpecs"] is not None else {}
    return {}


def hardware_of(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the hardware in Atlas's description of a cluster, or an empty mapping if the answer has another form."""
    found: Mapping[str, Any] = _region_of(cluster).get("electableSpecs", {})
    return found


def differences(cluster: Mapping[str, Any], machine: AtlasMachine) -> Iterator[str]:
    """Yield a short text for each difference between the created cluster and the requested one."""
    hardware, region = hardware_of(cluster), _region_of(cluster)
    scaling = region.get("autoScaling") or {}
    wanted: dict[str, tuple[Any, Any]] = {
        "tier": (hardware.get("instanceSize"), machine.tier),
        "disk": (hardware.get("ebsVolumeType", STANDARD), machine.disk),
        "size of the disk": (hardware.get("diskSizeGB"), machine.gb),
        "operations": (hardware.get("diskIOPS") if machine.iops else None, machine.iops),
        "members": (hardware.get("nodeCount"), MEMBERS),
        "region": (region.get("regionName"), machine.region),
        "version": (str(cluster.get("mongoDBMajorVersion")), machine.version),
        # The other edition charges for storage by use, so the cost would have no limit.
        "edition": (str(cluster.get("effectiveDatabaseEdition", "core")).lower(), "core"),
        "backup": (bool(cluster.get("backupEnabled")), False),
        "continuous backup": (bool(cluster.get("pitEnabled")), False),
        "automatic scaling": (any((scaling.get(part) or {}).get("enabled") for part in _OFF), False),
        "pause": (bool(cluster.get("paused")), False),
    }
    for what, (there, asked) in wanted.items():
        if there != asked:
            yield f"{what} is {_told(there)}, not {_told(asked)}"


def _told(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not known" if value is None else str(value)
