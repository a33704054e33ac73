"""How often the rows of a figure were measured, in words: in blocks of how many campaigns, or in repeats.

A row that was measured in blocks is of one ``campaign``; what several conclude of it (``compare --pool``) says of
each how many blocks it had. Older rows have neither, and repeats instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mongo_tables.render.values import raw_text

Told = Mapping[str, Any]


class _Campaign(NamedTuple):
    """A campaign as a row tells of it; ``day`` is "" and ``blocks`` 0 where the row does not say."""

    id: str
    day: str
    blocks: int


def how_often(sets: Sequence[Told]) -> str:
    """``20 blocks in each of 2 campaigns``; ``3 repeats`` of rows without blocks; "" where nothing is known.

    Of pooled rows it says whose the figures are that are no comparisons: those of one campaign.
    """
    of_rows = [_campaigns(one) for one in sets]
    blocks = {each.blocks for campaigns in of_rows for each in campaigns if each.blocks}
    repeats = {_repeats(one) for one, campaigns in zip(sets, of_rows, strict=True) if not campaigns} - {0}
    parts = [_amount(blocks, "block") + _of_campaigns(of_rows) if blocks else "", _whose_speeds(sets)]
    parts += ["measured once" if repeats == {1} else _amount(repeats, "repeat")] if repeats else []
    return ", ".join(filter(None, parts))


def name_campaigns(sets: Iterable[Told]) -> str:
    """``86f09823a2ab of 2026-11-23, 20 blocks; …``: every campaign behind the rows, the oldest first."""
    blocks: dict[tuple[str, str], set[int]] = {}
    for each in (each for one in sets for each in _campaigns(one)):
        blocks.setdefault((each.day, each.id), set()).add(each.blocks)
    return "; ".join(
        ", ".join(
            filter(None, [f"{name} of {day}" if day else name, _amount(blocks[day, name] - {0}, "block")])
        )
        for day, name in sorted(blocks)
    )


def whose_runs(sets: Sequence[Told]) -> str:
    """``, those of the campaign 86f09823a2ab alone``: what rows leave out of what they conclude; "" where nothing is.

    A pooled row has the runs of its own campaign. Those of the others are in the results that these were pooled from.
    """
    pooled = [one for one in sets if len(_campaigns(one)) > 1]
    own = {raw_text(name) for one in pooled if (name := _field(one, "campaign", "id")) is not None}
    if not pooled:
        return ""
    return f", those of the campaign {min(own)} alone" if len(own) == 1 else ", those of one campaign each"


def days_of_campaigns(sets: Iterable[Told]) -> list[str]:
    """The days on which the campaigns behind the rows began, the first one first."""
    return sorted({each.day for one in sets for each in _campaigns(one)} - {""})


def _whose_speeds(sets: Sequence[Told]) -> str:
    """``speeds of 2026-11-25``: of which campaign a pooled row has its own figures; "" where no row is pooled."""
    starts = [_field(one, "campaign", "start") for one in sets if len(_campaigns(one)) > 1]
    days = sorted({raw_text(start)[:10] for start in starts if isinstance(start, datetime)})
    return f"speeds of {join_days(days)}" if days else ""


def join_days(days: Sequence[str]) -> str:
    """The first and the last of some days in order, ``2026-11-23 to 2026-11-25``; a single one as it is."""
    return " to ".join(dict.fromkeys((days[0], days[-1])))


def windows_of_blocks(sets: Iterable[Told]) -> str:
    """What a block has of each row, where that is more than one window; "" where it is one, or not known."""
    ways = {_field(one, "experiment", "and_back") is True for one in sets if _campaigns(one)}
    if True not in ways:
        return ""
    some = "of some rows " if False in ways else ""
    return f"{some}two in each block, one on the way there and one on the way back"


def _campaigns(told: Told) -> list[_Campaign]:
    """The campaigns that concluded a row, or else the one that measured it."""
    pooled = _field(told, "campaigns", "each")
    if isinstance(pooled, list) and pooled:
        return [_campaign(each, each.get("blocks")) for each in pooled if isinstance(each, Mapping)]
    own = told.get("campaign")
    return [_campaign(own, _repeats(told))] if isinstance(own, Mapping) else []


def _campaign(told: Told, blocks: Any) -> _Campaign:
    start = told.get("start")
    day = raw_text(start)[:10] if isinstance(start, datetime) else ""
    return _Campaign(raw_text(told.get("id", "")), day, blocks if isinstance(blocks, int) else 0)


def _repeats(told: Told) -> int:
    """How many blocks a row was measured in, or how often it was measured without any; 0 where it does not say."""
    repeats = _field(told, "experiment", "repeats")
    return repeats if isinstance(repeats, int) else 0


def _of_campaigns(of_rows: Iterable[Sequence[_Campaign]]) -> str:
    counts = {len(campaigns) for campaigns in of_rows if campaigns}
    return f" in each of {_range(counts)} campaigns" if max(counts, default=1) > 1 else ""


def _amount(counts: set[int], what: str) -> str:
    return f"{_range(counts)} {what}{'' if counts == {1} else 's'}" if counts else ""


def _range(counts: set[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def _field(told: Told, part: str, name: str) -> Any:
    value = told.get(part)
    return value.get(name) if isinstance(value, Mapping) else None
