"""The linter over whole pages: which documents each table starts from, what every rule says, what is ignored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from preprocessor.aggregation import AggregationError, check
from preprocessor.aggregation.fields import paths_in_query, split_path
from preprocessor.findings.finding import Finding
from preprocessor.lint import find_by_asking, findings, page_findings, row_findings, subject_of
from preprocessor.lint.asking import leading_match
from preprocessor.lint.documents import collection_shape, shape_without
from preprocessor.lint.rules_fields import find_asked_fields, find_mistyped_conditions
from preprocessor.lint.rules_order import shows_sort_keys
from preprocessor.lint.shownbytables import ShownTable
from preprocessor.specs.model import PipelineSpec, QuotingSpec, Spec

if TYPE_CHECKING:
    from preprocessor.results.model import LocalDocuments

Rows = Mapping[int, Sequence[Mapping[str, Any]] | None]
"""The rows of each table that was run, by ``id`` of its spec; None of one that failed."""

_TOLD_BY_RUNNING: Final = frozenset({"MT302", "MT308"})
"""Rules that foresee what a run of the pipeline says by itself."""

_MALFORMED: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors that reading a malformed stage may raise."""

_OF_SEVERAL_ROWS: Final = frozenset({"MT416", "MT417"})
"""Rules about the order of rows, of which there must be two."""


def _still_true(
    foreseen: Sequence[Finding], spec: PipelineSpec, rows: Sequence[Mapping[str, Any]] | None
) -> list[Finding]:
    """The findings without predictions that the rows confirm or disprove. ``rows`` is None if the pipeline failed."""
    told = _TOLD_BY_RUNNING | _OF_SEVERAL_ROWS if len(rows or ()) < 2 else _TOLD_BY_RUNNING
    if rows and any(one.rule == "MT408" for one in foreseen) and shows_sort_keys(spec):
        told |= {"MT408"}
    return [one for one in foreseen if one.rule not in told]


class Ran(NamedTuple):
    """A pipeline that was run, with its rows; None where it failed."""

    rows: Sequence[Mapping[str, Any]] | None


class Looked(NamedTuple):
    """A comment that was looked at by itself, as rules about the tables of a page need it, and what is said of it."""

    shown: ShownTable
    findings: Sequence[Finding]


Look = Callable[[PipelineSpec, "LocalDocuments | None", tuple[str, ...], Ran | None], Looked | None]
"""Looks at a comment: ``look_at``, or what knows already what that gives."""


def look_at(
    spec: PipelineSpec, source: LocalDocuments | None, quoted: tuple[str, ...], ran: Ran | None
) -> Looked | None:
    """Look at one comment; None where nobody here knows what its pipeline does.

    ``quoted``: fields of its rows that the prose reads; ``ran``: None where its pipeline was not run.
    """
    documents, known = collection_shape(spec, source)
    try:
        subject = subject_of(spec, documents, known=known, quoted=quoted)
        foreseen = findings(subject)
    except _MALFORMED:
        if _is_checked(spec):
            raise
        return None  # What is malformed behind an operator that nobody here knows, its server says.
    if source and not known and (asked := _asked_first(spec)):
        there = shape_without(spec, source, asked)
        foreseen += find_mistyped_conditions(subject_of(spec, there, known=True)) if there else ()
    if ran is None:
        return Looked(subject.shown, foreseen)
    found = _still_true(foreseen, spec, ran.rows)
    if ran.rows:
        found += row_findings(subject, ran.rows)
        found += find_by_asking(subject, source, ran.rows) if source else []
    return Looked(subject.shown, found)


def _asked_first(spec: PipelineSpec) -> list[str]:
    """The fields that the documents must have which a pipeline starts from."""
    return [field for stage in leading_match(spec.pipeline) for field in find_asked_fields(stage["$match"])]


def lint(
    pages: Iterable[Sequence[Spec | None]], source: LocalDocuments | None, rows: Rows, look: Look = look_at
) -> list[Finding]:
    """All findings of the linter about the specs of each page.

    ``source``: the documents to learn from, None where there are none. ``rows``: those of tables
    whose pipelines were run.
    """
    listed = [list(specs) for specs in pages]
    quoted = _collect_quoted_fields(spec for specs in listed for spec in specs)
    found: list[Finding] = []
    for specs in listed:
        shown = []
        for spec in specs:
            if not isinstance(spec, PipelineSpec):
                continue
            ran = Ran(rows[id(spec)]) if id(spec) in rows else None
            looked = look(spec, source, tuple(quoted.get(spec.id or "", ())), ran)
            if looked is not None:
                shown.append(looked.shown)
                found += looked.findings
        found += page_findings(shown)
    return found


def _is_checked(spec: PipelineSpec) -> bool:
    """Whether all of the pipeline could be compiled, so that each of its stages has the form that rules rely on."""
    try:
        check(spec.pipeline, variables=spec.let)
    except AggregationError:
        return False
    return True


def _collect_quoted_fields(specs: Iterable[Spec | None]) -> dict[str, list[str]]:
    """By the id of a table, the fields of its rows that values and statements in the prose read."""
    fields: dict[str, list[str]] = defaultdict(list)
    for spec in specs:
        if isinstance(spec, QuotingSpec):
            read = {split_path(column) for column in spec.quoted_columns}
            read = read.union(*map(paths_in_query, spec.queries.values()))
            fields[spec.table] += sorted(".".join(parts) for parts in read if parts)
    return fields
