"""Logs the findings of a site, and ends the build when one is grave enough."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.plugins import PrefixedLogger

from mongo_tables.comments.frontmatter import may_have_front_matter
from mongo_tables.comments.frontmattercomments import front_matter_findings
from mongo_tables.comments.htmlcomments import Page as Lines
from mongo_tables.comments.search import may_have_comment
from mongo_tables.findings.reporters import amounts, failing
from mongo_tables.pages.faultboxes import line_of
from mongo_tables.pages.reading import unread_findings
from mongo_tables.site.pagereader import unreadable
from mongo_tables.site.shownpath import choose_shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mkdocs.structure.files import File

    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.sitebuild import SiteBuild

log = PrefixedLogger("mongo-tables", logging.getLogger("mkdocs.plugins.mongo_tables"))


def findings_of(site: SiteBuild) -> list[Finding]:
    """All findings, sorted. A source out of reach is one fault, not one for each table."""
    unread = [] if site.asked.unreachable else unread_findings(site.asked.local)
    loose = {*site.late, *_in_front_matter(site), *unread}
    if not site.pages:
        return sorted(loose)
    build, fail_on = site.known.of(site.pages.values()), site.options.fail_on
    linted = build.lint() if site.config.strict or fail_on != "error" else None
    found = [*site.source_findings(), *build.findings(linted)]
    # The linter's notes are left to whoever asks for them.
    notes = {each for each in linted or () if each.severity == "note" and fail_on != "note"}
    return sorted({*found, *loose} - notes)


def _in_front_matter(site: SiteBuild) -> list[Finding]:
    """The comments in what MkDocs cuts off the pages before it hands them over."""
    found: list[Finding] = []
    # Where figures are kept, these texts had no finding.
    for file, text in site.files.values() if site.kept is None else ():
        if may_have_front_matter(text) and may_have_comment(text):
            found += front_matter_findings(Lines(text), choose_shown_path(file))
    return found


def report(site: SiteBuild, findings: Sequence[Finding], end: str) -> None:
    """Log findings. Raises ``PluginError`` when one is as grave as ``fail_on``, but in a preview."""
    ending = [] if site.serving else failing(findings, site.options.fail_on)
    for finding in findings:
        _log(finding, ends=finding in ending)
    if ending:
        raise PluginError(f"mongo-tables: {amounts(ending)}, listed above; {end}.")


def refuse_unreadable(files: Iterable[File]) -> None:
    """Raise ``PluginError`` for pages that MkDocs could not read either, with the place of each fault."""
    faults = [fault for fault in map(unreadable, files) if fault is not None]
    for fault in faults:
        _log(fault)
    if faults:
        raise PluginError("mongo-tables: a page cannot be read, see above; nothing was built.")


def _log(finding: Finding, *, ends: bool = False) -> None:
    """Log a finding by how grave it is; one that ends the build is shown by ``--quiet`` as well."""
    level = {"error": logging.ERROR, "warning": logging.WARNING}.get(finding.severity, logging.INFO)
    log.log(logging.ERROR if ends else level, line_of(finding))
