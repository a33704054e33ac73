"""Decoding of BSON, the same for all sources, so that they return equal values of the same Python types.

Also a fixed order for fields that a server adds in an arbitrary order: those of several windows in one stage.

A server adds the fields of ``$setWindowFields`` (and of the methods of ``$fill``) in the order of a hash table, which
differs from the pipeline and between runs. To make the rows of both sources, and of two runs, equal, consecutive fields
of this kind are sorted into the order of the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError, Rows

CODEC: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
"""Naive UTC dates, ``DatetimeMS`` outside Python's range, UUIDs as binary."""


def through_bson(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the values that BSON gives back. Raises as ``bson.encode`` does."""
    return bson.decode(bson.encode(document), CODEC)


def encode_rows(rows: Rows) -> bytes:
    """Return rows as concatenated BSON documents, as a server sends them."""
    # Each row is wrapped for encoding, because pymongo moves the ``_id`` of an outer document.
    return b"".join([bson.encode({"": row})[6:-1] for row in rows])


def rows_within(batches: Iterable[bytes], limits: Limits) -> Rows:
    """Decode concatenated BSON documents, batch by batch. Raises ``ResultsError`` past a limit, naming it."""
    rows: Rows = []
    size = 0
    for batch in batches:
        size += len(batch)
        if size > limits.bytes:
            raise ResultsError(
                f"the pipeline gives more than {limits.bytes:,} bytes of rows",
                hint="drop what no column shows with $project, or filter with $match",
            )
        rows += bson.decode_all(batch, CODEC)
        if len(rows) > limits.rows:
            raise ResultsError(
                f"the pipeline gives more than {limits.rows:,} rows",
                hint="summarise with $group, or end the pipeline with $sort and $limit",
            )
    return rows


Places = dict[str, int]
"""The names to sort, each with its position."""


def settle_field_order(rows: Rows, query: Query) -> Rows:
    """Return the rows, with the fields of several windows in the order of the query."""
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
    """Return the value with these fields sorted in every document, within the positions that they occupy."""
    if type(value) is list:
        return [_sort_fields(item, places) for item in value]
    if type(value) is not dict:
        return value
    moved = iter(sorted((name for name in value if name in places), key=places.__getitem__))
    names = [next(moved) if name in places else name for name in value]
    return {name: _sort_fields(value[name], places) for name in names}
