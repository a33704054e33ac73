"""Decoding of BSON to the same Python types for all sources, and a fixed order for fields of window stages.

A server adds the fields of ``$setWindowFields`` (and of the methods of ``$fill``) in the order of a hash table, which
can differ from run to run. Sorting such fields into the order of the pipeline makes the rows of files, servers and
repeated runs equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError, Rows

CODEC: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
"""Dates are naive and in UTC, or ``DatetimeMS`` outside of Python's range; UUIDs are binary values."""


def through_bson(document: Mapping[str, Any]) -> dict[str, Any]:
    """Encode and decode a document, so that it has the types of BSON. Raises the errors of ``bson.encode``."""
    return bson.decode(bson.encode(document), CODEC)


def encode_rows(rows: Rows) -> bytes:
    """Return rows as concatenated BSON documents, as a server sends them."""
    # Each row is encoded inside another document: pymongo would move its ``_id`` to the front.
    return b"".join([bson.encode({"": row})[6:-1] for row in rows])


def decode_rows(content: bytes) -> Rows:
    """Return the rows that ``encode_rows`` encoded."""
    return bson.decode_all(content, CODEC)


def rows_within(batches: Iterable[bytes], limits: Limits) -> Rows:
    """Decode batches of concatenated BSON documents. Raises ``ResultsError`` if a limit is exceeded."""
    rows: Rows = []
    size = 0
    for batch in batches:
        size += len(batch)
        if size > limits.bytes:
            raise ResultsError(
                f"the pipeline returns more than {limits.bytes:,} bytes of rows",
                hint="remove unused fields with $project, or filter with $match",
            )
        rows += bson.decode_all(batch, CODEC)
        if len(rows) > limits.rows:
            raise ResultsError(
                f"the pipeline returns more than {limits.rows:,} rows",
                hint="summarise with $group, or end the pipeline with $sort and $limit",
            )
    return rows


Places = dict[str, int]
"""The position of each field name in the order of the pipeline."""


def settle_field_order(rows: Rows, query: Query) -> Rows:
    """Return the rows. The fields that window stages add are in the order of the query."""
    places: Places = {}  # each part of a dotted name counts by itself
    for stage, argument in query.arguments_of(("$setWindowFields", "$fill")):
        added = _list_added_fields(stage, argument)
        for part in ".".join(added).split(".") if len(added) > 1 else ():
            places.setdefault(part, len(places))
    return [_sort_fields(row, places) for row in rows] if len(places) > 1 else rows


def _list_added_fields(stage: str, argument: Any) -> list[str]:
    if not isinstance(argument, Mapping):
        return []
    output = argument.get("output")
    if not isinstance(output, Mapping):
        return []
    if stage == "$setWindowFields":
        return list(output)
    return [name for name, way in output.items() if isinstance(way, Mapping) and "method" in way]


def _sort_fields(value: Any, places: Places) -> Any:
    """Sort the fields in ``places`` in every document. All other fields keep their positions."""
    if type(value) is list:
        return [_sort_fields(item, places) for item in value]
    if type(value) is not dict:
        return value
    moved = iter(sorted((name for name in value if name in places), key=places.__getitem__))
    names = [next(moved) if name in places else name for name in value]
    return {name: _sort_fields(value[name], places) for name in names}
