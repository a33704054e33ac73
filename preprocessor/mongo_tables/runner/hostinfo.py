"""Where figures come from: versions and machine, without the names of hosts, users or folders."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mongo_tables.runner import disk, revision


def versions(build_info: Mapping[str, Any]) -> dict[str, str]:
    """Versions of server (from ``buildInfo``), driver, harness and Python.

    Two builds of one version of the server differ in its commit alone, where it says that. A product that is not
    MongoDB is named: its ``server`` is the version of MongoDB that it stands in for.
    """
    import pymongo

    product = product_of(build_info)
    return {
        "server": build_info["version"],
        **({"product": product} if product else {}),
        **({"server_commit": build_info["gitVersion"]} if build_info.get("gitVersion") else {}),
        "driver": f"PyMongo {pymongo.version}",
        "harness": revision.harness(),
        "python": platform.python_version(),
    }


def product_of(build_info: Mapping[str, Any]) -> str:
    """What answers in place of MongoDB, with its version, as far as it says so; nothing for MongoDB.

    FerretDB 1 and 2 each have a field of their own (https://docs.ferretdb.io).
    """
    of_2: Mapping[str, Any] = build_info.get("ferretdb") or {}
    version = build_info.get("ferretdbVersion") or of_2.get("version")
    if version:
        return f"FerretDB {str(version).removeprefix('v')}"
    # Each build of MongoDB says which engines it has, or that it is without.
    return "" if "modules" in build_info or "storageEngines" in build_info else "not MongoDB"


Origin = dict[str, Any]
"""Where a window was measured, as far as windows of one row have to agree in it."""


def origin_of(row: Mapping[str, Any]) -> Origin:
    """Versions and machine of a row, without what may differ on one machine."""
    machine = {name: value for name, value in row["hardware"].items() if name != "disk"}
    return {**row["versions"], **machine}


def hardware(data_directory: Path | None) -> dict[str, Any]:
    """The machine that the client runs on: processor, cores, memory in GiB, kernel, system.

    Also the disk of the data, where that is on this machine.
    """
    import psutil

    machine: dict[str, Any] = {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count(logical=True),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _system(),
    }
    return {**machine, "disk": disk.describe(data_directory)} if data_directory else machine


def _cpu_model() -> str:
    return _value(Path("/proc/cpuinfo"), "model name", ":") or platform.processor() or platform.machine()


def _system() -> str:
    return _value(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"') or platform.platform(terse=True)


def _value(file: Path, key: str, separator: str) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(separator)
        if name.strip() == key:
            return value.strip()
    return ""
