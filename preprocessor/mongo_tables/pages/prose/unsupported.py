"""Which figures and directions of a page's sentences the rows of their section's tables do not support.

They are held against the tables and charts of the smallest section around them that has any, and against those that a
MONGO_VALUE or a MONGO_CHECK of that section names; a section with a table that somebody typed, and none of ours, speaks
of that one, but for paragraphs with such a comment, and as far as it repeats one of ours (``typedtables``). A figure is
judged where one of their columns has its unit, in a section of tables however far off it is; or where it has no unit,
is of a thousand and more, and of the size of their numbers. A noun that a header ends with, or that a format names, is
a unit as well, of numbers of that size.

Where the clause of a figure names rows or columns, only those count (``naming``, ``support``). A share or a factor may
also be the comparison of two rows; in a section with a column of shares only where the clause compares. A share may be
that of two counts beside it that one row has. In a paragraph with a MONGO_CHECK a figure may be a number that it
expects. A part of a second that is spelled is judged beside a MONGO_CHECK of durations. What is said of a direction is
in ``directions``, and of a factor that goes the other way round in ``turned``. A table that ignores MT324 or MT327
takes that of its section upon itself, a MONGO_CHECK that of its paragraph. Of a table that stays in a page within its
tolerance, the rows are as they stand there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.comments.keywords import keyword_like
from mongo_tables.comments.writing import keep_in_comment
from mongo_tables.findings.rules import finding
from mongo_tables.pages.model import tables_by_id
from mongo_tables.pages.prose.captions import list_captions
from mongo_tables.pages.prose.clauses import Clause, with_code_before
from mongo_tables.pages.prose.columnnumbers import Number
from mongo_tables.pages.prose.decimalcommas import read_numbers
from mongo_tables.pages.prose.directions import Sentence, find_contradicted, find_directions
from mongo_tables.pages.prose.evidence import Evidence, column_unit, noun_of
from mongo_tables.pages.prose.methods import is_of_method
from mongo_tables.pages.prose.numbers import Figure, figures
from mongo_tables.pages.prose.numberwords import spelled_durations, spelled_figures
from mongo_tables.pages.prose.paragraphs import (
    BLANK,
    Paragraph,
    find_sentence_span,
    paragraphs,
    place,
    split_sentences,
)
from mongo_tables.pages.prose.section import Section
from mongo_tables.pages.prose.sections import Sections, specs_within
from mongo_tables.pages.prose.subjects import comparing
from mongo_tables.pages.prose.support import (
    Beside,
    find_named,
    find_nearest,
    is_supported,
    names_column,
    names_for,
    narrow,
)
from mongo_tables.pages.prose.topics import is_common_header, tells_of_results, tells_of_settings
from mongo_tables.pages.prose.turned import find_turned
from mongo_tables.pages.standing import standing_answers
from mongo_tables.pages.statements import find_numbers, shown_value
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.fewdigits import with_few_digits
from mongo_tables.render.values import cell_text
from mongo_tables.specs.model import CheckSpec, Spec, TableSpec, ValueSpec

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.model import Answers, Page, Tables
    from mongo_tables.pages.prose.naming import Named

PROSE_RULES = _FIGURES, _DIRECTIONS = "MT324", "MT327"
"""What is told of figures, and of directions."""


def prose_findings(pages: Sequence[Page], answers: Answers) -> list[Finding]:
    """A finding for every figure and direction of the pages that is unsupported."""
    tables = tables_by_id(pages)
    quotable = _list_nouns(tables.values())
    return [one for page in pages for one in _page_findings(page, tables, quotable, answers)]


def page_findings(page: Page, tables: Tables, answers: Answers) -> Iterator[Finding]:
    """The same of one page; ``tables`` are those of all."""
    return _page_findings(page, tables, _list_nouns(tables.values()), answers)


def _page_findings(
    page: Page, tables: Tables, quotable: frozenset[str], answers: Answers
) -> Iterator[Finding]:
    """``quotable`` are the nouns of ``tables``, which a site has too many of to list them for each page."""
    if not page.comments:
        return
    answers = standing_answers(page, tables, answers)
    found = read_numbers(paragraphs(page.text, list_generated(page), list(list_captions(page))), page, tables)
    sections = Sections(page, tables, answers, found)
    nouns = quotable | _list_nouns(one for one in page.specs if isinstance(one, TableSpec))
    for paragraph in found:
        typed = (
            sections.headers.figures(paragraph, nouns)
            if paragraph.in_table
            else figures(paragraph.text, nouns)
        )
        said = (*typed, *spelled_figures(paragraph.text))
        if said or any(find_directions(paragraph.text)) or any(spelled_durations(paragraph.text)):
            yield from _judge(page, paragraph, said, sections, tables, answers)


def _list_nouns(tables: Iterable[TableSpec]) -> frozenset[str]:
    """What the headers and formats of tables call the numbers of columns."""
    return frozenset(filter(None, (noun_of(one, column) for one in tables for column in one.columns)))


def _judge(
    page: Page,
    paragraph: Paragraph,
    said: Sequence[Figure],
    sections: Sections,
    tables: Tables,
    answers: Answers,
) -> Iterator[Finding]:
    beside = sections.beside(paragraph)
    if beside is None or sections.is_about_the_past(paragraph):
        return
    specs = specs_within(page, paragraph.start, paragraph.end)
    ignored = sections.list_ignored(paragraph, beside)
    ignored |= {rule for spec in specs if isinstance(spec, CheckSpec) for rule in spec.ignore}
    words = sections.words(paragraph)
    judged = _Judged(paragraph, words, sections, beside, _with_bounds(beside.evidence, specs, tables))
    unsupported = [*judged.list_unsupported(said)]
    if _FIGURES not in ignored:
        for figure, nearest in unsupported:
            yield _finding(page, paragraph, figure, nearest, answers)
    if _DIRECTIONS not in ignored:
        yield from _judge_directions(page, paragraph, words, beside, tables, answers)
        told = {figure for figure, _ in unsupported}
        for figure, instead in judged.list_turned([one for one in said if one not in told]):
            at = place(page.text, paragraph.start + figure.start)
            yield _contradiction(page, at, _write(page, paragraph, figure), instead)


def list_generated(page: Page) -> list[tuple[int, int]]:
    """Where a program wrote into the page, from and to."""
    return [(one.region.start, one.region.end) for one in page.comments if one.region]


def _with_bounds(known: Evidence, specs: Sequence[Spec], tables: Tables) -> Evidence:
    """The evidence, and what the statements of a paragraph expect, which rows are held against."""
    bounds = tuple(
        Number(float(number), None if column.startswith("$") else column_unit(table, column), table)
        for spec in specs
        if isinstance(spec, CheckSpec) and (table := tables.get(spec.table)) is not None
        for column, expected in spec.expect.items()
        for number in find_numbers(expected)
    )
    return replace(known, bounds=bounds) if bounds else known


class _Judged(NamedTuple):
    """A paragraph with what its figures are held against: ``known`` is the evidence ``beside``, and its statements'.

    ``words`` are its text with code and what values say.
    """

    paragraph: Paragraph
    words: str
    sections: Sections
    beside: Section
    known: Evidence

    def list_unsupported(self, said: Sequence[Figure]) -> Iterator[tuple[Figure, Number | None]]:
        """The figures that could come from the tables and are in no row, each with the number to write instead."""
        nearby = self.sections.is_near(self.paragraph)
        for figure in said:
            clause = self.sections.headers.clause_of(figure, self.paragraph, self.words)
            named = find_named(self.beside, clause, figure)
            known, rate = comparing(self.known, named, clause), self.known.read_rate(figure)
            is_named = names_for(known, named, rate)
            if (
                (nearby or self._is_topic(figure, clause, named))
                and not is_of_method(figure, clause, names_column=names_column(known, named, figure))
                and known.speaks_of(rate, nearby=nearby, named=is_named)
                and not is_supported(
                    figure,
                    clause,
                    Beside(self.beside, known, named),
                    self.sections.around(self.paragraph),
                )
                and not self.sections.is_typed_beside(figure, self.paragraph)
            ):
                yield figure, find_nearest(rate, self.known, named)
        for figure in spelled_durations(self.paragraph.text) if self.known.bounds else ():
            if self.known.expects_unit_of(figure) and not self.known.supports(figure):
                yield figure, self.known.nearest(figure)

    def list_turned(self, said: Sequence[Figure]) -> Iterator[tuple[Figure, str]]:
        """The factors and shares between two rows that go the other way round, each with what the rows say.

        Where the sentence is told for one of its words anyway it is left at that.
        """
        for figure in said:
            if not figure.may_compare:
                continue
            clause = self.sections.headers.clause_of(figure, self.paragraph, self.words)
            named = find_named(self.beside, clause, figure)
            paired = {key: one for key, one in named.items() if one.pairs}
            known = narrow(comparing(self.known, paired, clause), paired, figure) if paired else None
            instead = find_turned(figure, clause, known) if known else ""
            if instead and not self._is_contradicted(figure):
                yield figure, instead

    def _is_contradicted(self, figure: Figure) -> bool:
        start, end = find_sentence_span(self.paragraph.text, figure.start)
        sentence = Sentence(self.paragraph.text[start:end], self.words[start:end])
        return any(find_contradicted(sentence, self.beside.speeds, ()))

    def _is_topic(self, figure: Figure, clause: Clause, named: Mapping[int, Named]) -> bool:
        """Whether a figure in a section without tables is about those of another, by the words around it.

        Its clause names a row, or its paragraph quotes a table, or a heading above is about results. Else its sentence
        compares, tells of what was measured, or has a name beside it, and says nothing of what is set.
        """
        if any(one.rows for one in named.values()) or self.sections.is_about_results(self.paragraph):
            return True
        text = self.paragraph.text
        said = text[slice(*find_sentence_span(text, figure.start))]
        if self.sections.quotes(self.paragraph) or self._is_share_measured(figure, clause):
            return True
        return not tells_of_settings(said) and (
            self._names_column(named) or tells_of_results(said) or self._names_row_elsewhere()
        )

    def _names_column(self, named: Mapping[int, Named]) -> bool:
        """Whether a column is named by more than a word that sentences about anything have, as `time`."""
        tables = (one for one in self.beside.names if id(one.spec) in named)
        headers = (one.columns[column] for one in tables for column in named[id(one.spec)].columns)
        return not all(map(is_common_header, headers))

    def _is_share_measured(self, figure: Figure, clause: Clause) -> bool:
        """Whether a share or a factor compares, or is one with decimals where a column has shares."""
        has_decimals = figure.kind == "%" and "." in figure.written and self.known.has_shares
        return has_decimals or (figure.may_compare and clause.compares)

    def _names_row_elsewhere(self) -> bool:
        found = self.beside.find_names(self.words)
        return any(one.rows for one in found.values())


def _judge_directions(
    page: Page, paragraph: Paragraph, words: str, beside: Section, tables: Tables, answers: Answers
) -> Iterator[Finding]:
    text = paragraph.text
    for start, end in split_sentences(text):
        if not any(find_directions(text[start:end])):
            continue
        specs = specs_within(page, paragraph.start + start, paragraph.start + end)
        verdicts = [one for spec in specs for one in _verdicts(spec, tables, answers)]
        first = with_code_before(text, start)
        sentence = Sentence(text[first:end], words[first:end])
        for found in find_contradicted(sentence, beside.speeds, verdicts):
            at = place(page.text, paragraph.start + first + found.direction.start)
            yield _contradiction(page, at, found.direction.word, found.instead)


def _verdicts(spec: Spec, tables: Tables, answers: Answers) -> Iterator[str]:
    """The verdicts of comparisons that a comment in a sentence writes, or expects."""
    if isinstance(spec, ValueSpec):
        found = shown_value(spec, tables, answers)
        one = conclusion_of(found[0]) if found else None
        yield from [one.verdict] if one else []
    elif isinstance(spec, CheckSpec):
        yield from (
            value
            for path, value in spec.expect.items()
            if path.endswith("verdict") and isinstance(value, str)
        )


def _contradiction(page: Page, at: tuple[int, int], said: str, instead: str) -> Finding:
    message = f"`{said}` is not what the rows say: {instead}"
    hint = "change the sentence, or look at what changed in the results"
    return finding(_DIRECTIONS, page.file, at, message, hint)


def _finding(
    page: Page, paragraph: Paragraph, figure: Figure, nearest: Number | None, answers: Answers
) -> Finding:
    at = place(page.text, paragraph.start + figure.start)
    message = f"no row of the section's tables has `{_write(page, paragraph, figure)}`"
    return finding(_FIGURES, page.file, at, message, _hint(nearest, answers) if nearest else "")


def _write(page: Page, paragraph: Paragraph, figure: Figure) -> str:
    """The figure as the page has it, on one line and without what is no prose."""
    start = paragraph.start + figure.start
    typed = zip(figure.written, page.text[start : start + len(figure.written)], strict=False)
    return " ".join("".join(" " if read == BLANK else own for read, own in typed).split())


def _hint(nearest: Number, answers: Answers) -> str:
    """Where the nearest number stands, and the comment that would write it."""
    rows = answers[nearest.spec.query.key]
    spec = with_few_digits(nearest.spec, rows) if isinstance(rows, list) else nearest.spec
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
    keyword = keyword_like(spec.comment.keyword, "value")
    written = keep_in_comment(dumps(body, json_options=RELAXED_JSON_OPTIONS))
    comment = f"<!-- {keyword}: {written} -->"
    return f"write {comment}" if spec.id else f'give it an "id", and write {comment}'
