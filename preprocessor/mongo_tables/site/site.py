"""The parsed pages of a snapshot: the specs of all comments, by page, and the tables that pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.directives.keywords import is_mdx, may_have_comment
from mongo_tables.directives.references import find_written_ids
from mongo_tables.files.memo import Memo, digest_of
from mongo_tables.results.guards import remember
from mongo_tables.site.generated import template_in
from mongo_tables.site.pages import (
    Page,
    Tables,
    ids_of,
    list_written_ids,
    no_text,
    place_findings,
    read_comment,
    read_page,
    tables_by_id,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_tables.directives.comments import Comment
    from mongo_tables.directives.pipelines import Lookup, SharedPipelines
    from mongo_tables.directives.reader import Reading
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.model import Query
    from mongo_tables.site.snapshot import PageText, Snapshot

_LATE: Final = re.compile(r'\{\{|\{%|8<-|"generated"')
"""Matches text that shows that the build may add tables to the page."""


class Site(NamedTuple):
    """The parsed pages of a snapshot.

    Attributes:
        pages: The pages that findings are about, in the order of the site, with included files.
        quoted: Other pages, with only the tables that ``pages`` quote.
        namesakes: Other pages, with only the tables that have an id of ``pages``.
        tables: All valid tables with an id.
    """

    snapshot: Snapshot
    pages: tuple[Page, ...]
    quoted: tuple[Page, ...]
    namesakes: tuple[Page, ...]
    tables: Tables

    @property
    def named(self) -> list[Page]:
        """Return the pages that the caller asked about, without included files."""
        names = {one.file for one in self.snapshot.pages if one.asked and not one.included}
        return [page for page in self.pages if page.file in names]

    def paths(self) -> dict[str, Path]:
        """Return the file of each page, by the name that findings show."""
        return {one.file: one.path for one in self.snapshot.pages}

    @property
    def judged(self) -> tuple[Page, ...]:
        """Return the pages whose comments are checked: those that findings are about, and those that they quote."""
        return (*self.pages, *self.quoted)

    def queries(self) -> dict[str, Query]:
        """Return the distinct queries of all valid tables and charts by ``Query.key``, in the order of the pages.

        If the caller shows figures, or a comment needs the dates of its documents, the queries for the provenance are
        included.
        """
        if self.snapshot.needs == "nothing":
            return {}
        figures = self.snapshot.needs == "figures"
        distinct: dict[str, Query] = {}
        specs: list[PipelineSpec] = []
        for page in self.judged:
            specs += page.queried
        for page in self.pages if self.tables else ():
            specs += filter(None, map(self.tables.get, page.quoted_tables))
        for spec in specs:
            if spec.key not in distinct:
                distinct[spec.key] = spec.query
            if spec.measured_of:
                asked = spec.version_query(spec.measured_of)
                distinct.setdefault(asked.key, asked)
            if figures or spec.provenance:
                if spec.source_key not in distinct:
                    distinct[spec.source_key] = spec.source_query
                distinct.update(spec.joined)
            elif spec.max_age:
                asked = spec.dated_query
                distinct.setdefault(asked.key, asked)
        return distinct

    def late_pages(self) -> list[Page]:
        """Return the other pages to which the build may add tables."""
        others = [one for one in self.snapshot.pages if not one.asked and _LATE.search(one.text)]
        return [read_page(one.text, one.file, self.snapshot.shared) for one in others]


def parse_site(snapshot: Snapshot, memo: Memo | None = None) -> Site:
    """Parse the pages of a snapshot. Faults become findings of the pages."""
    pages: list[Page] = []
    others: list[PageText] = []
    for one in snapshot.pages:
        if not one.asked:
            others.append(one)
            continue
        page = one.page
        if page is None:
            taken_in: list[PageText] = []
            if one.on_disk is not None and one.inclusions:
                every = {each.path: each for each in snapshot.pages}
                taken_in = [every[file] for file in one.inclusions.files if file in every]
            page = read_page_text(one, snapshot.shared, taken_in, memo)
        # An included file only matters if it has comments.
        if not one.included or page.comments or page.findings:
            pages.append(page)
    if not others:
        return Site(snapshot, tuple(pages), (), (), tables_by_id(pages))
    own = {spec.id for page in pages for spec in page.pipeline_specs if spec.id}
    written = {name for page in pages for name in list_written_ids(page)}
    names = {name for page in pages for name in page.quoted_tables}
    wanted = names - written
    order = {one.file: number for number, one in enumerate(snapshot.pages)}
    named = _find_pages(others, written | names, snapshot)
    quoted = [_complete(_only(page, wanted), snapshot) for page in named if _has_any(page, wanted)]
    return Site(
        snapshot,
        pages=tuple(pages),
        quoted=tuple(quoted),
        namesakes=tuple(_only(page, own) for page in named if _has_any(page, own)),
        tables=tables_by_id(sorted([*pages, *named], key=lambda page: order[page.file])),
    )


def read_page_text(
    one: PageText, shared: SharedPipelines, taken_in: Iterable[PageText] = (), memo: Memo | None = None
) -> Page:
    """Parse a page. If a host changed its text, the places of comments are those in the original files.

    These are the file of the page and the included files ``taken_in``.
    """
    if one.bad is not None:
        return Page(one.file, one.text, (), (), (no_text(one.file, one.bad),))
    given = _read_text(one.text, one.file, shared, memo)
    if one.on_disk is None or not (given.comments or given.findings):
        return given
    before = _read_text(one.on_disk, one.file, shared, memo)
    others = [_read_text(each.text, each.file, shared, memo) for each in taken_in]
    return place_findings(given, [before, *others])


def _read_text(text: str, file: str, shared: SharedPipelines, memo: Memo | None) -> Page:
    if memo is None or not may_have_comment(text):
        return read_page(text, file, shared)

    def read(comment: Comment, file: str, lookup: Lookup) -> tuple[Reading, Finding | None]:
        key = "comment", file, comment.matter, comment.line, comment.start, shared.digest
        return remember(memo, key, lambda: read_comment(comment, file, lookup))

    key = "page", file, digest_of(text), shared.digest
    return remember(memo, key, lambda: read_page(text, file, shared, read=read))


_ID: Final = re.compile(r"""id["']?[\s>]*:[\s>]*"([^"\\\n]*)\"""")
"""Matches an id that ``find_written_ids`` would find. It allows ``>`` between its parts, because the lines of a
quotation begin with this sign.
"""


def _find_pages(others: Iterable[PageText], ids: Set[str], snapshot: Snapshot) -> list[Page]:
    """Return the other pages that may have one of ``ids``, with only the comments that have such an id."""
    if not ids:
        return []

    def wanted(comment: Comment) -> bool:
        return not ids.isdisjoint(find_written_ids(comment.parsed))

    found = []
    for one in others:
        text = one.text
        escaped = "\\" in text and "\\u" in text  # The first test is faster, and few pages pass it.
        may_have = escaped or not ids.isdisjoint(_ID.findall(text))
        if may_have and may_have_comment(text):
            found.append(read_page(one.text, one.file, snapshot.shared, wanted))
    return found


def _has_any(page: Page, ids: Set[str]) -> bool:
    return bool(ids) and not ids.isdisjoint(list_written_ids(page))


def _only(page: Page, wanted: Set[str]) -> Page:
    """Return the page with only the tables in ``wanted``, and without findings."""
    ids = [ids_of(*pair) for pair in zip(page.comments, page.specs, strict=True)]
    kept = [number for number, names in enumerate(ids) if not wanted.isdisjoint(names)]
    return page._replace(
        comments=tuple(page.comments[number] for number in kept),
        specs=tuple(page.specs[number] for number in kept),
        server_only=tuple(page.server_only[number] for number in kept),
        findings=(),
    )


def _complete(page: Page, snapshot: Snapshot) -> Page:
    """Return a page with quoted tables. If a table is faulty, add all findings of its file, which say why."""
    if None not in page.specs:
        return page
    return page._replace(findings=read_page(page.text, page.file, snapshot.shared).findings)


def is_open_ended(one: PageText, page: Page) -> bool:
    """Return whether the build may add tables to a page, from an unknown file or a template."""
    if is_mdx(one.text, one.file):  # Its braces are JavaScript.
        return False
    if one.inclusions is not None and one.inclusions.unknown:
        return True
    text = one.inclusions.rest if one.inclusions is not None else one.text
    return _has_template_outside(page, text)


def _has_template_outside(page: Page, text: str) -> bool:
    """Return whether the text of a page has a template outside of its comments."""
    if not template_in(text):
        return False
    rest, end = list[str](), 0
    for comment in page.comments:
        written = page.text[comment.start : comment.end]
        if (at := text.find(written, end)) >= 0:
            rest.append(text[end:at])
            end = at + len(written)
    return template_in("".join([*rest, text[end:]]))
