"""``mongo-tables deps``: the source files of each page. Programs use the list to decide which pages to rebuild."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from mongo_tables import __version__
from mongo_tables.commands.options import EXIT, SOURCE, add_options, build_pages
from mongo_tables.findings.reporters import report
from mongo_tables.results.answers import Answers

if TYPE_CHECKING:
    from mongo_tables.results.model import ResultsSource
    from mongo_tables.site.dependencies import PageNeeds

DESCRIPTION = (
    "Lists the files that each page is made from: files of results, shared pipelines, included files, pages\n"
    "whose tables it quotes, the file of the site and the files that this inherits. It runs no pipeline."
)
EPILOG = f"""\
{SOURCE}

examples:
  mongo-tables deps docs/speed.md
  mongo-tables deps --json | jq '.pages[].files'

{EXIT}"""

_VERSION = 1
"""The version of the JSON format. It increases when a key changes its meaning or disappears."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, the format of the list, and the results source."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="pages or folders (default: the site's, else docs)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="pages, their figures, the collections that these read, files with digests",
    )
    add_options(parser)


def run(arguments: Namespace) -> int:
    """Print the source files of pages.

    Return 1 if comments have faults, because the sources of such comments are unknown.

    Raises CommandError for a path that is not a page, ResultsError for unreadable files of results.
    """
    from mongo_tables.site.dependencies import needs_of
    from mongo_tables.site.disk import page_folders
    from mongo_tables.site.site_config import list_site_files

    paths = arguments.paths or page_folders(arguments.site)
    settings = [file for file in list_site_files(arguments.site) if file.is_file()]
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
        print(f"mongo-tables: rows come from {source.name}: no file tells when they change", file=sys.stderr)
    faults = (one for site in sites for page in site.named for one in page.findings)
    errors = sorted({one for one in faults if one.severity == "error"})
    print(report(errors, "text"), end="", file=sys.stderr)
    return 1 if errors else 0


def _as_json(needs: Sequence[PageNeeds], source: ResultsSource) -> dict[str, Any]:
    from mongo_tables.site.dependencies import digests_of_files, digests_of_pages

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
