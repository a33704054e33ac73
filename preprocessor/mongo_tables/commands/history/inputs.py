"""The rows of campaigns, and of sets that were committed before campaigns had names; changes that have a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Hashable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.commands.compare.campaigns import read_rows
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.comparison import name_row
from mongo_tables.runner.errors import RunnerError

_DIGITS: Final = 12
"""Of the name of a commit, as many as the name of a campaign has."""
_NEEDED: Final = ("row", "campaign", "reason")

Rows = list[dict[str, Any]]


def read_campaigns(places: Iterable[str], revisions: Sequence[str]) -> Rows:
    """Read the rows of all places, then those of the revisions, ``REVISION:FOLDER``, the newest first.

    A row of no campaign belongs to the set that was committed with it: the oldest commit that has it gives it a name.
    Raises RunnerError and UsageError as ``read_rows`` does.
    """
    committed = [(revision, read_rows(revision, None)) for revision in revisions]
    rows = [row for place in places for row in read_rows(place, None)]
    rows += [row for _, some in committed for row in some]
    undated = next((row for row in rows if "start_time" not in row), None)
    if undated is not None:  # Benchmark tools need not say when they measured.
        raise RunnerError(
            f"{name_row(undated)} has no date", "mongo-tables import FILE --as NAME --date 2026-01-31"
        )
    names = {_key_of(row): revision[:_DIGITS] for revision, some in committed for row in some}
    return [_name_campaign(row, names.get(_key_of(row))) for row in rows]


def _key_of(row: dict[str, Any]) -> Hashable:
    """Return what a row keeps from commit to commit."""
    return row["_id"]["testname"], row["start_time"]


def _name_campaign(row: dict[str, Any], name: str | None) -> dict[str, Any]:
    campaign = row.get("campaign") or {}
    return row if campaign.get("id") or name is None else {**row, "campaign": {**campaign, "id": name}}


class Known(NamedTuple):
    """Why rows whose names match ``row`` are at another level from this campaign on."""

    row: str
    campaign: str
    reason: str
    ticket: str = ""


def read_known(file: str) -> list[Known]:
    """Read the changes in a file. Raises UsageError where it is none, or lacks something."""
    try:
        read = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    changes = read.get("change", [])
    hint = "see mongo-tables history --help"
    if set(read) - {"change"} or not isinstance(changes, list):
        raise UsageError(f"{file}: only [[change]] is known", hint)
    for number, one in enumerate(changes, 1):
        unknown = [name for name in one if name not in Known._fields]
        missing = [name for name in _NEEDED if name not in one]
        wrong = [name for name, value in one.items() if not isinstance(value, str)]
        for names, what in ((unknown, "is not known"), (missing, "is missing"), (wrong, "is no text")):
            if names:
                raise UsageError(f"{file}: change {number}: `{names[0]}` {what}", hint)
    return [Known(**one) for one in changes]


def find_known(row: str, campaign: str, known: Sequence[Known]) -> Known | None:
    """Find what is known of a row from a campaign on; None where nothing is."""
    return next((one for one in known if one.campaign == campaign and fnmatchcase(row, one.row)), None)
