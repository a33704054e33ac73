"""Flat documents have the fields, kinds and sizes of POCDriver's, and are the same for the same seed."""

from __future__ import annotations

from datetime import datetime

import bson
from bson.int64 import Int64
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.runner.documents import FlatFactory, assemble

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


def test_the_same_seed_gives_the_same_documents_and_another_seed_others():
    assert made("a") == made("a") != made("b")
