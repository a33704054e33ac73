"""``check --fix``: pages and shared pipelines with the changes that hints suggest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mongo_tables.commands.check.pages import CheckedPages, check_paths
from mongo_tables.commands.file_changes import FileEdit, print_changes, write_changes
from mongo_tables.findings.finding import Finding, find_in_lists
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import Request, read_text
from mongo_tables.site.pages import Page
from mongo_tables.site.rewrites import has_rewrite, mend
from mongo_tables.site.snapshot import Needs


def fix_pages(
    checked: CheckedPages, request: Request, source: Answers, needs: Needs
) -> tuple[Sequence[FileEdit], CheckedPages]:
    """Apply the hints of findings, and check the changed pages. No file is written.

    Raises ResultsError for an unusable results source.
    """
    folder = Path(request.pipelines)

    def place_in_lists(findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings. Findings about shared pipelines are at their places in the pipelines' files."""
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
    # A change of a shared pipeline may affect every page.
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


def show_or_write(changes: Sequence[FileEdit], *, write: bool) -> int:
    """Write the changed files, or print a diff. Return 1 if there are changes that are not written, else 0."""
    return write_changes(changes) if write else print_changes(changes)
