"""``check --fix``: pages and shared pipelines with what hints say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.check.checking import Checked, check_paths
from mongo_tables.commands.rewriting import Change
from mongo_tables.findings.finding import find_in_lists
from mongo_tables.site.disk import read_text
from mongo_tables.site.rewrites import has_rewrite, mend

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.checks import Source
    from mongo_tables.site.disk import Request
    from mongo_tables.site.snapshot import Needs


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is to change in files, and what is found in them then."""

    changes: Sequence[Change]
    checked: Checked


def fix_pages(checked: Checked, request: Request, source: Source, needs: Needs) -> Fixed:
    """Do what the hints of ``checked`` say; nothing is written.

    Raises ResultsError for a results source that cannot be used.
    """
    found = _place_in_lists(checked.findings, request)
    lists = _read_lists(checked, found, request)
    texts = {page.file: page.text for page in checked.pages} | lists
    concerned = {one.file for one in found if one.file in texts and has_rewrite(one, texts[one.file])}
    if not concerned:
        return Fixed((), checked)
    # A shared list may be named on any page.
    pages = [page for page in checked.pages if concerned & lists.keys() or page.file in concerned]

    def check(changed: Mapping[str, str], paths: Sequence[str]) -> Checked:
        overlay = {os.path.abspath(file): text for file, text in changed.items()}  # noqa: PTH100
        return check_paths(paths, replace(request, texts=overlay), source, needs)

    def judge(changed: Mapping[str, str]) -> Sequence[Finding]:
        return _place_in_lists(check(changed, [page.file for page in pages]).findings, request)

    mended = texts | mend({page.file: page.text for page in pages} | lists, found, judge)
    again = check(mended, [page.file for page in checked.pages])
    changes = [
        Change(file, Path(file), texts[file], mended[file]) for file in texts if mended[file] != texts[file]
    ]
    return Fixed(changes, again)


def _place_in_lists(found: Sequence[Finding], request: Request) -> list[Finding]:
    """Findings, those about shared pipelines in the files of these: the name in a page is not what is mistyped."""
    own = [one for one in found if not one.related]
    return [*own, *find_in_lists(found, Path(request.pipelines))]


def _read_lists(checked: Checked, found: Sequence[Finding], request: Request) -> dict[str, str]:
    """The texts of the shared pipelines that have findings."""
    known, folder = {page.file for page in checked.pages}, Path(request.pipelines)
    files = {one.file for one in found if one.line and one.file not in known}
    return {file: read_text(Path(file)) for file in sorted(files) if Path(file).parent == folder}
