"""``mongo-tables render``: write pages with their figures to standard output, to a folder, or in place."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from mongo_tables.build import Report
from mongo_tables.commands.file_changes import FileEdit, print_changes, write_changes
from mongo_tables.commands.pages import build_pages, request_of
from mongo_tables.directives.keywords import HTML, MDX, RST
from mongo_tables.files import atomic
from mongo_tables.files.folders import shorten_path
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import report as write_findings
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import PAGE_SUFFIXES, page_folders, read_snapshots
from mongo_tables.site.in_place import Files, InPlace, judge_file, read_drawings, region_findings

_EDITED: Final = "MT164"
_STALE: Final = "MT166"


def run(arguments: Namespace) -> int:
    """Render all pages or, if a page has an error, none. Return the exit status.

    Raises CommandError for options that require another option.
    """
    if (arguments.check or arguments.force or arguments.written) and not arguments.in_place:
        raise CommandError("--check, --force and --written require --in-place")
    if not arguments.files and not arguments.written:
        raise CommandError("the following arguments are required: FILE")
    files = [*arguments.files, *(_list_written(arguments) if arguments.written else ())]
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        reports = build_pages(files, arguments, source)
        for report in reports:
            _require_markdown(report)
            if report.source.unreachable:
                raise report.source.unreachable
        if arguments.in_place:
            return _render_in_place(reports, arguments)
        if _print_findings([one for report in reports for one in report.faults], reports):
            return 1
        pages = [(report, page) for report in reports for page in report.site.named]
        rendered = [report.figures.markdown(page) for report, page in pages]
        if arguments.output:
            _write_to_folder(Path(arguments.output), [page.file for _, page in pages], rendered)
        else:
            sys.stdout.buffer.write("".join(rendered).encode("utf-8"))
    return 0


def _require_markdown(report: Report) -> None:
    for page in report.site.named:
        if page.comments and page.file.endswith(RST):
            raise CommandError(
                f"{page.file}: render cannot write figures into reStructuredText, but Sphinx can show them",
                'list "mongo_tables.hosts.sphinx_extension" under `extensions` in conf.py',
            )


def _list_written(arguments: Namespace) -> list[str]:
    """Return the pages of the site and of this folder that have figures in place or must have them."""
    beside = (path.name for path in sorted(Path().iterdir()) if path.suffix in PAGE_SUFFIXES)
    paths = [*(path for path in page_folders(arguments.site) if Path(path).exists()), *beside]
    snapshots = read_snapshots(paths, request_of(arguments)).snapshots
    return [
        one.file
        for snapshot in snapshots
        for one in snapshot.pages
        if one.file in (snapshot.in_place or ())
        or (one.asked and any(f"{each.open} mongo-tables: begin" in one.text for each in (HTML, MDX)))
    ]


def _print_findings(findings: Sequence[Finding], reports: Sequence[Report]) -> bool:
    """Print findings on standard error. Return whether a finding is an error."""
    if findings:
        sources = {page.file: page.text for report in reports for page in report.site.judged}
        sys.stderr.write(write_findings(findings, "text", color=sys.stderr.isatty(), sources=sources))
    return any(one.severity == "error" for one in findings)


def _write_to_folder(folder: Path, names: Sequence[str], texts: Sequence[str]) -> None:
    """Write each page under ``folder``. Raises CommandError if two pages would become the same file."""
    files: dict[Path, str] = {}
    for name in names:
        path = Path(name)
        inside = not path.is_absolute() and ".." not in path.parts
        file = folder / (path if inside else path.name)
        if file in files:
            raise CommandError(
                f"{files[file]} and {name} would both be written to {file}", "render them one after the other"
            )
        files[file] = name
    atomic.write_texts(dict(zip(files, texts, strict=True)))


# -- in place --


def _render_in_place(reports: Sequence[Report], arguments: Namespace) -> int:
    """Update all pages and their drawings or, with ``--check``, show the changes. Return the exit status.

    No file is written if a page has an error, or if a manual edit would be lost. Raises CommandError if two pages would
    have the same drawing.
    """

    def has_errors(findings: Iterable[Finding]) -> bool:
        """Print findings except those that ``--force`` overrides. Return whether any of them is an error."""
        found = {one for one in findings if not (arguments.force and one.rule == _EDITED)}
        return _print_findings(sorted(found), reports)

    found = [one for report in reports for one in report.faults]
    found += [one for report in reports for page in report.site.named for one in region_findings(page)]
    if has_errors(found):
        return 1
    drawings = {path: file for report in reports for path, file in report.site.snapshot.drawings.items()}
    composed: list[InPlace] = []
    for report in reports:
        paths = report.site.paths()
        composed += [report.figures.in_place(page, paths[page.file]) for page in report.site.named]
    for one in composed:
        drawings |= read_drawings(one.path)
    if has_errors(_judge_drawings(composed, drawings)):
        return 1
    changes = [
        FileEdit(one.page.file, Path(one.page.file), one.page.text, one.text)
        for one in composed
        if one.text != one.page.text
    ]
    for drawing in (drawing for one in composed for drawing in one.due_drawings):
        before = drawings[drawing.path].text or "" if drawing.path in drawings else ""
        if before != drawing.text:
            changes.append(FileEdit(shorten_path(drawing.path), drawing.path, before, drawing.text))
    return print_changes(changes) if arguments.check else write_changes(changes)


def _judge_drawings(composed: Sequence[InPlace], files: Files) -> Iterator[Finding]:
    """Yield findings on drawings that cannot be written.

    Raises CommandError if two pages would have the same drawing.
    """
    owners: dict[Path, str] = {}
    for one in composed:
        for drawing in one.due_drawings:
            owner = owners.setdefault(drawing.path, one.page.file)
            if owner != one.page.file:
                message = f"{owner} and {one.page.file} would both be drawn into {shorten_path(drawing.path)}"
                raise CommandError(message, "give one of the charts another `id`")
            fault = judge_file(drawing, one.page.file, files)
            yield from [fault] if fault and fault.rule != _STALE else []
