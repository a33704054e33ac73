"""Changes of speed that somebody has explained, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.findings.usage import UsageError
from mongo_tables.results.history import Change, Series

_NEEDED: Final = ("row", "campaign", "reason")


class Known(NamedTuple):
    """Why rows whose names match ``row`` are at another level from this campaign on."""

    row: str
    campaign: str
    reason: str
    ticket: str = ""


def read_known(file: str) -> list[Known]:
    """The changes in a file. Raises UsageError where it is none, or lacks something."""
    try:
        read = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    changes = read.get("change", [])
    if set(read) - {"change"} or not isinstance(changes, list):
        raise UsageError(f"{file}: only [[change]] is known", "see mongo-tables history --help")
    return [_read_change(file, number, one) for number, one in enumerate(changes, 1)]


def _read_change(file: str, number: int, one: Any) -> Known:
    unknown = [name for name in one if name not in Known._fields]
    missing = [name for name in _NEEDED if name not in one]
    wrong = [name for name, value in one.items() if not isinstance(value, str)]
    for names, what in ((unknown, "is not known"), (missing, "is missing"), (wrong, "is no text")):
        if names:
            raise UsageError(
                f"{file}: change {number}: `{names[0]}` {what}", "see mongo-tables history --help"
            )
    return Known(**one)


def find_known(row: str, campaign: str, known: Sequence[Known]) -> Known | None:
    """What is known of a row from a campaign on; None where nothing is."""
    return next((one for one in known if one.campaign == campaign and fnmatchcase(row, one.row)), None)


def find_unknown(series: Sequence[Series], known: Sequence[Known]) -> list[tuple[Series, Change]]:
    """The changes that nothing explains."""
    return [
        (one, change)
        for one in series
        for change in one.changes
        if find_known(one.name, change.point.campaign, known) is None
    ]
