"""Values as the text that string operators take them for: numbers and dates are written out, null is empty."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from bson.code import Code
from bson.timestamp import Timestamp

from mongo_tables.aggregation.dateformats import ISO_UTC, date_text
from mongo_tables.aggregation.dates import UTC
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import is_date, is_nullish, is_number, millis, type_name


def as_text(value: Any) -> str:
    """The text of a value for ``$toUpper``, ``$substr`` and their like; a double with six digits.

    Raises AggregationError (16007) for booleans, arrays, documents and other types without a text.
    """
    if type(value) is str:
        return value
    if is_nullish(value):
        return ""
    if is_number(value):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if is_date(value):
        return date_text(millis(value), UTC, ISO_UTC)
    if isinstance(value, Timestamp):
        moment = datetime(1970, 1, 1) + timedelta(seconds=value.time)
        month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[
            moment.month - 1
        ]
        return f"{month} {moment.day:2} {moment:%H:%M:%S}:{value.inc}"
    if isinstance(value, str) and not (isinstance(value, Code) and value.scope is not None):
        return str(value)
    raise AggregationError(f"{type_name(value)} has no text", code=16007)
