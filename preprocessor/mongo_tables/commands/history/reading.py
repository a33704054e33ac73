"""The rows of campaigns, and of the sets that were committed before campaigns had names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from mongo_tables.commands.compare.reading import read_rows
from mongo_tables.results.comparison import name_row
from mongo_tables.runner.errors import RunnerError

Rows = list[dict[str, Any]]
_DIGITS: Final = 12
"""Of the name of a commit, as many as the name of a campaign has."""


def read_campaigns(places: Iterable[str], revisions: Sequence[str]) -> Rows:
    """The rows of all places, then those of the revisions, ``REVISION:FOLDER``, the newest first.

    A row of no campaign belongs to the set that was committed with it: it gets the name of that commit as its campaign.
    Raises RunnerError and UsageError as ``read_rows`` does.
    """
    committed = [(revision, read_rows(revision, None)) for revision in revisions]
    given = [row for place in places for row in read_rows(place, None)]
    _refuse_undated([*given, *(row for _, rows in committed for row in rows)])
    names = _name_sets(committed)
    return [_name_campaign(row, names) for rows in (given, *(rows for _, rows in committed)) for row in rows]


def _refuse_undated(rows: Iterable[dict[str, Any]]) -> None:
    """Raise RunnerError for a row that nobody dated: benchmark tools need not say when they measured."""
    undated = next((row for row in rows if "start_time" not in row), None)
    if undated is not None:
        raise RunnerError(
            f"{name_row(undated)} has no date", "mongo-tables import FILE --as NAME --date 2026-01-31"
        )


def _name_sets(committed: Sequence[tuple[str, Rows]]) -> dict[Hashable, str]:
    """The name of the commit that brought each row: the oldest that has it."""
    return {_key_of(row): revision[:_DIGITS] for revision, rows in committed for row in rows}


def _name_campaign(row: dict[str, Any], names: dict[Hashable, str]) -> dict[str, Any]:
    if (row.get("campaign") or {}).get("id") or (name := names.get(_key_of(row))) is None:
        return row
    return {**row, "campaign": {**(row.get("campaign") or {}), "id": name}}


def _key_of(row: dict[str, Any]) -> Hashable:
    """What a row keeps from commit to commit."""
    return row["_id"]["testname"], row["start_time"]
