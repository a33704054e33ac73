"""A check that a row has the form that comparisons, pools and histories need.

A row may be edited by hand or truncated. Fields that exist must have the expected types. Older rows need not have every
field of ``schemas/result.schema.json``. The values of a conclusion must not contradict each other, because its verdict
is reported unchanged.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from math import inf
from sys import float_info
from typing import Any, Final, get_args

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from mongo_tables.results.conditions import FIELDS, PROVENANCE
from mongo_tables.results.verdicts import Verdict, find_contradiction

_FASTEST: Final = 1e100
"""The largest speed. Any other speed but 0 is at least its inverse, so that quotients of speeds are finite."""


def find_row_fault(row: Mapping[str, Any]) -> str:
    """Return the first fault of a row, with its path, or "" if comparisons can use the row.

    A fault is a difference from the rows that `mongo-tables run` writes.
    """
    error = next(_VALIDATOR.iter_errors(row), None)
    return next(_list_contradictions(row), "") if error is None else _describe(error)


def _describe(error: ValidationError) -> str:
    path, wanted = ".".join(map(str, error.path)), error.validator_value
    if error.validator == "required":
        missing = next(name for name in wanted if name not in error.instance)
        return f"{path}.{missing} is missing"
    if error.validator == "minItems":
        words = f"an array of {wanted} or more"
    else:
        words = {"object": "a document", "array": "an array"}.get(wanted, wanted)
    shown = "null" if error.instance is None else reprlib.repr(error.instance)
    return f"{path} is {shown}, and not {words}"


def _list_contradictions(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a fault for each conclusion of a row that contradicts itself."""
    found = {name: row[name] for name in _CONCLUSIONS if name in row}
    if campaigns := row.get("campaigns"):
        found |= {f"campaigns.{name}": campaigns[name] for name in _BELOW if name in campaigns}
        found["campaigns"] = campaigns
    for path, told in found.items():
        each = told["each"] if path.startswith("campaigns") else ()
        without = told["ratio"] is not None and any(one["ratio"] is None for one in each)
        fault = "has a ratio, but some of its campaigns do not" if without else _find_own_contradiction(told)
        if fault:
            yield f"{path} {fault}"


def _is_number(value: Any, least: float = 0, most: float = float_info.max) -> bool:
    # NaN is in no range.
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_ratio(value: Any) -> bool:
    return _is_number(value) and value > 0


def _find_own_contradiction(told: Mapping[str, Any]) -> str:
    """Return the contradiction in a subdocument of conclusions, or ""."""
    if told["ratio"] is None:
        return "" if told["verdict"] == "not known" else f"has the verdict {told['verdict']}, but no ratio"
    ratio, low, high, margin = (told[name] for name in ("ratio", "low", "high", "margin"))
    return find_contradiction(told["verdict"], ratio, low, high, margin, told.get("negligible", 0.0))


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "a string": lambda value: isinstance(value, str),
    "a date": lambda value: isinstance(value, datetime),
    "a whole number of 0 or more": lambda value: _is_number(value) and value == int(value),
    "a number of 0 or more": _is_number,
    "a number of 0 or more, at most 1e100": lambda value: (
        _is_number(value, 1 / _FASTEST, _FASTEST) or _is_number(value, 0, 0)
    ),
    "a string, a number or null": lambda value: value is None or isinstance(value, str | int | float),
    "a number above 0 or null": lambda value: value is None or _is_ratio(value),
    "a number of 0 or more, or null": lambda value: value is None or _is_number(value),
    "a number above 0 or infinity": lambda value: value == inf or _is_ratio(value),
    "a number from 0 to 1": lambda value: _is_number(value, 0, 1),
    f"one of {', '.join(get_args(Verdict))}": lambda value: value in get_args(Verdict),
}
"""The types of values. Each name is used in messages."""
_TEXT, _DATE, _WHOLE, _NUMBER, _SPEED, _PLAIN, _RATIO, _LATENCY, _HIGH, _SHARE, _VERDICT = _TYPES
_Schema = Mapping[str, Any]


def _document(needed: Mapping[str, str | _Schema], more: Mapping[str, str | _Schema] = {}) -> _Schema:
    """Return the schema of a document with needed and optional fields. Other fields are ignored."""
    fields = {
        name: {"type": one} if isinstance(one, str) else one for name, one in {**needed, **more}.items()
    }
    return {"type": "object", "required": list(needed), "properties": fields}


def _array(of: _Schema, least: int = 0) -> _Schema:
    return {"type": "array", "items": of, "minItems": least}


_BELOW: Final = ("contrast", "targets", "slices")
_CONCLUSIONS: Final = ("comparison", *_BELOW)
_FOUND: Final = {"ratio": _RATIO, "low": _NUMBER, "high": _HIGH, "p": _SHARE, "blocks": _WHOLE}
_CONCLUDED: Final = {"against": _TEXT, **_FOUND, "margin": _NUMBER, "verdict": _VERDICT}
_OWN: Final = _document(_CONCLUDED, {"negligible": _NUMBER, "mean_latency": _LATENCY})
_EACH: Final = _array(_document({"id": _TEXT, "start": _DATE, **_FOUND}, {"speed": _NUMBER}), least=2)
_POOLED: Final = _document({**_CONCLUDED, "each": _EACH}, {"negligible": _NUMBER})
_CAMPAIGNS: Final = _document(
    {**_CONCLUDED, "each": _EACH},
    {
        "differs": _array(_document({"field": _TEXT, "values": _array({"type": _PLAIN})})),
        **dict.fromkeys(_BELOW, _POOLED),
    },
)
_REPEAT: Final = _document(
    {"operations_per_second": _SPEED}, {"block": _WHOLE, "latency": _document({}, {"count": _WHOLE})}
)
_ROW: Final = _document(
    {"_id": _document({"testname": _TEXT}, {"target": _TEXT})},
    {
        "start_time": _DATE,
        "repeats": _array(_REPEAT),
        "campaign": _document({}, {"id": _TEXT, "start": _DATE, "slice_seconds": _NUMBER}),
        **dict.fromkeys(_CONCLUSIONS, _OWN),
        "campaigns": _CAMPAIGNS,
        "servers": _document({}, {"members": _array(_document({}, dict.fromkeys(FIELDS, _PLAIN)))}),
        "client": _document({}, {"connections": _WHOLE}),
        **dict.fromkeys(("experiment", *PROVENANCE), _document({})),
    },
)
_CHECKER: Final = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {words: lambda _, value, holds=holds: holds(value) for words, holds in _TYPES.items()}
)
_VALIDATOR: Final = extend(Draft202012Validator, type_checker=_CHECKER)(_ROW)
