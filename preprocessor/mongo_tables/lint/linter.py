"""The linter: applies the rules to each comment of a site.

No rule runs a pipeline: rules inspect shapes, the rows of the answer, and documents. A comment suppresses findings
with ``"ignore": {"MT402": "why"}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation import AggregationError, check
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec
from mongo_tables.files.process import nothing_collected
from mongo_tables.findings.finding import Finding, Severity
from mongo_tables.findings.rules import RULES, finding
from mongo_tables.lint import (  # noqa: F401
    condition_rules,
    constant_rules,
    date_rules,
    effect_rules,
    field_rules,
    group_rules,
    numeral_rules,
    order_rules,
    row_rules,
)
from mongo_tables.lint.constant_rules import find_fields_as_strings, find_joins_of_kinds
from mongo_tables.lint.field_rules import find_asked_fields, find_mistyped_conditions
from mongo_tables.lint.rule_context import (
    REGISTERED,
    Documents,
    RuleContext,
    RuleInput,
)
from mongo_tables.lint.shape.flow import flow_of
from mongo_tables.lint.shape.values import lookup
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.model import Rows

_FIRST_IGNORABLE_ERROR: Final = "MT302"
_ABOUT_SENTENCES: Final = "MT324"
"""The rule that runs only with `--numbers`, on text outside of comments. Ignoring this rule never counts as unused."""


def is_silenced(found: Finding, ignore: Mapping[str, str]) -> bool:
    """Return whether the comment suppresses the finding."""
    return found.rule in ignore and may_be_ignored(found.rule, found.severity)


def may_be_ignored(rule: str, severity: Severity) -> bool:
    """Return whether a comment may suppress findings of a rule.

    Errors of syntax, of safety and of pipelines that cannot run cannot be suppressed.
    """
    return severity != "error" or rule >= _FIRST_IGNORABLE_ERROR


Places = Mapping[tuple[str, int], Sequence[Finding]]
"""Findings by file and line, so that each comment looks only at its own lines."""


def _by_place(found: Iterable[Finding]) -> Places:
    places: dict[tuple[str, int], list[Finding]] = {}
    for one in found:
        places.setdefault((one.file, one.line), []).append(one)
    return places


def _about(spec: Spec, places: Places) -> Iterator[Finding]:
    """Yield the findings within the lines of the comment."""
    comment = spec.comment
    last = comment.body_line + comment.body.count("\n")
    for line in range(comment.line, last + 1):
        yield from places.get((spec.file, line), ())


def without_silenced(found: Iterable[Finding], specs: Iterable[Spec]) -> list[Finding]:
    """Return the findings that no comment suppresses."""
    listed = list(found)
    places = _by_place(listed)
    ignoring = (spec for spec in specs if spec.ignore)
    silenced = {one for spec in ignoring for one in _about(spec, places) if is_silenced(one, spec.ignore)}
    return [one for one in listed if one not in silenced]


def find_unused_ignores(found: Sequence[Finding], specs: Iterable[Spec], *, ran: bool) -> list[Finding]:
    """Return a finding for each ignored rule that has no finding in its comment.

    ``found``: all findings, including suppressed ones. ``ran``: whether pipelines were run. If not, ignored rules that
    need rows are not reported, because they were not applied.
    """
    places = _by_place(found)
    return [
        finding(
            "MT507",
            spec.file,
            spec.locate(("ignore", rule), key=True),
            f"{rule} is ignored, but has no finding here",
            "remove it from the ignore list, or it will hide later findings",
        )
        for spec in specs
        for rule in spec.ignore
        if (ran or rule not in RULES or not RULES[rule].rows)
        and rule != _ABOUT_SENTENCES
        and not any(is_silenced(one, {rule: ""}) for one in _about(spec, places))
    ]


_MALFORMED: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors that reading a malformed stage may raise."""

_OF_SEVERAL_ROWS: Final = frozenset({"MT416", "MT417"})
"""Rules about the order of rows, which need at least two rows."""


class Ran(NamedTuple):
    """The result of a pipeline: its rows, or None if it failed."""

    rows: Sequence[Mapping[str, Any]] | None


Look = Callable[[PipelineSpec, Documents, Ran | None], list[Finding]]
"""A function that returns the findings about a comment: ``look_at``, or a cache of its results."""


@nothing_collected()  # Shapes have no reference cycles, and there are many documents.
def lint(
    specs: Iterable[PipelineSpec],
    source: FileSource | None,
    answers: Mapping[str, Rows | ResultsError],
    look: Look,
) -> list[Finding]:
    """Return all findings of the linter about specs.

    ``source``: the documents to learn from, or None. ``answers``: the answers of the pipelines that
    were run.
    """
    documents = Documents(source)
    found: list[Finding] = []
    for spec in specs:
        answer = answers.get(spec.key)
        rows = None if isinstance(answer, ResultsError) else answer
        found += look(spec, documents, None if answer is None else Ran(rows))
    return found


def look_at(spec: PipelineSpec, documents: Documents, ran: Ran | None) -> list[Finding]:
    """Return the findings about one comment.

    ``ran``: None if its pipeline was not run.
    """
    begun = documents.begun(spec)
    try:
        flow = flow_of(spec.pipeline, begun.shape, spec.let, documents.texts, begun.followed)
        rows = ran.rows if ran else None
        subject = RuleContext(spec, flow, begun.is_learned, rows, documents=documents)
        seen: frozenset[str] = _OF_SEVERAL_ROWS if ran and len(rows or ()) < 2 else frozenset()
        if rows and "sorts by texts" in subject.facts and (sorting := subject.seen_sorting):
            # The rows show whether texts are in order, unless a later `$limit` dropped those in the wrong order.
            cut = any("$limit" in stage for stage in spec.pipeline[sorting.place :])
            seen = seen if cut else seen | {"MT408"}
        found = apply_rules("pipeline", subject, seen=seen)
    except _MALFORMED:
        if _is_checked(spec):
            raise
        return []  # The check of the pipeline, or a server, reports the malformed stage.
    if documents.source and not begun.is_learned and (asked := find_asked_fields(spec.pipeline)):
        every = documents.shape_of_all(spec.collection)
        asks_absent = any(lookup(every, tuple(field.split("."))).absent for field in asked)
        all_of_them = RuleContext.of(spec, every, known=True)
        found += find_fields_as_strings(all_of_them)
        found += find_mistyped_conditions(all_of_them) if asks_absent else ()
    if ran and ran.rows:
        if not isinstance(spec, TableSpec) or spec.chart is not None:
            from mongo_tables.lint import chart_rules  # noqa: F401  # it imports the drawing of charts, which is slow
        found += apply_rules("rows", subject, ran.rows)
        found += apply_rules("documents", subject, documents)
    elif ran:
        found += find_joins_of_kinds(subject, documents)
    return found


def apply_rules(
    of: RuleInput, subject: RuleContext, *more: Any, seen: frozenset[str] = frozenset()
) -> list[Finding]:
    """Apply the rules with the input ``of`` to one comment, and return their findings.

    ``more``: the other arguments of these rules, the rows or the documents. ``seen``: rules to skip, because they
    do not apply to the rows, or because the rows show directly what the rules predict.
    """
    found: list[Finding] = []
    facts = subject.facts
    visited = subject.visited if "expression" in facts else {}
    for rule in REGISTERED[of]:
        if rule.needs and rule.needs.isdisjoint(facts):
            continue
        if rule.reads and rule.reads.isdisjoint(visited):
            continue
        if not rule.ids <= seen:
            found += rule.find(subject, *more)
    return [one for one in found if one.rule not in seen] if found else []


def _is_checked(spec: PipelineSpec) -> bool:
    """Return whether the whole pipeline compiled, so that each of its stages has the form that rules rely on."""
    try:
        check(spec.pipeline, variables=spec.let)
    except AggregationError:
        return False
    return True
