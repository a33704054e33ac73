"""The linter: what is wrong or misleading in a table, found before its pipeline runs or, by some rules, in its rows.

``findings`` looks at one comment, ``page_findings`` at the tables of a page together, ``row_findings`` at the rows
of a table once they are there. Every rule is a function in one of the ``rules_`` modules; what it knows of the
documents comes from ``shape``. A rule that cannot know says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from preprocessor.findings.finding import Finding
from preprocessor.lint import (
    rules_chance,
    rules_digits,
    rules_elements,
    rules_fields,
    rules_headers,
    rules_numbers,
    rules_order,
    rules_page,
    rules_rows,
    rules_texts,
    rules_units,
    rules_waste,
)
from preprocessor.lint.rulecontext import RuleContext
from preprocessor.lint.shape.values import Shape, member
from preprocessor.lint.shownbytables import ShownTable
from preprocessor.specs.model import PipelineSpec, TableSpec

if TYPE_CHECKING:
    from preprocessor.results.model import LocalDocuments

Rule = Callable[[RuleContext], Iterator[Finding]]

RULES: Final[tuple[Rule, ...]] = (
    *rules_fields.RULES,
    *rules_order.RULES,
    *rules_numbers.RULES,
    *rules_units.RULES,
    *rules_headers.RULES,
    *rules_waste.RULES,
)


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


def page_findings(tables: Sequence[ShownTable]) -> list[Finding]:
    """All that is said of the tables of one page held against each other."""
    return [one for rule in rules_page.RULES for one in rule(tables)]


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
    from preprocessor.lint import rules_charts  # and with it what draws charts, and `zoneinfo`, which cost

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
    from preprocessor.lint.rules_failed import find_failed_benchmarks  # and with it what compares benchmarks

    return list(find_failed_benchmarks(subject, source))
