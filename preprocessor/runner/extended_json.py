"""Result documents as lines of Extended JSON v2 in which every BSON type survives.

The relaxed form writes an int64 like an int32, and the canonical form wraps every number. Both are allowed in
one text, so an int64 alone is wrapped here: other numbers read back as what they were, and the lines stay
readable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

INT32 = range(-(2**31), 2**31)


def dumps(document: Mapping[str, Any]) -> str:
    """Give one line for one document, fields in their order."""
    return json.dumps(_plain(document), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(line: str) -> dict[str, Any]:
    """Read a line; raises ValueError when it is not Extended JSON of a document."""
    from bson import json_util

    document = json_util.loads(line, json_options=json_util.RELAXED_JSON_OPTIONS.with_options(tz_aware=True))
    if not isinstance(document, dict):
        raise ValueError("a line is not a document")
    return document


def _plain(value: Any) -> Any:
    from bson import json_util
    from bson.int64 import Int64

    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Int64) or (isinstance(value, int) and value not in INT32):
        return {"$numberLong": str(int(value))}
    if isinstance(value, int):
        return value
    return json_util.default(value, json_util.RELAXED_JSON_OPTIONS) if not _finite(value) else value


def _finite(value: Any) -> bool:
    return isinstance(value, float) and value - value == 0
