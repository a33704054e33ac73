"""How BSON is decoded everywhere, so that all sources give the same values of the same Python types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from mongo_tables.results.limits import Limits
from mongo_tables.results.model import ResultsError, Rows

CODEC: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
"""Naive UTC dates, ``DatetimeMS`` outside Python's range, UUIDs as binary."""


def through_bson(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the values that BSON gives back. Raises as ``bson.encode`` does."""
    return bson.decode(bson.encode(document), CODEC)


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
