"""``mongo-tables check``: all findings of all pages."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.options import SOURCE, add_source
from mongo_tables.findings.reporters import REPORT_FORMATS, SEVERITIES, exit_code, format_count, report
from mongo_tables.findings.usage import UsageError, print_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mongo_tables.commands.rewriting import Change
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import Page
    from mongo_tables.site.snapshot import Needs

DESCRIPTION = (
    "Checks every RESULT_… and MONGO_… comment: its JSON, its keys, its pipeline, and, by running it on the results\n"
    "source, its rows. All faults of all files are listed, each with file, line and column."
)
EPILOG = (
    f"{SOURCE}\n\n"
    "exit status: 0 no finding, or none as grave as --fail-on; 1 findings as grave, or graver;\n"
    "2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, what is looked for in them, how it is reported and what of it is accepted."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="pages or folders (default: the site's, else docs); - is a page on standard input",
    )
    parser.add_argument(
        "--stdin-filename",
        metavar="PATH",
        help="where the page on standard input belongs, for editors: findings name it, the site is the one around it, "
        "and the file there is not read",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="go on, and check anew whenever a page, a shared pipeline, a file of results or the site's file changes; "
        "Ctrl-C ends it",
    )
    parser.add_argument(
        "--site",
        dest="site_only",
        action="store_true",
        help="look at the site's file alone: which programs show figures, and what to add for those that do not",
    )
    parser.add_argument("--static", action="store_true", help="run no pipeline, need no results source")
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="also warn of typed numbers in sections with a table that no table has",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="with --numbers: print how many are bound, found, exempt and open, the open ones, and what chance finds",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show pages and shared pipelines as hints would have them: mistyped names, values pasted from a shell, a "
        "$sort behind its $limit",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="with --fix: write these files, and list what is left to be done by hand",
    )
    _add_report(parser)
    add_source(parser)


def _add_report(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text", help="how findings are written (default: text)"
    )
    parser.add_argument(
        "--sarif", metavar="FILE", help="also write them into FILE as SARIF, whatever the format"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        help="the least grave finding that makes the exit status 1 (default: `fail_on` of the site, else warning)",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="findings that are accepted: only others are listed and fail"
    )
    parser.add_argument(
        "--write-baseline", action="store_true", help="accept today's findings: write them to the baseline"
    )


def run(arguments: Namespace) -> int:
    """Print the findings; give 1 when one is as grave as ``fail_on``, 2 when a path names no page.

    With a baseline only findings that it does not accept count. With ``--watch`` this is done again and again, and ends
    with 0. Raises UsageError for options that exclude each other.
    """
    if arguments.site_only:
        from mongo_tables.commands.check.doors import show_doors

        _refuse_beside_site(arguments)
        return show_doors(arguments)
    from mongo_tables.site.disk import STDIN

    _refuse_contradictions(arguments, STDIN)
    if arguments.watch:
        from mongo_tables.commands.check.watching import check_at_changes

        return check_at_changes(arguments, _check_once)
    return _check_once(arguments)


def _check_once(arguments: Namespace) -> int:
    from mongo_tables.commands.check.checking import check_paths
    from mongo_tables.commands.options import request_of
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.site_pages import page_folders

    paths = arguments.paths or page_folders(arguments.site)
    request = request_of(arguments)
    needs: Needs = "nothing" if arguments.static else "rows"
    stdin_name = arguments.stdin_filename or "<stdin>"
    changes: Sequence[Change] = ()
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        checked = check_paths(paths, request, source, needs, stdin_name, numbers=arguments.numbers)
        for fault in checked.faults:
            print_error(fault)
        scope = _count(checked.pages)
        if arguments.fix:
            from mongo_tables.commands.check.fixing import fix_pages

            fixed = fix_pages(checked, request, source, needs)
            changes = fixed.changes
            if arguments.write:
                checked, scope = fixed.checked, _count(fixed.checked.pages)
    findings = checked.findings
    if arguments.baseline:
        from mongo_tables.commands.check.accepting import accept, leave_out_accepted

        if arguments.write_baseline:
            return 2 if checked.faults else accept(findings, Path(arguments.baseline))
        findings = leave_out_accepted(findings, Path(arguments.baseline))
    _report(findings, checked.texts, arguments)
    if arguments.report:
        from mongo_tables.site.numbers.classes import report_lines

        print(*report_lines(checked.numbers), sep="\n")
    changed = _show_or_write(changes, write=arguments.write) if arguments.fix else 0
    if not findings and not checked.faults:
        _print_scope(scope, arguments)
    return 2 if checked.faults else exit_code(findings, arguments.fail_on) or changed


def _report(findings: Sequence[Finding], sources: Mapping[str, str], arguments: Namespace) -> None:
    sys.stdout.write(report(findings, arguments.format, color=sys.stdout.isatty(), sources=sources))
    if arguments.sarif:
        _write_sarif(findings, Path(arguments.sarif))


def _write_sarif(findings: Sequence[Finding], file: Path) -> None:
    from mongo_tables.files import atomic

    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), report(findings, "sarif").encode())


def _show_or_write(changes: Sequence[Change], *, write: bool) -> int:
    """Write the files anew, or show what would change; give 1 when something is left to be written."""
    from mongo_tables.commands.rewriting import print_changes, write_changes

    return write_changes(changes) if write else print_changes(changes)


def _refuse_beside_site(arguments: Namespace) -> None:
    others = (
        "paths",
        "stdin_filename",
        "watch",
        "static",
        "numbers",
        "fix",
        "baseline",
        "write_baseline",
        "results",
    )
    if arguments.format != "text" or any(getattr(arguments, name) for name in others):
        raise UsageError("--site looks at the file of the site alone: nothing goes with it but --config-file")


def _refuse_contradictions(arguments: Namespace, stdin: str) -> None:
    if arguments.write_baseline and not arguments.baseline:
        raise UsageError("--write-baseline goes with --baseline FILE, the file that is written")
    if arguments.numbers and arguments.static:
        raise UsageError("--numbers looks into rows, and --static runs no pipeline")
    if arguments.report and (not arguments.numbers or arguments.format != "text" or arguments.watch):
        raise UsageError("--report goes with --numbers, and with neither --format nor --watch")
    if arguments.fix and (arguments.format != "text" or arguments.write_baseline):
        raise UsageError(
            "--fix shows a diff beside the findings, so neither --format nor --write-baseline goes with it"
        )
    if arguments.write and (not arguments.fix or stdin in arguments.paths):
        raise UsageError("--write goes with --fix, and with pages that are files")
    if arguments.watch and (arguments.write or arguments.write_baseline or arguments.sarif):
        raise UsageError("--watch writes no file: --write, --write-baseline and --sarif do not go with it")
    if arguments.watch and (stdin in arguments.paths or arguments.format not in ("text", "github")):
        raise UsageError(
            "--watch prints lines about files, so neither - nor one document per check goes with it"
        )
    if arguments.stdin_filename is not None and stdin not in arguments.paths:
        raise UsageError(f"--stdin-filename goes with {stdin}, the page on standard input")


def _count(pages: Sequence[Page]) -> tuple[int, int]:
    """How many comments on how many pages were checked."""
    return sum(len(page.comments) for page in pages), len(pages)


def _print_scope(scope: tuple[int, int], arguments: Namespace) -> None:
    """Say how much was checked: no finding may also mean that there was nothing to check."""
    if arguments.format != "text":
        return
    comments, pages = scope
    on = f"{format_count(comments, 'comment')} on {format_count(pages, 'page')}"
    accepted = " that the baseline does not accept" if arguments.baseline else ""
    found = f"no fault{accepted}" + (" (no pipeline was run)" if arguments.static else "")
    print(f"{on}: {found if comments else 'nothing was checked'}", file=sys.stderr)
