"""The findings on pages, and the pages with the hints applied."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.build import Report, build
from mongo_tables.findings.rules import finding
from mongo_tables.site.disk import Request, read_snapshots, read_text
from mongo_tables.site.site_config import from_here

if TYPE_CHECKING:
    from mongo_tables.commands.file_changes import FileEdit
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.answers import Answers
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.site.numbers.classes import TextNumber
    from mongo_tables.site.pages import Page
    from mongo_tables.site.site import Site
    from mongo_tables.site.snapshot import Needs


class CheckedPages(NamedTuple):
    """Checked pages, with their findings in order and without duplicates.

    ``texts`` has the texts of all pages that findings may name. ``faults`` has a line for each path that is not a page.
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

    With ``numbers``, paths may also name other texts. Findings then include stale numbers, and open numbers in a
    section with a table or, with ``all_open``, all open numbers. Raises ResultsError for an unusable results source;
    faults in files of results are findings instead.
    """
    paths, texts = list(paths), list[str]()
    if numbers:
        from mongo_tables.commands.check.numbers import expand, is_text

        paths = list(expand(paths))
        texts = list(filter(is_text, paths))
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
        from mongo_tables.commands.check.numbers import check_numbers, read_texts

        others = list(read_texts(texts, faults))
        folder = request.site.file.parent
        classified, of_numbers = check_numbers(reports, others, paths, folder, all_open=all_open)
        found.update(of_numbers)
        sources |= {page.file: page.text for page in others}
    return CheckedPages(sorted(found), pages, sources, faults, classified, sites)


def find_untracked(checked: CheckedPages, local: FileSource | None) -> Iterator[Finding]:
    """Yield MT311 for results and drawings that Git neither tracks nor ignores, because a fresh checkout lacks them."""
    import shlex  # only hooks of Git need these

    from mongo_tables.results.history import run_git
    from mongo_tables.site.dependencies import needs_of

    listed = run_git("ls-files", "--others", "--exclude-standard", "-z").stdout.decode("utf-8", "replace")
    untracked = {os.path.realpath(name) for name in listed.split("\0") if name}
    needed: dict[str, str] = {}
    for site in checked.sites if untracked else ():
        for page in site.named:
            path = Path(os.path.realpath(page.file))
            if str(path) not in untracked:
                drawings = (one for one in site.snapshot.drawings if one.name.startswith(f"{path.stem}."))
                needs = needs_of(page, site, local).files
                needed |= dict.fromkeys((*needs, *map(from_here, drawings)), page.file)
    for file, page_file in needed.items():
        if os.path.realpath(file) in untracked:
            message = f"Git does not track this file, which {page_file} needs: a fresh checkout lacks it"
            yield finding("MT311", file, (0, 0), message, f"git add {shlex.quote(file)}")


def raise_if_unusable(report: Report) -> None:
    """Raise ResultsError for an unusable results source. Faults in files of results are findings instead."""
    away = report.source.unreachable
    if away and not away.findings:
        raise away


def fix_pages(
    checked: CheckedPages, request: Request, source: Answers, needs: Needs
) -> tuple[Sequence[FileEdit], CheckedPages]:
    """Apply the hints of ``checked``, and check the changed pages. Files are not written.

    Raises ResultsError for an unusable results source.
    """
    from mongo_tables.commands.file_changes import FileEdit
    from mongo_tables.findings.finding import find_in_lists
    from mongo_tables.site.rewrites import has_rewrite, mend

    folder = Path(request.pipelines)

    def place_in_lists(findings: Sequence[Finding]) -> list[Finding]:
        """Move findings about shared pipelines to the files of these: the mistyped name is there, not in the page."""
        own = [one for one in findings if not one.related]
        return [*own, *find_in_lists(findings, folder)]

    found = place_in_lists(checked.findings)
    known = {page.file for page in checked.pages}
    files = sorted({one.file for one in found if one.line and one.file not in known})
    lists = {file: read_text(Path(file)) for file in files if Path(file).parent == folder}
    texts = {page.file: page.text for page in checked.pages} | lists
    concerned = {one.file for one in found if one.file in texts and has_rewrite(one, texts[one.file])}
    if not concerned:
        return (), checked
    # Any page may name a shared list.
    pages = [page for page in checked.pages if concerned & lists.keys() or page.file in concerned]

    def check(changed: Mapping[str, str], of: Sequence[Page]) -> CheckedPages:
        overlay = {os.path.abspath(file): text for file, text in changed.items()}  # noqa: PTH100
        return check_paths([page.file for page in of], replace(request, texts=overlay), source, needs)

    def judge(changed: Mapping[str, str]) -> Sequence[Finding]:
        return place_in_lists(check(changed, pages).findings)

    mended = texts | mend({page.file: page.text for page in pages} | lists, found, judge)
    changes = [
        FileEdit(file, Path(file), texts[file], mended[file]) for file in texts if mended[file] != texts[file]
    ]
    return changes, check(mended, checked.pages)
