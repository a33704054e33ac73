"""Of many documents a few are looked at, and all is learnt from them that all would tell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.lint.shape import document_shapes
from mongo_tables.lint.shape.values import Shape


def told(shape: Shape) -> Any:
    """All that a shape says, in a form that can be compared."""
    fields = {name: told(inner) for name, inner in shape.fields.items()}
    items = None if shape.items is None else told(shape.items)
    return (shape.kinds, shape.missing, list(fields), fields, shape.open, items, repr_of(shape.traits.known))


def repr_of(known: frozenset[Any] | None) -> Any:
    return None if known is None else sorted(map(repr, known))


NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([1.0, 2.5, float("nan")]),
    st.sampled_from("xyz"),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=12))
@settings(max_examples=300, deadline=None)
def test_what_is_learnt_of_many_documents_is_what_all_of_them_tell(given_documents: list[dict[str, Any]]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_shapes, "MANY", 0)
        patch.setattr(document_shapes, "FEW", 2)
        found = document_shapes.select_telling(given_documents)
        assert told(document_shapes.learnt(found)) == told(document_shapes.learnt(given_documents))


def test_of_very_many_documents_few_are_kept():
    many = ({"_id": number, "rate": number / 3, "by": {"threads": number % 8}} for number in range(50_000))
    assert len(document_shapes.select_telling(many)) < 300
    last = [{"_id": 1}] * 20_000 + [{"_id": 1, "late": None}]
    assert document_shapes.select_telling(last) == [{"_id": 1}, {"_id": 1, "late": None}]
