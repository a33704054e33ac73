"""``mongo-tables check``: all findings of all pages."""

from __future__ import annotations

import sys
from argparse import Namespace

from preprocessor.commands import ask, read_pages
from preprocessor.pages import all_findings
from preprocessor.reporters import exit_code, report


def run(arguments: Namespace) -> int:
    """Writes the findings to standard output; 0 when there are none, 1 otherwise."""
    pages = read_pages(arguments.paths, arguments.pipelines)
    answers, collections = (None, ()) if arguments.static else ask(pages, arguments.results)
    findings = all_findings(pages, answers, collections)
    sources = {page.file: page.text for page in pages}
    sys.stdout.write(report(findings, arguments.format, color=sys.stdout.isatty(), sources=sources))
    return exit_code(findings)
