"""The findings on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.build import Report, build
from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_snapshots
from mongo_tables.site.pages import Page
from mongo_tables.site.site import Site
from mongo_tables.site.snapshot import Needs

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber


class CheckedPages(NamedTuple):
    """Checked pages and their findings, which are sorted and distinct.

    ``texts`` has the text of each page that findings may name, ``faults`` a message for each path that is not a page.
    """

    findings: Sequence[Finding]
    pages: Sequence[Page]
    texts: Mapping[str, str]
    faults: Sequence[str]
    numbers: Sequence[TextNumber] = ()
    sites: Sequence[Site] = ()


def check_paths(
    paths: Iterable[str],
    request: Request,
    source: Answers,
    needs: Needs = "rows",
    *,
    numbers: bool = False,
    all_open: bool = False,
) -> CheckedPages:
    """Check the pages that ``paths`` name, together with all other pages of their sites.

    With ``numbers``, paths may also name other texts, and findings include stale and open numbers: open numbers in
    sections with a table or, with ``all_open``, all of them. Raises ResultsError for an unusable results source. Faults
    in files of results are findings.
    """
    paths, texts = list(paths), list[str]()
    if numbers:
        from mongo_tables.commands.check import numbers as prose  # loads the linter

        paths = list(prose.expand(paths))
        texts = list(filter(prose.is_text, paths))
    read = read_snapshots([one for one in paths if one not in texts] if texts else paths, request, needs)
    reports: list[Report] = []
    for snapshot in read.snapshots:
        reports.append(build(snapshot, source))
        raise_if_unusable(reports[-1])
    faults = list(read.faults)
    found: set[Finding] = set()
    pages: list[Page] = []
    sites: list[Site] = []
    sources: dict[str, str] = {}
    for report in reports:
        found.update(report.findings)
        site = report.site
        sites.append(site)
        pages += site.pages
        for page in site.judged:
            sources[page.file] = page.text
    classified: Sequence[TextNumber] = ()
    if numbers:
        others = list(prose.read_texts(texts, faults))
        folder = request.site.file.parent
        classified, of_numbers = prose.check_numbers(reports, others, paths, folder, all_open=all_open)
        found.update(of_numbers)
        sources |= {page.file: page.text for page in others}
    return CheckedPages(sorted(found), pages, sources, faults, classified, sites)


def raise_if_unusable(report: Report) -> None:
    """Raise ResultsError if the results source is unusable for another reason than faults in files of results."""
    away = report.source.unreachable
    if away and not away.findings:
        raise away
