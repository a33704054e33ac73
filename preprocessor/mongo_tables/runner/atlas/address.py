"""How a target on Atlas is written: ``atlas:PROJECT``, with ``?NAME=VALUE&…`` behind it for what it is made with.

A variant says what it varies: its tier, its disk. The address says what is the same for all of them, and what the
experiment's reference machine does not say.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.runner.errors import RunnerError

ALREADY_THERE: Final = "there"
"""The value of ``access`` for a machine that the project lets in already."""
_WHERE: Final = re.compile(r"atlas:(?P<project>[^?]*)(?:\?.*)?", re.DOTALL)
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
"""The settings: the form of each, and what it is in words."""


@dataclass(frozen=True, slots=True)
class AtlasAddress:
    """A project, who is let in to its clusters, and what was said of what they are made with, sorted by name."""

    project: str
    access: str
    settings: Mapping[str, str]


def is_atlas(where: str) -> bool:
    """Whether a target is one whose cluster the run makes on Atlas."""
    return _WHERE.fullmatch(where) is not None


def parse_project(where: str) -> str:
    """The project of what ``is_atlas`` takes; raises RunnerError for one that is none."""
    found = _WHERE.fullmatch(where)
    project = found["project"] if found else ""
    if not _PROJECT.fullmatch(project):
        raise RunnerError(
            f"{project!r} is no project of Atlas",
            "write atlas:PROJECT with its id, 24 digits from 0 to f, as the project's settings show it",
        )
    return project


def parse_atlas(where: str) -> AtlasAddress:
    """Read what ``is_atlas`` takes; raises RunnerError for a project that is none, and for settings that are none."""
    project = parse_project(where)
    settings = _settings(where.partition("?")[2])
    access = settings.pop("access", "")
    if not access:
        raise RunnerError(
            "a cluster on Atlas lets nobody in whose address it does not know",
            f"say {_FORMS['access'][1]}: --target 'atlas:PROJECT?access=…'",
        )
    _check_access(access)
    return AtlasAddress(project, access, dict(sorted(settings.items())))


def _settings(text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for one in text.split("&") if text else []:
        name, equals, value = map(unquote, one.partition("="))
        if name not in _FORMS or not equals:
            raise RunnerError(
                f"a target on Atlas has no setting {name!r}",
                did_you_mean(name, _FORMS) or f"it has {', '.join(_FORMS)}",
            )
        if name in settings:
            raise RunnerError(f"{name} is given twice", "give it once")
        form, words = _FORMS[name]
        if not re.fullmatch(form, value):
            raise RunnerError(f"{name} is {words}, not {value!r}", f"--target 'atlas:PROJECT?{name}=…'")
        settings[name] = value
    return settings


def _check_access(access: str) -> None:
    """Raise RunnerError for what is no address, and for one that would let everybody in."""
    if access == ALREADY_THERE:
        return
    try:
        network = ipaddress.ip_network(access)
    except ValueError:
        raise RunnerError(f"{access!r} is no address", f"access is {_FORMS['access'][1]}") from None
    if network.num_addresses == 1 and network.network_address.is_unspecified:
        raise RunnerError(f"{access} stands for all addresses", "name this machine's")
    if network.prefixlen < network.max_prefixlen - 8:
        raise RunnerError(
            f"{access} would let {network.num_addresses:,} addresses in",
            "name this machine's, or its network's",
        )
