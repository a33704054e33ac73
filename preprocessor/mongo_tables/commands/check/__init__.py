"""``mongo-tables check``: all findings on all pages.

``pages`` finds and fixes faults, ``watch`` repeats the check after changes.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.commands.options import SOURCE, add_options, request_of
from mongo_tables.findings.reporters import (
    REPORT_FORMATS,
    SEVERITIES,
    escape_control_chars,
    failing,
    format_count,
    report,
)
from mongo_tables.findings.usage import CommandError, print_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mongo_tables.commands.check.pages import CheckedPages
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.numbers.classes import TextNumber
    from mongo_tables.site.snapshot import Needs

_INDEX: Final = "GIT_INDEX_FILE"
"""The variable that Git sets for hooks while a commit is made."""
DESCRIPTION = (
    "Checks every RESULT_… and MONGO_… comment: its JSON, its keys, its pipeline, and, by running it on the results\n"
    "source, its rows. All faults of all files are listed, each with file, line and column."
)
EPILOG = (
    f"{SOURCE}\n\n"
    "examples:\n"
    "  mongo-tables check                              the pages of the site, else docs\n"
    "  mongo-tables check README.md --results bench.json\n"
    "  mongo-tables check --watch --numbers            while you write\n"
    "  mongo-tables check --numbers README.md llms.txt docs/*.rst --results bench.json\n"
    "                                                  texts without a single comment\n"
    "  mongo-tables check --numbers README.md --open-is-error --baseline numbers.json\n"
    "  mongo-tables check --format github --sarif check.sarif\n\n"
    "exit status: 0 no finding, or none of the severity of --fail-on; 1 findings of that severity, or higher;\n"
    "2 wrong usage, nothing to work with, or results out of reach: the reason is on standard error, and no report is\n"
    "written, neither JSON nor SARIF"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, the checks, the report format and the accepted findings."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="pages or folders (default: the site's, else docs)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="check again whenever a page, a shared pipeline, a file of results or the site's file changes; Ctrl-C "
        "ends it",
    )
    parser.add_argument("--static", action="store_true", help="run no pipeline; needs no results source")
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="also warn of typed numbers, in sections with a table, that no table contains, and of stale numbers: "
        "their sentence names a row and a column or unit whose value is different now; PATH may also be MDX, "
        "reStructuredText, HTML, text, or source code, and a text without tables is compared with all results",
    )
    parser.add_argument(
        "--open-is-error",
        action="store_true",
        help="with --numbers: every open number is an error; exempt some in mongo-tables.toml, or accept today's with "
        "--baseline",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="with --numbers: count bound, found, exempt and open numbers, list open ones, and estimate chance hits; "
        "with --format json, all numbers as JSON",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show pages and shared pipelines with the hints applied: mistyped names, values pasted from a shell, a "
        "$sort after its $limit",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="with --fix: write these files, and list the remaining manual changes",
    )
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text", help="the format of findings (default: text)"
    )
    parser.add_argument(
        "--sarif", metavar="FILE", help="also write findings into FILE as SARIF, with any --format"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        help="the lowest severity that makes the exit status 1 (default: `fail_on` of the site, else warning)",
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="a file of accepted findings, which are not listed and do not fail the check",
    )
    parser.add_argument(
        "--write-baseline",
        action="store_true",
        help="accept the current findings: write them to the baseline",
    )
    add_options(parser)


def run(arguments: Namespace) -> int:
    """Print the findings. Return 1 if a finding is at least as severe as ``fail_on``, or 2 if a path is not a page.

    With a baseline, only findings outside of it count. With ``--watch``, the check repeats until an interrupt and then
    returns 0. Raises CommandError for options that exclude each other.
    """
    contradictions = {
        "--write-baseline requires --baseline FILE, the file to write": (
            arguments.write_baseline and not arguments.baseline
        ),
        "--numbers needs rows, but --static runs no pipeline": arguments.numbers and arguments.static,
        "--report requires --numbers, and goes with --format text or json, not with --watch": (
            arguments.report
            and (not arguments.numbers or arguments.format not in ("text", "json") or arguments.watch)
        ),
        "--open-is-error requires --numbers": arguments.open_is_error and not arguments.numbers,
        "--fix prints a diff with the findings, so it cannot be combined with --format or --write-baseline": (
            arguments.fix and (arguments.format != "text" or arguments.write_baseline)
        ),
        "--write goes with --fix": arguments.write and not arguments.fix,
        "--watch writes no file: --write, --write-baseline and --sarif do not go with it": (
            arguments.watch and (arguments.write or arguments.write_baseline or arguments.sarif)
        ),
        "--watch prints lines, so it goes with --format text or github": (
            arguments.watch and arguments.format not in ("text", "github")
        ),
    }
    for message, is_so in contradictions.items():
        if is_so:
            raise CommandError(message)
    if arguments.watch:
        from mongo_tables.commands.check.watch import check_at_changes

        return check_at_changes(arguments, _check_once)
    return _check_once(arguments)


def _check_once(arguments: Namespace) -> int:
    from mongo_tables.commands.check.pages import check_paths, find_untracked, fix_pages
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.disk import page_folders

    site = arguments.site
    if not (arguments.paths or site.file.is_file() or site.docs.exists()):
        raise CommandError(
            "no page is given, and there is neither mongo-tables.toml nor a folder docs here",
            "name a page, or let `mongo-tables init` write a first set-up",
        )
    paths = arguments.paths or page_folders(site)
    request = request_of(arguments)
    needs: Needs = "nothing" if arguments.static else "rows"
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        gate = arguments.open_is_error
        checked = check_paths(paths, request, source, needs, numbers=arguments.numbers, all_open=gate)
        for fault in checked.faults:
            print_error(fault)
        changes, mended = fix_pages(checked, request, source, needs) if arguments.fix else ((), checked)
        in_hook = needs == "rows" and _INDEX in os.environ
        untracked = [*find_untracked(checked, source.local)] if in_hook else ()
    if arguments.write:
        checked = mended
    findings: Sequence[Finding] = sorted({*checked.findings, *untracked})
    if arguments.baseline:
        if arguments.write_baseline:
            return 2 if checked.faults else _accept(findings, Path(arguments.baseline))
        findings = _leave_out_accepted(findings, Path(arguments.baseline))
    _print_findings(findings, checked, arguments)
    changed = 0
    if arguments.fix:
        from mongo_tables.commands.file_changes import print_changes, write_changes

        changed = write_changes(changes) if arguments.write else print_changes(changes)
    if not findings and not checked.faults and arguments.format == "text":
        _print_scope(checked, arguments)
    if checked.faults:
        return 2
    return 1 if findings and failing(findings, arguments.fail_on) else changed


def _print_findings(findings: Sequence[Finding], checked: CheckedPages, arguments: Namespace) -> None:
    """Print the findings and the report of numbers, and write the SARIF file."""
    text = report(findings, arguments.format, color=sys.stdout.isatty(), sources=checked.texts)
    if arguments.sarif:
        _write(Path(arguments.sarif), report(findings, "sarif"))
    if not arguments.report:
        sys.stdout.write(text)
        return
    from mongo_tables.commands.check.numbers import report_data, report_lines

    if arguments.format == "json":
        import json

        content = json.loads(text) | {"numbers": report_data(checked.numbers)}
        print(json.dumps(content, indent=2))
    else:
        sys.stdout.write(text)
        print(*report_lines(checked.numbers), sep="\n")


def _print_scope(checked: CheckedPages, arguments: Namespace) -> None:
    """Print how much was checked, because a report without findings may mean that there was nothing to check."""
    comments = 0
    with_comments: set[str] = set()
    for page in checked.pages:
        comments += len(page.comments)
        if page.comments:
            with_comments.add(page.file)
    on = f"{format_count(comments, 'comment')} on {format_count(len(checked.pages), 'page')}"
    accepted = " that the baseline does not accept" if arguments.baseline else ""
    found = f"no fault{accepted}" + (" (no pipeline was run)" if arguments.static else "")
    held: list[TextNumber] = []
    for one in checked.numbers:
        if one.tables and one.file not in with_comments:
            held.append(one)
    if comments or not held:
        print(f"{on}: {found if comments else 'nothing was checked'}", file=sys.stderr)
    if held:
        files = format_count(len({one.file for one in held}), "file")
        is_open = sum(one.kind == "open" for one in held)
        print(
            f"{format_count(len(held), 'number')} in {files}: none stale{accepted}, {is_open} open",
            file=sys.stderr,
        )


def _accept(findings: Sequence[Finding], file: Path) -> int:
    """Write the baseline that accepts ``findings``. Return the exit status."""
    from mongo_tables.findings.reporters import format_baseline

    _write(file, format_baseline(findings, file.parent))
    print(f"{escape_control_chars(str(file))}: accepted findings: {len(findings)}", file=sys.stderr)
    return 0


def _leave_out_accepted(findings: Sequence[Finding], file: Path) -> Sequence[Finding]:
    """Return the findings outside the baseline ``file``. Print the number of obsolete baseline entries.

    Raises CommandError if the file is not a baseline.
    """
    from mongo_tables.findings.reporters import compare_with_baseline
    from mongo_tables.site.disk import read_text

    if not file.is_file():
        raise CommandError(f"{file}: no such file", "write it once with --write-baseline")
    try:
        new, gone = compare_with_baseline(findings, read_text(file), file.parent)
    except ValueError as error:
        raise CommandError(
            f"{file} is not a baseline: {error}", "write it again with --write-baseline"
        ) from None
    if gone:
        print(f"accepted findings that no longer occur: {gone}; --write-baseline drops them", file=sys.stderr)
    return new


def _write(file: Path, text: str) -> None:
    from mongo_tables.files import atomic

    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), text.encode())
