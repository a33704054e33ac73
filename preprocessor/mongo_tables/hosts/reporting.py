"""Logs the findings of a site, and ends the build when one is grave enough."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.plugins import PrefixedLogger

from mongo_tables.findings.reporters import amounts, failing
from mongo_tables.site.faultboxes import line_of

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding, Severity

log = PrefixedLogger("mongo-tables", logging.getLogger("mkdocs.plugins.mongo_tables"))


def report(findings: Sequence[Finding], fail_on: Severity | None, end: str) -> None:
    """Log findings. Raises ``PluginError`` when one is as grave as ``fail_on``; in a preview that is None.

    What ends the build is shown by ``--quiet`` as well.
    """
    ending = failing(findings, fail_on) if fail_on else []
    for finding in findings:
        level = {"error": logging.ERROR, "warning": logging.WARNING}.get(finding.severity, logging.INFO)
        log.log(logging.ERROR if finding in ending else level, line_of(finding))
    if ending:
        raise PluginError(f"mongo-tables: {amounts(ending)}, listed above; {end}.")
