"""The linter over one comment: which documents it starts from, what every rule says, what its rows confirm.

``look_at`` asks the rules: ``findings`` before the pipeline runs, ``row_findings`` and ``find_by_asking`` after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.findings.finding import Finding
from mongo_tables.lint import (
    rules_chance,
    rules_digits,
    rules_elements,
    rules_fields,
    rules_headers,
    rules_numbers,
    rules_order,
    rules_rows,
    rules_texts,
    rules_units,
    rules_waste,
)
from mongo_tables.lint.asking import leading_match
from mongo_tables.lint.documents import collection_shape, shape_without
from mongo_tables.lint.pages import Looked, Ran
from mongo_tables.lint.rulecontext import RuleContext
from mongo_tables.lint.rules_fields import find_asked_fields, find_mistyped_conditions
from mongo_tables.lint.rules_order import shows_sort_keys
from mongo_tables.lint.shape.values import Shape, member
from mongo_tables.specs.model import PipelineSpec, TableSpec

if TYPE_CHECKING:
    from mongo_tables.results.model import LocalDocuments

Rule = Callable[[RuleContext], Iterator[Finding]]

RULES: Final[tuple[Rule, ...]] = (
    *rules_fields.RULES,
    *rules_order.RULES,
    *rules_numbers.RULES,
    *rules_units.RULES,
    *rules_headers.RULES,
    *rules_waste.RULES,
)

_TOLD_BY_RUNNING: Final = frozenset({"MT302", "MT308"})
"""Rules that foresee what a run of the pipeline says by itself."""

_MALFORMED: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors that reading a malformed stage may raise."""

_OF_SEVERAL_ROWS: Final = frozenset({"MT416", "MT417"})
"""Rules about the order of rows, of which there must be two."""


def subject_of(
    spec: PipelineSpec, documents: Shape, *, known: bool, quoted: tuple[str, ...] = ()
) -> RuleContext:
    """A comment with the flow of its pipeline, to be looked at by rules.

    ``documents`` is the shape of its collection, ``known`` whether real documents were looked at for it, ``quoted``
    what the prose reads of its rows.
    """
    return RuleContext.of(spec, documents, known=known, quoted=quoted)


def findings(subject: RuleContext) -> list[Finding]:
    """All that the rules say of one comment, whatever it ignores."""
    return [one for rule in RULES for one in rule(subject)]


def row_findings(subject: RuleContext, rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """All that is said of the rows of a table or a chart."""
    spec = subject.spec
    named = list(rules_rows.find_repeated_keys(spec, rows)) if isinstance(spec, TableSpec) else []
    return [
        *(named or rules_chance.find_tied_rows(spec, rows)),
        *rules_order.find_text_order_of_rows(spec, rows),
        *rules_digits.find_many_digits(subject, rows),
        *rules_fields.find_empty_arrays(subject, rows),
        *_chart_findings(spec, rows),
    ]


def _chart_findings(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    if isinstance(spec, TableSpec) and spec.chart is None:
        return []
    from mongo_tables.lint import rules_charts  # and with it what draws charts, and `zoneinfo`, which cost

    return [one for rule in rules_charts.RULES for one in rule(spec, rows)]


def find_by_asking(
    subject: RuleContext, source: LocalDocuments, rows: Sequence[Mapping[str, Any]]
) -> list[Finding]:
    """The findings that need documents from the middle of the pipeline, which gave ``rows``."""
    by_chance = [
        *rules_chance.find_ties_at_limit(subject.spec, source),
        *rules_chance.find_chance_picks(subject.spec, source),
        *rules_chance.find_ties_in_windows(subject.spec, source),
    ]
    return [
        *(by_chance or rules_elements.find_elements_by_chance(subject, source, rows)),
        *rules_order.find_text_order_in_stages(subject, source),
        *rules_texts.find_numerals(subject, source),
        *_find_failed(subject, source),
    ]


def _find_failed(subject: RuleContext, source: LocalDocuments) -> list[Finding]:
    if member(subject.flow.documents, "failed").absent:
        return []
    from mongo_tables.lint.rules_failed import find_failed_benchmarks  # and with it what compares benchmarks

    return list(find_failed_benchmarks(subject, source))


def _still_true(
    foreseen: Sequence[Finding], spec: PipelineSpec, rows: Sequence[Mapping[str, Any]] | None
) -> list[Finding]:
    """The findings without predictions that the rows confirm or disprove. ``rows`` is None if the pipeline failed."""
    told = _TOLD_BY_RUNNING | _OF_SEVERAL_ROWS if len(rows or ()) < 2 else _TOLD_BY_RUNNING
    if rows and any(one.rule == "MT408" for one in foreseen) and shows_sort_keys(spec):
        told |= {"MT408"}
    return [one for one in foreseen if one.rule not in told]


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


def _is_checked(spec: PipelineSpec) -> bool:
    """Whether all of the pipeline could be compiled, so that each of its stages has the form that rules rely on."""
    try:
        check(spec.pipeline, variables=spec.let)
    except AggregationError:
        return False
    return True
