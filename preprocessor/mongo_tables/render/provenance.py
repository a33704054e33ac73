"""The provenance of a figure in words: a short line, all the rest as a list, and the commands that made its rows.

Every text is plain and from the documents. What they do not have is not mentioned, and where they differ all values
are: ``MongoDB 6.0.5, 8.0.4``. How often something was measured is in ``mongo_tables.render.campaigns``.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mongo_tables.files.text import list_some
from mongo_tables.render.campaigns import (
    days_of_campaigns,
    how_often,
    join_days,
    name_campaigns,
    windows_of_blocks,
)
from mongo_tables.render.values import is_number, raw_text
from mongo_tables.results.conditions import LOCAL, share_machine

if TYPE_CHECKING:
    from mongo_tables.results.provenance import Provenance

_MOST: Final = 4
"""Different values that are listed one by one."""
_HURRIED: Final = "quick"
"""The profile whose figures are for a first look."""
_ROUND_FROM: Final = 4
"""GiB from which a machine's memory is told in whole ones."""
_DISK: Final = {
    "device": "disk",
    "filesystem": "file system",
    "kind": "the kernel says",
    "model": "model",
}
"""The fields of a disk that are shown, and the words for them."""
_DIGITS: Final = re.compile(r"(\d+)")

Told = Mapping[str, Any]


def provenance_parts(source: Provenance, due: date | None = None) -> list[str]:
    """The parts of the line under a figure: what every reader asks first, and what is a warning.

    ``due`` is the day by which the author wants the documents measured anew, None where the author does not say. Of
    documents that are no results nothing else is told.
    """
    dates, *others = _parts(source) if source.documents else ("",)
    return [part for part in (dates, due_part(due) if due else "", *others) if part]


@lru_cache(maxsize=256)
def _parts(source: Provenance) -> tuple[str, ...]:
    """All parts, "" for what is not told; worked out once for all figures with this provenance."""
    sets = source.sets
    return (
        _dates(source),
        _profile(sets),
        _all("MongoDB {}", _over_campaigns(sets, "versions", "server")),
        _all("{} in its place", _over_campaigns(sets, "versions", "product")),
        _all("{}", map(_machine_in_short, sets)),
        how_often(sets),
    )


@lru_cache(maxsize=256)
def provenance_details(source: Provenance) -> tuple[tuple[str, str], ...]:
    """What the line does not say, by name: one reads it who wants to judge the figures, or to measure them again."""
    sets = source.sets if source.documents else ()
    told = (
        ("Result documents", str(source.documents) if source.documents else ""),
        ("Campaigns", name_campaigns(sets)),
        ("Windows", windows_of_blocks(sets)),
        ("Profile", _all("{}", (_at(one, "experiment", "profile") for one in sets))),
        ("Deployment", _all("{}", map(_deployment, sets))),
        ("Its settings", _all("{}", map(_settings, sets))),
        ("Servers", _all("{}", map(_servers, sets))),
        ("Machine", _all("{}", (_machine(one) for one in sets if _is_local(one)))),
        ("Client", _all("{}", (_machine(one) for one in sets if not _is_local(one)))),
        ("Disk", _all("{}", map(_disk, sets))),
        ("Instance", _all("{}", map(_instance, sets))),
        ("Write concern", _all("{}", map(_write_concern, sets))),
        ("Connections", _all("{}", (_at(one, "client", "connections") for one in sets))),
        ("Scale", _all("{}", (_at(one, "experiment", "scale") for one in sets))),
        ("Time limit of a window", _all("{} s", (_at(one, "experiment", "seconds") for one in sets))),
        ("Seed", _all("{}", (_at(one, "experiment", "seed") for one in sets))),
        ("Commit", _all("{}", map(_commit, sets))),
        ("Runtime", _all("{}", _over_campaigns(sets, "versions", "runtime"))),
        ("Driver", _all("{}", _over_campaigns(sets, "versions", "driver"))),
        ("Program", _all("{}", _over_campaigns(sets, "versions", "harness"))),
    )
    return tuple(each for each in told if each[1])


def due_part(due: date) -> str:
    """The part that says when results grow too old: a day, which is the same whenever the page is made."""
    return f"to be measured again by {due.isoformat()}"


def provenance_commands(source: Provenance) -> list[str]:
    """The commands that measure such documents anew, one for each experiment and way of running it."""
    commands = (
        _command(experiment, one)
        for one in source.sets
        if isinstance(experiment := _at(one, "experiment"), Mapping) and "name" in experiment
    )
    return sorted(dict.fromkeys(commands))


def _command(experiment: Told, told: Told) -> str:
    words = ["mongo-tables", "run", shlex.quote(str(experiment["name"]))]
    for name in ("profile", "scale", "seconds", "repeats", "seed"):
        if experiment.get(name) is not None:
            words += [f"--{name}", shlex.quote(raw_text(experiment[name]))]
    local = experiment.get("target", LOCAL) == LOCAL
    target = _local_target(told) if local else "mongodb://…"
    return " ".join([*words, "--target", target] if target != LOCAL else words)


def _local_target(told: Told) -> str:
    """A local target as ``--target`` takes it; of the program only its name is known."""
    program = _at(told, "topology", "program")
    settings = "&".join(f"{name}={quote(raw_text(value))}" for name, value in _all_settings(told))
    written = f"{LOCAL}{f':…/{program}' if program else ''}{f'?{settings}' if settings else ''}"
    return written if written == LOCAL else shlex.quote(written)


def _all_settings(told: Told) -> Iterator[tuple[str, Any]]:
    """What a local target was given, by the names that ``--target`` has for it."""
    for name, value in (_at(told, "topology", "settings") or {}).items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _at(told: Told, *path: str) -> Any:
    value: Any = told
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _all(template: str, values: Iterable[Any]) -> str:
    """The template with all values that there are, each once."""
    texts = {raw_text(value): value for value in values if value not in (None, "")}
    if not texts:
        return ""
    numbers = all(map(is_number, texts.values()))
    ordered = sorted(texts, key=float if numbers else _natural)
    if len(ordered) > _MOST and numbers:
        return template.format(f"{ordered[0]} to {ordered[-1]}")
    mark = "; " if any(", " in text for text in ordered) else ", "
    return template.format(list_some(ordered, _MOST, mark))


def _natural(text: str) -> list[tuple[int, str]]:
    """The parts of a version by their value: ``6.0.5`` before ``6.0.12``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]


def _over_campaigns(sets: Iterable[Told], part: str, name: str) -> Iterator[Any]:
    """The values of a field: of a pooled row those of all its campaigns, where they differ."""
    for one in sets:
        differing = _at(one, "campaigns", "differs")
        values = [
            other.get("values")
            for other in (differing if isinstance(differing, list) else ())
            if isinstance(other, Mapping) and other.get("field") == f"{part}.{name}"
        ]
        yield from values[0] if values and isinstance(values[0], list) else [_at(one, part, name)]


def _dates(source: Provenance) -> str:
    if source.first is None or source.last is None:
        return ""
    days = sorted([_day(source.first), _day(source.last), *days_of_campaigns(source.sets)])
    return f"Measured {join_days(days)}"


def _profile(sets: Sequence[Told]) -> str:
    """Readers are warned of documents that were measured in a hurry."""
    hurried = {_at(one, "experiment", "profile") == _HURRIED for one in sets}
    named = f"measured with the {_HURRIED} profile"
    return (f"in part {named}" if False in hurried else named) if True in hurried else ""


def _day(date: datetime) -> str:
    return raw_text(date)[:10]


def _deployment(told: Told) -> str:
    """``replica set of 3 members, 0.25 GiB cache each, all members and the client on one machine``."""
    kind, members = _at(told, "topology", "kind"), _at(told, "topology", "members")
    cache, place = _at(told, "topology", "cache_gb"), _at(told, "topology", "place")
    name = raw_text(kind) if kind else ""
    if members:
        count = f"{raw_text(members)} member{'' if members == 1 else 's'}"
        name = f"{name} of {count}" if name else count
    return _join_parts(
        name, f"{raw_text(cache)} GiB cache{' each' if members != 1 else ''}" if cache else "", place
    )


def _settings(told: Told) -> str:
    """``mongod-b, setParameter.ttlMonitorSleepSecs: 10``: what the deployment above has not said."""
    said = ("members", "cacheGB")
    settings = [f"{name}: {raw_text(value)}" for name, value in _all_settings(told) if name not in said]
    return _join_parts(_at(told, "topology", "program"), *settings)


def _servers(told: Told) -> str:
    """``3 of Some CPU, 4 processors, 16 GiB memory``, as far as they say; nothing of a target that is local."""
    members = _members(told)
    counts = Counter(text for one in members if (text := _describe_machine(one)))
    if len(members) == sum(counts.values()) == 1:
        return next(iter(counts))
    known = f"{sum(counts.values())} of {len(members)} known: " if len(members) > sum(counts.values()) else ""
    return known + "; ".join(f"{count} of {text}" for text, count in counts.items()) if counts else ""


def _members(told: Told) -> list[Told]:
    """What the servers of a target elsewhere say of themselves: nothing, or a document for each of them."""
    members = _at(told, "servers", "members")
    if _is_local(told) or not isinstance(members, list):
        return []
    return [one if isinstance(one, Mapping) else {} for one in members]


def _is_local(told: Told) -> bool:
    """Whether there is one machine: the program started the servers itself, or documents name no target or servers."""
    return share_machine(told)


def _machine(told: Told) -> str:
    """The machine of the client, which is the servers' as well where the program started them itself."""
    hardware = _at(told, "hardware")
    return _describe_machine(hardware) if isinstance(hardware, Mapping) else ""


def _machine_in_short(told: Told) -> str:
    """``2 processors, 24 GiB``: the size of what was measured, or of the client where nothing else is known."""
    instance = _at(told, "bench_config", "atlasInstanceType")
    if instance not in (None, LOCAL):
        return raw_text(instance)
    if sizes := Counter(size for one in _members(told) if (size := _size(one))):
        counted = (f"{n} servers" if n > 1 else "server" for n in sizes.values())
        return "; ".join(f"{each} of {size}" for each, size in zip(counted, sizes, strict=True))
    hardware = _at(told, "hardware")
    size = _size(hardware) if isinstance(hardware, Mapping) else ""
    return size if not size or _is_local(told) else f"client of {size}"


def _size(machine: Told) -> str:
    """Processors and memory; of the latter no more digits than a reader compares machines by."""
    memory: Any = machine.get("memory_gib")
    gib = f"{memory:.0f}" if is_number(memory) and memory >= _ROUND_FROM else memory
    return _join_parts(_processors(machine), f"{raw_text(gib)} GiB" if memory else "")


def _describe_machine(machine: Told) -> str:
    memory = machine.get("memory_gib")
    return _join_parts(
        machine.get("cpu") or machine.get("cpu_architecture"),
        _processors(machine),
        f"{raw_text(memory)} GiB memory" if memory else "",
    )


def _processors(machine: Told) -> str:
    cores = machine.get("cores")
    return f"{raw_text(cores)} processor{'' if cores == 1 else 's'}" if cores else ""


def _disk(told: Told) -> str:
    """``disk vda, file system ext4, the kernel says rotational, model unknown``."""
    disk = _at(told, "hardware", "disk")
    if not isinstance(disk, Mapping):
        return ""
    known = {name: raw_text(disk[name]) for name in _DISK if disk.get(name) not in (None, "")}
    return _join_parts(*(f"{_DISK[name]} {text}" for name, text in known.items()))


def _instance(told: Told) -> str:
    kind = _at(told, "bench_config", "atlasInstanceType")
    if kind is None or kind == LOCAL:
        return ""
    size, iops = _at(told, "bench_config", "atlasDiskSizeGB"), _at(told, "bench_config", "atlasIOPS")
    return _join_parts(
        kind,
        _at(told, "bench_config", "atlasDiskType"),
        f"{raw_text(size)} GB disk" if size else "",
        f"{raw_text(iops)} IOPS" if iops else "",
    )


def _commit(told: Told) -> str:
    """``1a2b3c4 on main, with changes``: what a benchmark tool says of what it measured."""
    commit = _at(told, "commit")
    if not isinstance(commit, Mapping) or not commit.get("id"):
        return ""
    branch = f" on {raw_text(commit['branch'])}" if commit.get("branch") else ""
    return f"{raw_text(commit['id'])}{branch}{', with changes' if commit.get('dirty') is True else ''}"


def _write_concern(told: Told) -> str:
    """``w: majority, j: true``, as the document names it."""
    concern = _at(told, "write_concern")
    if not isinstance(concern, Mapping):
        return ""
    return _join_parts(*(f"{name}: {raw_text(value)}" for name, value in concern.items()))


def _join_parts(*parts: Any) -> str:
    return ", ".join(raw_text(part) for part in parts if part not in (None, ""))
