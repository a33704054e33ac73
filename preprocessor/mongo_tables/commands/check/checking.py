"""What is wrong with pages: each snapshot of theirs is built, and the findings are put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mongo_tables.build import Report, build
from mongo_tables.site.disk import Request, read_snapshots

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.checks import Source
    from mongo_tables.site.numbers.classes import TextNumber
    from mongo_tables.site.pages import Page
    from mongo_tables.site.snapshot import Needs


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings about pages, in order and each once, and these pages.

    ``texts`` are those of all pages that findings may name, ``faults`` has a line for each path that names no page.
    """

    findings: Sequence[Finding]
    pages: Sequence[Page]
    texts: Mapping[str, str]
    faults: Sequence[str]
    numbers: Sequence[TextNumber] = ()


def check_paths(
    paths: Iterable[str],
    request: Request,
    source: Source,
    needs: Needs = "rows",
    stdin_name: str = "",
    *,
    numbers: bool = False,
) -> Checked:
    """Check the pages that ``paths`` name, together with all other pages of their sites.

    With ``numbers`` an open number in a section with a table is a finding, too.

    Raises ResultsError for a results source that cannot be used, but for one whose files have faults, which are
    findings.
    """
    read = read_snapshots(paths, request, needs, stdin_name)
    reports = [build(snapshot, source) for snapshot in read.snapshots]
    for report in reports:
        raise_if_unusable(report)
    classified = [one for report in reports for one in report.numbers] if numbers else []
    found = {one for report in reports for one in report.findings}
    if classified:
        from mongo_tables.site.numbers.classes import open_findings

        found |= {*open_findings(classified)}
    return Checked(
        sorted(found),
        [page for report in reports for page in report.pages],
        {file: text for report in reports for file, text in report.texts().items()},
        read.faults,
        classified,
    )


def raise_if_unusable(report: Report) -> None:
    """Raise ResultsError for a results source that cannot be used, but for one whose files have faults."""
    if report.away and not report.away.faults:
        raise report.away
