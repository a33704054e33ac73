"""Which changes of sentences a check of their page does not notice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.comments.keywords import keyword_like
from mongo_tables.findings.rules import finding
from mongo_tables.pages.build import Build
from mongo_tables.pages.files import open_shared_pipelines
from mongo_tables.pages.included import read_included
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.prose.captions import list_captions
from mongo_tables.pages.prose.complaints import complaints
from mongo_tables.pages.prose.mutations import Mutation, find_mutations
from mongo_tables.pages.prose.paragraphs import place
from mongo_tables.pages.prose.unsupported import list_generated
from mongo_tables.pages.reading import read_page
from mongo_tables.pages.sitepages import Whereabouts

if TYPE_CHECKING:
    from mongo_tables.commands.check.checking import Request
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Page
    from mongo_tables.runner.progress import Progress


class Tried(NamedTuple):
    """A page, how many places of it were changed, and those changes that nothing noticed."""

    file: str
    places: int
    unnoticed: Sequence[Finding]


def try_mutations(pages: Sequence[Page], request: Request, progress: Progress) -> list[Tried]:
    """Change each place of each page, alone, and check the page.

    Raises ResultsError when the results source cannot be used.
    """
    taken_in = read_included(pages, request.pipelines)
    others = Whereabouts(request.site).others(pages, request.pipelines)
    every = [*pages, *taken_in.pages]
    asked = KeptAnswers(request.results, request.limits, server=request.server)
    build = Build(asked, every, others.tables_for(every))
    with closing(build.asked):
        build.ask_or_raise()
        return [_try_page(page, build, request.pipelines, progress) for page in pages]


def _try_page(page: Page, build: Build, pipelines: str, progress: Progress) -> Tried:
    mutations = list(find_mutations(page.text, list_generated(page), list(list_captions(page))))
    if not mutations:
        return Tried(page.file, 0, ())
    known, shared = complaints(page, build), open_shared_pipelines(pipelines)
    unnoticed = []
    progress.begin(page.file, len(mutations))
    for number, mutation in enumerate(mutations, 1):
        changed = read_page(mutation.apply(page.text), page.file, shared)
        seen = build.of([changed if one.file == page.file else one for one in build.pages])
        if not complaints(changed, seen) - known:
            unnoticed.append(_finding(page, mutation))
        progress.update(number)
    progress.clear()
    return Tried(page.file, len(mutations), unnoticed)


def _finding(page: Page, mutation: Mutation) -> Finding:
    message = f"`{mutation.written}` could be `{mutation.instead}`, and nothing would notice"
    keyword = keyword_like(page.comments[0].keyword if page.comments else "", "value")
    hint = f"bind what “{mutation.sentence}” says to rows, by {keyword}, or leave it out"
    return finding("MT326", page.file, place(page.text, mutation.start), message, hint)
