"""Generated documents are what the specification says, and the same for the same seed."""

from __future__ import annotations

import bson
from hypothesis import given, settings
from hypothesis import strategies as st

from preprocessor.runner.documents import DocumentFactory

LARGEST_TRIPLE = 3 * 1 + len("intfield99999datefield99999stringfield99999") + 3 + 4 + 8 + 4 + 32 + 1


@settings(max_examples=25, deadline=None)
@given(seed=st.text(max_size=8), size=st.floats(0.05, 40))
def test_a_document_is_as_large_as_asked_and_too_large_by_less_than_one_triple(seed, size):
    raw = DocumentFactory(seed, size).document()
    assert round(size * 1024) <= len(raw) < round(size * 1024) + LARGEST_TRIPLE


@settings(max_examples=25, deadline=None)
@given(seed=st.text(max_size=8))
def test_a_document_is_bson_of_integer_date_and_text_fields_in_turn(seed):
    raw = DocumentFactory(seed, 2.0).document()
    document = bson.decode(raw)
    assert bson.encode(document) == raw
    triples = len(document) // 3
    names = [f"{kind}field{n}" for n in range(1, triples + 1) for kind in ("int", "date", "string")]
    assert list(document) == names
    assert all(0 <= document[f"intfield{n}"] <= 99_999 for n in range(1, triples + 1))
    assert all(1 <= len(document[f"stringfield{n}"]) <= 32 for n in range(1, triples + 1))


def test_the_same_seed_gives_the_same_documents_and_another_seed_others():
    first, again, other = (list(DocumentFactory(seed, 1.0).documents(5)) for seed in ("a", "a", "b"))
    assert first == again
    assert first != other
    assert len(set(first)) == 5


def test_what_comes_first_is_part_of_the_document_and_of_its_size():
    head = bson.encode({"_id": 7})[4:-1]
    document = DocumentFactory("x", 1.0).document(head)
    assert list(bson.decode(document))[:2] == ["_id", "intfield1"]
    assert 1024 <= len(document) < 1024 + LARGEST_TRIPLE
