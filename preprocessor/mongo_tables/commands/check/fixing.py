"""``check --fix``: pages and shared pipelines with what hints say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.commands.check.checking import Checked, Request, check_pages
from mongo_tables.commands.rewriting import Change
from mongo_tables.findings.shared import find_in_lists
from mongo_tables.pages.files import open_shared_pipelines, read_text
from mongo_tables.pages.mending import has_rewrite, mend
from mongo_tables.pages.reading import read_page

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Page


class Fixed(NamedTuple):
    """What is to change in files, and what is found in them then."""

    changes: Sequence[Change]
    checked: Checked


def fix_pages(pages: Sequence[Page], checked: Checked, request: Request) -> Fixed:
    """Do what the hints of ``checked`` say, the findings of ``pages``; nothing is written.

    Raises ResultsError for a results source that cannot be used.
    """
    found = _place_in_lists(checked.findings, request)
    lists = _read_lists(pages, found, request)
    texts = {page.file: page.text for page in pages} | lists
    concerned = {one.file for one in found if one.file in texts and has_rewrite(one, texts[one.file])}
    if not concerned:
        return Fixed((), checked)
    # A shared list may be named on any page.
    asked = pages if concerned & lists.keys() else [page for page in pages if page.file in concerned]

    def judge(texts: Mapping[str, str]) -> Sequence[Finding]:
        return _place_in_lists(
            check_pages(_read_anew(asked, texts, lists, request), request).findings, request
        )

    tried = {page.file: page.text for page in asked} | lists
    mended = texts | mend(tried, found, judge)
    again = check_pages(_read_anew(pages, mended, lists, request), request)
    return Fixed(_list_changes(texts, mended), again)


def _place_in_lists(found: Sequence[Finding], request: Request) -> list[Finding]:
    """Findings, those about shared pipelines in the files of these: the name in a page is none of what is mistyped."""
    own = [one for one in found if not one.related]
    return [*own, *find_in_lists(found, Path(request.pipelines))]


def _read_lists(pages: Sequence[Page], found: Sequence[Finding], request: Request) -> dict[str, str]:
    """The texts of the shared pipelines that have findings."""
    known, folder = {page.file for page in pages}, Path(request.pipelines)
    files = {one.file for one in found if one.line and one.file not in known}
    return {file: read_text(Path(file)) for file in sorted(files) if Path(file).parent == folder}


def _read_anew(
    pages: Sequence[Page], texts: Mapping[str, str], lists: Mapping[str, str], request: Request
) -> list[Page]:
    shared = open_shared_pipelines(request.pipelines, {file: texts[file] for file in lists})
    same = all(texts[file] == text for file, text in lists.items())
    return [
        page if same and texts[page.file] == page.text else read_page(texts[page.file], page.file, shared)
        for page in pages
    ]


def _list_changes(texts: Mapping[str, str], mended: Mapping[str, str]) -> list[Change]:
    """The texts that are mended."""
    return [
        Change(file, Path(file), text, mended[file]) for file, text in texts.items() if mended[file] != text
    ]
