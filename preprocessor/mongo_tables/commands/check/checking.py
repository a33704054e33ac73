"""What is wrong with pages: with each comment, and with what the rows of the results source make of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.pages.build import Build
from mongo_tables.pages.generated import defer_findings
from mongo_tables.pages.included import Included, read_included
from mongo_tables.pages.reading import unread_findings
from mongo_tables.pages.sitepages import Whereabouts
from mongo_tables.results.answers import Answers

if TYPE_CHECKING:
    from mongo_tables.commands.check.keptcomments import KeptComments
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.numbers.classes import TextNumber
    from mongo_tables.pages.otherpages import OtherPages
    from mongo_tables.pages.pageindex import PagesBelow
    from mongo_tables.pages.siteconfig import Site
    from mongo_tables.results.model import Limits
    from mongo_tables.specs.model import Spec


class Request(NamedTuple):
    """How pages are checked. ``static``: no pipeline is run; ``numbers``: numbers in text are looked up in tables.

    ``server``: the version of MongoDB that pipelines are for, where the site says so.
    """

    site: Site
    pipelines: str
    results: str
    limits: Limits
    static: bool
    server: str = ""
    numbers: bool = False


class Desk:
    """What a check looks things up with. Who checks again and again keeps what did not change.

    ``below`` are pages of folders that were looked at already, ``kept`` are comments that are known.
    """

    def __init__(
        self,
        request: Request,
        below: Mapping[Path, PagesBelow] | None = None,
        kept: KeptComments | None = None,
    ) -> None:
        self.request = request
        self._below = below or {}
        self._kept = kept

    def whereabouts(self) -> Whereabouts:
        """Which pages are of which site."""
        return Whereabouts(self.request.site)

    def take_in(self, pages: Sequence[Page]) -> Included:
        """The files that come into pages."""
        return read_included(pages, self.request.pipelines)

    def others(self, pages: Sequence[Page], where: Whereabouts) -> OtherPages:
        """The other pages that pages are built with."""
        read = self._kept.read if self._kept else None
        return where.others(pages, self.request.pipelines, self._below, read)

    @contextmanager
    def build(self, pages: Sequence[Page], others: Sequence[Page]) -> Iterator[Build]:
        """The build of pages."""
        asked = Answers(self.request.results, self.request.limits, server=self.request.server)
        build = Build(asked, pages, others, look=self._kept.look if self._kept else None)
        with closing(build.asked):
            yield build


class Scope(NamedTuple):
    """How much was looked at: so many comments on so many pages."""

    comments: int
    pages: int


class Checked(NamedTuple):
    """What was found, in order and each once, on which pages, and ``together`` with which others.

    ``numbers`` are those in the text of pages, where they are asked for.
    """

    findings: Sequence[Finding]
    pages: Collection[Page]
    together: Collection[Page]
    numbers: Sequence[TextNumber] = ()

    @property
    def sources(self) -> Mapping[str, str]:
        """The text of every page that a finding may name."""
        return {page.file: page.text for page in self.together}


class _Group(NamedTuple):
    """Pages that were checked, these with the others whose tables they name, and what was found."""

    pages: Sequence[Page]
    together: Sequence[Page]
    findings: Sequence[Finding]
    numbers: Sequence[TextNumber] = ()


def check_pages(pages: Sequence[Page], request: Request, desk: Desk | None = None) -> Checked:
    """Judge pages together with those that they take tables from.

    Raises ResultsError for a results source that cannot be used.
    """
    groups = list(_check_groups(pages, request, desk or Desk(request)))
    found = {one for group in groups for one in group.findings}
    return Checked(
        sorted({*found, *_find_dropped_plugin(pages, request.site)}),
        {page.file: page for group in groups for page in group.pages}.values(),
        [page for group in groups for page in group.together],
        [one for group in groups for one in group.numbers],
    )


def _find_dropped_plugin(pages: Sequence[Page], site: Site) -> Sequence[Finding]:
    """The fault of a site's file that keeps the figures of all its pages away."""
    if site.file.suffix != ".toml" or not any(page.comments for page in pages):
        return ()
    from mongo_tables.pages.sitedoors import find_dropped_plugin  # few sites have such a file

    return find_dropped_plugin(site.file)


def _check_groups(given: Sequence[Page], request: Request, desk: Desk) -> Iterator[_Group]:
    """The pages of sites, then those that builds leave out: the tables of these are none of the site's.

    What is left out and comes into a page all the same is checked with the pages of the site.
    """
    where = desk.whereabouts()
    apart = {Path(page.file).resolve(): page for page in given if where.leave_out(Path(page.file))}
    pages = [page for page in given if not apart or Path(page.file).resolve() not in apart]
    taken_in = desk.take_in(pages)
    brought = [apart.pop(Path(page.file).resolve(), page) for page in taken_in.pages]
    pages += brought
    group = _check_group(pages, desk.others(pages, where), taken_in, desk)
    yield group._replace(findings=_name_excluded_pages(group.findings, apart.values()))
    if apart:
        pages = list(apart.values())
        taken_in = desk.take_in(pages)
        others = where.others(pages, request.pipelines)
        yield _check_group([*pages, *taken_in.pages], others, taken_in, desk)


def _name_excluded_pages(findings: Sequence[Finding], left_out: Iterable[Page]) -> Sequence[Finding]:
    """The findings, with where a table is that no page of the site has, because the build leaves out its page."""
    if not any(one.rule == "MT139" for one in findings):
        return findings
    from mongo_tables.pages.ids import list_written_ids  # and with it what comments ask for
    from mongo_tables.specs.together import no_table

    hints = {
        no_table(name): f"it is on {page.file}, which the build leaves out (`exclude_docs`, `draft_docs`)"
        for page in left_out
        for name in list_written_ids(page)
    }
    return [
        one._replace(hint=hints[one.message]) if one.rule == "MT139" and one.message in hints else one
        for one in findings
    ]


def _check_group(pages: Sequence[Page], others: OtherPages, taken_in: Included, desk: Desk) -> _Group:
    with desk.build(pages, others.tables_for(pages)) as build:
        findings = _judge(pages, build, others, taken_in.findings, desk)
        numbers: Sequence[TextNumber] = ()
        if desk.request.numbers and not build.away:
            from mongo_tables.pages.numbers.classes import (  # a plain check has none
                classify_numbers,
                open_findings,
            )

            numbers = classify_numbers(pages, build.tables, build.answers)
            findings = sorted([*findings, *open_findings(numbers)])
    together, open_ended = build.pages, taken_in.open_ended
    if any(one.rule == "MT139" for one in findings):  # A table may come into any page of the site.
        whole = others.find_late(pages)
        together, open_ended = [*together, *whole.pages], open_ended or whole.open_ended
    return _Group(pages, build.pages, defer_findings(findings, together, open_ended=open_ended), numbers)


def _judge(
    pages: Sequence[Page], build: Build, others: OtherPages, known: Sequence[Finding], desk: Desk
) -> Sequence[Finding]:
    """What is wrong with the pages, with what is ``known`` already.

    Raises ResultsError for a source that cannot be used, but for one whose files have faults, which are findings.
    """
    request = desk.request
    if not request.static:
        build.ask()
    if build.away and not build.away.faults:
        raise build.away
    found = build.findings(build.lint(others.speakers_of(pages)), known)
    found += build.source_findings(request.results)
    if not request.static:
        found += _find_stale(_list_written(pages, desk), build, found)
        found += [] if build.away else unread_findings(build.asked.local)
    return sorted(found)


def _list_written(pages: Sequence[Page], desk: Desk) -> list[Page]:
    """The pages with text that was written into them, and those whose readers see nothing where it is missing."""
    where = desk.whereabouts()
    return [
        page
        for page in pages
        if any(comment.region for comment in page.comments)
        or (page.comments and where.is_read_as_it_is(page.file))
    ]


def _find_stale(pages: Sequence[Page], build: Build, known: Sequence[Finding]) -> list[Finding]:
    """What is wrong with what was written into pages, and beside them; ``known`` are the causes of some of it."""
    if not pages:
        return []
    from mongo_tables.pages.drawings import judge_file, orphan_findings
    from mongo_tables.pages.inplace import compose_in_place, stale_findings

    found = []
    for page in pages:
        composed = compose_in_place(page, build.answers, build.tables)
        judged = [judge_file(drawing, page.file) for drawing in composed.settled_drawings]
        found += stale_findings(composed, {id(spec) for spec in _list_faulty(page, known)})
        found += [fault for fault in judged if fault]
        found += orphan_findings(page, {drawing.path for drawing in composed.drawings})
    return found


def _list_faulty(page: Page, known: Sequence[Finding]) -> Iterator[Spec]:
    """The specs of a page whose comments have errors."""
    errors = [(one.line, one.column) for one in known if one.severity == "error" and one.file == page.file]
    for comment, spec in zip(page.comments, page.specs, strict=True) if errors else ():
        if spec is not None and any(comment.covers(*place) for place in errors):
            yield spec
