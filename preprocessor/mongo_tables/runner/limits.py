"""What a variant asks of a machine, imposed on the members of a local replica set as far as the system permits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mongo_tables.runner import controlgroups
from mongo_tables.runner.affinity import ATLAS_PROCESSORS, divide, pin, unpin
from mongo_tables.runner.controlgroups import ControlGroup


def impose(
    asked: Mapping[str, Any],
    groups: Sequence[ControlGroup],
    pids: Sequence[int],
    directory: Path,
    cache_gb: float,
) -> dict[str, Any]:
    """Limit each member as the variant asks and lift what it does not ask; give what holds for all of them.

    ``groups`` is one for each member, or empty where there can be none. Names are those of the variant's machine,
    and ``processors``, which a tier stands for.
    """
    holds: dict[str, Any] = {}
    operations, memory = asked.get("atlasIOPS"), memory_bytes(asked, cache_gb)
    disk = [group.limit_disk(directory, operations) for group in groups]
    if operations and disk and all(disk):
        holds["atlasIOPS"] = operations
    held = [group.limit_memory(memory) for group in groups]
    if memory and held and all(held):
        holds["memoryRatio"] = asked["memoryRatio"]
    processors = ATLAS_PROCESSORS.get(asked.get("atlasInstanceType", ""))
    if processors and pin(pids, processors):
        holds["processors"] = processors
    else:
        unpin(pids)
    return holds


def expect(asked: Mapping[str, Any], members: int) -> dict[str, Any]:
    """What ``impose`` would give of what a variant asks, as far as that is known before there are any members."""
    expected: dict[str, Any] = {}
    if needs_groups(asked) and controlgroups.are_permitted():
        expected = {name: asked[name] for name in ("atlasIOPS", "memoryRatio") if asked.get(name)}
    processors = ATLAS_PROCESSORS.get(asked.get("atlasInstanceType", ""))
    if processors and divide(members, processors):
        expected["processors"] = processors
    return expected


def memory_bytes(asked: Mapping[str, Any], cache_gb: float) -> int | None:
    """What a member and the pages that the system keeps for it may have together; None when nothing is asked."""
    ratio = asked.get("memoryRatio")
    return round(ratio * cache_gb * 2**30) if ratio else None


def needs_groups(asked: Mapping[str, Any]) -> bool:
    """Whether the variant asks for something that only a control group can give."""
    return "atlasIOPS" in asked or "memoryRatio" in asked
