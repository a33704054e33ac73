"""An explanation for people: lines for a terminal of a given width, coloured or not.

Whatever comes from a database, a page or an error message loses the characters that a terminal obeys
(``mongo_tables.findings.reporters.escape_control_chars``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from mongo_tables.aggregation.values import MISSING, is_number, type_name
from mongo_tables.commands.explain.colors import (
    BOLD,
    CYAN,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Paint,
    cut,
    pad,
    wrap_parts,
)
from mongo_tables.commands.explain.explaining import Explanation, StageReport
from mongo_tables.commands.explain.fieldcounts import Field, Shape
from mongo_tables.commands.explain.notes import Remark, format_count
from mongo_tables.commands.explain.reading import Stage, operator_of
from mongo_tables.commands.explain.stepper import SAMPLE, Step
from mongo_tables.findings.finding import Severity
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.render.column import column_value
from mongo_tables.render.text import display_width
from mongo_tables.render.values import json_text, raw_text

_INDENT = " " * 6
_CLOSING = " " * 3
_CELL = 28
_FEW = 6
_MARKS: Mapping[Severity, tuple[str, str]] = {
    "error": ("✗", RED),
    "warning": ("!", YELLOW),
    "note": ("·", CYAN),
}


def lines(told: Explanation, *, width: int, rows: int, color: bool, fields: bool = True) -> list[str]:
    """The explanation on lines of at most ``width`` columns, with ``rows`` documents after each stage.

    ``fields``: whether those of the collection are listed; on a page of many tables once is enough.
    """
    paint = Paint(color)
    written = [_heading(told, paint)]
    if told.start is not None:
        written += ["", *_start(told, told.start, width, paint, fields)]
        if not told.stages and not told.unreached and told.start.rows[:rows]:
            written += _table(told.start.rows[:rows], told.columns, told.shape, width, paint)
    for report in told.stages:
        # What nothing went into is soon told.
        written += [""] if report.before.count else []
        written += _stage(report, told.columns, width, rows, paint)
    if told.unreached and told.findings:
        written += ["", *_list_unreached(told, width, paint)]
    return [*written, "", *_end(told, width, paint)]


def _heading(told: Explanation, paint: Paint) -> str:
    place = paint(escape_control_chars(f"{told.file}:{told.line}:{told.column}"), BOLD)
    facts = [
        told.title,
        told.collection and f"collection {told.collection}",
        told.source and f"from {told.source}",
    ]
    return "  ".join([place, *(escape_control_chars(fact) for fact in facts if fact)])


def _start(told: Explanation, start: Step, width: int, paint: Paint, fields: bool) -> Iterator[str]:
    yield f"   0  {paint(format_count(start.count, 'document'), BOLD)}"
    if not fields:
        yield paint(f"{_INDENT}with the fields listed above", DIM)
    elif told.shape.top:
        yield from wrap_parts(
            [_describe_nested_field(field, told.shape) for field in told.shape.top], width, _INDENT, _INDENT
        )
    for sentence in _scope(told, start):
        yield from (paint(f"{_INDENT}{line}", DIM) for line in _sentence(sentence, width - len(_INDENT)))


def _scope(told: Explanation, start: Step) -> list[str]:
    """What was not looked at, if anything."""
    if any(report.after.from_start for report in told.stages) and not start.complete:
        return [
            f"Counts are of all documents; fields, gaps and rows of the first {SAMPLE} of each step.",
            "Each time is that of the pipeline up to the stage.",
        ]
    if any(report.after.from_start for report in told.stages):
        return ["Each time is that of the pipeline up to the stage."]
    return [] if start.complete else [f"(fields of the {len(start.rows):,} that the first $match can keep)"]


def _describe_nested_field(field: Field, shape: Shape) -> str:
    inner = shape.below(field.path)
    if not inner or dict(field.types).get("object", 0) < field.present:
        return _describe_field(field, shape.documents)
    if len(inner) > _FEW:
        return escape_control_chars(f"{field.path} {{{len(inner)} fields}}")
    names = ", ".join(f"{each.path.partition('.')[2]} {_types(each)}" for each in inner)
    return escape_control_chars(f"{field.path} {{{names}}}")


def _describe_field(field: Field, documents: int) -> str:
    some = "" if field.present == documents else f" ({field.present:,} of {documents:,})"
    return escape_control_chars(f"{field.path} {_types(field)}{some}")


def _types(field: Field) -> str:
    return "|".join(name for name, _ in field.types)


# -- a stage --


def _stage(report: StageReport, columns: Sequence[str], width: int, rows: int, paint: Paint) -> Iterator[str]:
    yield _headline(report, width, paint)
    yield from _differences(report, width, paint)
    for remark in report.remarks:
        yield from _remark(remark, width, paint, _INDENT)
    if rows and report.after.rows:
        shown, skipped = _select_rows(report, rows)
        table = list(_table(shown, [*report.focus, *columns], report.shape, width, paint))
        if skipped:
            table.insert(rows + 1, paint(f"{_INDENT}…", DIM))
        yield from table


def _select_rows(report: StageReport, rows: int) -> tuple[list[dict[str, Any]], bool]:
    """The first rows; if a field has gaps in others only, the first of those too, and whether some lie between."""
    first = report.after.rows[:rows]
    fields = [each.field for each in report.gaps if each.some]
    for index, row in enumerate(report.after.rows):
        if any(column_value(row, name) in (None, MISSING) for name in fields):
            return (first, False) if index < rows else ([*first, row], index > rows)
    return first, False


def _headline(report: StageReport, width: int, paint: Paint) -> str:
    """Number, operator and text of the stage at the left; documents in and out, and the time, at the right."""
    lost = bool(report.before.count) and not report.after.count
    flow = pad(f"{report.before.count:,} → {report.after.count:,}", 14, right=True)
    took = pad(_duration(report.after.milliseconds), 10, right=True)
    right = paint(flow, BOLD, *([RED] if lost else [])) + paint(took, DIM)
    return (
        _format_stage(
            (report.number, report.name, report.stage),
            width - len(flow) - len(took),
            paint,
            shared=report.shared,
            bad=lost,
        )
        + right
    )


def _format_stage(named: tuple[int, str, Stage], room: int, paint: Paint, *, shared: bool, bad: bool) -> str:
    """Number, name and text of a stage in ``room`` columns, with a cross where it is a bad one."""
    number, name, stage = named
    _, body = operator_of(stage)
    name = escape_control_chars(name)
    text = ("(shared) " if shared else "") + escape_control_chars(json_text(body))
    left = room - 6 - display_width(name) - 2
    shown = paint(name, BOLD, *([RED] if bad else []))
    mark = paint("✗", RED) if bad else " "
    return f" {mark}{number:>2}  {shown} {paint(pad(cut(text, left), left), DIM) if left > 6 else ''} "


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.1f} ms"


def _differences(report: StageReport, width: int, paint: Paint) -> Iterator[str]:
    change, total = report.difference, report.shape.documents
    came = [_describe_field(field, total) for field in change.came]
    went = [escape_control_chars(field.path) for field in change.went]
    turned = [
        escape_control_chars(f"{new.path} {_types(old)} → {_types(new)}") for old, new in change.changed
    ]
    for mark, parts, color in (("+", came, GREEN), ("-", went, RED), ("~", turned, CYAN)):
        if parts:
            for line in wrap_parts(parts, width, f"{_INDENT}{mark} ", f"{_INDENT}  "):
                yield paint(line, color)


def _remark(remark: Remark, width: int, paint: Paint, indent: str) -> Iterator[str]:
    mark, color = _MARKS[remark.severity]
    first, *rest = _sentence(remark.message, width - len(indent) - 2)
    yield f"{indent}{paint(f'{mark} {first}', color)}"
    yield from (f"{indent}  {paint(line, color)}" for line in rest)
    if remark.hint:
        yield from (f"{indent}  {line}" for line in _sentence(remark.hint, width - len(indent) - 2))


def _sentence(text: str, width: int) -> list[str]:
    return wrap(
        escape_control_chars(text), max(20, width), break_long_words=False, break_on_hyphens=False
    ) or [""]


# -- rows --


def _table(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: Shape, width: int, paint: Paint
) -> Iterator[str]:
    """Some rows, the wanted columns first, as many as there is room for."""
    names = _columns(rows, wanted, shape)
    cells = {name: [_cell(column_value(row, name)) for row in rows] for name in names}
    kept, room = list[str](), width - len(_INDENT)
    widths = {
        name: max(
            map(display_width, (escape_control_chars(name)[:_CELL], *(text for text, _ in cells[name])))
        )
        for name in names
    }
    for name in names:
        if room < widths[name] and kept:
            break
        kept.append(name)
        room -= widths[name] + 2
    right = {name: _is_numeric([value for _, value in cells[name]]) for name in kept}
    heads = [pad(cut(escape_control_chars(name), _CELL), widths[name], right=right[name]) for name in kept]
    yield (_INDENT + paint("  ".join(heads).rstrip(), DIM)).rstrip()
    for index in range(len(rows)):
        texts = [_paint_cell(*cells[name][index], widths[name], paint, right=right[name]) for name in kept]
        yield _INDENT + "  ".join(texts).rstrip()
    unseen = len({field.path for field in shape.top} - {name.partition(".")[0] for name in kept})
    if unseen:
        yield paint(f"{_INDENT}… and {format_count(unseen, 'more field')}", DIM)


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None and value is not MISSING]
    return bool(present) and all(map(is_number, present))


def _columns(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: Shape) -> list[str]:
    """The wanted fields that some row has, then the other ones that are neither sub-documents nor arrays.

    Where there is nothing but those, as after a $facet, they are shown.
    """
    there = [name for name in wanted if any(column_value(row, name) is not MISSING for row in rows)]
    begun = {name.partition(".")[0] for name in there}
    simple = (
        field.path for field in shape.top if not {"object", "array"} & {name for name, _ in field.types}
    )
    names = list(dict.fromkeys([*there, *(name for name in simple if name not in begun)]))
    return names or [field.path for field in shape.top]


def _cell(value: Any) -> tuple[str, Any]:
    if value is MISSING:
        return "—", value
    if isinstance(value, Mapping):
        return escape_control_chars(cut(json_text(value), _CELL)), value
    text = (
        "null"
        if value is None
        else json_text(value)
        if type_name(value) in ("string", "array")
        else raw_text(value)
    )
    return cut(escape_control_chars(text), _CELL), value


def _paint_cell(text: str, value: Any, width: int, paint: Paint, *, right: bool) -> str:
    cell = pad(text, width, right=right)
    return paint(cell, YELLOW) if value is None or value is MISSING else cell


# -- the end --


def _list_unreached(told: Explanation, width: int, paint: Paint) -> Iterator[str]:
    """The stage that failed, and those that were not run because of it."""
    first = len(told.stages) + 1
    for number, (name, stage) in enumerate(told.unreached, first):
        word, color = ("fails", RED) if number == first else ("not run", DIM)
        right = paint(pad(word, 24, right=True), color)
        yield (
            _format_stage((number, name, stage), width - 24, paint, shared=False, bad=number == first) + right
        )


def _end(told: Explanation, width: int, paint: Paint) -> Iterator[str]:
    for one in told.findings:
        message = f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}"
        yield from _remark(Remark(one.severity, message, one.hint), width, paint, _CLOSING)
    for remark in told.remarks:
        yield from _remark(remark, width, paint, _CLOSING)
    if told.rows:
        shown = f" for the {format_count(len(told.columns), 'column')} of the table" if told.columns else ""
        words = f"{format_count(told.rows, 'row')}{shown}"
        good = told.sound and not told.remarks
        yield _CLOSING + (paint(f"✓ {words}", GREEN) if good else words)
