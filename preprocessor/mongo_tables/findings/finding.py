"""The one shape of every complaint.

A fault is data: whoever meets one records a ``Finding`` and goes on, so that one run reports all faults of all
files. ``mongo_tables.findings.reporters`` alone turns findings into text, JSON, annotations and exit codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Place(NamedTuple):
    """A place in a file; line and column as those of a ``Finding``."""

    file: str
    line: int
    column: int


class StandIn(tuple[int, int]):
    """Line and column of what stands for something that another file has: at ``meant``."""

    meant: Place

    @classmethod
    def of(cls, at: tuple[int, int], meant: Place) -> StandIn:
        """The place ``at``, where the page names what is at ``meant``."""
        place = cls(at)
        place.meant = meant
        return place


class Finding(NamedTuple):
    """One complaint and where it stands.

    ``line`` and ``column`` count from 1, in characters, in the Markdown file as it is on disk; 0 means that the
    complaint is about the file (or the run) as a whole. ``hint`` says what to do about it.
    ``related`` are places in other files that it is about as well: that in a shared pipeline, where the page has only
    its name; and of a finding in a shared pipeline those of the pages.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""
    related: tuple[Place, ...] = ()


def find_in_lists(findings: Iterable[Finding], folder: Path) -> list[Finding]:
    """The findings of pages about what a shared pipeline of ``folder`` has, each once, there; related are the pages."""
    pages: dict[Finding, set[Place]] = {}
    for one in findings:
        for place in one.related:
            if Path(place.file).parent == folder:
                there = one._replace(file=place.file, line=place.line, column=place.column, related=())
                pages.setdefault(there, set()).add(Place(one.file, one.line, one.column))
    return [there._replace(related=tuple(sorted(places))) for there, places in sorted(pages.items())]
