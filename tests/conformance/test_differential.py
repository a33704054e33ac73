"""A sample of generated pipelines in every test run; ``python -m tests.conformance.differential`` compares thousands."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.differential import compare, summary
from tests.conformance.known import KNOWN
from tests.conformance.outcomes import Server
from tests.mongod import Mongod


@pytest.mark.parametrize(
    ("chosen", "examples"), [(1, 100), pytest.param(2, 1000, marks=pytest.mark.exhaustive)]
)
def test_generated_pipelines_give_what_a_server_gives(chosen: int, examples: int, mongod: Mongod) -> None:
    seen: Counter[str] = Counter()
    compare(Server(mongod.uri()), examples, chosen, seen)
    assert seen["rows"] > examples / 2
    assert seen["error"] > examples / 40
    assert seen.keys() <= {"rows", "error", "not offline", *(one.reason for one in KNOWN)}


def test_the_summary_counts_each_known_difference() -> None:
    seen = Counter({"rows": 3, KNOWN[0].reason: 2})
    text = summary(seen, 1.2, 0)
    assert text.startswith("5 pipelines compared in 1 s")
    assert f"      2  {KNOWN[0].reason}" in text
    assert text.endswith("0 disagreements")
