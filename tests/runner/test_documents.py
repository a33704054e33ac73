"""Generated documents are what the specification says, and the same for the same seed.

Generated documents are what the specification says, and the same for the same seed.

Flat documents have the fields, kinds and sizes of POCDriver's, and are the same for the same seed.
"""

from __future__ import annotations

from datetime import datetime

import bson
from bson.int64 import Int64
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.runner.workloads.inserts import DocumentFactory, FlatFactory, assemble

LARGEST_TRIPLE = 3 * 2 + len("intfield99999" + "datefield99999" + "stringfield99999") + 4 + 8 + 4 + 32 + 1


@settings(max_examples=25, deadline=None)
@given(seed=st.text(max_size=8), size=st.floats(0.05, 40))
def test_a_document_is_as_large_as_asked_and_too_large_by_less_than_one_triple(seed, size):
    raw = assemble(b"", DocumentFactory(seed, size).tail())
    assert round(size * 1024) <= len(raw) < round(size * 1024) + LARGEST_TRIPLE


@settings(max_examples=25, deadline=None)
@given(seed=st.text(max_size=8))
def test_a_document_is_bson_of_integer_date_and_text_fields_in_turn(seed):
    raw = assemble(b"", DocumentFactory(seed, 2.0).tail())
    document = bson.decode(raw)
    assert bson.encode(document) == raw
    triples = len(document) // 3
    names = [f"{kind}field{n}" for n in range(1, triples + 1) for kind in ("int", "date", "string")]
    assert list(document) == names
    assert all(0 <= document[f"intfield{n}"] <= 99_999 for n in range(1, triples + 1))
    assert all(1 <= len(document[f"stringfield{n}"]) <= 32 for n in range(1, triples + 1))


def test_the_same_seed_gives_the_same_documents_and_another_seed_others():
    def made(seed):
        factory = DocumentFactory(seed, 1.0)
        return [factory.tail() for _ in range(5)]

    assert made("a") == made("a") != made("b")
    assert len(set(made("a"))) == 5


def test_a_head_comes_first_and_is_part_of_the_size():
    head = bson.encode({"_id": 7})[4:-1]
    raw = assemble(head, DocumentFactory("x", 1.0, len(head)).tail())
    assert list(bson.decode(raw))[:2] == ["_id", "intfield1"]
    assert 1024 <= len(raw) < 1024 + LARGEST_TRIPLE


def test_text_has_the_letters_of_english_with_a_space_every_sixth_place():
    factory = DocumentFactory("x", 200.0)
    document = bson.decode(assemble(b"", factory.tail()))
    text = "".join(value for name, value in document.items() if name.startswith("string"))
    assert 0.14 < (text.count(" ") + text.count(".")) / len(text) < 0.19
    assert text.count("e") > text.count("t") > text.count("h") > text.count("z")
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789 .")


KINDS = [Int64, datetime, str, str, str, datetime, Int64, str, str, Int64, datetime, str, Int64]


def made(seed, fields=10, text_bytes=30):
    return assemble(b"", FlatFactory(seed, fields, text_bytes).tail())


@settings(max_examples=50, deadline=None)
@given(seed=st.text(max_size=8), fields=st.integers(1, 13), text_bytes=st.integers(1, 200))
def test_fields_have_the_kind_of_their_number_and_texts_end_with_a_word(seed, fields, text_bytes):
    raw = made(seed, fields, text_bytes)
    document = bson.decode(raw)
    assert bson.encode(document) == raw
    assert list(document) == [f"fld{number}" for number in range(fields)] + ["bin"]
    assert document["bin"] == b""
    for number in range(fields):
        value = document[f"fld{number}"]
        assert type(value) is KINDS[number]
        if isinstance(value, str):
            assert len(value) <= text_bytes
            assert value == value.strip()


def test_numbers_spread_as_the_normal_distribution_does():
    factory = FlatFactory("spread", 1, 30)
    values = [bson.decode(assemble(b"", factory.tail()))["fld0"] for _ in range(4000)]
    within = sum(value < 1e6 for value in values) / len(values)
    assert 0.65 < within < 0.71  # one standard deviation: 0.683


def test_texts_use_the_length_that_they_may_have():
    factory = FlatFactory("texts", 10, 30)
    lengths = [len(bson.decode(assemble(b"", factory.tail()))["fld2"]) for _ in range(500)]
    assert 23 < sum(lengths) / len(lengths) <= 30


def test_the_same_seed_gives_the_same_flat_documents():
    assert made("a") == made("a") != made("b")
