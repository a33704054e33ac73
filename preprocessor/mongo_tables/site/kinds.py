"""How each kind of comment is shown and judged: one record a kind.

In Markdown a block has lines of its own; what stands in a sentence has one at most, which becomes a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.directives.specs import ChartSpec, CheckSpec, Spec, TableSpec, ValueSpec
from mongo_tables.site.row_faults import row_findings

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.drawing import FigureContext
    from mongo_tables.site.markdown_figures import MarkdownContext
    from mongo_tables.site.pages import Answers, Tables


class Kind(NamedTuple):
    """A kind of comment: its HTML on a site, its lines of Markdown, and what is wrong with it once rows are there.

    ``html`` and ``markdown`` get what they draw with, so that no check pays for it. ``findings`` also gets the names of
    the collections that the results source has, and the day.
    """

    html: Callable[[Any, FigureContext], str]
    markdown: Callable[[Any, MarkdownContext], Sequence[str]]
    findings: Callable[[Any, Tables, Answers, Sequence[str], date], list[Finding]]


def _value_findings(spec: ValueSpec, *known: Any) -> list[Finding]:
    from mongo_tables.site.statements import value_findings  # a page of tables has no sentences about them

    return value_findings(spec, *known)


def _check_findings(spec: CheckSpec, *known: Any) -> list[Finding]:
    from mongo_tables.site.statements import check_findings

    return check_findings(spec, *known)


KINDS: Final[Mapping[type[Spec], Kind]] = {
    TableSpec: Kind(
        html=lambda spec, context: context.draw_table(spec),
        markdown=lambda spec, context: context.table_lines(spec),
        findings=row_findings,
    ),
    ChartSpec: Kind(
        html=lambda spec, context: context.draw_chart(spec),
        markdown=lambda spec, context: context.table_lines(spec),
        findings=row_findings,
    ),
    ValueSpec: Kind(
        html=lambda spec, context: context.draw_value(spec),
        markdown=lambda spec, context: [context.value_text(spec)],
        findings=_value_findings,
    ),
    CheckSpec: Kind(
        html=lambda spec, context: "",
        markdown=lambda spec, context: [],
        findings=_check_findings,
    ),
}
"""Every kind, by the class of its specs."""
