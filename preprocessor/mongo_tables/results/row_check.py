"""Check that a row has the shape that comparisons, pools and histories need: it may be hand-written or truncated.

This is less than ``schemas/result.schema.json``, which older rows need not satisfy: fields that exist must have the
expected types. Also, the values of a conclusion must not contradict each other, because its verdict is reported
unchanged.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from math import inf
from sys import float_info
from typing import Any, Final, NamedTuple, get_args

from mongo_tables.results.conditions import FIELDS
from mongo_tables.results.verdicts import Verdict, find_contradiction

_FASTEST: Final = 1e100
"""The largest speed; others are 0 or at least its inverse. Quotients of speeds beyond it could be infinite."""
_NEEDED: Final = "!"
"""The suffix of the names of required fields."""


class _Leaf(NamedTuple):
    """A value without parts. ``words`` describe the expected value."""

    words: str
    holds: Callable[[Any], bool]


class _Array(NamedTuple):
    """An array of at least ``least`` such values."""

    of: _Shape
    least: int = 0


class _Document(NamedTuple):
    """A document with these fields. Others are ignored.

    ``contradiction`` returns how fields of the right types contradict each other.
    """

    fields: Mapping[str, _Shape] = {}
    contradiction: Callable[[Any], str] | None = None


_Shape = _Leaf | _Array | _Document


def find_row_fault(row: Mapping[str, Any]) -> str:
    """Return how a row deviates from what `mongo-tables run` writes, with its path, or "" if it is usable."""
    return next(_list_faults(row, _ROW, ""), "")


def _list_faults(value: Any, shape: _Shape, path: str) -> Iterator[str]:
    if isinstance(shape, _Leaf):
        if not shape.holds(value):
            yield _complain(path, value, shape.words)
    elif isinstance(shape, _Array):
        if not isinstance(value, list) or len(value) < shape.least:
            yield _complain(path, value, f"an array of {shape.least} or more" if shape.least else "an array")
            return
        for number, one in enumerate(value):
            yield from _list_faults(one, shape.of, f"{path}.{number}")
    elif not isinstance(value, Mapping):
        yield _complain(path, value, "a document")
    else:
        faults = list(_list_faults_of_fields(value, shape.fields, f"{path}." if path else ""))
        yield from faults
        if not faults and shape.contradiction and (fault := shape.contradiction(value)):
            yield f"{path} {fault}"


def _list_faults_of_fields(
    value: Mapping[str, Any], fields: Mapping[str, _Shape], prefix: str
) -> Iterator[str]:
    for field, part in fields.items():
        name = field.removesuffix(_NEEDED)
        if name in value:
            yield from _list_faults(value[name], part, prefix + name)
        elif name != field:
            yield f"{prefix}{name} is missing"


def _complain(path: str, value: Any, words: str) -> str:
    return f"{path} is {'null' if value is None else reprlib.repr(value)}, and not {words}"


def _is_number(value: Any, least: float = 0, most: float = float_info.max) -> bool:
    # NaN is in no range.
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_ratio(value: Any) -> bool:
    return _is_number(value) and value > 0


def _find_own_contradiction(told: Mapping[str, Any]) -> str:
    """Return the contradiction in a subdocument of conclusions, or "" for none."""
    if told["ratio"] is None:
        return "" if told["verdict"] == "not known" else f"has the verdict {told['verdict']}, but no ratio"
    ratio, low, high, margin = (told[name] for name in ("ratio", "low", "high", "margin"))
    return find_contradiction(told["verdict"], ratio, low, high, margin, told.get("negligible", 0.0))


def _find_pooled_contradiction(told: Mapping[str, Any]) -> str:
    without = told["ratio"] is not None and any(one["ratio"] is None for one in told["each"])
    return "has a ratio, but some of its campaigns do not" if without else _find_own_contradiction(told)


_TEXT: Final = _Leaf("a string", lambda value: isinstance(value, str))
_DATE: Final = _Leaf("a date", lambda value: isinstance(value, datetime))
_WHOLE: Final = _Leaf("a whole number of 0 or more", lambda value: _is_number(value) and value == int(value))
_NUMBER: Final = _Leaf("a number of 0 or more", _is_number)
_SPEED: Final = _Leaf(
    "a number of 0 or more",
    lambda value: _is_number(value, 1 / _FASTEST, _FASTEST) or _is_number(value, 0, 0),
)
_PLAIN: Final = _Leaf(
    "a string, a number or null", lambda value: value is None or isinstance(value, str | int | float)
)
_FOUND: Final[Mapping[str, _Shape]] = {
    "ratio!": _Leaf("a number above 0 or null", lambda value: value is None or _is_ratio(value)),
    "low!": _NUMBER,
    "high!": _Leaf("a number above 0 or infinity", lambda value: value == inf or _is_ratio(value)),
    "p!": _Leaf("a number from 0 to 1", lambda value: _is_number(value, 0, 1)),
    "blocks!": _WHOLE,
}
_VERDICT: Final = _Leaf(f"one of {', '.join(get_args(Verdict))}", lambda value: value in get_args(Verdict))
_CONCLUDED: Final[Mapping[str, _Shape]] = {
    "against!": _TEXT, **_FOUND, "margin!": _NUMBER, "verdict!": _VERDICT,
}  # fmt: skip
_LATENCY: Final = _Leaf("a number of 0 or more, or null", lambda value: value is None or _is_number(value))
_OWN: Final = _Document(
    {**_CONCLUDED, "negligible": _NUMBER, "mean_latency": _LATENCY}, _find_own_contradiction
)
_EACH: Final = _Array(_Document({"id!": _TEXT, "start!": _DATE, **_FOUND, "speed": _NUMBER}), least=2)
_OVER: Final[Mapping[str, _Shape]] = {**_CONCLUDED, "each!": _EACH}
_POOLED: Final = _Document({**_OVER, "negligible": _NUMBER}, _find_pooled_contradiction)
_BELOW: Final = ("contrast", "targets", "slices")
_DIFFERENCES: Final = _Array(_Document({"field!": _TEXT, "values!": _Array(_PLAIN)}))
_CAMPAIGNS: Final = _Document(
    {**_OVER, "differs": _DIFFERENCES, **dict.fromkeys(_BELOW, _POOLED)}, _find_pooled_contradiction
)
_PARTS: Final = (
    "experiment", "versions", "hardware", "topology", "write_concern", "read_concern", "read_preference",
    "bench_config",
)  # fmt: skip
_ROW: Final = _Document({
    "_id!": _Document({"testname!": _TEXT, "target": _TEXT}),
    "start_time": _DATE,
    "repeats": _Array(
        _Document(
            {"operations_per_second!": _SPEED, "block": _WHOLE, "latency": _Document({"count": _WHOLE})}
        )
    ),
    "campaign": _Document({"id": _TEXT, "start": _DATE, "slice_seconds": _NUMBER}),
    **dict.fromkeys(("comparison", *_BELOW), _OWN),
    "campaigns": _CAMPAIGNS,
    "servers": _Document({"members": _Array(_Document(dict.fromkeys(FIELDS, _PLAIN)))}),
    "client": _Document({"connections": _WHOLE}),
    **dict.fromkeys(_PARTS, _Document()),
})  # fmt: skip
