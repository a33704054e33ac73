"""``mongo-tables check``: all findings on all pages.

``pages`` finds faults, ``fixes`` applies hints, and ``watch`` repeats the check after changes.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.commands.check.pages import CheckedPages, check_paths
from mongo_tables.commands.pages import request_of
from mongo_tables.files import atomic
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.reporters import (
    compare_with_baseline,
    escape_control_chars,
    failing,
    format_baseline,
    format_count,
    report,
)
from mongo_tables.findings.usage import CommandError, print_error
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import page_folders, read_text
from mongo_tables.site.snapshot import Needs

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber

_INDEX: Final = "GIT_INDEX_FILE"
"""The variable that Git sets for hooks while a commit is made."""


def run(arguments: Namespace) -> int:
    """Print the findings. Return 2 if a path is not a page, 1 if a finding is as severe as ``fail_on``, else 0.

    Findings that the baseline accepts do not count. With ``--watch``, the check repeats until an interrupt and then
    returns 0. Raises CommandError for options that exclude each other.
    """
    contradictions = {
        "--write-baseline requires --baseline FILE, the file to write": (
            arguments.write_baseline and not arguments.baseline
        ),
        "--numbers needs rows, but --static runs no pipeline": arguments.numbers and arguments.static,
        "--report requires --numbers and --format text or json, and excludes --watch": (
            arguments.report
            and (not arguments.numbers or arguments.format not in ("text", "json") or arguments.watch)
        ),
        "--open-is-error requires --numbers": arguments.open_is_error and not arguments.numbers,
        "--fix prints a diff with the findings, so it cannot be combined with --format or --write-baseline": (
            arguments.fix and (arguments.format != "text" or arguments.write_baseline)
        ),
        "--write requires --fix": arguments.write and not arguments.fix,
        "--watch writes no file, so it excludes --write, --write-baseline and --sarif": (
            arguments.watch and (arguments.write or arguments.write_baseline or arguments.sarif)
        ),
        "--watch prints lines, so it requires --format text or github": (
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
    site = arguments.site
    if not (arguments.paths or site.file.is_file() or site.docs.exists()):
        raise CommandError(
            "no page is given, and there is neither mongo-tables.toml nor a folder docs here",
            "name a page, or let `mongo-tables init` write a first set-up",
        )
    paths = arguments.paths or page_folders(site)
    request = request_of(arguments)
    needs: Needs = "nothing" if arguments.static else "rows"
    untracked: Iterable[Finding] = ()
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        gate = arguments.open_is_error
        checked = check_paths(paths, request, source, needs, numbers=arguments.numbers, all_open=gate)
        for fault in checked.faults:
            print_error(fault)
        if needs == "rows" and _INDEX in os.environ:
            from mongo_tables.site.dependencies import find_untracked

            untracked = list(find_untracked(checked.sites, source.local))
        if arguments.fix:
            from mongo_tables.commands.check.fixes import fix_pages, show_or_write

            changes, fixed = fix_pages(checked, request, source, needs)
            checked = fixed if arguments.write else checked
    findings: Sequence[Finding] = sorted({*checked.findings, *untracked})
    if arguments.baseline:
        if arguments.write_baseline:
            return 2 if checked.faults else _accept(findings, Path(arguments.baseline))
        findings = _leave_out_accepted(findings, Path(arguments.baseline))
    _print_findings(findings, checked, arguments)
    changed = 0
    if arguments.fix:
        changed = show_or_write(changes, write=arguments.write)
    if not findings and not checked.faults and arguments.format == "text":
        _print_scope(checked, arguments)
    if checked.faults:
        return 2
    return 1 if findings and failing(findings, arguments.fail_on) else changed


def _print_findings(findings: Sequence[Finding], checked: CheckedPages, arguments: Namespace) -> None:
    """Print the findings and the report of numbers, and write the SARIF file."""
    text = report(findings, arguments.format, color=sys.stdout.isatty(), sources=checked.texts)
    if arguments.sarif:
        atomic.write_texts({Path(arguments.sarif): report(findings, "sarif")})
    if not arguments.report:
        sys.stdout.write(text)
        return
    from mongo_tables.commands.check.numbers import report_data, report_lines

    if arguments.format == "json":
        content = json.loads(text) | {"numbers": report_data(checked.numbers)}
        print(json.dumps(content, indent=2))
    else:
        sys.stdout.write(text)
        print(*report_lines(checked.numbers), sep="\n")


def _print_scope(checked: CheckedPages, arguments: Namespace) -> None:
    """Print the number of checked comments, because a check of nothing has no findings either."""
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
    atomic.write_texts({file: format_baseline(findings, file.parent)})
    print(f"{escape_control_chars(str(file))}: accepted findings: {len(findings)}", file=sys.stderr)
    return 0


def _leave_out_accepted(findings: Sequence[Finding], file: Path) -> Sequence[Finding]:
    """Return the findings that the baseline ``file`` does not accept, and print the number of its obsolete entries.

    Raises CommandError if the file is not a baseline.
    """
    if not file.is_file():
        raise CommandError(f"{file}: no such file", "create it with --write-baseline")
    try:
        new, gone = compare_with_baseline(findings, read_text(file), file.parent)
    except ValueError as error:
        raise CommandError(
            f"{file} is not a baseline: {error}", "write it again with --write-baseline"
        ) from None
    if gone:
        print(f"accepted findings that no longer occur: {gone}; --write-baseline drops them", file=sys.stderr)
    return new
