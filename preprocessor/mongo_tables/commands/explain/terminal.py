"""An explanation as text: lines for a terminal of a given width, with or without colours.

Text from a database, a page or an error message loses its control characters
(``mongo_tables.findings.reporters.escape_control_chars``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from mongo_tables.aggregation.values import MISSING, is_number, type_name
from mongo_tables.commands.explain.explanation import Explanation, Remark, StageReport
from mongo_tables.findings.finding import Severity
from mongo_tables.findings.reporters import escape_control_chars, format_count
from mongo_tables.lint.walk import (
    SAMPLE,
    FieldCount,
    FieldCounts,
    Stage,
    Step,
    fields_named,
    operator_of,
)
from mongo_tables.render.column import column_value
from mongo_tables.render.markup import display_width
from mongo_tables.render.values import json_text, raw_text

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31", "32", "33", "36"
_INDENT = " " * 6
_CLOSING = " " * 3
_CELL = 28
_FEW = 6
_MARKS: Mapping[Severity, tuple[str, str]] = {
    "error": ("✗", _RED),
    "warning": ("!", _YELLOW),
    "note": ("·", _CYAN),
}


def lines(told: Explanation, *, width: int, rows: int, color: bool, fields: bool = True) -> list[str]:
    """Return the explanation in lines of at most ``width`` columns, with ``rows`` documents after each stage.

    ``fields``: whether to list those of the collection; for a page with many tables once is enough.
    """
    return list(_Terminal(width, color).write(told, rows, fields))


@dataclass(frozen=True, slots=True)
class _Terminal:
    width: int
    color: bool

    def write(self, told: Explanation, rows: int, fields: bool) -> Iterator[str]:
        facts = [
            told.title,
            told.collection and f"collection {told.collection}",
            told.source and f"from {told.source}",
        ]
        place = self.paint(escape_control_chars(f"{told.file}:{told.line}:{told.column}"), _BOLD)
        yield "  ".join([place, *(escape_control_chars(fact) for fact in facts if fact)])
        if told.start is not None:
            yield ""
            yield from self._start(told, told.start, fields)
            if not told.stages and not told.unreached and told.start.rows[:rows]:
                yield from self._table(told.start.rows[:rows], told.columns, told.shape)
        for report in told.stages:
            if report.before.count:  # a stage without input takes one line
                yield ""
            yield from self._stage(report, told.columns, rows)
        if told.unreached and told.findings:
            yield ""
            yield from self._unreached(told)
        yield ""
        yield from self._end(told)

    def paint(self, text: str, *codes: str) -> str:
        """Colour a text (ECMA-48, Select Graphic Rendition)."""
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.color and text and codes else text

    def _start(self, told: Explanation, start: Step, fields: bool) -> Iterator[str]:
        yield f"   0  {self.paint(format_count(start.count, 'document'), _BOLD)}"
        if not fields:
            yield self.paint(f"{_INDENT}with the fields listed above", _DIM)
        elif told.shape.top:
            described = [_describe_nested(field, told.shape) for field in told.shape.top]
            yield from wrap_parts(described, self.width, _INDENT, _INDENT)
        from_start = any(report.after.from_start for report in told.stages)
        notes = []
        if from_start and not start.complete:
            notes.append(
                f"Counts are of all documents; fields, gaps and rows of the first {SAMPLE} of each step."
            )
        if from_start:
            notes.append("Each time is that of the pipeline up to the stage.")
        elif not start.complete:
            notes.append(f"(fields of the {len(start.rows):,} that the first $match can keep)")
        for note in notes:
            yield from (
                self.paint(f"{_INDENT}{line}", _DIM) for line in _wrap(note, self.width - len(_INDENT))
            )

    # -- a stage --

    def _stage(self, report: StageReport, columns: Sequence[str], rows: int) -> Iterator[str]:
        lost = bool(report.before.count) and not report.after.count
        milliseconds = report.after.milliseconds
        flow = pad(f"{report.before.count:,} → {report.after.count:,}", 14, right=True)
        time = f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.1f} ms"
        took = pad(time, 10, right=True)
        head = (report.number, report.name, report.written)
        yield (
            self._headline(head, len(flow) + len(took), shared=report.shared, bad=lost)
            + self.paint(flow, _BOLD, *([_RED] if lost else []))
            + self.paint(took, _DIM)
        )
        change, total = report.difference, report.shape.documents
        came = [_describe(field, total) for field in change.came]
        went = [escape_control_chars(field.path) for field in change.went]
        changed = [
            escape_control_chars(f"{new.path} {_types(old)} → {_types(new)}") for old, new in change.changed
        ]
        for mark, parts, color in (("+", came, _GREEN), ("-", went, _RED), ("~", changed, _CYAN)):
            if parts:
                for line in wrap_parts(parts, self.width, f"{_INDENT}{mark} ", f"{_INDENT}  "):
                    yield self.paint(line, color)
        for remark in report.remarks:
            yield from self._remark(remark, _INDENT)
        if rows and report.after.rows:
            shown, skipped = _select_rows(report, rows)
            table = list(self._table(shown, [*fields_named(report.stage), *columns], report.shape))
            if skipped:
                table.insert(rows + 1, self.paint(f"{_INDENT}…", _DIM))
            yield from table

    def _headline(self, head: tuple[int, str, Stage], room: int, *, shared: bool, bad: bool) -> str:
        """Return number, name and text of a stage, leaving ``room`` columns at the right."""
        number, name, stage = head
        name = escape_control_chars(name)
        text = ("(shared) " if shared else "") + escape_control_chars(json_text(operator_of(stage)[1]))
        left = self.width - room - 6 - display_width(name) - 2
        mark = self.paint("✗", _RED) if bad else " "
        shown = self.paint(pad(cut(text, left), left), _DIM) if left > 6 else ""
        return f" {mark}{number:>2}  {self.paint(name, _BOLD, *([_RED] if bad else []))} {shown} "

    def _remark(self, remark: Remark, indent: str) -> Iterator[str]:
        mark, color = _MARKS[remark.severity]
        room = self.width - len(indent) - 2
        first, *rest = _wrap(remark.message, room)
        yield f"{indent}{self.paint(f'{mark} {first}', color)}"
        yield from (f"{indent}  {self.paint(line, color)}" for line in rest)
        if remark.hint:
            yield from (f"{indent}  {line}" for line in _wrap(remark.hint, room))

    # -- rows --

    def _table(
        self, rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: FieldCounts
    ) -> Iterator[str]:
        """Yield rows as a table, the wanted columns first, as many as fit."""
        names = _choose_columns(rows, wanted, shape)
        values = {name: [column_value(row, name) for row in rows] for name in names}
        texts = {name: [_cell(value) for value in values[name]] for name in names}
        heads = {name: escape_control_chars(name) for name in names}
        widths = {name: max(map(display_width, (heads[name][:_CELL], *texts[name]))) for name in names}
        kept, room = list[str](), self.width - len(_INDENT)
        for name in names:
            if room < widths[name] and kept:
                break
            kept.append(name)
            room -= widths[name] + 2
        right = {}
        for name in kept:
            present = [value for value in values[name] if value is not None and value is not MISSING]
            right[name] = bool(present) and all(map(is_number, present))
        head = "  ".join(pad(cut(heads[name], _CELL), widths[name], right=right[name]) for name in kept)
        yield (_INDENT + self.paint(head.rstrip(), _DIM)).rstrip()
        for index in range(len(rows)):
            cells = []
            for name in kept:
                cell = pad(texts[name][index], widths[name], right=right[name])
                is_empty = values[name][index] is None or values[name][index] is MISSING
                cells.append(self.paint(cell, _YELLOW) if is_empty else cell)
            yield _INDENT + "  ".join(cells).rstrip()
        unseen = len({field.path for field in shape.top} - {name.partition(".")[0] for name in kept})
        if unseen:
            yield self.paint(f"{_INDENT}… and {format_count(unseen, 'more field')}", _DIM)

    # -- the end --

    def _unreached(self, told: Explanation) -> Iterator[str]:
        """Yield the failed stage, and those that did not run because of it."""
        first = len(told.stages) + 1
        for number, (name, stage) in enumerate(told.unreached, first):
            word, color = ("fails", _RED) if number == first else ("not run", _DIM)
            head = self._headline((number, name, stage), 24, shared=False, bad=number == first)
            yield head + self.paint(pad(word, 24, right=True), color)

    def _end(self, told: Explanation) -> Iterator[str]:
        for one in told.findings:
            message = f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}"
            yield from self._remark(Remark(one.severity, message, one.hint), _CLOSING)
        for remark in told.remarks:
            yield from self._remark(remark, _CLOSING)
        if told.rows:
            count = len(told.columns)
            columns = f" for the {format_count(count, 'column')} of the table" if count else ""
            words = f"{format_count(told.rows, 'row')}{columns}"
            good = told.sound and not told.remarks and not told.findings
            yield _CLOSING + (self.paint(f"✓ {words}", _GREEN) if good else words)


def _describe_nested(field: FieldCount, shape: FieldCounts) -> str:
    inner = [each for each in shape.fields if each.path.startswith(f"{field.path}.")]
    if not inner or dict(field.types).get("object", 0) < field.present:
        return _describe(field, shape.documents)
    if len(inner) > _FEW:
        return escape_control_chars(f"{field.path} {{{len(inner)} fields}}")
    names = ", ".join(f"{each.path.partition('.')[2]} {_types(each)}" for each in inner)
    return escape_control_chars(f"{field.path} {{{names}}}")


def _describe(field: FieldCount, documents: int) -> str:
    some = "" if field.present == documents else f" ({field.present:,} of {documents:,})"
    return escape_control_chars(f"{field.path} {_types(field)}{some}")


def _types(field: FieldCount) -> str:
    return "|".join(name for name, _ in field.types)


def _select_rows(report: StageReport, rows: int) -> tuple[list[dict[str, Any]], bool]:
    """Return the first rows, and the first with a gap if it is later; and whether rows in between are omitted."""
    first = report.after.rows[:rows]
    fields = [each.field for each in report.gaps if each.some]
    for index, row in enumerate(report.after.rows):
        if any(column_value(row, name) in (None, MISSING) for name in fields):
            return (first, False) if index < rows else ([*first, row], index > rows)
    return first, False


def _choose_columns(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: FieldCounts
) -> list[str]:
    """Return the wanted fields that some row has, then the others that are neither sub-documents nor arrays.

    Without any such field, as after a ``$facet``, return the others.
    """
    there = [name for name in wanted if any(column_value(row, name) is not MISSING for row in rows)]
    begun = {name.partition(".")[0] for name in there}
    simple = [field.path for field in shape.top if not {"object", "array"} & dict(field.types).keys()]
    names = list(dict.fromkeys([*there, *(name for name in simple if name not in begun)]))
    return names or [field.path for field in shape.top]


def _cell(value: Any) -> str:
    if value is MISSING:
        return "—"
    if isinstance(value, Mapping):  # cut before escaping: such a text may be very long
        return escape_control_chars(cut(json_text(value), _CELL))
    quoted = value is None or type_name(value) in ("string", "array")
    return cut(escape_control_chars(json_text(value) if quoted else raw_text(value)), _CELL)


# -- text --


def cut(text: str, room: int) -> str:
    """Return a text cut to ``room`` columns, with an ellipsis if something is left out.

    Example:
        >>> cut("abcdefgh", 5)
        'abcd…'
    """
    if display_width(text) <= room:
        return text
    kept, width = [], 1
    for character in text:
        width += display_width(character)
        if width > room:
            break
        kept.append(character)
    return "".join(kept) + "…" if room > 0 else ""


def pad(text: str, room: int, *, right: bool = False) -> str:
    """Return a text padded to ``room`` columns."""
    blanks = " " * max(0, room - display_width(text))
    return blanks + text if right else text + blanks


def wrap_parts(parts: Sequence[str], width: int, first: str, rest: str) -> list[str]:
    """Distribute unbreakable parts over lines. ``first`` begins the first line, ``rest`` the others."""
    lines, line, empty = list[str](), first, True
    for part in parts:
        if not empty and display_width(line) + 2 + display_width(part) > width:
            lines.append(line.rstrip())
            line, empty = rest, True
        line += part if empty else f"  {part}"
        empty = False
    return [*lines, line.rstrip()]


def _wrap(text: str, width: int) -> list[str]:
    shown = escape_control_chars(text)
    return wrap(shown, max(20, width), break_long_words=False, break_on_hyphens=False) or [""]
