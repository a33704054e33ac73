"""``mongo-tables render``: write pages with their figures to standard output, to a folder, or in place."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.commands.options import EXIT, SOURCE, add_options, build_pages, request_of
from mongo_tables.directives.keywords import HTML, MDX
from mongo_tables.findings.reporters import report as write_findings
from mongo_tables.findings.usage import CommandError

if TYPE_CHECKING:
    from mongo_tables.build import Report
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.in_place import Files, InPlace

DESCRIPTION = (
    "Puts figures into Markdown pages. Without an option the result goes to standard output, with the\n"
    "comments replaced by tables and values. With --in-place it writes each table under its comment and each\n"
    "value after its comment, between two markers, so that GitHub shows them. It draws each chart into an SVG file\n"
    "next to the page. A second run changes nothing. If a page has an error, it writes nothing at all."
)
EPILOG = f"""\
{SOURCE}

examples:
  mongo-tables render docs/speed.md                   one page with its tables, on standard output
  mongo-tables render docs --output rendered          all pages, into a folder
  mongo-tables render --in-place README.md            a README that a code host shows
  mongo-tables render --in-place --written            all pages with figures, after new results

{EXIT}"""

_EDITED: Final = "MT164"
_STALE: Final = "MT166"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages and the output."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="Markdown pages, or folders of them")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", help="write each page under DIR instead of standard output")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="keep the comments, and write their tables and values after them",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: show the changes without writing them, and exit with 1 if there are any",
    )
    parser.add_argument(
        "--written",
        action="store_true",
        help="with --in-place: also all pages of the site that have figures already, and the README",
    )
    parser.add_argument("--force", action="store_true", help="with --in-place: overwrite manual edits")
    add_options(parser)


def run(arguments: Namespace) -> int:
    """Render every page or, if one has an error, none. Return 1 if there are findings, else 0.

    Raises CommandError for options that require another option.
    """
    if (arguments.check or arguments.force or arguments.written) and not arguments.in_place:
        raise CommandError("--check, --force and --written go with --in-place")
    if not arguments.files and not arguments.written:
        raise CommandError("the following arguments are required: FILE")
    from mongo_tables.results.answers import Answers

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
    from mongo_tables.directives.keywords import RST

    for page in report.site.named:
        if page.comments and page.file.endswith(RST):
            raise CommandError(
                f"{page.file}: figures of reStructuredText are shown by Sphinx, and not written into the page",
                'list "mongo_tables.hosts.sphinx_extension" under `extensions` in conf.py',
            )


def _list_written(arguments: Namespace) -> list[str]:
    """Return the pages in and outside of the site that have figures in place, or that code hosts show."""
    from mongo_tables.site.disk import PAGE_SUFFIXES, page_folders, read_snapshots

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
    """Print findings on pages to standard error. Return whether a finding is an error."""
    if findings:
        sources = {page.file: page.text for report in reports for page in report.site.judged}
        sys.stderr.write(write_findings(findings, "text", color=sys.stderr.isatty(), sources=sources))
    return any(one.severity == "error" for one in findings)


def _write_to_folder(folder: Path, names: Sequence[str], texts: Sequence[str]) -> None:
    """Write each page under ``folder``. Raises CommandError if two pages would become the same file."""
    from mongo_tables.commands.file_changes import save_texts

    files: dict[Path, str] = {}
    for name in names:
        path = Path(name)
        inside = not path.is_absolute() and ".." not in path.parts
        file = folder / (path if inside else path.name)
        if file in files:
            raise CommandError(f"{files[file]} and {name} would both become {file}", "render them one by one")
        files[file] = name
    save_texts(dict(zip(files, texts, strict=True)))


# -- in place --


def _render_in_place(reports: Sequence[Report], arguments: Namespace) -> int:
    """Update every page and its drawings or, with ``--check``, show the changes. Return the exit status.

    Nothing is written if a page has an error, or if a manual edit would be lost. Raises CommandError if two pages would
    have the same drawing.
    """
    from mongo_tables.commands.file_changes import FileEdit, print_changes, write_changes
    from mongo_tables.files.folders import shorten_path
    from mongo_tables.site.in_place import read_drawings, region_findings

    def has_errors(findings: Iterable[Finding]) -> bool:
        """Print findings, except those that ``--force`` overrides."""
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
    from mongo_tables.files.folders import shorten_path
    from mongo_tables.site.in_place import judge_file

    owners: dict[Path, str] = {}
    for one in composed:
        for drawing in one.due_drawings:
            owner = owners.setdefault(drawing.path, one.page.file)
            if owner != one.page.file:
                message = f"{owner} and {one.page.file} would both be drawn into {shorten_path(drawing.path)}"
                raise CommandError(message, "give one of the charts another `id`")
            fault = judge_file(drawing, one.page.file, files)
            yield from [fault] if fault and fault.rule != _STALE else []
