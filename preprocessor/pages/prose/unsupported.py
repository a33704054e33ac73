"""Which figures of a page's sentences no row of their section's tables supports.

A figure is held against the tables and charts of the smallest section around it that has any, and against those that
a MONGO_VALUE or a MONGO_CHECK of that section names. It is judged only where one of their columns has its unit, or
where it has none and is of a thousand and more; a share or a factor may also be the comparison of two rows. A paragraph
with a MONGO_CHECK is held to the rows already. A table that ignores MT324 takes the figures of its section upon itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from preprocessor.aggregation.values import MISSING
from preprocessor.findings.rules import finding
from preprocessor.pages.model import tables_by_id
from preprocessor.pages.prose.evidence import Evidence, Number, evidence
from preprocessor.pages.prose.numbers import Figure, figures
from preprocessor.pages.prose.paragraphs import Paragraph, paragraphs, place
from preprocessor.render.column import column_value
from preprocessor.render.values import cell_text
from preprocessor.specs.model import CheckSpec, PipelineSpec, QuotingSpec, TableSpec

if TYPE_CHECKING:
    from preprocessor.findings.finding import Finding
    from preprocessor.pages.model import Answers, Page, Tables


def prose_findings(pages: Sequence[Page], answers: Answers) -> list[Finding]:
    """A finding of MT324 for every figure of the pages that is unsupported."""
    tables = tables_by_id(pages)
    return [one for page in pages for one in page_findings(page, tables, answers)]


def page_findings(page: Page, tables: Tables, answers: Answers) -> Iterator[Finding]:
    """The same of one page; ``tables`` are those of all."""
    known: dict[tuple[int, int], Evidence | None] = {}
    for paragraph in paragraphs(page.text, list_generated(page)) if page.comments else ():
        if _holds_statement(paragraph, page):
            continue
        said = list(figures(paragraph.text))
        beside = _beside(paragraph, page, tables, answers, known) if said else None
        for figure in said if beside else ():
            if beside and beside.speaks_of(figure) and not beside.supports(figure):
                yield _finding(page, paragraph, figure, beside, answers)


def list_generated(page: Page) -> list[tuple[int, int]]:
    """Where a program wrote into the page, from and to."""
    return [(one.region.start, one.region.end) for one in page.comments if one.region]


def _holds_statement(paragraph: Paragraph, page: Page) -> bool:
    return any(
        isinstance(spec, CheckSpec) and paragraph.start <= spec.comment.start < paragraph.end
        for spec in page.specs
    )


def _beside(
    paragraph: Paragraph,
    page: Page,
    tables: Tables,
    answers: Answers,
    known: dict[tuple[int, int], Evidence | None],
) -> Evidence | None:
    """The evidence in the tables of the smallest section that has any; None when no section has one with rows."""
    for section in paragraph.sections:
        if section not in known:
            shown = _tables_within(section, page, tables, answers)
            ignored = any("MT324" in spec.ignore for spec, _ in shown)
            known[section] = evidence([] if ignored else shown) if shown else None
        if (found := known[section]) is not None:
            return found
    return None


def _tables_within(
    section: tuple[int, int], page: Page, tables: Tables, answers: Answers
) -> list[tuple[PipelineSpec, list[dict[str, object]]]]:

    start, end = section
    own: dict[int, PipelineSpec] = {}
    for spec in page.specs:
        if spec is None or not start <= spec.comment.start < end:
            continue
        table = tables.get(spec.table) if isinstance(spec, QuotingSpec) else spec
        if isinstance(table, PipelineSpec):
            own[id(table)] = table
    answered = ((spec, answers.get(spec.query.key)) for spec in own.values())
    return [(spec, rows) for spec, rows in answered if isinstance(rows, list) and rows]


def _finding(page: Page, paragraph: Paragraph, figure: Figure, beside: Evidence, answers: Answers) -> Finding:
    written = " ".join(figure.written.replace("\ue000", " ").split())
    nearest = beside.nearest(figure)
    at = place(page.text, paragraph.start + figure.start)
    message = f"no row of the section's tables has `{written}`"
    return finding("MT324", page.file, at, message, _hint(nearest, answers) if nearest else "")


def _hint(nearest: Number, answers: Answers) -> str:
    """Where the nearest number stands, and the comment that would write it."""
    spec = nearest.spec
    rows = answers[spec.query.key]
    row = rows[nearest.row] if isinstance(rows, list) else {}
    form = spec.format.get(nearest.column)
    text = cell_text(column_value(row, nearest.column), form)
    unit = f" {form.unit}" if form and form.unit else ""
    said = f"the nearest is {text}{unit}, `{nearest.column}` of row {nearest.row + 1}"
    if not isinstance(spec, TableSpec):
        return f"{said} of the chart in line {spec.comment.line}"
    return f"{said} of {_name_table(spec)}; {_value_comment(spec, nearest.column, row)}"


def _name_table(spec: TableSpec) -> str:
    return f"table `{spec.id}`" if spec.id else f"the table in line {spec.comment.line}"


def _value_comment(spec: TableSpec, column: str, row: dict[str, object]) -> str:
    """The comment that writes the table's own number into the sentence."""
    from bson.json_util import RELAXED_JSON_OPTIONS, dumps

    label = column_value(row, spec.columns[0])
    where = {} if label is MISSING else {spec.columns[0]: label}
    body = {"table": spec.id or "ID", "column": column, "where": where}
    comment = f"<!-- MONGO_VALUE: {dumps(body, json_options=RELAXED_JSON_OPTIONS)} -->"
    return f"write {comment}" if spec.id else f'give it an "id", and write {comment}'
