"""The findings of a site: of reading its pages, of pages held against each other, of their rows, and of the linter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mongo_tables.site.generated import defer_findings
from mongo_tables.site.model import Page
from mongo_tables.site.reading import unread_findings
from mongo_tables.site.site import is_open_ended

if TYPE_CHECKING:
    from mongo_tables.directives.specs import Spec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.judging import Judge
    from mongo_tables.site.site import Site


def check_site(judge: Judge) -> list[Finding]:
    """List every finding about the asked pages of a site, and about the files that their figures come from.

    Where the results source cannot be used, the linter and what needs rows are left out.
    """
    site = judge.site
    linted = None if judge.away else _lint(judge)
    found = [*check_without_linter(judge, linted), *site.snapshot.faults]
    if judge.asked:
        found += [*judge.source_findings(), *_find_stale(judge, found)]
        found += unread_findings(judge.source.unread, judge.source.broken)
    elif judge.away:
        found += judge.source_findings()
    return _name_excluded_pages(sorted(set(_defer(found, site))), site)


def check_without_linter(judge: Judge, linted: Sequence[Finding] | None = None) -> list[Finding]:
    """List the findings of reading, of pages held against each other and of rows, and those of the linter, if given.

    What comments ignore is left out; with ``linted``, ignoring what was not found is a finding as well.
    """
    site = judge.site
    specs = [spec for page in site.judged for spec in page.specs if spec is not None]
    found = [*site.findings, *(one for page in site.judged for one in page.findings)]
    found += _check_ids(site, specs)
    found += [one for spec in specs for one in judge.judge(spec)]
    found += linted or ()
    if not judge.away and any(one.rule in _BLAMED for one in found):
        found = _blame(found, judge)
    if any(spec.ignore for spec in specs):
        from mongo_tables.lint.suppressions import find_unused_ignores, without_silenced

        ran = judge.asked and not judge.away
        vain = [] if linted is None else find_unused_ignores(found, specs, ran=ran)
        found = [*without_silenced(found, specs), *vain]
    quoted = {page.file for page in site.quoted} - {page.file for page in site.pages}
    return sorted({one for one in found if one.severity == "error" or one.file not in quoted})


_BLAMED = frozenset({"MT136", "MT303"})


def _blame(found: list[Finding], judge: Judge) -> list[Finding]:
    """The findings; columns and texts that are nearly those of documents are named at the mistyped word."""
    from mongo_tables.site.mistypedcolumns import blame_columns
    from mongo_tables.site.mistypedtexts import blame_texts

    local = judge.source.local
    return blame_texts(blame_columns(found, judge.pages, local), judge.pages, local)


def _check_ids(site: Site, specs: Sequence[Spec]) -> list[Finding]:
    """Ids that several tables of the site have, and names of tables that no page has."""
    if not specs and not site.namesakes:
        return []
    from mongo_tables.directives.references import duplicate_ids, unknown_tables
    from mongo_tables.site.ids import list_written_ids

    own = {page.file for page in site.pages} | {
        spec.file for page in site.pages for spec in page.specs if spec
    }
    having = {page.file: page.specs for page in (*site.namesakes, *site.pages)}
    ordered = [one.file for one in site.snapshot.pages if one.file in having]
    found = [one for one in duplicate_ids((file, having[file]) for file in ordered) if one.file in own]
    if any(spec.quoted_table is not None for spec in specs):
        # The ids of faulty tables count as well: one fault is reported once.
        found += unknown_tables(specs, [each for page in site.judged for each in list_written_ids(page)])
    return found


def _lint(judge: Judge) -> list[Finding]:
    """What the linter finds; a page without comments does not pay for it."""
    if not any(page.specs for page in (*judge.site.pages, *judge.site.speakers)):
        return []
    from mongo_tables.site.linting import lint_site

    return lint_site(judge)


def _find_stale(judge: Judge, known: Sequence[Finding]) -> list[Finding]:
    """What is wrong with the figures written into pages, and with the drawings of these."""
    snapshot = judge.site.snapshot
    if snapshot.in_place is None:
        return []
    pages = [
        page
        for page in judge.site.pages
        if page.comments and (page.file in snapshot.in_place or any(each.region for each in page.comments))
    ]
    if not pages:
        return []
    from mongo_tables.site.drawings import judge_file, orphan_findings
    from mongo_tables.site.inplace import compose_in_place, stale_findings

    found = []
    paths = judge.site.paths()
    for page in pages:
        composed = compose_in_place(page, paths[page.file], judge.answers, judge.tables)
        judged = [judge_file(drawing, page.file, snapshot.drawings) for drawing in composed.settled_drawings]
        found += stale_findings(composed, {id(spec) for spec in _list_faulty(page, known)})
        found += [fault for fault in judged if fault]
        own = {drawing.path for drawing in composed.drawings}
        found += orphan_findings(page, paths[page.file], own, snapshot.drawings)
    return found


def _list_faulty(page: Page, known: Sequence[Finding]) -> Iterator[Spec]:
    """The specs of a page whose comments have errors."""
    errors = [(one.line, one.column) for one in known if one.severity == "error" and one.file == page.file]
    for comment, spec in zip(page.comments, page.specs, strict=True) if errors else ():
        if spec is not None and any(comment.covers(*place) for place in errors):
            yield spec


def _defer(found: Sequence[Finding], site: Site) -> list[Finding]:
    """The findings; those that only the site's build can judge are one note for each comment."""
    if site.snapshot.built:
        return list(found)
    together, open_ended = [*site.judged, *site.namesakes], site.open_ended
    if any(one.rule == "MT139" for one in found):  # The table may come into any page of the site.
        late = site.late_pages()
        by_file = {one.file: one for one in site.snapshot.pages}
        open_ended = open_ended or any(is_open_ended(by_file[page.file], page) for page in late)
        together = [*together, *late]
    return defer_findings(found, together, open_ended=open_ended)


def _name_excluded_pages(findings: list[Finding], site: Site) -> list[Finding]:
    """The findings, with where a table is that no page of the site has, because the build leaves out its page."""
    left_out = site.snapshot.left_out
    if not left_out or not any(one.rule == "MT139" for one in findings):
        return findings
    from mongo_tables.directives.references import no_table
    from mongo_tables.site.ids import list_written_ids
    from mongo_tables.site.reading import read_page

    hints = {
        no_table(name): f"it is on {one.file}, which the build leaves out (`exclude_docs`, `draft_docs`)"
        for one in left_out
        for name in list_written_ids(read_page(one.text, one.file, site.snapshot.shared))
    }
    return [
        one._replace(hint=hints[one.message]) if one.rule == "MT139" and one.message in hints else one
        for one in findings
    ]
