"""What makes a document a benchmark result: its shape, whatever collection it stands in.

A result says which test it is of and when that began: its ``_id`` is a document with a text ``testname``, and its
``start_time`` is a date. Every result document has both (``schemas/result.schema.json``), and hardly anything else has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

MARKS: Final = ("_id.testname", "start_time")
"""The fields that tell."""
IS_RESULT: Final[Mapping[str, Any]] = {
    "$and": [{"$eq": [{"$type": "$_id.testname"}, "string"]}, {"$eq": [{"$type": "$start_time"}, "date"]}]
}
"""The same as an expression of the aggregation language, for callers that have no documents on this machine."""


def is_result(document: Mapping[str, Any]) -> bool:
    """Whether the document is a benchmark result."""
    key = document.get("_id")
    named = isinstance(key, Mapping) and isinstance(key.get("testname"), str)
    return named and isinstance(document.get("start_time"), datetime)


def expects_results(pipeline: Iterable[Any]) -> bool:
    """Whether a pipeline is written for results: it reads the name of their test, which nothing else has."""
    return any(map(_names_a_test, pipeline))


def _names_a_test(part: Any) -> bool:
    if isinstance(part, str):
        return part.lstrip("$") == MARKS[0]
    if isinstance(part, Mapping):
        return MARKS[0] in part or any(map(_names_a_test, part.values()))
    return isinstance(part, list) and any(map(_names_a_test, part))
