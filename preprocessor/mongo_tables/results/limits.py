"""The row and byte limits of a query, and the BSON that both sources' rows pass through.

Encoding every row once gives its size, and decoding it again gives rows of the same Python types from both
sources: what one calls an int32 the other cannot call an int64.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from mongo_tables.results.model import Limits, ResultsError, Rows

OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
"""How documents are decoded everywhere: naive UTC dates, ``DatetimeMS`` outside Python's range, UUIDs as
binary.
"""


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
        rows += bson.decode_all(batch, OPTIONS)
        if len(rows) > limits.rows:
            raise ResultsError(
                f"the pipeline gives more than {limits.rows:,} rows",
                hint="summarise with $group, or end the pipeline with $sort and $limit",
            )
    return rows
