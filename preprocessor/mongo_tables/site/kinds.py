"""The rendering and the checks of each kind of comment.

In Markdown, a block becomes separate lines. A comment in a sentence becomes at most one line, which is a part of the
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.directives.specs import ChartSpec, CheckSpec, Spec, TableSpec, ValueSpec
from mongo_tables.site.row_faults import row_findings
from mongo_tables.site.statements import check_findings, value_findings

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import AnswersByKey, Tables


class CommentKind(NamedTuple):
    """The functions of a kind of comment: its HTML on a site, its lines of Markdown, and the findings about its rows.

    ``html`` gets a ``FigureContext``, and ``markdown`` a ``MarkdownContext``. ``Any`` stands for them, so that checks
    need not import them. ``findings`` also gets the names of the collections of the results source, and the current
    date.
    """

    html: Callable[[Any, Any], str]
    markdown: Callable[[Any, Any], Sequence[str]]
    findings: Callable[[Any, Tables, AnswersByKey, Sequence[str], date], list[Finding]]


def _chart_findings(spec: ChartSpec, *known: Any) -> list[Finding]:
    found = row_findings(spec, *known)
    return [*found, *value_findings(spec.sentence, *known)] if spec.sentence else found


KINDS: Final[Mapping[type[Spec], CommentKind]] = {
    TableSpec: CommentKind(
        html=lambda spec, context: context.draw(spec),
        markdown=lambda spec, context: context.table_lines(spec),
        findings=row_findings,
    ),
    ChartSpec: CommentKind(
        html=lambda spec, context: context.draw(spec),
        markdown=lambda spec, context: context.table_lines(spec),
        findings=_chart_findings,
    ),
    ValueSpec: CommentKind(
        html=lambda spec, context: context.draw_value(spec),
        markdown=lambda spec, context: [context.value_text(spec)],
        findings=value_findings,
    ),
    CheckSpec: CommentKind(
        html=lambda spec, context: "",
        markdown=lambda spec, context: [],
        findings=check_findings,
    ),
}
"""All kinds, by the class of the spec."""
