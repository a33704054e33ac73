"""What is learnt of many values at once is what each of them says of itself."""

from __future__ import annotations

from bson.code import Code
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape.document_shapes import FEW, learnt
from mongo_tables.lint.shape.expressions import constant

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**33), 2**33),
    st.sampled_from([2**31, -(2**31) - 1, 2**31 - 1]),
    st.integers(-5, 5).map(Int64),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.datetimes(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@given(st.lists(VALUES, min_size=1, max_size=80))
def test_the_kinds_of_a_field_are_those_of_its_values(values: list[object]) -> None:
    shape = learnt([{"a": value} for value in values]).fields["a"]
    assert shape.kinds == frozenset(map(type_name, values))
    scalars = all(isinstance(value, (str, int, float)) for value in values)
    known = scalars and len(set(values)) <= FEW
    assert shape.traits.known == (frozenset(values) if known else None)
    assert (shape.items is not None) == any(isinstance(value, list) and value for value in values)


def test_code_is_a_value_of_its_own_kind_though_it_is_a_string_without_a_hash() -> None:
    shape = learnt([{"a": Code("x")}, {"a": "y"}]).fields["a"]
    assert shape.kinds == {"javascript", "string"}
    assert shape.traits.known is None


def test_a_constant_is_known_as_it_is_written() -> None:
    for value in (0.0, -0.0, 1, 1.0, True, Int64(1)):
        shape = constant(value)
        assert shape.kinds == {type_name(value)}
        assert str(shape.traits.known) == str(frozenset({value}))
