"""Documents that are kept packed are the same as those that are not, whatever they are asked."""

from __future__ import annotations

from typing import Any

import bson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.results import packed
from mongo_tables.results.packed import join, pack, split
from mongo_tables.results.rawbson import Broken
from mongo_tables.results.rawdocuments import RawDocuments
from mongo_tables.results.stored import StoredCollection

DOCUMENTS = [{"_id": number, "a": "x" * (number * 37 % 400), "n": {"m": number % 5}} for number in range(300)]
RAWS = [bson.encode(document) for document in DOCUMENTS]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_SIZE", 5_000)


def both() -> tuple[RawDocuments, RawDocuments]:
    pieces = list(pack(RAWS))
    assert len(pieces) > 5
    return RawDocuments([b"".join(RAWS)]), RawDocuments(pieces)


def test_packed_documents_are_those_that_were_packed() -> None:
    plain, kept = both()
    assert list(kept) == list(plain) == RAWS
    assert (len(kept), kept.size) == (len(plain), plain.size)
    assert [kept[number] for number in (299, 0, 150, 151)] == [RAWS[number] for number in (299, 0, 150, 151)]
    assert list(kept.first_values()) == list(plain.first_values())
    assert list(kept.sizes(range(300))) == list(map(len, RAWS))
    assert kept.large(350) == plain.large(350) != frozenset()
    for apart in ((), (3, 150)):
        runs = b"".join(run for _, run in kept.runs(apart))
        assert runs == b"".join(RAWS)
        assert [run for number, run in kept.runs(apart) if number in apart] == [
            RAWS[number] for number in apart
        ]


def test_pieces_that_were_joined_are_the_same_pieces_again() -> None:
    pieces = list(pack(RAWS))
    assert split(join(pieces)) == pieces
    assert split(join([])) == []


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=3))
def test_what_was_cut_off_or_changed_is_broken_or_the_same(at: int, other: bytes) -> None:
    whole = join(pack(RAWS))
    for damaged in (whole[:at], whole[:at] + other + whole[at + len(other) :]):
        try:
            found = list(RawDocuments(split(damaged)))
        except (Broken, MemoryError):
            continue
        assert found == RAWS[: len(found)]


@pytest.mark.parametrize(
    "pipeline",
    [
        [],
        [{"$match": {"_id": 7}}],
        [{"$match": {"n.m": {"$in": [1, 3]}}}, {"$project": {"a": 1}}],
        [{"$sort": {"a": 1, "_id": -1}}],
        [{"$group": {"_id": "$n.m", "n": {"$sum": 1}}}],
    ],
)
def test_a_pipeline_is_given_the_same_documents(
    pipeline: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kept in (2**20, 100):
        monkeypatch.setattr("mongo_tables.results.stored._KEPT", kept)
        given_ = [list(StoredCollection(raws).with_documents(pipeline, list)) for raws in both()]
        assert given_[0] == given_[1]
