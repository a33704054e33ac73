"""Which cell of a page's tables says a typed figure, and the MONGO_VALUE that would write it just as it is typed.

A figure is one that ``check --prose`` holds against rows, and a cell says it by the same measure. Only where it is one
cell of all tables of the page there is a comment to propose: which of several is meant, nobody but the author knows.
And only where its words quote that cell: the next run writes the value anew, and the sentence has to stay true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation import aggregate
from mongo_tables.comments.keywords import keyword_like
from mongo_tables.comments.writing import keep_in_comment
from mongo_tables.pages.prose.directions import is_name
from mongo_tables.pages.prose.doubts import find_doubt, find_doubt_around, find_doubt_in_row
from mongo_tables.pages.prose.nameindex import name_pattern
from mongo_tables.pages.prose.naming import Named, TableNames, find_words
from mongo_tables.pages.prose.numbers import GROUPING, NUMBER, figures
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.quoted import CalledRows, Quoted
from mongo_tables.pages.prose.quoting import find_other_in_row, find_other_word
from mongo_tables.render.column import column_value
from mongo_tables.render.fewdigits import with_few_digits
from mongo_tables.render.values import cell_text, finite_decimal
from mongo_tables.specs.columnformat import ColumnFormat
from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.pages.prose.around import Surroundings
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.columnnumbers import Number
    from mongo_tables.pages.prose.numbers import Figure
    from mongo_tables.pages.prose.paragraphs import Paragraph
    from mongo_tables.pages.prose.section import Section

_DIGITS: Final = re.compile(rf"(?P<digits>{NUMBER})")
_DIGITS_THAT_STAY: Final = 2
"""With one digit a figure becomes `0.0` once it is a tenth of what it was."""
_NAMES: Final = (str, int, bool)
"""What a row is selected by: what it is called, or a setting. A fraction was measured."""
_A_RUN: Final = re.compile(r"/[a-z]+\Z", re.IGNORECASE)
"""What Go writes behind the unit of what one run took: `18.4 ns/op`."""
_TIMED: Final = re.compile(r"(?:test|bench|benchmark)_(?P<timed>[^\W\d]\w*)", re.IGNORECASE)
"""What a benchmark is called by its tool and by people: `test_dumps[orjson]` and `dumps`."""


class Proposal(NamedTuple):
    """A value of ``table`` in the place of what is ``written``: the keys of its comment beside the table's id."""

    table: TableSpec
    written: str
    body: Mapping[str, Any]


class Left(NamedTuple):
    """Why a figure stays as it is typed, and what its author may do."""

    reason: str
    hint: str


class Place(NamedTuple):
    """What a figure stands in, and the rows named there that hold it.

    It is its clause in a ``paragraph`` of these ``words``, which may be the row of a typed table below ``headers``.
    ``stranger`` is the name that it is about by its place, and that no table has.
    """

    clause: Clause
    paragraph: Paragraph
    words: str
    surroundings: Surroundings
    named: Mapping[int, Named]
    headers: str = ""
    stranger: str = ""

    @property
    def in_row(self) -> bool:
        """Whether it is a row of a typed table."""
        return self.paragraph.in_table


def propose(
    figure: Figure, place: Place, section: Section, tables: Mapping[int, CalledRows]
) -> Proposal | Left | None:
    """What could write a figure; None where nothing on the page is about it, or a check complains of it anyway.

    ``section`` is that of all tables of the page, ``tables`` are these by the id of their specs.
    """
    cell = _choose_cell(figure, section)
    if cell is None or isinstance(cell, Left):
        return cell
    table = tables[id(cell.spec)]
    if other := _find_other_name(place, table, cell):
        return Left(
            f"{_name(cell)} has it, and the {'row' if place.in_row else 'sentence'} names `{other}`",
            "correct the figure, or write the MONGO_VALUE of the cell that is meant",
        )
    spec, found = table.names.spec, _write(figure, cell, table)
    if doubt := find_doubt(figure, place.clause, _call(cell, table)):
        check = f"hold it to the rows by a {keyword_like(spec.comment.keyword, 'check')}"
        return Left(doubt, f"{check}; {_hint(found)}" if isinstance(found, Proposal) else check)
    quoted = Quoted(cell, table, section.evidence, section.nouns, place.surroundings.headings_of(spec))
    if isinstance(found, Proposal) and (other := _find_other(figure, place, quoted, section)):
        return Left(f"{_name(cell)} has it, but {other}", _hint(found))
    return found


def _choose_cell(figure: Figure, section: Section) -> Number | Left | None:
    """The one cell that has a figure; None where no row says it, or where it is what rows are called by."""
    known = section.evidence
    if figure.is_spread and not known.has_spreads:
        return None
    cells = known.cells_of(figure)
    if cells and all(_calls_row(cell, section) for cell in cells):
        return None
    if len(cells) > 1:
        named = ", ".join(_name(cell) for cell in cells[:3]) + (", …" if len(cells) > 3 else "")
        return Left(f"{len(cells)} cells have it: {named}", "write the MONGO_VALUE of the one that is meant")
    if cells:
        return cells[0]
    if not known.supports(figure) or not known.speaks_of(figure):
        return None
    return Left(
        "no cell has it: rows beside it say it together, or otherwise", "hold it to them by a MONGO_CHECK"
    )


def _calls_row(cell: Number, section: Section) -> bool:
    """Whether a cell has what its row is called by, and no result: `16 threads`."""
    return any(one.spec is cell.spec and cell.column in one.calling for one in section.names)


def _find_other(figure: Figure, place: Place, quoted: Quoted, section: Section) -> str:
    """What keeps a figure from being that of a cell alone; "" where its words quote just that."""
    spec, clause = quoted.spec, place.clause
    named = place.named.get(id(spec), Named())
    around = place.surroundings.around(figure, clause, place.paragraph, place.words, spec)
    beside = (*reversed(around.leading), *around.introducing, *around.above)
    if place.in_row:
        other = find_other_in_row(figure, place.words, clause.header, named, quoted, beside)
        other = other or find_doubt_in_row(place.words, place.headers, quoted)
    else:
        other = find_other_word(figure, clause, named, quoted, beside)
    others = [
        one.spec for one in section.names if one.spec is not spec and _has_such_row(one, quoted, section)
    ]
    if not other and others and not place.surroundings.is_nearest(place.paragraph, spec, others):
        other = "another table has such a row as well"
    return other or find_doubt_around(around, clause, quoted)


def _has_such_row(table: TableNames, quoted: Quoted, section: Section) -> bool:
    """Whether a table has a row that is called as that of the quoted cell, with figures of the same unit."""
    names = {name for name, rows in quoted.table.names.rows.items() if quoted.cell.row in rows}
    rows = frozenset[int]().union(*(table.rows.get(name, ()) for name in names))
    parts = (one.of_rows(rows) for one in section.evidence.columns if one.spec is table.spec and one.name)
    unit = quoted.cell.unit
    return bool(rows) and any(unit is None or one.has_unit(unit) for one in parts)


def _hint(found: Proposal) -> str:
    """The comment that an author writes who knows that the cell is meant."""
    spec = found.table
    body = json.dumps({"table": spec.id or "ID", **found.body}, ensure_ascii=False)
    comment = f"<!-- {keyword_like(spec.comment.keyword, 'value')}: {keep_in_comment(body)} -->"
    need = "" if spec.id else 'give the table an "id", and '
    return f"if it is that of the cell, {need}write {comment}"


def _write(figure: Figure, cell: Number, table: CalledRows) -> Proposal | Left:
    """The value of a cell that writes just what was typed."""
    spec, rows = table.names.spec, table.rows
    written = _find_alike(figure, with_few_digits(spec, rows), cell.column, rows[cell.row])
    if isinstance(written, Left):
        return written
    where = _select(table, cell)
    if where is None:
        return Left(
            f"{_name(cell)} has it, and no name in its row selects that row alone",
            "let the table show what tells its rows apart",
        )
    form = {"format": written.form} if written.form else {}
    return Proposal(
        spec, written.text, {"column": cell.column, **({"where": where} if where else {}), **form}
    )


def _call(cell: Number, table: CalledRows) -> str:
    """What the row and the column of a cell are called."""
    names = (str(column_value(table.rows[cell.row], name)) for name in table.naming)
    return " ".join((*names, cell.column, table.headers.get(cell.column, "")))


def _find_other_name(place: Place, table: CalledRows, cell: Number) -> str:
    """The name of another row, or another column, than those of the cell that stands there; "" where none does.

    Of several rows in a clause the order of words tells which is meant, as far as the check follows it; else the last
    before the figure is, or the first behind it where the clause begins with a figure. A clause without any may be
    about the cell; the row of a typed table is about what it is called, known or not.
    """
    clause, headers = place.clause, table.headers
    labels = [name for name in table.naming if name != cell.column]
    names_of_rows = [[str(column_value(row, name)) for name in labels] for row in table.rows]
    own_row, own_header = {*names_of_rows[cell.row]}, headers.get(cell.column, cell.column)
    named = place.named.get(id(table.names.spec), Named())
    if named.field:
        return named.field
    if named.rows and cell.row not in named.rows:
        return names_of_rows[min(named.rows)][0]
    is_own = place.stranger.lower() in map(str.lower, own_row)
    if place.stranger and not is_own and not named.by_order:
        return place.stranger
    rows_named = find_words(clause.words, chain.from_iterable(names_of_rows))
    said = _without_figures(clause.words)
    headers_named = find_words(said, (header for name, header in headers.items() if name not in labels))
    meant = own_row if named.by_order else _find_meant(rows_named, clause)
    if meant and not own_row & meant:
        return min(meant)
    if functions := _find_other_functions(clause, names_of_rows, cell.row):
        return functions[0]
    label, cell_ends, _ = clause.words[: clause.at].lstrip(" |").partition("|")
    if place.in_row and cell_ends and not meant and any(map(is_name, own_row)):
        return label.strip(" `")
    return headers_named[0] if headers_named and own_header not in headers_named else ""


def _find_other_functions(clause: Clause, names_of_rows: Sequence[Sequence[str]], row: int) -> list[str]:
    """What other rows time, as `dumps` of `test_dumps[orjson]`, where a clause says that and not what this row does."""
    timed = [{found["timed"] for name in names if (found := _TIMED.match(name))} for names in names_of_rows]
    own, others = timed[row], set[str]().union(*timed) - timed[row]
    return find_words(clause.words, others) if own and not find_words(clause.words, own) else []


def _without_figures(text: str) -> str:
    """The text without its figures: a header may be nothing but a unit, which names no column behind a number."""
    for one in figures(text):
        end = one.start + len(one.written)
        text = text[: one.start] + BLANK * len(one.written) + text[end:]
    return text


def _find_meant(names: Sequence[str], clause: Clause) -> set[str]:
    """Those of some names that a figure is about by their places; several where one is a part of another."""
    before, behind = dict[int, set[str]](), dict[int, set[str]]()
    for name in names:
        for one in re.finditer(name_pattern(name), clause.words, re.IGNORECASE):
            found, at = (before, one.end()) if one.start() < clause.at else (behind, one.start())
            found.setdefault(at, set()).add(name)
    first = _DIGITS.search(clause.words)
    begins_with_figure = first is not None and not any(at <= first.start() for at in before)
    if behind and (begins_with_figure or not before):
        return behind[min(behind)]
    return before[max(before)] if before else set()


def _name(cell: Number) -> str:
    spec = cell.spec
    table = f"table `{spec.id}`" if spec.id else f"the table in line {spec.comment.line}"
    return f"`{cell.column}` of row {cell.row + 1} of {table}"


class _Alike(NamedTuple):
    """The part of a figure that a value writes, and the format that it takes, if any."""

    text: str
    form: Mapping[str, Any]


def _find_alike(figure: Figure, table: TableSpec, column: str, row: Mapping[str, Any]) -> _Alike | Left:
    """The figure as the cell's own format writes it, with its unit or without, or by a format of its own."""
    found = _DIGITS.match(figure.written)
    digits = found["digits"] if found else ""
    value, own = column_value(row, column), table.form_of(column)
    shown = cell_text(value, own)
    with_unit = f"{shown} {own.unit}" if own and own.unit else shown
    typed = _A_RUN.sub("", figure.written) if not _is_rate(figure) else figure.written
    if with_unit == digits or (BLANK not in typed and with_unit == typed):
        return _Alike(with_unit, {})
    if len(GROUPING.sub("", digits).replace(".", "").lstrip("0")) < _DIGITS_THAT_STAY:
        return Left(
            f"its cell says {with_unit}, and one digit may round to none with the next run",
            "type more of its digits",
        )
    separator = GROUPING.search(digits)
    form: dict[str, Any] = {"decimals": len(digits.partition(".")[2])}
    if separator:
        form["thousands"] = True if separator[0] == "," else separator[0]
    if finite_decimal(value) is not None:
        if cell_text(value, ColumnFormat.of(form)) == digits:
            return _Alike(digits, form)
        # A time or a size in the unit that fits it, with other decimals than the cell shows.
        fitted = {name: amount for name in ("duration", "bytes") if own and (amount := getattr(own, name))}
        if fitted and cell_text(value, ColumnFormat.of(fitted | form)) == typed:
            return _Alike(typed, fitted | form)
    return Left(
        f"its cell says {with_unit}, and a value would be written so",
        "type it so, or write the value and see whether the sentence still fits",
    )


def _is_rate(figure: Figure) -> bool:
    return figure.unit is not None and figure.unit.kind.endswith("/s")


def _select(table: CalledRows, cell: Number) -> dict[str, Any] | None:
    """A query of as few names as select one row, none for the only one that has no name; None where none do.

    Not by the column that is quoted: a value that selects its row by itself holds whatever it is.
    """
    rows, row = table.rows, table.rows[cell.row]
    calling = (*table.naming, *table.names.calling)
    known = {name: column_value(row, name) for name in dict.fromkeys(calling) if name != cell.column}
    names = [name for name, value in known.items() if isinstance(value, _NAMES)]
    names.sort(key=lambda name: not isinstance(known[name], str))
    for chosen in chain(([name] for name in names), _leading(names)):
        where = {name: known[name] for name in chosen}
        if aggregate(rows, [{"$match": where}]) == [row]:
            return where
    return {} if len(rows) == 1 else None


def _leading(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[:count] for count in range(2, len(names) + 1))
