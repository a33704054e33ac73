"""Pages with their figures in place, and their drawings beside them: shown as a diff, or written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.rewriting import Change, print_changes, tell_findings, write_changes
from mongo_tables.files.text import shorten_path
from mongo_tables.findings.usage import UsageError
from mongo_tables.site.drawing_files import Files, judge_file, orphan_findings, read_drawings
from mongo_tables.site.in_place import InPlace, region_findings

if TYPE_CHECKING:
    from mongo_tables.build import Report
    from mongo_tables.findings.finding import Finding

_EDITED, _STALE = "MT164", "MT166"


def render_pages_in_place(reports: Sequence[Report], arguments: Namespace) -> int:
    """Write what is due into every page and beside it, or with ``--check`` show it; give the exit status.

    Nothing is written when a page has an error, or somebody's work would be lost. Raises UsageError when two pages
    would have one drawing.
    """
    judged = [page for report in reports for page in report.site.judged]
    found = [one for report in reports for one in report.faults]
    found += [one for report in reports for page in report.site.named for one in region_findings(page)]
    if tell_findings(_without_edits(found, arguments), judged):
        return 1
    drawings = {path: file for report in reports for path, file in report.site.snapshot.drawings.items()}
    composed = list[InPlace]()
    for report in reports:
        paths = report.site.paths()
        composed += [report.figures.in_place(page, paths[page.file]) for page in report.site.named]
    for one in composed:
        drawings |= read_drawings(one.path)
    if tell_findings(_without_edits(_judge_drawings(composed, drawings), arguments), judged):
        return 1
    changes = [*_changed_pages(composed), *_changed_drawings(composed, drawings)]
    return print_changes(changes) if arguments.check else write_changes(changes)


def _without_edits(findings: Iterable[Finding], arguments: Namespace) -> list[Finding]:
    """The findings, without those of what ``--force`` overwrites."""
    return sorted({one for one in findings if not (arguments.force and one.rule == _EDITED)})


def _judge_drawings(composed: Sequence[InPlace], files: Files) -> Iterator[Finding]:
    """What keeps drawings from being written, and which ones no chart has any more.

    Raises UsageError when two pages would have one drawing.
    """
    owners: dict[Path, str] = {}
    for one in composed:
        for drawing in one.due_drawings:
            owner = owners.setdefault(drawing.path, one.page.file)
            if owner != one.page.file:
                message = f"{owner} and {one.page.file} would both be drawn into {shorten_path(drawing.path)}"
                raise UsageError(message, "give one of the charts another `id`")
            fault = judge_file(drawing, one.page.file, files)
            yield from [fault] if fault and fault.rule != _STALE else []
        yield from orphan_findings(one.page, one.path, {drawing.path for drawing in one.drawings}, files)


def _changed_pages(composed: Sequence[InPlace]) -> Iterator[Change]:
    for one in composed:
        if one.text != one.page.text:
            yield Change(one.page.file, Path(one.page.file), one.page.text, one.text)


def _changed_drawings(composed: Sequence[InPlace], files: Files) -> Iterator[Change]:
    for one in composed:
        for drawing in one.due_drawings:
            before = files[drawing.path].text or "" if drawing.path in files else ""
            if before != drawing.text:
                yield Change(shorten_path(drawing.path), drawing.path, before, drawing.text)
