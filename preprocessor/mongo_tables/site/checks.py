"""The findings of a site: from its pages, from the ids that pages share, from rows, and from the linter."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from mongo_tables.aggregation.limits import PipelineLimits
from mongo_tables.directives.references import duplicate_ids, unknown_tables
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec
from mongo_tables.results.guards import remember
from mongo_tables.results.model import ResultsError
from mongo_tables.site.generated import defer_findings
from mongo_tables.site.pages import (
    AnswersByKey,
    Page,
    Tables,
    by_comment,
    is_lasting_figure,
    list_written_ids,
    provenance_in,
    source_findings,
    tables_by_id,
)
from mongo_tables.site.pages import judge as judge_pipeline
from mongo_tables.site.site import Site, is_open_ended

if TYPE_CHECKING:
    from mongo_tables.files.memo import Memo
    from mongo_tables.findings.finding import Finding
    from mongo_tables.lint.linter import Ran
    from mongo_tables.lint.rule_context import Documents
    from mongo_tables.results.answers import Answers
    from mongo_tables.results.provenance import Provenance


_T = TypeVar("_T")


class Judge:
    """Finds the faults of comments that only the rows of their queries show. It checks each comment once, on demand."""

    def __init__(self, site: Site, answers: Answers, memo: Memo | None = None) -> None:
        self.site = site
        self.source = answers
        self.answers: AnswersByKey = answers.by_key
        self.tables: Tables = site.tables
        self.asked = site.snapshot.needs != "nothing"
        self.memo = memo
        self._judged: dict[int, tuple[Spec, tuple[TableSpec | None, ...], Sequence[Finding]]] = {}
        self._sources: dict[tuple[str, ...], Provenance | None] = {}

    def within(self, page: Page) -> Judge:
        """Return a judge that looks for a table first on ``page``. A translation of ``page`` may have the same ids."""
        own = tables_by_id([page])
        if own.items() <= self.tables.items():
            return self
        view = copy(self)
        view.tables = ChainMap(own, self.tables)  # type: ignore[arg-type]  # which is not written to
        return view

    def judge(self, spec: Spec) -> Sequence[Finding]:
        """Return the faults of a comment that only the rows of its queries show."""
        if self.source.unreachable or not self.asked:
            return []
        tables = tuple(self.tables.get(one.table) for one in spec.quotes)
        known = self._judged.get(id(spec))
        if known is None or known[1] != tables:
            found = self.remember("rows", spec, tables, lambda: self._judge(spec))
            known = self._judged[id(spec)] = spec, tables, found or ()
        return known[2]

    def _judge(self, spec: Spec) -> list[Finding]:
        from mongo_tables.site.kinds import KINDS  # a static check has no rows

        snapshot = self.site.snapshot
        found = KINDS[type(spec)].findings(
            spec, self.tables, self.answers, self.source.collections, snapshot.today
        )
        if found and any(one.rule == "MT303" for one in found) and (local := self.source.local):
            from mongo_tables.site.row_faults import explain_no_rows

            found = [explain_no_rows(one, spec, local) if one.rule == "MT303" else one for one in found]
        if snapshot.versions and isinstance(spec, PipelineSpec) and spec.measured_of:
            from mongo_tables.site.versions import version_findings  # few figures name a version

            found = [*found, *version_findings(spec, spec.measured_of, self.answers, snapshot.versions)]
        return found

    def remember(
        self, what: str, spec: Spec, quoted: Sequence[TableSpec | None], make: Callable[[], _T]
    ) -> _T:
        """Return ``make()`` for a comment, cached by its text, its place and its other inputs.

        Results of a database are not cached, because its rows can change at any time. Results that depend on the time
        or on chance are not cached either. After a pipeline has run out of time, nothing more is cached in this build.
        """
        if (
            self.memo is None
            or self.source.has_timed_out
            or not is_lasting_figure(spec, filter(None, quoted))
        ):
            return make()
        if (digest := self._digest) is None:
            return make()
        comment, snapshot = spec.comment, self.site.snapshot
        written = spec.file, comment.matter, comment.line, comment.start, snapshot.shared.digest
        around = digest, self.source.limits, snapshot.needs, snapshot.today, snapshot.server
        tables = tuple(table and (table.file, table.comment.body) for table in quoted)
        versions = tuple(snapshot.versions.items())
        return remember(self.memo, (what, written, around, versions, tables), make)

    @cached_property
    def _digest(self) -> str | None:
        """The digest of all documents, which is a part of every key of the cache."""
        return self.source.digest

    def provenance(self, spec: PipelineSpec) -> Provenance | None:
        """Return the provenance of a figure's rows. Figures of the same documents share it, so it is computed once."""
        key = spec.source_key, *spec.joined, "asked" if spec.provenance else ""
        if key not in self._sources:
            self._sources[key] = provenance_in(spec, self.answers)
        return self._sources[key]


def check_site(judge: Judge) -> list[Finding]:
    """Return every finding about the pages to check, and about the files behind their figures.

    If the results source is unusable, the linter and the checks of rows are skipped.
    """
    site, snapshot, source = judge.site, judge.site.snapshot, judge.source
    linted = None if source.unreachable else lint_site(judge)
    if source.unreachable:  # A query of the linter may have failed.
        linted = None
    found = [*check_without_linter(judge, linted), *snapshot.faults]
    if source.unreachable:
        found += source_findings(source.unreachable, snapshot.results)
    if judge.asked:
        if snapshot.in_place is not None:
            found += _find_stale(judge, snapshot.in_place, found)
        found += source.notes
    if found and not snapshot.built:
        found = _defer(found, site)
    return sorted(set(found))


def check_without_linter(judge: Judge, linted: Sequence[Finding] | None = None) -> list[Finding]:
    """Return the findings about pages, duplicate ids and rows, and ``linted``, the findings of the linter.

    Findings that a comment ignores are omitted. If ``linted`` is given, a comment that ignores a rule without findings
    is reported, too.
    """
    site = judge.site
    specs: list[Spec] = []
    found: list[Finding] = []
    for page in site.judged:
        specs += filter(None, page.specs)
        found += page.findings
    has_ids = quotes = ignoring = False
    for spec in specs:
        found += judge.judge(spec)
        has_ids = has_ids or (isinstance(spec, PipelineSpec) and bool(spec.id))
        quotes = quotes or bool(spec.quotes)
        ignoring = ignoring or bool(spec.ignore)
    if has_ids:
        found += _find_duplicate_ids(site)
    if quotes:
        # The ids of faulty tables count, so that quoting such a table is no further fault.
        ids = [each for page in site.judged for each in list_written_ids(page)]
        ids += [one.id for page in site.judged for one in page.queried if one.id]
        found += unknown_tables(specs, ids)
    found += linted or ()
    if ignoring:
        from mongo_tables.lint.linter import find_unused_ignores, without_silenced

        ran = judge.asked and not judge.source.unreachable
        vain = [] if linted is None else find_unused_ignores(found, specs, ran=ran)
        found = [*without_silenced(found, specs), *vain]
    if site.quoted:
        quoted = {page.file for page in site.quoted} - {page.file for page in site.pages}
        found = [one for one in found if one.severity == "error" or one.file not in quoted]
    return sorted(set(found))


def _find_duplicate_ids(site: Site) -> list[Finding]:
    own = {one.file for page in site.pages for one in (page, *page.specs) if one}
    having = {page.file: page.specs for page in (*site.namesakes, *site.pages)}
    ordered = [one.file for one in site.snapshot.pages if one.file in having]
    return [one for one in duplicate_ids((file, having[file]) for file in ordered) if one.file in own]


def _find_stale(judge: Judge, in_place: Collection[str], known: Sequence[Finding]) -> list[Finding]:
    """Return the findings about outdated figures in pages, and about outdated drawings.

    ``in_place`` names the pages that belong to no site.
    """
    snapshot = judge.site.snapshot
    pages = [
        page
        for page in judge.site.pages
        if (page.file in in_place and page.comments) or any(one.region is not None for one in page.comments)
    ]
    if not pages:
        return []
    from mongo_tables.site.in_place import compose_in_place, judge_file, stale_findings

    found = []
    paths = judge.site.paths()
    for page in pages:
        composed = compose_in_place(page, paths[page.file], judge.answers, judge.tables, snapshot.address_of)
        judged = [judge_file(drawing, page.file, snapshot.drawings) for drawing in composed.settled_drawings]
        errors = [one for one in known if one.severity == "error" and one.file == page.file]
        within = by_comment(page.comments, errors)
        faulty = {id(spec) for spec, some in zip(page.specs, within, strict=True) if spec and some}
        found += stale_findings(composed, faulty)
        found += [fault for fault in judged if fault]
    return found


def _defer(found: Sequence[Finding], site: Site) -> list[Finding]:
    """Replace the findings that depend on the build of the site by one note for each comment."""
    # Any page of the site may include the unknown table.
    late = site.late_pages() if any(one.rule == "MT139" for one in found) else []
    by_file = {one.file: one for one in site.snapshot.pages}
    open_ended = any(is_open_ended(by_file[page.file], page) for page in (*site.pages, *late))
    return defer_findings(found, [*site.judged, *site.namesakes, *late], open_ended=open_ended)


def lint_site(judge: Judge) -> list[Finding]:
    """Return the findings of the linter."""
    site, source = judge.site, judge.source
    specs = [spec for page in site.pages for spec in page.queried]
    if not specs:
        return []
    from mongo_tables.lint.linter import lint, look_at

    def look(spec: PipelineSpec, documents: Documents, ran: Ran | None) -> list[Finding]:
        return judge.remember("lint", spec, (), lambda: look_at(spec, documents, ran))

    local, answers = source.local, judge.answers if judge.asked else {}
    found: list[Finding] = []
    for some, collections in source.apart((spec.query, spec) for spec in specs):
        found += lint(some, local, answers, look_at if judge.memo is None else look)
        source.let_go(collections)
    ran = source.by_key.held if judge.asked else {}
    for page in site.pages:
        for spec, fault in zip(page.specs, page.server_only, strict=True):
            if not isinstance(spec, PipelineSpec):
                continue
            if local is not None and spec.key not in ran:
                # The page was read with the default limits.
                if source.limits.files != PipelineLimits():
                    fault = judge_pipeline(spec, source.limits.files).server_only
                if fault is not None:
                    found.append(fault)
            if server := site.snapshot.server or (
                source.version if isinstance(ran.get(spec.key), ResultsError) else ""
            ):
                from mongo_tables.lint.versions import find_newer

                found += find_newer(spec, server)
    return found
