"""Explanations as plain data, as the command computes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pytest
from bson import json_util

from mongo_tables.aggregation.values import MISSING
from mongo_tables.cli import main
from mongo_tables.commands.explain import lineage, terminal
from mongo_tables.commands.explain.explanation import Explanation, StageReport
from mongo_tables.commands.explain.lineage import NO_EXPRESSION, Lineage
from mongo_tables.lint.walk import FieldCounts, operator_of


def told(*arguments: str, expect: int = 0) -> list[Any]:
    """What the command computes before it prints it: explanations, or the lineage of a cell."""
    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        for module in (terminal, lineage):
            patch.setattr(module, "lines", _keeping(module.lines, found))
        assert main(["explain", *arguments]) == expect
    return found


def _keeping(lines: Any, found: list[Any]) -> Any:
    def keep(one: Any, *arguments: Any, **options: Any) -> Any:
        found.append(one)
        return lines(one, *arguments, **options)

    return keep


def as_json(told: Explanation, rows: int) -> dict[str, Any]:
    """Return the explanation as data for ``json``, with the first ``rows`` documents of every stage.

    Stages and rows are relaxed Extended JSON.
    """
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
        "fields": _fields_as_json(told.shape),
        "stages": [_stage_as_json(report, rows) for report in told.stages],
        "unreached": [extended(stage) for _, stage in told.unreached],
        "rows": told.rows,
        "remarks": [asdict(remark) for remark in told.remarks],
        "findings": [one._asdict() for one in told.findings],
        "sound": told.sound,
    }


def _stage_as_json(report: StageReport, rows: int) -> dict[str, Any]:
    change = report.difference
    return {
        "number": report.number,
        "operator": operator_of(report.stage)[0],
        "name": report.name,
        "stage": extended(report.stage),
        "line": report.line,
        "column": report.column,
        "shared": report.shared,
        "in": report.before.count,
        "out": report.after.count,
        "milliseconds": round(report.after.milliseconds, 3),
        "fields_before": list(dict.fromkeys(name for row in report.before.rows for name in row)),
        "fields": _fields_as_json(report.shape),
        "came": [field.path for field in change.came],
        "went": [field.path for field in change.went],
        "changed": [new.path for _, new in change.changed],
        "looked_at": len(report.after.rows),
        "rows": extended(report.after.rows[:rows]),
        "gaps": [{**asdict(each), "empty": each.empty} for each in report.gaps],
        "remarks": [asdict(remark) for remark in report.remarks],
    }


def _fields_as_json(shape: FieldCounts) -> list[dict[str, Any]]:
    return [{"path": one.path, "types": dict(one.types), "present": one.present} for one in shape.fields]


def extended(value: Mapping[str, Any] | Sequence[Any]) -> Any:
    """Return a value as relaxed Extended JSON."""
    return json.loads(json_util.dumps(value, json_options=json_util.RELAXED_JSON_OPTIONS))


def lineage_data(told: Lineage) -> dict[str, Any]:
    """Return the lineage as data for Extended JSON, with all documents."""
    return {
        "file": told.file,
        "line": told.line,
        "row": told.row,
        "column": told.column,
        "value": None if told.value is MISSING else told.value,
        "minimal": told.minimal,
        "fields": list(told.fields),
        "stages": [
            {
                "number": one.number,
                "name": one.name,
                "field": one.field,
                "expression": None if one.expression is NO_EXPRESSION else one.expression,
            }
            for one in told.stages
        ],
        "documents": [{"collection": collection, "document": one} for collection, one in told.documents],
    }
