"""A result document reads back from its line as what it was, types included."""

from __future__ import annotations

from datetime import UTC, datetime

from bson import ObjectId, Timestamp
from bson.int64 import Int64
from hypothesis import given, settings
from hypothesis import strategies as st

from preprocessor.runner import extended_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.integers(-(2**63), 2**63 - 1).map(Int64)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1)).map(
        lambda when: when.replace(microsecond=when.microsecond // 1000 * 1000, tzinfo=UTC)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def typed(value):
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value), value)


@settings(max_examples=150, deadline=None)
@given(value=VALUES)
def test_every_type_survives(value):
    line = extended_json.dumps({"value": value})
    assert "\n" not in line
    assert typed(extended_json.loads(line)) == typed({"value": value})


def test_other_bson_types_survive_too():
    document = {"id": ObjectId("6b00f0926a3617b476ca0a45"), "time": Timestamp(5, 6), "raw": b"\x00\x01"}
    assert extended_json.loads(extended_json.dumps(document)) == document
