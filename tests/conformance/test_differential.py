"""A sample of generated pipelines in every test run; ``python -m tests.conformance.differential`` compares thousands."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.differential import Server, compare
from tests.mongod import Mongod


@pytest.mark.parametrize("chosen", [1, 2])
def test_generated_pipelines_give_what_a_server_gives(chosen: int, mongod: Mongod) -> None:
    seen: Counter[str] = Counter()
    compare(Server(mongod.uri()), 200, chosen, seen)
    assert seen["rows"] > 100
    assert seen["error"] > 5
