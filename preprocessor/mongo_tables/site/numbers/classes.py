"""``check --numbers``: classifies every number with a unit in the text of pages, and finds the stale ones."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, log10
from typing import Final, Literal

from mongo_tables.directives.specs import CheckSpec, PipelineSpec, QuotingSpec, Spec, ValueSpec
from mongo_tables.files.folders import place_at
from mongo_tables.findings.finding import Finding, Place
from mongo_tables.findings.rules import finding
from mongo_tables.results.model import ResultsError
from mongo_tables.site.markdown import MarkdownContext
from mongo_tables.site.numbers.matching import NamedCell, NearTables, find_place, find_target, is_within
from mongo_tables.site.numbers.paragraphs import BLANK, NUMBER_MARK, Paragraph, read_paragraphs
from mongo_tables.site.numbers.tables import Table, known_units, read_table
from mongo_tables.site.numbers.text import (
    Notation,
    Number,
    kind_of,
    language_of,
    normalized,
    notation_in,
    read_heading,
    read_numbers,
    without_language,
)
from mongo_tables.site.pages import AnswersByKey, Page, Tables, tables_by_id
from mongo_tables.site.statements import find_numbers, value_text

_OPEN: Final = "MT324"
_STALE: Final = "MT326"
_HINT: Final = (
    'write it with RESULT_VALUE, or give the reason: "ignore": {"MT324": "…"} in a table of the section'
)
_EXEMPT: Final = "give the reason in mongo-tables.toml: [[numbers.exempt]]"
_TELLING: Final = 3
"""Two equal numbers with at least this many digits are copies, wherever they are."""
_CLAUSE_END: Final = re.compile(r";\s|；")
_LEAD_IN: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\*\*([^*]+)\*\*")
"""The bold words at the beginning of a list item, which say what the item is about."""
Class = Literal["bound", "found", "exempt", "open"]


@dataclass(frozen=True, slots=True)
class TextNumber:
    """A number of a text: ``bound`` by a comment, ``found`` in a table, ``exempt`` or ``open``.

    Attributes:
        sentence: The sentence of the number. It begins at the offset ``begin`` of the text.
        place: The offset of the number in the sentence.
        tables: The tables that may have the number. For a bound number without a unit, there are none.
        reason: Why the number is exempt.
        where: The cell in which the number is found.
        lead: The bold words at the beginning of the number's list item. They may name rows, but never make a number
            stale.
    """

    file: str
    at: tuple[int, int]
    written: str
    kind: Class
    number: Number
    sentence: str
    begin: int
    place: int
    tables: NearTables
    reason: str = ""
    where: str = ""
    lead: str = ""


def classify_numbers(
    pages: Iterable[Page], tables: Tables, answers: AnswersByKey, results: Sequence[Table] = ()
) -> list[TextNumber]:
    """Return the numbers of pages, in order. ``tables`` are the quotable tables, with their rows in ``answers``.

    If a page has no tables, its numbers are looked up in ``results``.
    """
    return [one for page in pages for one in _PageNumbers(page, tables, answers, results).classify()]


class _PageNumbers:
    def __init__(self, page: Page, tables: Tables, answers: AnswersByKey, results: Sequence[Table]) -> None:
        self.page = page
        self.tables = ChainMap(tables_by_id([page]), tables)  # type: ignore[arg-type]
        self.context = MarkdownContext(answers, self.tables)
        locales = (one.locale for spec in page.pipeline_specs for one in spec.format.values() if one.locale)
        language = next(locales, None) or language_of(page.file, page.text)
        self.notation = Notation.of(language) if language else notation_in(page.text)
        self.read: dict[int, Table] = {}
        self.shown = self._shown(page.specs) or results
        self.nouns = frozenset[str]().union(*(one.nouns for one in self.shown))

    def classify(self) -> Iterator[TextNumber]:
        for paragraph in read_paragraphs(self.page):
            inside = self._specs_between(paragraph.start, paragraph.end)
            values = [one for one in inside if isinstance(one, ValueSpec)]
            spans = [(one.comment.start, (one.comment.region or one.comment).end) for one in values]
            texts = [value_text(one, self.tables, self.context.answers) for one in values]
            paragraph = paragraph.fill(dict(zip(spans, texts, strict=True)))
            read = read_numbers(paragraph.text, self.notation, self.nouns)
            bound = {start for start, _ in spans}
            held = {one.start for one in read if paragraph.text[one.start - 1 : one.start] == NUMBER_MARK}
            tables, reason = self._at_hand(paragraph, inside) if read else (NearTables(()), "")
            for one in read:
                number, is_bound = (
                    self._with_header(one, paragraph),
                    paragraph.offsets[one.digits_at] in bound,
                )
                # A counter in HTML shows 0 at first. Its number is in an attribute.
                if is_bound or one.start in held or (number.has_unit and (one.value or not held)):
                    yield self._look_up(paragraph, number, tables, reason, is_bound=is_bound)

    def _with_header(self, number: Number, paragraph: Paragraph) -> Number:
        """Return a number with the unit of the header above it, or with the noun that this header counts."""
        header = "" if number.has_unit else paragraph.header_of(number.start)
        if not header:
            return number
        heading = read_heading(header)
        noun = next((one for one in heading.nouns & self.nouns if "/" in header), "")
        return replace(number, units=heading.units, noun=noun)

    def _at_hand(self, paragraph: Paragraph, inside: Sequence[Spec]) -> tuple[NearTables, str]:
        """Return the tables that the numbers of a paragraph may come from, and the reason why the numbers are exempt,
        or "".
        """
        around = (self._specs_between(*span) for span in paragraph.sections)
        near = next((specs for specs in around if self._shown(specs)), [])
        own = self._shown(near)
        others = [one for one in self.shown if one not in own]
        checks = (spec for spec in inside if isinstance(spec, CheckSpec))
        expected = [float(one) for spec in checks for one in find_numbers(spec.expect)]
        exempting = (*inside, *(spec for spec in near if isinstance(spec, PipelineSpec)))
        reason = next((spec.ignore[_OPEN] for spec in exempting if _OPEN in spec.ignore), "")
        return NearTables(own, others, expected), reason

    def _look_up(
        self, paragraph: Paragraph, number: Number, tables: NearTables, reason: str, *, is_bound: bool
    ) -> TextNumber:
        start, end = paragraph.sentence_span(number.start)
        sentence = f"{paragraph.words[start:end]} {paragraph.header_of(number.start)}".rstrip(" ")
        found = _LEAD_IN.match(paragraph.words, 0, start)
        lead = f" {found[1]}" if found else ""
        where = None if is_bound else find_place(number, sentence + lead, tables)
        kind: Class = (
            "bound" if is_bound else "found" if where is not None else "exempt" if reason else "open"
        )
        return TextNumber(
            self.page.file,
            place_at(self.page.text, paragraph.offsets[number.start]),
            " ".join(paragraph.text[number.start : number.end].replace(BLANK, " ").split()),
            kind,
            number,
            sentence,
            paragraph.offsets[start],
            number.start - start,
            tables if number.has_unit or not is_bound else NearTables(()),
            reason if kind == "exempt" else "",
            where or "",
            lead,
        )

    def _specs_between(self, start: int, end: int) -> list[Spec]:
        return [spec for spec in self.page.specs if spec is not None and start <= spec.comment.start < end]

    def _shown(self, specs: Sequence[Spec | None]) -> list[Table]:
        """Return the tables and charts in ``specs``, and the tables that their values and statements quote."""
        found: dict[int, PipelineSpec] = {}
        for spec in specs:
            one = self.tables.get(spec.table) if isinstance(spec, QuotingSpec) else spec
            if isinstance(one, PipelineSpec) and isinstance(self.context.answers.get(one.key), list):
                found[id(one)] = one
        return [self._read(one) for one in found.values()]

    def _read(self, spec: PipelineSpec) -> Table:
        if id(spec) not in self.read:
            region = spec.comment.region if spec.file == self.page.file else None
            lines = region.inner.strip("\n").split("\n") if region else []
            if not any(line.startswith("|") for line in lines):  # A written chart is a picture.
                lines = self.context.table_lines(spec, told=False)
            rows = self.context.answers[spec.key]
            known = {} if isinstance(rows, ResultsError) else known_units(spec, rows)
            self.read[id(spec)] = read_table(lines, self.notation, spec.id or "", known)
        return self.read[id(spec)]


# -- findings --


def open_findings(numbers: Iterable[TextNumber], *, all_open: bool = False) -> list[Finding]:
    """Return a warning for each open number in a section with a table.

    With ``all_open``, return an error for every open number.
    """
    found = [
        finding(
            _OPEN,
            one.file,
            one.at,
            f"no table has the number `{one.written}`",
            _HINT if one.tables.near else f"correct it, or {_EXEMPT}",
        )
        for one in numbers
        if one.kind == "open" and (all_open or one.tables.near)
    ]
    return [one._replace(severity="error") for one in found] if all_open else found


def find_stale(numbers: Sequence[TextNumber]) -> dict[int, NamedCell]:
    """Return the cell of each stale number, by the position of the number in ``numbers``.

    A number is stale if it is open and its sentence names the cell that it was typed from. It is not stale if the
    sentence also has the current number of the cell, or another number for the cell.
    """
    found: dict[int, NamedCell] = {}
    said: dict[tuple[str, int, NamedCell], set[float]] = {}
    opened = {(one.file, one.begin) for one in numbers if one.kind == "open"}
    for at, one in enumerate(numbers):
        sentence, number = (one.file, one.begin), one.number
        texts = dict.fromkeys((_clause(one), one.sentence) if sentence in opened else ())
        target = next(filter(None, (find_target(number, text, one.tables) for text in texts)), None)
        if target and one.kind == "open":
            found[at] = target
        elif target is None or not any(is_within(number, each, target.value) for each in number.precisions):
            continue
        # An attribute of HTML and the text after it may be the same number.
        said.setdefault((*sentence, target), set()).add(number.value)
    return {at: one for at, one in found.items() if len(said[numbers[at].file, numbers[at].begin, one]) == 1}


def _clause(one: TextNumber) -> str:
    """Return the part of a number's sentence between semicolons."""
    ends = [0, *(found.end() for found in _CLAUSE_END.finditer(one.sentence)), len(one.sentence)]
    return next(one.sentence[start:end] for start, end in pairwise(ends) if one.place < end)


def stale_findings(numbers: Sequence[TextNumber], targets: Mapping[int, NamedCell]) -> list[Finding]:
    """Return a finding for each stale number. Copies of the number elsewhere are related places.

    ``targets`` are the cells from ``find_stale``.
    """
    found, told = list[Finding](), set[int]()
    for at, target in targets.items():
        if at in told:
            continue
        one = numbers[at]
        copies = [
            place
            for place, other in enumerate(numbers)
            if place != at and targets.get(place, target) == target and _is_copy(other, one, target)
        ]
        told.update(copies)
        row = f"row `{target.row}`, " if target.row else ""
        value = _rewrite(one, target.value, more=2) if "e" in target.written else target.written
        fault = finding(
            _STALE,
            one.file,
            one.at,
            f"`{one.written}`: {row}column `{target.column}` is {value} now",
            f"write `{_rewrite(one, target.value)}`, or {_EXEMPT}",
        )
        places = sorted(Place(numbers[place].file, *numbers[place].at) for place in copies)
        found.append(fault._replace(related=tuple(places)))
    return found


def _is_copy(other: TextNumber, one: TextNumber, target: NamedCell) -> bool:
    """Return whether an open number is a copy of a stale number with the same amount.

    A copy has many digits, is in the same text or in a translation of it, or has a sentence that names the same row.
    """
    number, own = other.number, one.number
    is_bare = not number.has_unit and number.value == own.value
    return (other.kind == "open" and (is_bare or not _amounts(number).isdisjoint(_amounts(own)))) and (
        number.precisions[-1].digits >= _TELLING
        or without_language(other.file) == without_language(one.file)
        or (target.row != "" and f" {target.row} " in f" {normalized(other.sentence)} ")
    )


def _amounts(number: Number) -> set[tuple[object, float]]:
    value = number.value * number.scale
    amounts = {(kind_of(unit), round(value * unit.factor, 12)) for unit in number.units}
    return {*amounts} or {(number.noun, value)}


def _rewrite(one: TextNumber, value: float, more: int = 0) -> str:
    """Return a typed number with another value, in the same notation. It has ``more`` decimals than before.

    A value that would be rounded to zero gets two digits.
    """
    typed = one.number
    marks = [mark for mark in typed.written if not mark.isdigit()]
    decimals = round(-log10(2 * typed.precisions[0].half))
    group = marks[0] if len(marks) > bool(decimals) else ""
    decimal = marks[-1] if decimals else "," if group == "." else "."
    decimals += more
    signs: dict[str, str | int | None] = {",": group, ".": decimal}
    if value and not round(value, decimals):
        decimals = 1 - floor(log10(abs(value)))
    text = f"{value:,.{decimals}f}".translate(str.maketrans(signs))
    start = typed.digits_at - typed.start
    return one.written[:start] + text + one.written[start + len(typed.written) :]
