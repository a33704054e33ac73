"""The linter over one comment: which documents it starts from, what every rule says, what its rows confirm.

``look_at`` asks the rules: ``findings`` before the pipeline runs, ``row_findings`` and ``document_findings`` after.
No rule runs a pipeline: rules work on shapes, on the rows of the answer and on the documents that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.lint import (
    rules_chance,
    rules_digits,
    rules_fields,
    rules_headers,
    rules_numbers,
    rules_order,
    rules_rows,
    rules_texts,
    rules_units,
    rules_waste,
)
from mongo_tables.lint.documents import Documents, leading_match
from mongo_tables.lint.pages import Looked, Ran
from mongo_tables.lint.rulecontext import RuleContext
from mongo_tables.lint.rules_fields import find_asked_fields, find_mistyped_conditions
from mongo_tables.lint.rules_order import shows_sort_keys
from mongo_tables.lint.shape.values import lookup

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


def document_findings(subject: RuleContext, documents: Documents) -> list[Finding]:
    """All that is said of the documents that gave the rows of a table or a chart."""
    return [
        *rules_chance.find_ties_at_limit(subject.spec, documents),
        *rules_chance.find_chance_picks(subject.spec, documents),
        *rules_chance.find_ties_in_windows(subject.spec, documents),
        *rules_texts.find_numerals(subject, documents),
        *rules_rows.find_failed_benchmarks(subject, documents),
    ]


def _still_true(
    foreseen: Sequence[Finding], spec: PipelineSpec, rows: Sequence[Mapping[str, Any]] | None
) -> list[Finding]:
    """The findings without predictions that the rows confirm or disprove. ``rows`` is None if the pipeline failed."""
    told = _TOLD_BY_RUNNING | _OF_SEVERAL_ROWS if len(rows or ()) < 2 else _TOLD_BY_RUNNING
    if rows and any(one.rule == "MT408" for one in foreseen) and shows_sort_keys(spec):
        told |= {"MT408"}
    return [one for one in foreseen if one.rule not in told]


def look_at(
    spec: PipelineSpec, documents: Documents, quoted: tuple[str, ...], ran: Ran | None
) -> Looked | None:
    """Look at one comment; None where nobody here knows what its pipeline does.

    ``quoted``: fields of its rows that the prose reads; ``ran``: None where its pipeline was not run.
    """
    _, known = documents.shape(spec)
    try:
        subject = RuleContext(spec=spec, flow=documents.flow(spec), known=known, quoted=quoted)
        foreseen = findings(subject)
    except _MALFORMED:
        if _is_checked(spec):
            raise
        return None  # What is malformed behind an operator that nobody here knows, its server says.
    if documents.at_hand and not known and (asked := _asked_first(spec)):
        every = documents.shape_of_all(spec.collection)
        if any(lookup(every, tuple(field.split("."))).absent for field in asked):
            foreseen += find_mistyped_conditions(RuleContext.of(spec, every, known=True))
    if ran is None:
        return Looked(subject.shown, foreseen)
    found = _still_true(foreseen, spec, ran.rows)
    if ran.rows:
        found += row_findings(subject, ran.rows)
        found += document_findings(subject, documents)
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
