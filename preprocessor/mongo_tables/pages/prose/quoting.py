"""Whether a clause with a figure quotes one cell and says nothing else, as far as its words tell: then it stays true.

It has to name the row of the cell and no other thing, and to have no word that may be a condition, a judgement or
another measure. Of words that nobody knows here the author has to say what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.naming import find_settings
from mongo_tables.pages.prose.numbers import figures, unit_of
from mongo_tables.pages.prose.ownnames import NamingClause, find_owner, find_whole, with_kind
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.plainwords import (
    KINDS,
    find_unknown,
    is_action,
    is_measured,
    is_place,
    is_thing,
    list_words,
    read_measure,
    stem,
)
from mongo_tables.pages.prose.quoted import blank_out
from mongo_tables.pages.prose.saidmeasures import find_missing_measure, find_other_measure
from mongo_tables.pages.prose.typedcells import split_cells

if TYPE_CHECKING:
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.nameindex import NamePlace
    from mongo_tables.pages.prose.naming import Named
    from mongo_tables.pages.prose.numbers import Figure
    from mongo_tables.pages.prose.quoted import Quoted
    from mongo_tables.pages.prose.settings import Setting

_IN_HEADER: Final = re.compile(r"[\s()\[\],]+")
_PER_SECOND: Final = re.compile(r"[\d,.]+\D{0,40}?(?:\bper\s(?:second|sec)\b|/\s?s\b)", re.IGNORECASE)
_OF_WHAT: Final = re.compile(r"\s+of\s+(?:the\s+)?([^\W\d_]+)", re.IGNORECASE)
_NO_SIZE: Final = re.compile(
    rf"\b(?:(?:use|need|take|require)[sd]?|{'|'.join(sorted(KINDS))})\b", re.IGNORECASE
)
"""What takes room itself, where a size is that of what it makes."""
_OF_NEXT: Final = re.compile(r"\band\s(?:(?!\band\s).)*\Z", re.DOTALL)
"""What leads to the next figure: `takes 5 ns and allocates`."""
_SIZE_OF: Final = re.compile(r"\s+([^\W\d_]+)")
_PACKAGE: Final = re.compile(r"\b(?:package|crate)s?\b", re.IGNORECASE)
"""What has a size on a disk, whatever memory it needs."""
_IS: Final = ("is", "are", "was", "were")
_HAS: Final = ("has", "have", "had")
_HAVING: Final = (*_HAS, "with", "on")
_ATTRIBUTE: Final = re.compile(
    rf"(?<!{BLANK}\s)(?<!{BLANK}\S\s)(?<!\b(?:we|is)\s)(?<!\b(?:was|are)\s)(?<!\bwere\s)\b(?P<verb>\w+ed)\b",
    re.IGNORECASE,
)
_HAS_TO: Final = re.compile(
    r"\b(?:has|have|had|needs?|needed|is|are|was|were|requir\w+)\sto\b|\b(?:is|are|was|were|gets?|got)\sgiven\b"
    rf"|\bthere\s(?:is|are|was|were)\b[\s*_`{BLANK}]+\sfor\b"
    rf"|\b(?:has|have|had|gets?|got)\s(?=[*_`]*{BLANK})[\s*_`{BLANK}]+to\b",
    re.IGNORECASE,
)
"""What gives something a time to keep: `is to take 5 ms`, `has 5 ms to respond`."""
_WAITED_FOR: Final = re.compile(
    rf"\bwait(?:s|ed|ing)?\b[\s*_`{BLANK}]+\s(?:for|on)\s(?:the\s)?[\s*_`\[]*{BLANK}", re.IGNORECASE
)
_INTERVAL: Final = re.compile(
    rf"\b(?:each|per|(?:is|are|was|were)\srun\sfor)[\s*_`{BLANK}]*\Z", re.IGNORECASE
)
"""What stands before a time after which something is done again, or is stopped."""
_MINUS: Final = ("-", "–", "−")
_LISTED: Final = re.compile(r"\A[\s>]*\*\s")
_SIGNS_AROUND: Final = f" *_`{BLANK}"


def find_other_word(
    figure: Figure, clause: Clause, named: Named, quoted: Quoted, beside: Sequence[str]
) -> str:
    """What keeps a clause from quoting the cell, as the end of a sentence about it; "" where nothing does.

    ``beside`` are texts around it that may say of which column it is, the nearest first.
    """
    row, words, table = quoted.cell.row, clause.words, quoted.table
    settings = [one for one in _list_settings(words, quoted) if one.start != clause.at]
    places = [one for one in table.find_names(words) if one.start != clause.at]
    own = [one for one in places if row in table.rows_of(one.name)]
    if not own and not any(row in one.rows for one in settings):
        return "nothing beside it names that row"
    rows = _find_in_turn(places, figure, clause, quoted)
    named = named._replace(rows=rows, by_order=True) if rows else named
    if (rows or _find_rows(places, settings, named, quoted)) != {row}:
        return "what is named beside it is not that row alone"
    spans = [one[:2] for one in settings]
    at = NamingClause(
        figure, clause, [*spans, *(one[:2] for one in own)], named.by_order, quoted.stems | table.stems
    )
    if other := _find_other_name(own, at) or _find_other_amount(figure, clause, quoted):
        return other
    spans += [*(with_kind(one, words) for one in places), *_list_figures(figure, clause, named, quoted)]
    text = blank_out(words, spans)
    if other := _find_other_sign(text, clause) or find_unknown(text, quoted.stems) or _find_attribute(text):
        return f"`{other}` may say what no cell does"
    near = _read_near(figure, clause, text, quoted)
    return find_other_measure(near, quoted) or find_missing_measure((near, *beside), quoted)


def _find_other_name(own: Sequence[NamePlace], beside: NamingClause) -> str:
    """What the names of a row are a part of, or what is theirs; "" where they stand by themselves."""
    for place in own:
        if wrong := find_whole(place, beside.clause.words):
            return f"the row is not called `{wrong}`"
        if wrong := find_owner(place, beside):
            return f"`{wrong}` beside the name may make it something else"
    return ""


def _find_other_sign(text: str, clause: Clause) -> str:
    """A minus or `each` before a figure, or a sign that leads to a note; "" without one."""
    before = text[clause.at - 1 : clause.at]
    if before in _MINUS:
        return before
    if found := _INTERVAL.search(text[: clause.at]):
        return found[0].strip(_SIGNS_AROUND)
    return "*" if _LISTED.sub("", text).count("*") % 2 else ""


def _find_attribute(text: str) -> str:
    """A form of a verb that says what something is like, or has to do: `for sorted input`; "" without one."""
    if found := _HAS_TO.search(text) or _WAITED_FOR.search(text):
        return " ".join(list_words(found[0]))
    return next((one["verb"] for one in _ATTRIBUTE.finditer(text) if is_action(one["verb"])), "")


def _read_near(figure: Figure, clause: Clause, text: str, quoted: Quoted) -> str:
    """The words of a clause that are about a figure of it, where each of several has its own.

    `rg encodes in 81 ms and decodes in 9 ms`: those from the figure before it.
    """
    said = [*figures(clause.words, quoted.nouns)]
    like = (one for one in said if one.is_like(figure) and one.start < clause.at)
    start = max((one.start + len(one.written) for one in like), default=0)
    before = text[start : clause.at]
    if any(is_action(word) or read_measure(word) for word in list_words(before)):
        return before
    later = [one.start for one in said if one.start > clause.at]
    return _OF_NEXT.sub("", text[start : min(later)]) if later else text[start:]


def find_other_in_row(
    figure: Figure, row: str, header: str, named: Named, quoted: Quoted, beside: Sequence[str]
) -> str:
    """The same of the row of a typed table: its first cell has to be the name, and the header about the column."""
    cells = [row[slice(*one)] for one in split_cells(row)]
    label = cells[0].strip(_SIGNS_AROUND)
    label = label[1:-1].strip(_SIGNS_AROUND) if label[:1] == "[" and label[-1:] == "]" else label
    if quoted.cell.row not in quoted.table.rows_of(label):
        return "its first cell is not the name of that row"
    said = [quoted.table.rows_of(one.strip(_SIGNS_AROUND)) for one in (label, *cells[1:])]
    said += [quoted.table.rows_of(one.name) for one in quoted.table.find_names(header)]
    rows = frozenset.intersection(*filter(None, said))
    if {quoted.cell.row} not in (rows, rows & named.rows):
        return "what is named beside it is not that row alone"
    blanked = blank_out(row, [(figure.start, figure.start + len(figure.written))])
    (own,) = (blanked[start:end] for start, end in split_cells(row) if start <= figure.start < end)
    if unknown := find_unknown(own):
        return f"`{unknown}` may say what no cell does"
    above = " ".join(one for one in _IN_HEADER.split(header) if unit_of(one) is None)
    return find_other_part(above, quoted) or find_missing_measure((header, *beside), quoted)


def find_other_part(text: str, quoted: Quoted) -> str:
    """What a text beside a clause says that no cell does; "" where it says nothing. It may have names and figures."""
    spans = [one[:2] for one in (*quoted.table.find_names(text), *_list_settings(text, quoted))]
    spans += [(one.start, one.start + len(one.written)) for one in figures(text, quoted.nouns)]
    text = blank_out(text, spans)
    if unknown := find_unknown(text, quoted.stems):
        return f"`{unknown}` may say what no cell does"
    return find_other_measure(text, quoted)


def _list_settings(text: str, quoted: Quoted) -> list[Setting]:
    """The numbers of a text that rows of the table are called by."""
    return [one for _, found in find_settings(text, quoted.table.names, quoted.nouns) for one in found]


def _find_in_turn(
    places: Sequence[NamePlace], figure: Figure, clause: Clause, quoted: Quoted
) -> frozenset[int]:
    """The rows of the name of a figure, where names and figures stand in turn: the one before it, or behind.

    No rows where they do not, or where the check knows the names: it reads their order itself.
    """
    like = [one.start for one in figures(clause.words, quoted.nouns) if one.is_like(figure)]
    if len(like) < 2 or len(like) != len(places) or any(quoted.table.is_plain(one.name) for one in places):
        return frozenset()
    number = next((number for number, start in enumerate(like) if start == clause.at), -1)
    starts = [one.start for one in places]
    in_turn = [
        [start for pair in zip(*both, strict=True) for start in pair]
        for both in ((starts, like), (like, starts))
    ]
    is_told = number >= 0 and any(one == sorted(one) for one in in_turn)
    return quoted.table.rows_of(places[number].name) if is_told else frozenset()


def _find_rows(
    places: Sequence[NamePlace], settings: Sequence[Setting], named: Named, quoted: Quoted
) -> frozenset[int]:
    """The rows that all names beside a figure have in common, or those that the order of words makes its own."""
    table = quoted.table
    if named.by_order:
        # The check reads the order of plain names alone.
        return named.rows.intersection(
            *(table.rows_of(one.name) for one in places if not table.is_plain(one.name))
        )
    return frozenset.intersection(
        *(table.rows_of(one.name) for one in places), *(one.rows for one in settings)
    )


def _find_other_amount(figure: Figure, clause: Clause, quoted: Quoted) -> str:
    """Why a figure is an amount of what is worked on, as in `rg reads 81 MB`; "" where it is none."""
    kind = quoted.cell.unit.kind if quoted.cell.unit else ""
    before, behind = clause.words[: clause.at], clause.words[clause.at :]
    if (found := _OF_WHAT.match(behind[len(figure.written) :])) and not (
        is_measured(found[1]) or stem(found[1]) in quoted.stems
    ):
        return f"it is of `{found[1]}`"
    if figure.unit is None and kind.endswith("/s") and not _PER_SECOND.match(behind):
        return "it is no rate"
    if figure.unit is not None and kind.endswith("/s") and figure.unit.kind != kind:
        return f"`{figure.written}` is another rate"
    if kind == "time" or kind.endswith("/s"):
        return ""
    return _find_other_size(before, behind[len(figure.written) :], clause, quoted)


def _find_other_size(before: str, behind: str, clause: Clause, quoted: Quoted) -> str:
    """Why a size is that of something else, by what stands before it and behind; "" where it is none."""
    if "size" in quoted.measures and (found := _NO_SIZE.search(clause.words)):
        return f"`{found[0]}` is not said of a size"
    if (found := _SIZE_OF.match(behind)) and _has_size(found[1]):
        return f"it is of `{found[1]}`"
    *_, own, first, last = ["", "", "", *list_words(before)]
    is_of_place = last in _HAVING and (is_place(own) or is_place(first) or stem(first) == "run")
    if is_action(last) or is_of_place or (last == "of" and (is_thing(first) or is_place(first))):
        return f"`{last}` makes it an amount of something else"
    words = list_words(f"{before} {behind}")
    is_memory = "memory" in quoted.measures
    is_said = not quoted.stems.isdisjoint(map(stem, words)) or (
        is_memory and any(read_measure(word) == "memory" for word in words)
    )
    is_bare = last in _IS or (_PACKAGE.search(clause.words) if is_memory else last in _HAS)
    if is_bare and not is_said:
        return f"nothing beside it says `{quoted.header}`"
    return ""


def _has_size(word: str) -> bool:
    return is_thing(word) or is_place(word) or word.lower() in KINDS


def _list_figures(figure: Figure, clause: Clause, named: Named, quoted: Quoted) -> Iterator[tuple[int, int]]:
    """The figures of a clause that are this one, of another row that its order of words names, or in the same row."""
    for one in figures(clause.words, quoted.nouns):
        is_own = one.start == clause.at
        is_of_other = named.by_order and one.is_like(figure)
        is_beside = any(
            cell.spec is quoted.cell.spec and cell.row == quoted.cell.row
            for cell in quoted.known.cells_of(one)
        )
        if is_own or is_of_other or is_beside:
            yield one.start, one.start + len(one.written)
    yield clause.at, clause.at + len(figure.written)
