"""``mongo-tables check``: all findings of all pages."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor import atomic
from preprocessor.commands import Unusable, ask, read_pages, read_text
from preprocessor.pages import all_findings, lint_findings
from preprocessor.reporters import exit_code, harmless, report

if TYPE_CHECKING:
    from preprocessor.findings import Finding
    from preprocessor.results.fixtures import FixtureSource


def run(arguments: Namespace) -> int:
    """Writes the findings to standard output; 0 when there are none, 1 otherwise.

    With a baseline only findings that it does not accept count.
    """
    if arguments.write_baseline and not arguments.baseline:
        raise Unusable("--write-baseline goes with --baseline FILE, the file that is written")
    pages = read_pages(arguments.paths, arguments.pipelines)
    answers, collections = (None, ()) if arguments.static else ask(pages, arguments.results)
    linted = lint_findings(pages, _fixtures(arguments.results), answers)
    findings: Sequence[Finding] = all_findings(pages, answers, collections, linted)
    if arguments.write_baseline:
        return _accept(findings, Path(arguments.baseline))
    if arguments.baseline:
        findings = _unaccepted(findings, Path(arguments.baseline))
    sources = {page.file: page.text for page in pages}
    sys.stdout.write(report(findings, arguments.format, color=sys.stdout.isatty(), sources=sources))
    return exit_code(findings)


def _fixtures(where: str) -> FixtureSource | None:
    """The fixtures that the linter learns documents from; None for a database, and where there is no folder."""
    folder = Path(where)
    if "://" in where or not folder.is_dir():
        return None
    from preprocessor.results.fixtures import FixtureSource

    return FixtureSource(folder)


def _accept(findings: Sequence[Finding], file: Path) -> int:
    from preprocessor.baseline import written

    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), written(findings, file.parent).encode("utf-8"))
    print(f"{harmless(str(file))}: accepted findings: {len(findings)}", file=sys.stderr)
    return 0


def _unaccepted(findings: Sequence[Finding], file: Path) -> Sequence[Finding]:
    from preprocessor.baseline import BaselineError, compared

    if not file.is_file():
        raise Unusable(f"{file}: no such file", "write it once with --write-baseline")
    try:
        outcome = compared(findings, read_text(file), file.parent)
    except BaselineError as error:
        raise Unusable(f"{file} is no baseline: {error}", "write it anew with --write-baseline") from None
    if outcome.gone:
        print(
            f"accepted findings that are gone: {outcome.gone}; --write-baseline forgets them", file=sys.stderr
        )
    return outcome.new
