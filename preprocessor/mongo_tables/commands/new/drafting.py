"""The comment that ``new`` writes: of several drafts the first that ``check`` has nothing to say of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mongo_tables.build import build
from mongo_tables.findings.rules import RULES
from mongo_tables.site.disk import snapshot_of

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.answers import Answers


@dataclass(frozen=True, slots=True)
class Draft:
    """A comment that shows the fields ``paths``; ``write`` gives its text, which ignores rules, id → why."""

    paths: tuple[str, ...]
    write: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A comment, the fields that it shows, and the messages of the findings that it ignores."""

    text: str
    paths: tuple[str, ...]
    ignored: tuple[str, ...] = ()


def choose_soundest(drafts: Iterable[Draft], asked: Answers) -> Drafted:
    """The first draft without a finding; where all have some, the one with the fewest, which it ignores."""
    best: tuple[int, Draft, list[Finding]] | None = None
    for draft in drafts:
        text = draft.write({})
        found = _findings(text, asked)
        if not found:
            return Drafted(text, draft.paths)
        graveness = sum({"error": 100, "warning": 10, "note": 1}[one.severity] for one in found)
        if best is None or graveness < best[0]:
            best = graveness, draft, found
    assert best is not None, "there is a draft"
    _, draft, found = best
    # What a rule says, not what it says of these rows: the figures in that are old as soon as somebody measures again.
    text = draft.write({one.rule: f"A first draft: {RULES[one.rule].summary}" for one in found})
    return Drafted(text, draft.paths, tuple(one.message for one in found))


def _findings(text: str, asked: Answers) -> list[Finding]:
    report = build(snapshot_of({"draft.md": text}), asked)
    if report.away:
        raise report.away
    return list(report.findings)
