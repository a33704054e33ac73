"""The files that pages take in when their site is built, read as pages: their tables and their faults count as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.files.text import may_be_file
from mongo_tables.pages.files import open_shared_pipelines
from mongo_tables.pages.generated import template_in, without_code
from mongo_tables.pages.inclusions import Inclusions, inclusions, may_include, whole_inclusions
from mongo_tables.pages.model import Page
from mongo_tables.pages.reading import read_page
from mongo_tables.pages.siteconfig import find_site, from_here

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding


class Included(NamedTuple):
    """The files that come into pages, and whether there is more that cannot be known before the build.

    ``findings`` are about what comes into one page twice. ``files`` are those of ``list_taken_in``.
    """

    pages: list[Page]
    open_ended: bool
    findings: tuple[Finding, ...] = ()
    files: tuple[Path, ...] = ()


def read_included(pages: Sequence[Page], pipelines: str) -> Included:
    """Read the files that ``pages`` include; files that are among the pages already are left out."""
    taken = [_find_inclusions(page) for page in pages]
    known = {Path(page.file).resolve() for page in pages}
    files = dict.fromkeys(file for each in taken for file in each.files if file.resolve() not in known)
    shared = open_shared_pipelines(pipelines)
    texts = {from_here(file): _text(file) for file in files}
    new = [read_page(text, name, shared) for name, text in texts.items()]
    rests = [(page, each.rest) for page, each in zip(pages, taken, strict=True)]
    rests += [(page, page.text) for page in new]
    open_ended = any(each.unknown for each in taken) or any(
        _has_template_outside(page, rest) for page, rest in rests
    )
    by_file = {Path(page.file).resolve(): page for page in (*pages, *new)}
    twice = tuple(one for page in pages for one in _twice_on(page, by_file))
    looked_for = tuple(file for each in taken for file in (*each.files, *each.missing))
    return Included([page for page in new if page.comments or page.findings], open_ended, twice, looked_for)


def files_taken_in(page: Page) -> Sequence[Path]:
    """The files that come into a page, directly or through others."""
    return _find_inclusions(page).files


def list_taken_in(page: Page) -> Sequence[Path]:
    """The files that come into a page, then those that would if they were there."""
    found = _find_inclusions(page)
    return [*found.files, *found.missing]


def forget_sites() -> None:
    """Read the files of sites again when they are asked for: a program that goes on outlives what they say."""
    _folders.cache_clear()


def _twice_on(page: Page, by_file: Mapping[Path, Page]) -> list[Finding]:
    """A finding for each table that is on a page more than once, with what comes into it."""
    if not may_include(page.text):
        return []
    files = whole_inclusions(Path(page.file), without_code(page.text), _places(page))
    brought = [by_file[file.resolve()].specs for file in files if file.resolve() in by_file]
    if not any(brought):
        return []
    from mongo_tables.specs.together import duplicate_ids  # and with it what comments ask for

    return duplicate_ids([(page.file, [*page.specs, *(spec for specs in brought for spec in specs)])])


def _has_template_outside(page: Page, text: str) -> bool:
    """Whether a template stands in the page's remaining text, outside of its comments."""
    if not template_in(text):
        return False
    rest, end = list[str](), 0
    for comment in page.comments:
        written = page.text[comment.start : comment.end]
        if (at := text.find(written, end)) >= 0:
            rest.append(text[end:at])
            end = at + len(written)
    return template_in("".join([*rest, text[end:]]))


def _find_inclusions(page: Page) -> Inclusions:
    if not may_include(page.text):
        return Inclusions((), (), page.text)
    return inclusions(Path(page.file), without_code(page.text), _places(page))


def _places(page: Page) -> list[Path]:
    return [*_folders(Path(page.file).absolute().parent), Path.cwd()]


@cache
def _folders(start: Path) -> tuple[Path, ...]:
    """Where plugins look for files of a site, besides the folder of the page."""
    site = find_site(start)
    return (*site.snippets, site.docs, site.file.parent) if site else ()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig") if may_be_file(file) else ""
    except (OSError, ValueError):
        return ""
