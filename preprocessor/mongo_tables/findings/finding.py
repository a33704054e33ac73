"""The one shape of every complaint.

A fault is data: whoever meets one records a ``Finding`` and goes on, so that one run reports all faults of all
files. ``mongo_tables.findings.reporters`` alone turns findings into text, JSON, annotations and exit codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar

At = TypeVar("At", bound=int | tuple[str | int, ...])
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


@dataclass(frozen=True, slots=True)
class Complaint(Generic[At]):
    """What is wrong with a text or a value, below those who know its file.

    ``at`` is where: an offset in a text, or the path that leads from the root ``()`` to a value; ``on_key``: the key
    of that value is meant. ``rule`` is "" where only the caller knows which one it breaks.
    """

    message: str
    hint: str
    at: At
    rule: str = ""
    on_key: bool = False


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
