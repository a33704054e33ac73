"""A pipeline is given the fields that it reads, of however many documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fixture_memory import project
from mongo_tables.results import stored
from mongo_tables.results.fixtures import FixtureSource


def test_a_pipeline_that_reads_three_fields_of_many_documents_is_given_three_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_KEPT", 0)
    project(tmp_path, 200)
    stages = [{"$sort": {"rate": 1}}, {"$group": {"_id": "$threads", "longest": {"$max": "$latency.max"}}}]
    held = FixtureSource(tmp_path / "fixtures").read_collection("results").with_documents(stages, list)
    assert len(held) == 200
    assert {tuple(one) for one in held} == {("_id", "threads", "rate", "latency")}
    assert {tuple(one["latency"]) for one in held} == {("max",)}
