"""Atlas addresses (``atlas:PROJECT?NAME=VALUE&…``), the clusters that they describe, and who owns a resource.

A variant sets what it varies: its tier, its disk. The address sets what is the same for all variants and what the
experiment's reference machine does not define.

In a project, a resource is ours if it has our name *and* our tag, both written when it was created.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_set import MEMBERS

RUN_TAG: Final = "mongo-tables-run"
_NAME: Final = re.compile(r"mongo-tables-([0-9a-f]{6})-[0-9]+")
_COMMENT: Final = re.compile("mongo-tables run ([0-9a-f]{12})")


def cluster_names(run: str) -> Iterator[str]:
    """Yield names for a run's clusters and users. Atlas tells clusters apart by the first 23 characters."""
    return (f"mongo-tables-{run[:6]}-{number}" for number in count(1))


def words(run: str) -> str:
    """Return the comment on a run's database user and on its access list entry."""
    return f"mongo-tables run {run}"


def run_in(text: Any) -> str:
    """Return the run that this comment names, or "" if the resource is not ours."""
    found = _COMMENT.fullmatch(str(text))
    return found[1] if found else ""


def _named_by(run: str, name: Any) -> str:
    """Return the run if the resource also has one of its names, else ""."""
    found = _NAME.fullmatch(str(name or ""))
    return run if found and run.startswith(found[1]) else ""


def run_of_cluster(cluster: Mapping[str, Any]) -> str:
    """Return the run that created the cluster, or "" if the cluster is not ours for certain."""
    tags = {tag.get("key"): str(tag.get("value", "")) for tag in cluster.get("tags") or ()}
    return _named_by(tags.get(RUN_TAG, ""), cluster.get("name"))


def run_of_user(user: Mapping[str, Any]) -> str:
    """Return the run that created the database user, or "" if it is not ours."""
    return _named_by(run_in(user.get("description")), user.get("username"))


ALREADY_THERE: Final = "there"
"""The value of ``access`` for a machine that the project's access list already admits."""
_PROJECT: Final = re.compile(r"[a-f0-9]{24}")
_FORMS: Final = {
    "access": (r".+", "the address of this machine as Atlas sees it, such as 203.0.113.7, or `there`"),
    "region": (r"[A-Z][A-Z0-9_]*", "a region of AWS as Atlas writes it, such as EU_WEST_1"),
    "version": (r"[0-9]+\.[0-9]+", "a version of MongoDB such as 8.0"),
    "edition": (r"core|infinite", "core or infinite"),
    "tier": (r"M[0-9]+", "a tier such as M40"),
    "disk": (r"STANDARD|PROVISIONED", "STANDARD or PROVISIONED"),
    "iops": (r"[1-9][0-9]*", "operations a second such as 3000"),
    "gb": (r"[1-9][0-9]*", "the size of the disk in GB, such as 200"),
}
"""The settings: the pattern of each, and its description."""


@dataclass(frozen=True, slots=True)
class AtlasAddress:
    """A project, the address that may connect to its clusters, and the cluster settings given, sorted by name."""

    project: str
    access: str
    settings: Mapping[str, str]


def is_atlas(where: str) -> bool:
    """Return whether the run creates the cluster of this target on Atlas."""
    return where.startswith("atlas:")


def parse_atlas(where: str) -> AtlasAddress:
    """Parse a target that ``is_atlas`` accepts. Raise CommandError for an invalid project or setting."""
    project, _, given = where.removeprefix("atlas:").partition("?")
    if not _PROJECT.fullmatch(project):
        raise CommandError(
            f"{project!r} is not a project of Atlas",
            "write atlas:PROJECT with its id, 24 digits from 0 to f, as the project's settings show it",
        )
    settings = _settings(given)
    access = settings.pop("access", "")
    if not access:
        raise CommandError(
            "a cluster on Atlas accepts connections only from known addresses",
            f"give {_FORMS['access'][1]}: --target 'atlas:PROJECT?access=…'",
        )
    _check_access(access)
    return AtlasAddress(project, access, dict(sorted(settings.items())))


def _settings(text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for one in text.split("&") if text else []:
        name, equals, value = map(unquote, one.partition("="))
        if name not in _FORMS or not equals:
            raise CommandError(
                f"a target on Atlas has no setting {name!r}",
                did_you_mean(name, _FORMS) or f"it has {', '.join(_FORMS)}",
            )
        if name in settings:
            raise CommandError(f"{name} is given twice", "give it once")
        form, words = _FORMS[name]
        if not re.fullmatch(form, value):
            raise CommandError(f"{name} is {words}, not {value!r}", f"--target 'atlas:PROJECT?{name}=…'")
        settings[name] = value
    return settings


def _check_access(access: str) -> None:
    """Raise CommandError for an invalid address, and for one that would admit everybody."""
    if access == ALREADY_THERE:
        return
    try:
        network = ipaddress.ip_network(access)
    except ValueError:
        raise CommandError(f"{access!r} is not an address", f"access is {_FORMS['access'][1]}") from None
    if network.num_addresses == 1 and network.network_address.is_unspecified:
        raise CommandError(f"{access} matches all addresses", "name this machine's")
    if network.prefixlen < network.max_prefixlen - 8:
        raise CommandError(
            f"{access} would let {network.num_addresses:,} addresses in",
            "name this machine's, or its network's",
        )


REGION: Final = "EU_WEST_1"
"""The region in which the published figures were measured."""
VERSION: Final = "8.0"
CORE: Final = "core"
STANDARD: Final = "STANDARD"
_OFF: Final = {"compute": {"enabled": False, "scaleDownEnabled": False}, "diskGB": {"enabled": False}}
_MUST: Final = {"tier": "atlasInstanceType", "disk": "atlasDiskType", "gb": "atlasDiskSizeGB"}
"""The required settings of a cluster: name in the address → name in variants and references."""
_MAY: Final = {"iops": "atlasIOPS", "region": "atlasRegion", "edition": "atlasEdition", "version": "version"}
VARIED: Final = frozenset({*_MUST.values(), *_MAY.values()})
"""The settings of a cluster that a variant may have."""


class AtlasMachine(NamedTuple):
    """The requested cluster. A STANDARD disk takes no IOPS setting: its size determines them."""

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
    def paid(self) -> tuple[str, str, int | None, int, str]:
        """Return what the price of the cluster depends on."""
        return self[:5]


def machine_of(config: Mapping[str, Any], address: AtlasAddress) -> AtlasMachine:
    """Return the cluster for a variant. Raise TargetError if a setting is missing or unsupported."""
    asked, reference = config.get("instance", {}), config.get("reference", {})
    found: dict[str, Any] = {}
    for setting, name in {**_MUST, **_MAY}.items():
        found[setting] = asked.get(name, address.settings.get(setting) or reference.get(name))
    if missing := [setting for setting in _MUST if not found[setting]]:
        raise TargetError(
            f"names no {', '.join(missing)} of a cluster",
            f"write it into the target: atlas:PROJECT?{'&'.join(f'{setting}=…' for setting in missing)}",
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


def order(machine: AtlasMachine, name: str, run: str) -> dict[str, Any]:
    """Return the request that creates the cluster, without options that cost more or disturb a measurement."""
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
    """Return the only region of the cluster in Atlas's answer, or an empty mapping if it has another form."""
    with suppress(KeyError, IndexError, TypeError):
        found: Mapping[str, Any] = cluster["replicationSpecs"][0]["regionConfigs"][0]
        return found if found["electableSpecs"] is not None else {}
    return {}


def hardware_of(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the hardware of the cluster's members in Atlas's answer, or an empty mapping if it has another form."""
    found: Mapping[str, Any] = _region_of(cluster).get("electableSpecs", {})
    return found


def differences(cluster: Mapping[str, Any], machine: AtlasMachine) -> Iterator[str]:
    """Yield each difference between the created cluster and the requested one, in a few words."""
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
        # Newer answers contain this; older ones have a single field.
        "edition": (str(cluster.get("effectiveDatabaseEdition", CORE)).lower(), machine.edition),
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
