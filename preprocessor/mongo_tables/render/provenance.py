"""The provenance of a figure in words: a short line, and the details as a list.

All facts come from the result documents. Missing facts are omitted. If documents differ, all values are listed:
``MongoDB 6.0.5, 8.0.4``.

A row that was measured in blocks belongs to one ``campaign``. A pooled row (``compare --pool``) belongs to several
campaigns, and has the number of blocks of each. Older rows have repeats instead of campaigns and blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.files.folders import list_some
from mongo_tables.render.conclusions import say_range
from mongo_tables.render.values import raw_text
from mongo_tables.results.conditions import share_machine
from mongo_tables.results.provenance import LOCAL

if TYPE_CHECKING:
    from mongo_tables.results.provenance import Provenance

_MOST: Final = 4
"""The largest number of values that are listed one by one."""
_HURRIED: Final = "quick"
"""The profile of quick runs, whose figures are only a first impression."""
_ROUND_FROM: Final = 4
"""The memory, in GiB, from which the size is rounded to whole GiB."""
_DIGITS: Final = re.compile(r"(\d+)")

Facts = Mapping[str, Any]
"""The fields of a result document that describe its measurement."""


def provenance_parts(source: Provenance, due: date | None = None) -> list[str]:
    """Return the parts of the line under a figure: the main facts and any warnings.

    ``due`` is the day by which the author wants a new measurement, or None. For documents that are not benchmark
    results, this day is the only part.
    """
    dates, *others = _parts(source) if source.documents or source.sets else ("",)
    return [part for part in (dates, due_part(due) if due else "", *others) if part]


@lru_cache(maxsize=256)
def _parts(source: Provenance) -> tuple[str, ...]:
    """Return all parts, "" for an unknown one. The result is cached, because many figures share a provenance."""
    sets = source.sets
    return (
        _dates(source),
        _profile(sets),
        _all(_over_campaigns(sets, "server"), "MongoDB {}"),
        _all(_over_campaigns(sets, "product"), "{} in place of MongoDB"),
        _all(map(_machine_in_short, sets)),
        _how_often(sets),
        _all(map(_published, sets)),
    )


@lru_cache(maxsize=256)
def provenance_details(source: Provenance) -> tuple[tuple[str, str], ...]:
    """Return the names and texts of the facts that the line omits, which a reader needs to repeat the measurement."""
    sets = source.sets
    local = [one for one in sets if share_machine(one)]
    elsewhere = [one for one in sets if not share_machine(one)]

    def field(*path: str) -> Iterator[Any]:
        return (_at(one, *path) for one in sets)

    facts: dict[str, Iterable[Any]] = {
        "Result documents": [source.documents or None],
        "Source of published figures": field("published", "source"),
        "Experiment": field("experiment", "name"),
        "Campaigns": [_name_campaigns(sets)],
        "Profile": field("experiment", "profile"),
        "Deployment": map(_deployment, sets),
        "Settings of the deployment": map(_settings, sets),
        "Servers": (_describe_machine(each) for one in sets for each in _members(one)),
        "Machine": map(_machine, local),
        "Client": map(_machine, elsewhere),
        "Write concern": map(_write_concern, sets),
        "Connections": field("client", "connections"),
        "Scale": field("experiment", "scale"),
        "Time limit of a window": [_all(field("experiment", "seconds"), "{} s")],
        "Seed": field("experiment", "seed"),
        "Commit": map(_commit, sets),
        "Runtime": _over_campaigns(sets, "runtime"),
        "Driver": _over_campaigns(sets, "driver"),
        "Program": _over_campaigns(sets, "harness"),
    }
    written = ((name, _all(values)) for name, values in facts.items())
    return tuple((name, text) for name, text in written if text)


def due_part(due: date) -> str:
    """Return the part that says when the measurement must be repeated. It does not depend on the day of the build."""
    return f"to be measured again by {due.isoformat()}"


# -- fields of documents --


def _at(facts: Facts, *path: str) -> Any:
    value: Any = facts
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _all(values: Iterable[Any], template: str = "{}") -> str:
    """Return the template filled with all known values, each once. Versions are in order: ``6.0.5``, ``6.0.12``."""
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
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]


def _over_campaigns(sets: Iterable[Facts], name: str) -> Iterator[Any]:
    """Yield the versions of a component, such as the server, of all rows. For a pooled row, yield those of its
    campaigns.
    """
    for one in sets:
        differing = _at(one, "campaigns", "differs")
        values = [
            other.get("values")
            for other in (differing if isinstance(differing, list) else ())
            if isinstance(other, Mapping) and other.get("field") == f"versions.{name}"
        ]
        yield from values[0] if values and isinstance(values[0], list) else [_at(one, "versions", name)]


def _profile(sets: Sequence[Facts]) -> str:
    """Return a warning if any document was measured with the quick profile, else ""."""
    hurried = {_at(one, "experiment", "profile") == _HURRIED for one in sets}
    named = f"measured with the {_HURRIED} profile"
    return (f"in part {named}" if False in hurried else named) if True in hurried else ""


def _deployment(facts: Facts) -> str:
    """Return the servers, as in ``replica set of 3 members, 0.25 GiB cache each, all members on one machine``."""
    kind, members = _at(facts, "topology", "kind"), _at(facts, "topology", "members")
    cache, place = _at(facts, "topology", "cache_gb"), _at(facts, "topology", "place")
    name = raw_text(kind) if kind else ""
    if members:
        count = f"{raw_text(members)} member{'' if members == 1 else 's'}"
        name = f"{name} of {count}" if name else count
    each = " each" if members != 1 else ""
    return _join(name, f"{raw_text(cache)} GiB cache{each}" if cache else "", place)


def _settings(facts: Facts) -> str:
    """Return the program and the settings of a target: ``mongod-b, setParameter.ttlMonitorSleepSecs: 10``."""
    said = ("members", "cacheGB")
    settings = (f"{name}: {raw_text(value)}" for name, value in _all_settings(facts) if name not in said)
    return _join(_at(facts, "topology", "program"), *settings)


def _all_settings(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the names, as in ``--target``, and the values of the settings of a local target."""
    for name, value in (_at(facts, "topology", "settings") or {}).items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _members(facts: Facts) -> list[Facts]:
    """Return a document for each server of a remote target, or nothing if they report nothing."""
    members = _at(facts, "servers", "members")
    if share_machine(facts) or not isinstance(members, list):
        return []
    return [one if isinstance(one, Mapping) else {} for one in members]


def _machine(facts: Facts) -> str:
    """Return the machine of the client; servers that the program started run on it, too."""
    hardware = _at(facts, "hardware")
    return _describe_machine(hardware) if isinstance(hardware, Mapping) else ""


def _describe_machine(machine: Facts) -> str:
    memory = machine.get("memory_gib")
    name = machine.get("cpu") or machine.get("cpu_architecture")
    return _join(name, _processors(machine), f"{raw_text(memory)} GiB memory" if memory else "")


def _machine_in_short(facts: Facts) -> str:
    """Return the size of the servers' machine, ``2 processors, 24 GiB``. If it is not known, return the client's."""
    instance = _at(facts, "bench_config", "atlasInstanceType")
    if instance not in (None, LOCAL):
        return raw_text(instance)
    if sizes := Counter(size for one in _members(facts) if (size := _size(one))):
        return "; ".join(f"{f'{n} servers' if n > 1 else 'server'} of {size}" for size, n in sizes.items())
    hardware = _at(facts, "hardware")
    size = _size(hardware) if isinstance(hardware, Mapping) else ""
    return size if not size or share_machine(facts) else f"client of {size}"


def _size(machine: Facts) -> str:
    memory: Any = machine.get("memory_gib")
    gib = f"{memory:.0f}" if is_number(memory) and memory >= _ROUND_FROM else memory
    return _join(_processors(machine), f"{raw_text(gib)} GiB" if memory else "")


def _processors(machine: Facts) -> str:
    cores = machine.get("cores")
    return f"{raw_text(cores)} processor{'' if cores == 1 else 's'}" if cores else ""


def _commit(facts: Facts) -> str:
    """Return the commit that a benchmark tool reports: ``1a2b3c4 on main, with changes``."""
    name, branch = _at(facts, "commit", "id"), _at(facts, "commit", "branch")
    if not name:
        return ""
    changed = ", with changes" if _at(facts, "commit", "dirty") is True else ""
    return f"{raw_text(name)}{f' on {raw_text(branch)}' if branch else ''}{changed}"


def _write_concern(facts: Facts) -> str:
    """Return the write concern: ``w: majority, j: true``."""
    concern = _at(facts, "write_concern")
    if not isinstance(concern, Mapping):
        return ""
    return _join(*(f"{name}: {raw_text(value)}" for name, value in concern.items()))


def _join(*parts: Any) -> str:
    return ", ".join(raw_text(part) for part in parts if part not in (None, ""))


def _published(facts: Facts) -> str:
    """Return ``Published figures of 2026-01-08, MongoDB 8.0``. The text also says what the source does not state."""
    about = facts.get("published")
    if about is None:
        return ""
    date, measured, version = (about.get(name) for name in ("date", "measured", "version"))
    when = f" of {raw_text(date)}" if date else f" measured {raw_text(measured)}" if measured else ""
    missing = [name for name, known in (("date", when), ("version", version)) if not known]
    return _join(
        f"Published figures{when}",
        f"MongoDB {raw_text(version)}" if version else "",
        f"{' and '.join(missing)} not stated by the source" if missing else "",
    )


# -- sample sizes: blocks of campaigns, or repeats --


class _Campaign(NamedTuple):
    """A campaign of a row, with the day of its start ("" if unknown) and its number of blocks (0 if unknown)."""

    id: str
    day: str
    blocks: int


def _campaigns(facts: Facts) -> list[_Campaign]:
    """Return the campaigns of a row: those that it pools, or the one that measured it."""
    pooled, own = _at(facts, "campaigns", "each"), facts.get("campaign")
    if isinstance(pooled, list) and pooled:
        found = [(each, each.get("blocks")) for each in pooled if isinstance(each, Mapping)]
    else:
        found = [(own, _repeats(facts))] if isinstance(own, Mapping) else []
    return [
        _Campaign(
            raw_text(one.get("id", "")), _day(one.get("start")), blocks if isinstance(blocks, int) else 0
        )
        for one, blocks in found
    ]


def _repeats(facts: Facts) -> int:
    """Return the number of blocks of a row, or of its repeats if it has no blocks, or 0 if unknown."""
    repeats = _at(facts, "experiment", "repeats")
    return repeats if isinstance(repeats, int) else 0


def _day(moment: object) -> str:
    return raw_text(moment)[:10] if isinstance(moment, datetime) else ""


def _dates(source: Provenance) -> str:
    if source.first is None or source.last is None:
        return ""
    began = {each.day for one in source.sets for each in _campaigns(one)} - {""}
    return f"Measured {_join_days({raw_text(source.first)[:10], raw_text(source.last)[:10], *began})}"


def _join_days(days: Iterable[str]) -> str:
    """Return the first and the last day, ``2026-11-23 to 2026-11-25``, or the only day."""
    return " to ".join(dict.fromkeys((min(days), max(days))))


def _how_often(sets: Sequence[Facts]) -> str:
    """Return ``20 blocks in each of 2 campaigns``, or ``3 repeats`` for rows without blocks, or "" if unknown.

    For pooled rows it adds the day of the campaign whose speeds are shown: ``speeds measured 2026-11-25``.
    """
    of_rows = [_campaigns(one) for one in sets]
    blocks = {each.blocks for campaigns in of_rows for each in campaigns if each.blocks}
    repeats = {_repeats(one) for one, campaigns in zip(sets, of_rows, strict=True) if not campaigns} - {0}
    counts = {len(campaigns) for campaigns in of_rows if campaigns}
    several = f" in each of {say_range(counts)} campaigns" if max(counts, default=1) > 1 else ""
    pooled = (one for one, campaigns in zip(sets, of_rows, strict=True) if len(campaigns) > 1)
    days = {_day(_at(one, "campaign", "start")) for one in pooled} - {""}
    parts = [
        _amount(blocks, "block") + several if blocks else "",
        f"speeds measured {_join_days(days)}" if days else "",
    ]
    parts += ["measured once" if repeats == {1} else _amount(repeats, "repeat")]
    return ", ".join(filter(None, parts))


def _name_campaigns(sets: Iterable[Facts]) -> str:
    """Return all campaigns of the rows, oldest first: ``86f09823a2ab of 2026-11-23, 20 blocks; …``."""
    blocks: dict[tuple[str, str], set[int]] = {}
    for each in (each for one in sets for each in _campaigns(one)):
        blocks.setdefault((each.day, each.id), set()).add(each.blocks)
    return "; ".join(
        _join(f"{name} of {day}" if day else name, _amount(counts - {0}, "block"))
        for (day, name), counts in sorted(blocks.items())
    )


def whose_runs(sets: Sequence[Facts]) -> str:
    """Return a remark on which campaign the listed runs of pooled rows come from, or "" without pooled rows.

    A pooled row has only the runs of one campaign. Example: `` (from campaign 86f09823a2ab only)``.
    """
    pooled = [one for one in sets if len(_campaigns(one)) > 1]
    own = {raw_text(name) for one in pooled if (name := _at(one, "campaign", "id")) is not None}
    if not pooled:
        return ""
    return f" (from campaign {min(own)} only)" if len(own) == 1 else " (from one campaign per row)"


def _amount(counts: set[int], what: str) -> str:
    return f"{say_range(counts)} {what}{'' if counts == {1} else 's'}" if counts else ""
