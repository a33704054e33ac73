"""What the linter finds on the pages of a site, and what of their pipelines cannot run where they are to run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from mongo_tables.aggregation.limits import Limits
from mongo_tables.directives.specs import PipelineSpec
from mongo_tables.lint.looking import look_at
from mongo_tables.lint.pages import lint
from mongo_tables.results.model import ResultsError
from mongo_tables.site.static import judge_offline

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.lint.documents import Documents
    from mongo_tables.lint.pages import Looked, Ran
    from mongo_tables.results.model import Rows
    from mongo_tables.site.judging import Judge
    from mongo_tables.site.model import Page


def lint_site(judge: Judge) -> list[Finding]:
    """List what the linter finds on the pages of a site whose results source can be used."""
    site = judge.site
    pages = [*site.pages, *site.speakers]
    rows: dict[int, Rows | None] = {}
    for spec in (spec for page in pages for spec in page.pipeline_specs) if judge.asked else ():
        if (answer := judge.answers.get(spec.query.key)) is not None:
            rows[id(spec)] = None if isinstance(answer, ResultsError) else answer
    local = judge.source.local

    def look(
        spec: PipelineSpec, documents: Documents, quoted: tuple[str, ...], ran: Ran | None
    ) -> Looked | None:
        return judge.remember("lint", spec, quoted, lambda: look_at(spec, documents, quoted, ran))

    found = lint((page.specs for page in pages), local, rows, look)
    if local is not None:
        found += _find_server_only(site.pages, rows, local.limits)
    found += _judge_versions(judge)
    files = {spec.file for page in site.pages for spec in page.specs if spec} | {
        page.file for page in site.pages
    }
    return [one for one in found if one.file in files]


def _judge_versions(judge: Judge) -> Iterator[Finding]:
    """What is newer than the server, and wrong arguments of what does not run on files."""
    named = judge.site.snapshot.server
    for page in judge.site.pages:
        for spec, needs_server in zip(page.specs, page.server_only, strict=True):
            if not isinstance(spec, PipelineSpec):
                continue
            refused = isinstance(judge.answers.get(spec.query.key), ResultsError)
            server = named or (judge.source.version if refused else "")
            if server or needs_server is not None:
                from mongo_tables.lint.versions import find_newer, find_wrong_arguments

                yield from find_newer(spec, server)
                yield from find_wrong_arguments(spec) if needs_server is not None else ()


def _find_server_only(pages: Iterable[Page], ran: Collection[int], limits: Limits) -> Iterator[Finding]:
    """What could not run on files, within ``limits``, of the pipelines that were not run.

    ``ran`` are the ids of the specs that were. Pages are read with the usual limits.
    """
    for page in pages:
        for spec, usual in zip(page.specs, page.server_only, strict=True):
            if spec is None or id(spec) in ran:
                continue
            fault = usual
            if limits != Limits() and isinstance(spec, PipelineSpec):
                fault = judge_offline(spec, limits).server_only
            if fault is not None:
                yield fault
