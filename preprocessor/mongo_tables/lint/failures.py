"""Hints for pipelines that fail, chosen by the error message of the evaluator or of a server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mongo_tables.jsontext.reader import value_at
from mongo_tables.lint.row_order import meant_sorting
from mongo_tables.lint.versions import since_hint

if TYPE_CHECKING:
    from mongo_tables.aggregation import AggregationError
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.results.model import ResultsError

_OUTSIDE = re.compile(r"no default\b")
_NO_ARRAY = re.compile(r"\$(size|in)\b.*\b(missing|null)\b")
_IS_TEXT = re.compile(r"not (on )?string|string is not a date|divide string|cannot parse '")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*")
_NO_SORT = re.compile(r"a document of fields|1 \(ascending\)")
_NAMED = ("date", "startDate", "endDate", "dateString", "input")
"""Named arguments that are rarely constants."""
_BY_ZERO = re.compile(r"by zero")
_GUARD = (
    'guard against 0: {"$cond": [{"$gt": [divisor, 0]}, {"$divide": […, divisor]}, null]}, or select only documents '
    "in which it is greater than 0"
)


def failure_hint(spec: PipelineSpec, error: ResultsError | AggregationError) -> str:
    """Return a hint on how to correct the failed operator, or "". The hint contains the operands if they are known."""
    written = value_at(list(spec.pipeline), error.path) if error.path else None
    operand: Any = written[-1] if isinstance(written, list) and len(written) == 2 else written
    if _OUTSIDE.search(error.message):
        return 'add a default for all other values: "default": "other"'
    if _BY_ZERO.search(error.message):
        return _GUARD.replace("divisor", _write(operand, "divisor"))
    if error.path and (found := _NO_SORT.search(error.message)):
        keys: Any = meant_sorting(written)
        if found[0].startswith("1"):
            keys = -1 if str(written).lower().startswith(("-", "d")) else 1
        return f"write {json.dumps({str(error.path[-1]): keys})}" if keys else ""
    if _IS_TEXT.search(error.message):
        parts = [written.get(name) for name in _NAMED] if isinstance(written, Mapping) else written
        parts = parts if isinstance(parts, list) else [parts]
        names = [one for one in parts if isinstance(one, str) and _NAME.fullmatch(one)]
        return f'a field is written "${names[-1 if "array" in error.message else 0]}"' if names else ""
    if _NO_ARRAY.search(error.message):
        return f'use an empty array if there is none: {{"$ifNull": [{_write(operand, "array")}, []]}}'
    return since_hint(error.message)


def _write(operand: Any, otherwise: str) -> str:
    return json.dumps(operand) if isinstance(operand, str) and operand.startswith("$") else otherwise
