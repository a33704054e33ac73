"""Hypothesis strategies for BSON documents: every type that is not deprecated, at its edges.

Of texts, bytes and numbers of a kind of their own, such as ``Code``, which is a text to Python, Hypothesis draws what
they are made of alone: where it makes a failure smaller it takes such a value for a plain one, and falls over it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import bson
from bson.binary import Binary
from bson.code import Code
from bson.datetime_ms import DatetimeMS
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp
from hypothesis import strategies as st


class Unmade(NamedTuple):
    """A value that is made once all of a document is drawn."""

    kind: type
    parts: tuple[Any, ...]


def _later(kind: type, *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Unmade]:
    return st.tuples(*parts).map(lambda drawn: Unmade(kind, drawn))


def _made(value: Any) -> Any:
    if isinstance(value, Unmade):
        return value.kind(*(_made(part) for part in value.parts))
    if isinstance(value, Mapping):
        return {name: _made(inner) for name, inner in value.items()}
    return [_made(inner) for inner in value] if isinstance(value, list) else value


TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    INT32,
    _later(Int64, INT64),
    _later(Int64, st.sampled_from([1, 2**31, -(2**31)])),
    st.just(2**31 - 1),
    st.floats(allow_nan=False),
    st.sampled_from(
        [
            1.0,
            -0.0,
            1e300,
            5e-324,
            1e16,
            123456789012345680.0,
            struct.unpack("<d", b"\0" * 6 + b"\xf8\x7f")[0],
        ]
    ),
    TEXT,
    INT64.map(DatetimeMS),
    st.integers(0, 253402300799999).map(DatetimeMS),
    st.binary(max_size=5),
    _later(Binary, st.binary(min_size=16, max_size=16), st.sampled_from([3, 4, 5, 6, 128])),
    st.binary(min_size=12, max_size=12).map(ObjectId),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6).map(
        Decimal128
    ),
    st.sampled_from(["NaN", "Infinity", "-Infinity", "-0E+3", "0.00", "1E+6144", "1E-6176"]).map(Decimal128),
    st.builds(Regex, TEXT, st.sampled_from([0, 2, 8, 16, 64, 10])),
    st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
    st.sampled_from([MinKey(), MaxKey()]),
    _later(Code, TEXT),
    _later(Code, TEXT, st.dictionaries(st.sampled_from(["a", "b"]), _later(Int64, INT64) | TEXT, max_size=2)),
)

KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", "testname"]), TEXT.filter(lambda key: not key.startswith("$"))
)


def values(keys: st.SearchStrategy[str] = KEYS, leaves: int = 8) -> st.SearchStrategy[object]:
    """Scalars, arrays and documents, nested."""
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=leaves,
    )


def documents(keys: st.SearchStrategy[str] = KEYS) -> st.SearchStrategy[bytes]:
    """Whole documents as BSON, `_id` first as a server stores them."""
    ids = st.one_of(INT32, TEXT, st.dictionaries(keys, SCALARS, max_size=2))
    fields = st.dictionaries(keys, values(keys), max_size=4)
    return st.builds(lambda key, rest: bson.encode(_made({**rest, "_id": key})), ids, fields)
