"""Conversion of the keys that define the rows of a comment into the stages of a pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mongo_tables.directives.computed_columns import ExpressionError, compile_expression
from mongo_tables.directives.pipelines import Expanded, Lookup, Origin, Stage, expand
from mongo_tables.directives.row_paths import rows_stages
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.reader import Document

STAGES: Final[Mapping[str, str]] = {"where": "$match", "sort": "$sort", "limit": "$limit"}
"""The keys that select rows, each with the stage that it becomes, in the order of these stages."""

ROW_KEYS: Final = ("rows", "where", "pipeline", "compute", "sort", "limit")
"""The keys of a comment that define its rows, in the order of their stages."""


def expand_rows(document: Document, body: Mapping[str, Any], shared: Lookup) -> Expanded:
    """Convert the row keys of a comment into pipeline stages. Values of the wrong type are skipped.

    ``body`` is the body of ``document`` with Extended JSON decoded. With a ``pipeline``, the keys in ``STAGES``
    have no effect.
    """
    stages: list[Stage] = []
    origins: list[Origin] = []
    found: list[Finding] = []
    fields: Mapping[str, str] = {}
    reasons: Mapping[str, str] = {}
    for key in ROW_KEYS:
        written = body.get(key)
        if key == "pipeline" and isinstance(written, list):
            inner = expand(document, (key,), written, shared)
            stages += inner.stages
            origins += inner.origins
            found += inner.findings
            fields, reasons = inner.fields, inner.reasons
        elif key == "rows" and isinstance(written, str):
            made = rows_stages(written)
            stages += made
            origins += [Origin((key,), "key")] * len(made)
        elif key == "compute" and isinstance(written, dict):
            for name, text in written.items():
                try:
                    one = compile_expression(text) if isinstance(text, str) else None
                except ExpressionError as error:
                    found.append(document.locate_within((key, name), error.complaint))
                else:
                    stages += [{"$set": {name: one.value}}] if one else []
                    origins += [Origin((key, name), "key", offsets=one.offsets)] if one else []
        elif key in STAGES and "pipeline" not in body and (operand := selection_operand(key, written)):
            stages.append({STAGES[key]: operand})
            names = tuple(operand) if isinstance(operand, Mapping) and isinstance(written, list) else ()
            origins.append(Origin((key,), "key", names))
    if all(each.form == "stage" and each.path[1] == number for number, each in enumerate(origins)):
        origins = []
    return Expanded(tuple(stages), tuple(origins), tuple(found), fields, reasons)


def selection_operand(key: str, written: Any) -> Mapping[str, Any] | int | None:
    """Return the operand of the stage for a key of ``STAGES``, or None if the value has the wrong type."""
    if key == "sort":
        named = [written] if isinstance(written, str) else written
        texts = isinstance(named, list) and all(isinstance(one, str) for one in named)
        return read_sort(named) if texts else None
    if key == "limit":
        return int(written) if isinstance(written, (int, float)) and not isinstance(written, bool) else None
    return written if isinstance(written, Mapping) else None


def read_sort(named: list[str]) -> dict[str, int]:
    """Return the operand of a ``$sort`` by the named fields.

    Example:
        >>> read_sort(["-mean", "name"])
        {'mean': -1, 'name': 1}
    """
    return {one.removeprefix("-"): -1 if one.startswith("-") else 1 for one in named}


def write_sort(keys: Mapping[str, Any]) -> str:
    """Return the operand of a ``$sort`` in the notation of the key ``sort``."""
    named = [f"-{field}" if direction == -1 else field for field, direction in keys.items()]
    return f'"sort": {json.dumps(named if len(named) > 1 else named[0], ensure_ascii=False)}'
