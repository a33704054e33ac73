"""An explanation as lines for a terminal of a given width. Control characters in texts are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from mongo_tables.render.markup import align, display_width
from mongo_tables.render.values import json_text, raw_text

_INDENT = " " * 6
_CLOSING = " " * 3
_CELL = 28
_FEW = 6
_MARKS: Mapping[Severity, str] = {"error": "✗", "warning": "!", "note": "·"}


def lines(told: Explanation, *, width: int, rows: int, fields: bool = True) -> Iterator[str]:
    """Yield the explanation in lines of at most ``width`` columns, with ``rows`` documents after each stage.

    With ``fields``, list the fields of the collection.
    """
    facts = [
        f"{told.file}:{told.line}:{told.column}",
        told.title,
        told.collection and f"collection {told.collection}",
        told.source and f"from {told.source}",
    ]
    yield "  ".join(escape_control_chars(fact) for fact in facts if fact)
    if told.start is not None:
        yield ""
        yield from _start(told, told.start, width, fields)
        if not told.stages and not told.unreached and told.start.rows[:rows]:
            yield from _table(told.start.rows[:rows], told.columns, told.shape, width)
    for report in told.stages:
        if report.before.count:  # a stage without input takes one line
            yield ""
        yield from _stage(report, told.columns, width, rows)
    if told.unreached and told.findings:
        yield ""
        for number, (name, stage) in enumerate(told.unreached, first := len(told.stages) + 1):
            failed = number == first
            yield _headline((number, name, stage), "fails" if failed else "not run", width, bad=failed)
    yield ""
    yield from _end(told, width)


def _start(told: Explanation, start: Step, width: int, fields: bool) -> Iterator[str]:
    yield f"   0  {format_count(start.count, 'document')}"
    notes = [] if fields else ["with the fields listed above"]
    if fields:
        yield from _list_parts([_describe_nested(one, told.shape) for one in told.shape.top], width)
    if start.sampled and not start.complete:
        notes.append(
            f"Counts are of all documents; fields, gaps and rows of the first {SAMPLE} of each step."
        )
    elif not start.complete:
        notes.append(f"(fields of the {len(start.rows):,} documents that the first $match may keep)")
    if told.stages:
        notes.append("Times are those of the pipeline up to each stage.")
    for note in notes:
        yield from _wrap(note, width, _INDENT)


# -- a stage --


def _stage(report: StageReport, columns: Sequence[str], width: int, rows: int) -> Iterator[str]:
    seconds = report.after.milliseconds / 1000
    time = f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
    flow = f"{report.before.count:,} → {report.after.count:,}"
    head = (report.number, f"{report.name}{' (shared)' if report.shared else ''}", report.written)
    lost = bool(report.before.count) and not report.after.count
    yield _headline(head, f"{flow:>14}{time:>10}", width, bad=lost)
    change = report.difference
    yield from _list_parts([_describe(one, report.shape.documents) for one in change.came], width, "+ ")
    yield from _list_parts([one.path for one in change.went], width, "- ")
    changed = [f"{new.path} {_types(old)} → {_types(new)}" for old, new in change.changed]
    yield from _list_parts(changed, width, "~ ")
    for remark in report.remarks:
        yield from _remark(remark, width, _INDENT)
    if rows and report.after.rows:
        shown, skipped = _select_rows(report, rows)
        table = [*_table(shown, [*fields_named(report.stage), *columns], report.shape, width)]
        yield from [*table[: rows + 1], f"{_INDENT}…", *table[rows + 1 :]] if skipped else table


def _headline(head: tuple[int, str, Stage], right: str, width: int, *, bad: bool) -> str:
    """Return a line with number, name and text of a stage, and ``right`` at its right end."""
    number, name, stage = head
    begin = f" {'✗' if bad else ' '}{number:>2}  {escape_control_chars(name)} "
    room = width - len(begin) - 2 - max(len(right), 24)
    text = _cut(escape_control_chars(json_text(operator_of(stage)[1])), room) if room > 6 else ""
    return f"{begin}{text}  {right:>{max(0, width - len(begin) - len(text) - 2)}}"


def _remark(remark: Remark, width: int, indent: str) -> Iterator[str]:
    yield from _wrap(remark.message, width, f"{indent}{_MARKS[remark.severity]} ")
    if remark.hint:
        yield from _wrap(remark.hint, width, f"{indent}  ")


# -- rows --


def _table(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: FieldCounts, width: int
) -> Iterator[str]:
    """Yield rows as a table with as many columns as fit. The wanted columns come first."""
    room, kept, columns, left = width - len(_INDENT), list[str](), list[list[str]](), list[int]()
    for name in _choose_columns(rows, wanted, shape):
        values = [column_value(row, name) for row in rows]
        texts = [_cut(escape_control_chars(name), _CELL), *map(_cell, values)]
        room -= max(map(display_width, texts)) + 2
        if room < -2 and kept:
            break
        if not all(is_number(value) for value in values if value is not None and value is not MISSING):
            left.append(len(kept))
        kept.append(name)
        columns.append(texts)
    yield from (f"{_INDENT}{line}" for line in align([*zip(*columns, strict=True)], left))
    unseen = len({field.path for field in shape.top} - {name.partition(".")[0] for name in kept})
    if unseen:
        yield f"{_INDENT}… and {format_count(unseen, 'more field')}"


# -- the end --


def _end(told: Explanation, width: int) -> Iterator[str]:
    for one in told.findings:
        message = f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}"
        yield from _remark(Remark(one.severity, message, one.hint), width, _CLOSING)
    for remark in told.remarks:
        yield from _remark(remark, width, _CLOSING)
    if told.rows:
        count = len(told.columns)
        columns = f" for the {format_count(count, 'column')} of the table" if count else ""
        good = told.sound and not told.remarks and not told.findings
        yield f"{_CLOSING}{'✓ ' if good else ''}{format_count(told.rows, 'row')}{columns}"


def _describe_nested(field: FieldCount, shape: FieldCounts) -> str:
    inner = [each for each in shape.fields if each.path.startswith(f"{field.path}.")]
    if not inner or dict(field.types).get("object", 0) < field.present:
        return _describe(field, shape.documents)
    if len(inner) > _FEW:
        return f"{field.path} {{{len(inner)} fields}}"
    names = ", ".join(f"{each.path.partition('.')[2]} {_types(each)}" for each in inner)
    return f"{field.path} {{{names}}}"


def _describe(field: FieldCount, documents: int) -> str:
    some = "" if field.present == documents else f" ({field.present:,} of {documents:,})"
    return f"{field.path} {_types(field)}{some}"


def _types(field: FieldCount) -> str:
    return "|".join(name for name, _ in field.types)


def _select_rows(report: StageReport, rows: int) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows to show, and whether rows between them are skipped.

    They are the first rows and, if none of these has a gap, the first row with a gap.
    """
    first = report.after.rows[:rows]
    fields = [each.field for each in report.gaps if each.some]
    for index, row in enumerate(report.after.rows):
        if any(column_value(row, name) in (None, MISSING) for name in fields):
            return (first, False) if index < rows else ([*first, row], index > rows)
    return first, False


def _choose_columns(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], shape: FieldCounts
) -> list[str]:
    """Return the wanted fields that a row has, then other fields that are neither objects nor arrays.

    Without such fields, for example after a ``$facet``, return all top-level fields.
    """
    there = [name for name in wanted if any(column_value(row, name) is not MISSING for row in rows)]
    begun = {name.partition(".")[0] for name in there}
    simple = [field.path for field in shape.top if not {"object", "array"} & dict(field.types).keys()]
    names = list(dict.fromkeys([*there, *(name for name in simple if name not in begun)]))
    return names or [field.path for field in shape.top]


def _cell(value: Any) -> str:
    if value is MISSING:
        return "—"
    quoted = value is None or type_name(value) in ("string", "array", "object")
    text = _cut(json_text(value) if quoted else raw_text(value), 4 * _CELL)  # the text may be very long
    return _cut(escape_control_chars(text), _CELL)


# -- text --


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _list_parts(parts: Sequence[str], width: int, mark: str = "") -> list[str]:
    """Distribute parts over lines. Only parts longer than a line are broken."""
    shown = map(escape_control_chars, parts)
    room = width - len(_INDENT + mark)
    unbroken = "  ".join(one.replace(" ", _UNBROKEN) if len(one) <= room else one for one in shown)
    return [line.replace(_UNBROKEN, " ") for line in _wrap(unbroken, width, _INDENT + mark)] if parts else []


def _wrap(text: str, width: int, begin: str) -> list[str]:
    """Return the lines of a text. The first line begins with ``begin``, the others are indented by its length."""
    rest = " " * len(begin)
    return wrap(
        escape_control_chars(text),
        width,
        initial_indent=begin,
        subsequent_indent=rest,
        break_on_hyphens=False,
    ) or [begin]


_UNBROKEN = "\u00a0"
