"""Where figures come from: versions and machine, without the names of hosts, users or folders."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from preprocessor.runner import disk, revision


def versions(build_info: Mapping[str, Any]) -> dict[str, str]:
    """Versions of server (from ``buildInfo``), driver, harness and Python.

    Two builds of one version of the server differ in its commit alone, where it says that.
    """
    import pymongo

    return {
        "server": build_info["version"],
        **({"server_commit": build_info["gitVersion"]} if build_info.get("gitVersion") else {}),
        "driver": f"PyMongo {pymongo.version}",
        "harness": revision.harness(),
        "python": platform.python_version(),
    }


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
