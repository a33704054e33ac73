"""The linter over whole pages: what is said of each comment, and of the tables of a page together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.aggregation.fields import paths_in_query, split_path
from mongo_tables.directives.specs import PipelineSpec, QuotingSpec, Spec
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rules_page import ShownTable, page_findings

if TYPE_CHECKING:
    from mongo_tables.lint.documents import Documents
    from mongo_tables.results.model import LocalDocuments

Rows = Mapping[int, Sequence[Mapping[str, Any]] | None]
"""The rows of each table that was run, by ``id`` of its spec; None of one that failed."""


class Ran(NamedTuple):
    """A pipeline that was run, with its rows; None where it failed."""

    rows: Sequence[Mapping[str, Any]] | None


class Looked(NamedTuple):
    """A comment that was looked at by itself, as rules about the tables of a page need it, and what is said of it."""

    shown: ShownTable
    findings: Sequence[Finding]


Look = Callable[[PipelineSpec, "Documents", tuple[str, ...], Ran | None], Looked | None]
"""Looks at a comment: ``look_at``, or what knows already what that gives."""


def lint(
    pages: Iterable[Sequence[Spec | None]], source: LocalDocuments | None, rows: Rows, look: Look
) -> list[Finding]:
    """All findings of the linter about the specs of each page.

    ``source``: the documents to learn from, None where there are none. ``rows``: those of tables
    whose pipelines were run.
    """
    from mongo_tables.lint.documents import Documents  # and with it what evaluates pipelines

    listed = [list(specs) for specs in pages]
    documents = Documents(source)
    quoted = _collect_quoted_fields(spec for specs in listed for spec in specs)
    found: list[Finding] = []
    for specs in listed:
        shown = []
        for spec in specs:
            if not isinstance(spec, PipelineSpec):
                continue
            ran = Ran(rows[id(spec)]) if id(spec) in rows else None
            looked = look(spec, documents, tuple(quoted.get(spec.id or "", ())), ran)
            if looked is not None:
                shown.append(looked.shown)
                found += looked.findings
        found += page_findings(shown)
    return found


def _collect_quoted_fields(specs: Iterable[Spec | None]) -> dict[str, list[str]]:
    """By the id of a table, the fields of its rows that values and statements in the prose read."""
    fields: dict[str, list[str]] = defaultdict(list)
    for spec in specs:
        if isinstance(spec, QuotingSpec):
            read = {split_path(column) for column in spec.quoted_columns}
            read = read.union(*map(paths_in_query, spec.queries.values()))
            fields[spec.table] += sorted(".".join(parts) for parts in read if parts)
    return fields
