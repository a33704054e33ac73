"""``mongo-tables check``: all findings of all pages."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.files import atomic
from preprocessor.findings.baseline import BaselineError, compared, written
from preprocessor.findings.reporters import counted, escape_control_chars, exit_code, report
from preprocessor.findings.usage import UsageError, print_error
from preprocessor.pages.build import Build
from preprocessor.pages.companions import built_together, companions
from preprocessor.pages.files import STDIN, read_paths, read_text
from preprocessor.pages.generated import deferred
from preprocessor.pages.ids import written_ids
from preprocessor.pages.included import Included, included
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.sitepages import Whereabouts, page_folders
from preprocessor.specs.together import no_table

if TYPE_CHECKING:
    from preprocessor.findings.finding import Finding
    from preprocessor.pages.model import Answers, Page


@dataclass(frozen=True, slots=True)
class _Checked:
    """Pages that were checked together, the others whose tables they name, and what was found."""

    pages: list[Page]
    others: list[Page]
    findings: Sequence[Finding]


def run(arguments: Namespace) -> int:
    """Writes the findings to standard output; 1 when one is as grave as ``fail_on``, 2 when a path names no page.

    With a baseline only findings that it does not accept count.
    """
    if arguments.write_baseline and not arguments.baseline:
        raise UsageError("--write-baseline goes with --baseline FILE, the file that is written")
    if arguments.prose and arguments.static:
        raise UsageError("--prose holds sentences against rows, and --static runs no pipeline")
    if arguments.stdin_filename is not None and STDIN not in arguments.paths:
        raise UsageError(f"--stdin-filename goes with {STDIN}, the page on standard input")
    paths = arguments.paths or page_folders(arguments.site)
    gathered = read_paths(paths, arguments.pipelines, arguments.stdin_filename or "<stdin>")
    for fault in gathered.faults:
        print_error(fault)
    checked = list(_checked(gathered.pages, arguments))
    findings: Sequence[Finding] = sorted({one for each in checked for one in each.findings})
    if arguments.write_baseline:
        return _accept(findings, Path(arguments.baseline)) if not gathered.faults else 2
    if arguments.baseline:
        findings = _unaccepted(findings, Path(arguments.baseline))
    sources = {page.file: page.text for each in checked for page in (*each.pages, *each.others)}
    sys.stdout.write(report(findings, arguments.format, color=sys.stdout.isatty(), sources=sources))
    if not findings and not gathered.faults and arguments.format == "text":
        pages = {page.file: page for each in checked for page in each.pages}
        print(_without_fault(list(pages.values()), arguments), file=sys.stderr)
    return 2 if gathered.faults else exit_code(findings, arguments.fail_on)


def _checked(gathered: Sequence[Page], arguments: Namespace) -> Iterator[_Checked]:
    """The pages of sites, then those that builds leave out: the tables of these are none of the site's.

    What is left out and comes into a page all the same is checked with the pages of the site.
    """
    where = Whereabouts(arguments.site)
    apart = {Path(page.file).resolve(): page for page in gathered if where.leave_out(page)}
    pages = [page for page in gathered if not apart or Path(page.file).resolve() not in apart]
    taken_in = included(pages, arguments.pipelines)
    brought = [apart.pop(Path(page.file).resolve(), page) for page in taken_in.pages]
    checked = _among_others([*pages, *brought], taken_in, arguments, apart=False)
    yield replace(checked, findings=_naming_left_out(checked.findings, apart.values()))
    if apart:
        pages = list(apart.values())
        taken_in = included(pages, arguments.pipelines)
        yield _among_others([*pages, *taken_in.pages], taken_in, arguments, apart=True)


def _naming_left_out(findings: Sequence[Finding], left_out: Iterable[Page]) -> Sequence[Finding]:
    """The findings, with where a table is that no page of the site has, because the build leaves out its page."""
    if not any(one.rule == "MT139" for one in findings):
        return findings
    hints = {
        no_table(name): f"It is on {page.file}, which the build leaves out (`exclude_docs`, `draft_docs`)."
        for page in left_out
        for name in written_ids(page)
    }
    return [
        replace(one, hint=hints[one.message]) if one.rule == "MT139" and one.message in hints else one
        for one in findings
    ]


def _among_others(pages: list[Page], taken_in: Included, arguments: Namespace, *, apart: bool) -> _Checked:
    others = companions(pages, arguments.pipelines, arguments.site, apart=apart)
    findings = _findings(pages, others, taken_in.findings, arguments)
    return _Checked(
        pages,
        others,
        _without_deferred(findings, [*pages, *others], taken_in.open_ended, arguments, apart=apart),
    )


def _without_deferred(
    findings: Sequence[Finding], pages: Sequence[Page], open_ended: bool, arguments: Namespace, *, apart: bool
) -> Sequence[Finding]:
    """The findings, with notes for those that only the build can judge; a table may come into any page of the site."""
    if any(one.rule == "MT139" for one in findings):
        whole = built_together(pages, arguments.pipelines, arguments.site, apart=apart)
        pages, open_ended = [*pages, *whole.pages], open_ended or whole.open_ended
    return deferred(findings, pages, open_ended=open_ended)


def _without_fault(pages: Sequence[Page], arguments: Namespace) -> str:
    """What was looked at, lest nothing found be taken for something looked at."""
    comments = sum(len(page.comments) for page in pages)
    on = f"{counted(comments, 'comment')} on {counted(len(pages), 'page')}"
    if not comments:
        return f"{on}: nothing was checked"
    accepted = " that the baseline does not accept" if arguments.baseline else ""
    return f"{on}: no fault{accepted}" + (" (no pipeline was run)" if arguments.static else "")


def _findings(
    pages: Sequence[Page], others: Sequence[Page], known: Sequence[Finding], arguments: Namespace
) -> Sequence[Finding]:
    """Those of ``pages`` with those ``known``, and of the tables of ``others`` what keeps their rows from the pages.

    Raises ResultsError for a source that cannot be used, but for one whose files have faults, which are findings.
    """
    build = Build(KeptAnswers(arguments.results, arguments.limits), [*pages, *others])
    with closing(build.asked):
        if not arguments.static:
            build.ask()
        if build.away and not build.away.faults:
            raise build.away
        asked = {page.file for page in pages}
        found = build.findings(build.lint(), known)
        found = [one for one in found if one.file in asked or one.severity == "error"]
        found += [*build.source_findings(arguments.results), *_stale(pages, build.answers)]
        if arguments.prose and not build.away:
            from preprocessor.pages.prose.judging import prose_findings

            found += prose_findings(pages, build.answers)
        return sorted(found)


def _stale(pages: Sequence[Page], answers: Answers) -> list[Finding]:
    """What is wrong with tables that were written into the pages; only those with such a table pay for it."""
    written = [page for page in pages if any(comment.region for comment in page.comments)]
    if not written:
        return []
    from preprocessor.pages.inplace import stale_findings

    return [one for page in written for one in stale_findings(page, answers)]


def _accept(findings: Sequence[Finding], file: Path) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), written(findings, file.parent).encode("utf-8"))
    print(f"{escape_control_chars(str(file))}: accepted findings: {len(findings)}", file=sys.stderr)
    return 0


def _unaccepted(findings: Sequence[Finding], file: Path) -> Sequence[Finding]:
    if not file.is_file():
        raise UsageError(f"{file}: no such file", "write it once with --write-baseline")
    try:
        outcome = compared(findings, read_text(file), file.parent)
    except BaselineError as error:
        raise UsageError(f"{file} is no baseline: {error}", "write it anew with --write-baseline") from None
    if outcome.gone:
        print(
            f"accepted findings that are gone: {outcome.gone}; --write-baseline forgets them", file=sys.stderr
        )
    return outcome.new
