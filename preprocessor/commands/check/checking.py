"""What is wrong with pages: with each comment, and with what the rows of the results source make of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.pages.build import Build
from preprocessor.pages.companions import built_together, companions
from preprocessor.pages.generated import deferred
from preprocessor.pages.ids import written_ids
from preprocessor.pages.included import Included, included
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.sitepages import Whereabouts
from preprocessor.specs.together import no_table

if TYPE_CHECKING:
    from preprocessor.findings.finding import Finding
    from preprocessor.pages.model import Answers, Page
    from preprocessor.pages.siteconfig import Site
    from preprocessor.results.model import Limits


@dataclass(frozen=True, slots=True)
class Request:
    """How pages are checked. ``static``: no pipeline is run; ``prose``: sentences are held against rows."""

    site: Site
    pipelines: str
    results: str
    limits: Limits
    static: bool
    prose: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, in order and each once, on which pages, and the text of every page that a finding may name."""

    findings: Sequence[Finding]
    pages: Collection[Page]
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Group:
    """Pages that were checked together, the others whose tables they name, and what was found."""

    pages: list[Page]
    others: list[Page]
    findings: Sequence[Finding]


def check_pages(pages: Sequence[Page], request: Request) -> Checked:
    """Judge pages together with those that they take tables from.

    Raises ResultsError for a results source that cannot be used.
    """
    groups = list(_check_groups(pages, request))
    return Checked(
        sorted({one for group in groups for one in group.findings}),
        {page.file: page for group in groups for page in group.pages}.values(),
        {page.file: page.text for group in groups for page in (*group.pages, *group.others)},
    )


def _check_groups(given: Sequence[Page], request: Request) -> Iterator[_Group]:
    """The pages of sites, then those that builds leave out: the tables of these are none of the site's.

    What is left out and comes into a page all the same is checked with the pages of the site.
    """
    where = Whereabouts(request.site)
    apart = {Path(page.file).resolve(): page for page in given if where.leave_out(page)}
    pages = [page for page in given if not apart or Path(page.file).resolve() not in apart]
    taken_in = included(pages, request.pipelines)
    brought = [apart.pop(Path(page.file).resolve(), page) for page in taken_in.pages]
    group = _check_group([*pages, *brought], taken_in, request, apart=False)
    yield replace(group, findings=_name_left_out(group.findings, apart.values()))
    if apart:
        pages = list(apart.values())
        taken_in = included(pages, request.pipelines)
        yield _check_group([*pages, *taken_in.pages], taken_in, request, apart=True)


def _name_left_out(findings: Sequence[Finding], left_out: Iterable[Page]) -> Sequence[Finding]:
    """The findings, with where a table is that no page of the site has, because the build leaves out its page."""
    if not any(one.rule == "MT139" for one in findings):
        return findings
    hints = {
        no_table(name): f"It is on {page.file}, which the build leaves out (`exclude_docs`, `draft_docs`)."
        for page in left_out
        for name in written_ids(page)
    }
    return [
        replace(one, hint=hints[one.message]) if one.rule == "MT139" and one.message in hints else one
        for one in findings
    ]


def _check_group(pages: list[Page], taken_in: Included, request: Request, *, apart: bool) -> _Group:
    others = companions(pages, request.pipelines, request.site, apart=apart)
    findings = _judge(pages, others, taken_in.findings, request)
    together = [*pages, *others]
    return _Group(pages, others, _defer(findings, together, taken_in.open_ended, request, apart=apart))


def _defer(
    findings: Sequence[Finding], pages: Sequence[Page], open_ended: bool, request: Request, *, apart: bool
) -> Sequence[Finding]:
    """The findings, with notes for those that only the build can judge; a table may come into any page of the site."""
    if any(one.rule == "MT139" for one in findings):
        whole = built_together(pages, request.pipelines, request.site, apart=apart)
        pages, open_ended = [*pages, *whole.pages], open_ended or whole.open_ended
    return deferred(findings, pages, open_ended=open_ended)


def _judge(
    pages: Sequence[Page], others: Sequence[Page], known: Sequence[Finding], request: Request
) -> Sequence[Finding]:
    """Those of ``pages`` with those ``known``, and of the tables of ``others`` what keeps their rows from the pages.

    Raises ResultsError for a source that cannot be used, but for one whose files have faults, which are findings.
    """
    build = Build(KeptAnswers(request.results, request.limits), [*pages, *others])
    with closing(build.asked):
        if not request.static:
            build.ask()
        if build.away and not build.away.faults:
            raise build.away
        files = {page.file for page in pages}
        found = build.findings(build.lint(), known)
        found = [one for one in found if one.file in files or one.severity == "error"]
        found += [*build.source_findings(request.results), *_find_stale(pages, build.answers)]
        if request.prose and not build.away:
            from preprocessor.pages.prose.judging import prose_findings  # only who asks for it pays

            found += prose_findings(pages, build.answers)
        return sorted(found)


def _find_stale(pages: Sequence[Page], answers: Answers) -> list[Finding]:
    """What is wrong with tables that were written into the pages; only those with such a table pay for it."""
    with_regions = [page for page in pages if any(comment.region for comment in page.comments)]
    if not with_regions:
        return []
    from preprocessor.pages.inplace import stale_findings

    return [one for page in with_regions for one in stale_findings(page, answers)]
