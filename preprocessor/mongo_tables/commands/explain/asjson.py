"""An explanation for tools: plain data that ``json`` writes.

Stages and rows are Extended JSON (relaxed), as the comment's own body is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mongo_tables.commands.explain.explaining import Explanation, StageReport
from mongo_tables.commands.explain.fieldcounts import Field, Shape


def plain(told: Explanation, rows: int) -> dict[str, Any]:
    """The explanation as dicts, lists, strings and numbers, with the first ``rows`` documents of every stage."""
    return {
        "file": told.file,
        "line": told.line,
        "column": told.column,
        "title": told.title,
        "collection": told.collection,
        "source": told.source,
        "columns": list(told.columns),
        "documents": told.start.count if told.start else None,
        "looked_at": len(told.start.rows) if told.start else None,
        "fields": _fields(told.shape),
        "stages": [_stage(report, rows) for report in told.stages],
        "unreached": [to_extended_json(stage) for _, stage in told.unreached],
        "rows": told.rows,
        "remarks": [asdict(remark) for remark in told.remarks],
        "findings": [one._asdict() for one in told.findings],
        "sound": told.sound,
    }


def _stage(report: StageReport, rows: int) -> dict[str, Any]:
    change = report.difference
    return {
        "number": report.number,
        "operator": report.operator,
        "name": report.name,
        "stage": to_extended_json(report.stage),
        "line": report.line,
        "column": report.column,
        "shared": report.shared,
        "in": report.before.count,
        "out": report.after.count,
        "milliseconds": round(report.after.milliseconds, 3),
        "milliseconds_from_start": report.after.from_start,
        "fields_before": list(dict.fromkeys(name for row in report.before.rows for name in row)),
        "fields": _fields(report.shape),
        "came": [field.path for field in change.came],
        "went": [field.path for field in change.went],
        "changed": [new.path for _, new in change.changed],
        "looked_at": len(report.after.rows),
        "rows": to_extended_json(report.after.rows[:rows]),
        "gaps": [{**asdict(each), "empty": each.empty} for each in report.gaps],
        "remarks": [asdict(remark) for remark in report.remarks],
    }


def _fields(shape: Shape) -> list[dict[str, Any]]:
    return [_field(field) for field in shape.fields]


def _field(field: Field) -> dict[str, Any]:
    return {"path": field.path, "types": dict(field.types), "present": field.present}


def to_extended_json(value: Mapping[str, Any] | Sequence[Any]) -> Any:
    """A BSON value as relaxed Extended JSON."""
    import json

    from bson import json_util

    return json.loads(json_util.dumps(value, json_options=json_util.RELAXED_JSON_OPTIONS))
