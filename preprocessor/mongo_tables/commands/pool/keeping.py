"""Campaigns as data that is small enough for a repository: a folder of fixtures for each, of thin rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mongo_tables.findings.usage import UsageError
from mongo_tables.results.thinrows import thin_out
from mongo_tables.runner.store import FileStore

_ID: Final = re.compile(r"\w[\w.-]*", re.ASCII)


def keep_campaigns(folder: Path, rows: Sequence[Mapping[str, Any]]) -> dict[Path, int]:
    """Write each row that is of a campaign into the folder of that campaign; give the number of rows in each.

    A row that is there twice is written once. Raises UsageError where no row is of a campaign, and for a campaign that
    no folder can be named after; RunnerError where a folder cannot be written.
    """
    kept: dict[Path, list[Mapping[str, Any]]] = {}
    for row in rows:
        if "id" in row.get("campaign", {}):
            of_campaign = kept.setdefault(folder / _check_id(row["campaign"]["id"]), [])
            if row["_id"] not in [one["_id"] for one in of_campaign]:
                of_campaign.append(row)
    if not kept:
        raise UsageError("no row says of which campaign it is", "measure again; older rows cannot be kept so")
    for place, some in kept.items():
        store = FileStore(place)
        for row in some:
            store.put(thin_out(row))
    return {place: len(some) for place, some in kept.items()}


def _check_id(campaign: str) -> str:
    """The id, which comes from documents that anybody may have written, as the name of a folder."""
    if _ID.fullmatch(campaign) is None:
        raise UsageError(f"a campaign is called {campaign!r}, after which no folder can be named")
    return campaign
