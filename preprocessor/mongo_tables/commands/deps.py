"""``mongo-tables deps``: the files that each page depends on, for programs that decide which pages to rebuild."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from mongo_tables import __version__
from mongo_tables.commands.pages import build_pages
from mongo_tables.findings.reporters import report
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import ResultsSource
from mongo_tables.site.dependencies import PageNeeds, digests_of_files, digests_of_pages, needs_of
from mongo_tables.site.disk import page_folders
from mongo_tables.site.settings_files import list_site_files

_VERSION = 1
"""The version of the JSON format. It increases when a key changes its meaning or disappears."""


def run(arguments: Namespace) -> int:
    """Print the files that pages depend on. Return 1 if comments have errors, because their files are unknown.

    Raises CommandError for a path that is not a page, ResultsError for unreadable files of results.
    """
    paths = arguments.paths or page_folders(arguments.site)
    settings = [file for file in list_site_files(arguments.site.file) if file.is_file()]
    with closing(Answers(arguments.results, arguments.limits)) as answers:
        sites = [report.site for report in build_pages(paths, arguments, answers, "nothing")]
        source = answers.source
        needs = [needs_of(page, site, source.local, settings) for site in sites for page in site.named]
        if arguments.json:
            print(json.dumps(_as_json(needs, source), indent=2, ensure_ascii=True))
        else:
            for each in needs:
                print(each.page, *(f"  {file}" for file in each.files if file != each.page), sep="\n")
    if source.local is None:
        print(
            f"mongo-tables: rows come from {source.name}, so no file shows whether they changed",
            file=sys.stderr,
        )
    faults = (one for site in sites for page in site.named for one in page.findings)
    errors = sorted({one for one in faults if one.severity == "error"})
    print(report(errors, "text"), end="", file=sys.stderr)
    return 1 if errors else 0


def _as_json(needs: Sequence[PageNeeds], source: ResultsSource) -> dict[str, Any]:
    files = digests_of_files(needs)
    pages = [
        {
            "page": each.page,
            "digest": digest,
            "files": list(each.files),
            "figures": [figure._asdict() for figure in each.figures],
        }
        for each, digest in zip(needs, digests_of_pages(needs, files, source), strict=True)
    ]
    return {
        "version": _VERSION,
        "program": __version__,
        "results": source.name,
        "files": files,
        "pages": pages,
    }
