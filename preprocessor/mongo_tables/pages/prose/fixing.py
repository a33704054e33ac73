"""Typed figures of a page that become values of its tables: the page anew, with the same words for whoever reads it.

Each change is tried before it is taken: the page is read again, the value must write what was typed, no complaint may
come up, and a reader of Markdown must get the same page as before. Whatever fails stays as it is, and is told.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.comments.keywords import keyword_like
from mongo_tables.comments.model import END_MARKER, begin_marker
from mongo_tables.findings.rules import finding
from mongo_tables.pages.ids import list_written_ids
from mongo_tables.pages.inplace import region_findings
from mongo_tables.pages.prose.around import Surroundings
from mongo_tables.pages.prose.clauses import keep_code
from mongo_tables.pages.prose.complaints import complaints
from mongo_tables.pages.prose.numbers import figures
from mongo_tables.pages.prose.paragraphs import BLANK, paragraphs, place
from mongo_tables.pages.prose.quoted import CalledRows
from mongo_tables.pages.prose.saidvalues import say_values
from mongo_tables.pages.prose.section import read_section
from mongo_tables.pages.prose.sections import list_tables_within
from mongo_tables.pages.prose.strangers import find_stranger_meant
from mongo_tables.pages.prose.support import find_named, is_of_named
from mongo_tables.pages.prose.typed import Left, Place, Proposal, propose
from mongo_tables.pages.prose.typedcells import Headers
from mongo_tables.pages.prose.unsupported import PROSE_RULES, list_generated
from mongo_tables.pages.standing import standing_answers
from mongo_tables.pages.statements import value_text
from mongo_tables.render.anchors import distinct, with_anchors
from mongo_tables.render.markdownescape import escape_words
from mongo_tables.specs.model import PipelineSpec, TableSpec, ValueSpec

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page

Read = Callable[[str, str], "Page"]
"""Reads a text as the page of a file."""

_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_UNSAFE: Final = re.compile(r"[<>|`\x7f]|-(?=-)|(?<=\{)[{%]|[^\x00-\x7f]")


class Fixed(NamedTuple):
    """A page with figures that are values now, and notes of those that stay as they are typed."""

    page: Page
    text: str
    left: tuple[Finding, ...]


class _Edit(NamedTuple):
    """A text to be put in the place of what stands from ``start`` to ``end``; ``shown`` is it as readers see it."""

    start: int
    end: int
    text: str
    shown: str


class _Written(NamedTuple):
    """A changed page: its text, the same as it is shown, and where the new comments of values begin in it."""

    text: str
    shown: str
    comments: tuple[int, ...]


class _Value(NamedTuple):
    """A figure that is to become a value; ``start`` is where it stands in the page."""

    start: int
    proposal: Proposal


def fix_page(page: Page, build: Build, read: Read, *, in_place: bool) -> Fixed:
    """The page with a value for every typed figure that one cell says, and a note for each that stays.

    ``build`` has the answers to what its pages ask. ``in_place``: what a value writes stands behind its comment.
    """
    trial = _Trial(page, build, read, in_place, complaints(page, build, in_place=in_place))
    taken: list[_Value] = []
    left: list[Finding] = []
    for start, written, found in _list_typed(page, build):
        reason = found if isinstance(found, Left) else trial.find_objection([*taken, _Value(start, found)])
        if reason is None and isinstance(found, Proposal):
            taken.append(_Value(start, found))
        elif reason is not None:
            message = f"`{written}` stays as it is typed: {reason.reason}"
            left.append(finding("MT328", page.file, place(page.text, start), message, reason.hint))
    return Fixed(page, trial.write(taken).text if taken else page.text, tuple(left))


def fix_figure(page: Page, build: Build, read: Read, at: int, *, in_place: bool) -> str | None:
    """The page with a value for the typed figure around an offset; None where it cannot become one."""
    for start, written, found in _list_typed(page, build):
        if start <= at <= start + len(written) and isinstance(found, Proposal):
            trial = _Trial(page, build, read, in_place, complaints(page, build, in_place=in_place))
            value = _Value(start, found)
            return None if trial.find_objection([value]) else trial.write([value]).text
    return None


def _list_typed(page: Page, build: Build) -> Iterator[tuple[int, str, Proposal | Left]]:
    """The figures of a page's sentences that its tables speak of: where, what is written, and what may become of it."""
    answers = standing_answers(page, build.tables, build.answers)
    shown = list_tables_within((0, len(page.text)), page, build.tables, answers)
    if not shown:
        return
    section, rows = read_section(shown), {id(spec): found for spec, found in shown}
    tables = {id(one.spec): CalledRows(one, rows[id(one.spec)]) for one in section.names}
    found_in = paragraphs(page.text, list_generated(page))
    headers = Headers(page, [one for one in found_in if one.in_table])
    said, surroundings = say_values(page, build.tables, answers), Surroundings(page, found_in)
    for paragraph in found_in:
        words = keep_code(said, paragraph)
        for figure in headers.figures(paragraph, ()) if paragraph.in_table else figures(paragraph.text):
            clause = headers.clause_of(figure, paragraph, words)
            named = find_named(section, clause, figure)
            held = named if is_of_named(named, clause, figure, section.nouns) else {}
            stranger = "" if paragraph.in_table else find_stranger_meant(clause, section.names, section.nouns)
            above = headers.above(paragraph)
            at = Place(clause, paragraph, words, surroundings, held, above, stranger)
            found = propose(figure, at, section, tables)
            if found is not None:
                written = " ".join(figure.written.replace(BLANK, " ").split())
                yield paragraph.start + figure.start, written, found


class _Trial(NamedTuple):
    """A page on which changes are tried."""

    page: Page
    build: Build
    read: Read
    in_place: bool
    known: Counter[tuple[str, str]]

    def write(self, values: Sequence[_Value]) -> _Written:
        """The page with some values."""
        names = _name_tables(self.page, self.build, [value.proposal.table for value in values])
        edits = [_write_id(self.page, spec, name) for spec, name in names.values() if not spec.id]
        edits += [self._write_value(value, names[id(value.proposal.table)][1]) for value in values]
        return _apply(self.page.text, sorted(edits))

    def find_objection(self, values: Sequence[_Value]) -> Left | None:
        """Why the last of some values cannot be taken; None where nobody would see a difference."""
        written = self.write(values)
        after = self.read(written.text, self.page.file)
        seen = self.build.of([after if one.file == self.page.file else one for one in self.build.pages])
        if new := complaints(after, seen, in_place=self.in_place) - self.known:
            return _object(new, after)
        specs = {spec.comment.start: spec for spec in after.specs if isinstance(spec, ValueSpec)}
        quoted = [specs.get(start) for start in written.comments]
        answers = standing_answers(after, seen.tables, seen.answers)
        texts = [value_text(spec, seen.tables, answers) if spec else "" for spec in quoted]
        if sorted(texts) != sorted(value.proposal.written for value in values):
            return Left(
                "its row cannot be quoted from here", "write the MONGO_VALUE, and see what `check` says"
            )
        if _show(written.shown) != _show(self.page.text):
            return Left("readers would not see the same there", "move it into plain words of a sentence")
        return None

    def _write_value(self, value: _Value, name: str) -> _Edit:
        written = value.proposal.written
        keyword = keyword_like(value.proposal.table.comment.keyword, "value")
        comment = f"<!-- {keyword}: {_write_json({'table': name, **value.proposal.body})} -->"
        shown = f"<span>{written}</span>"  # as a site has it while it converts the page
        if self.in_place:
            words = escape_words(written)
            comment += f"{begin_marker(words)}{words}{END_MARKER}"
            shown = comment
        return _Edit(value.start, value.start + len(written), comment, shown)


def _object(new: Counter[tuple[str, str]], after: Page) -> Left:
    """What a value brings up, as a reason to leave it; sentences beside one are held to rows that were not before."""
    if beside := [message for rule, message in new if rule in PROSE_RULES]:
        return Left(
            f"beside a value more would be told: {'; '.join(beside)}",
            "correct that first, or let a MONGO_CHECK beside it ignore the rule and say why",
        )
    (_, message), *_ = new
    return Left(message, next((one.hint for one in region_findings(after) if one.message == message), ""))


def _apply(text: str, edits: Sequence[_Edit]) -> _Written:
    pieces, shown, comments, done, length = list[str](), list[str](), list[int](), 0, 0
    for edit in edits:
        between = text[done : edit.start]
        pieces += [between, edit.text]
        shown += [between, edit.shown]
        if edit.end > edit.start:
            comments.append(length + len(between))
        length += len(between) + len(edit.text)
        done = edit.end
    return _Written("".join([*pieces, text[done:]]), "".join([*shown, text[done:]]), tuple(comments))


def _name_tables(page: Page, build: Build, tables: Sequence[TableSpec]) -> dict[int, tuple[TableSpec, str]]:
    """The tables with their ids, by the id of the spec; one that has none gets its anchor, which links to it have."""
    taken = {name for one in build.pages for name in list_written_ids(one)}
    anchors = {
        id(spec): anchored.id or ""
        for spec, anchored in zip(page.specs, with_anchors(page.specs), strict=True)
        if isinstance(anchored, PipelineSpec)
    }
    nameless = list({id(spec): spec for spec in tables if not spec.id}.values())
    names = distinct((anchors[id(spec)] for spec in nameless), taken)
    own = {id(spec): (spec, spec.id) for spec in tables if spec.id}
    return own | {id(spec): (spec, name) for spec, name in zip(nameless, names, strict=True)}


def _write_id(page: Page, spec: TableSpec, name: str) -> _Edit:
    """Before the first key of the comment."""
    at = page.text.index('"', page.text.index("{", spec.comment.start))
    written = f'"id": "{name}", '
    return _Edit(at, at, written, written)


def _write_json(body: Mapping[str, Any]) -> str:
    """JSON on one line that ends no comment, cell or code, whatever the names of rows are."""
    return _UNSAFE.sub(lambda found: _escape(found[0]), json.dumps(body, ensure_ascii=False))


def _escape(character: str) -> str:
    if character.isalpha():
        return character
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


def _show(text: str) -> str:
    """The page as CommonMark makes it, as far as readers see it."""
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(text)
    return _COMMENT.sub("", html).replace("<span>", "").replace("</span>", "")
