"""A baseline: the current findings of a large site, accepted so that only new ones fail.

A finding is identified by its file, its rule and its message, not by its line: text inserted above an old fault does
not make it new. Equal findings in a file are counted; one more of them is new.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mongo_tables.findings.finding import Finding

VERSION = 1

FindingKey = tuple[str, str, str]
"""The identity of a finding: its file as the baseline names it, its rule, its message without line numbers."""

_PLACE = re.compile(r"\blines? \d+(?:(?:, | and )\d+)*")


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of a comparison with a baseline: the new findings, and how many of its own are gone."""

    new: tuple[Finding, ...]
    gone: int


def format_baseline(findings: Iterable[Finding], folder: Path) -> str:
    """Return the baseline that accepts ``findings``. File names are relative to its ``folder``."""
    counted = Counter(_mark(one, folder) for one in set(findings))
    accepted = [
        {"file": file, "rule": rule, "message": message, "count": count}
        for (file, rule, message), count in sorted(counted.items())
    ]
    return json.dumps({"version": VERSION, "findings": accepted}, indent=2) + "\n"


def compare_with_baseline(findings: Iterable[Finding], text: str, folder: Path) -> Compared:
    """Compare ``findings`` with the baseline ``text``, whose file is in ``folder``.

    If a file has more equal findings than the baseline accepts, the last ones are new.

    Raises:
        ValueError: If the text is not a baseline.
    """
    left = _read_accepted(text)
    new = []
    for one in sorted(set(findings)):
        mark = _fold(_mark(one, folder))
        if left[mark] > 0:
            left[mark] -= 1
        else:
            new.append(one)
    return Compared(tuple(new), left.total())


def _mark(one: Finding, folder: Path) -> FindingKey:
    file = Path(os.path.relpath(one.file, folder)).as_posix()
    return file, one.rule, _PLACE.sub("line …", one.message)


def _fold(mark: FindingKey) -> FindingKey:
    """Return a mark without the initial capital and the full stop that messages of version 0.1 have."""
    file, rule, message = mark
    return file, rule, (message[:1].lower() + message[1:]).removesuffix(".")


def _read_accepted(text: str) -> Counter[FindingKey]:
    try:
        content = json.loads(text)
        version = content["version"]
        accepted = content["findings"] if version == VERSION else ()
        found = Counter(
            {_fold((one["file"], one["rule"], one["message"])): int(one["count"]) for one in accepted}
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"it is not a list of accepted findings ({type(error).__name__})") from None
    if version != VERSION:
        raise ValueError(f"it has version {version!r}, this program reads version {VERSION}")
    return found
