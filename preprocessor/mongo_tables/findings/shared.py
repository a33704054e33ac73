"""Findings as they stand in the files of shared pipelines, beside those of the pages that name these."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mongo_tables.findings.finding import Finding, Place


def find_in_lists(findings: Iterable[Finding], folder: Path) -> list[Finding]:
    """The findings of pages about what a shared pipeline of ``folder`` has, each once, there; related are the pages."""
    pages: dict[Finding, set[Place]] = {}
    for one in findings:
        for place in one.related:
            if Path(place.file).parent == folder:
                there = one._replace(file=place.file, line=place.line, column=place.column, related=())
                pages.setdefault(there, set()).add(Place(one.file, one.line, one.column))
    return [there._replace(related=tuple(sorted(places))) for there, places in sorted(pages.items())]
