"""The tokens of a text that nobody can read: each has its path, and together they cost what the text costs."""

from __future__ import annotations

import pytest

from mongo_tables.jsontext import MAX_DEPTH
from mongo_tables.jsontext.tokens import read_tokens
from mongo_tables.lsp.typed_json import read_value


@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_deeper_than_anyone_reads_is_passed_over(opener: str, closer: str) -> None:
    text = f'{{"deep": {opener * 5_000}1{closer * 5_000}, "next": [2]}}'
    tokens = read_tokens(text)
    assert tokens.open == ()
    assert MAX_DEPTH < max(len(one.path) for one in tokens.found) <= 2 * MAX_DEPTH
    assert read_value(text, tokens)["next"] == [2]


def test_of_brackets_that_nothing_closes_few_are_open() -> None:
    assert len(read_tokens("[" * 5_000).open) == 2 * MAX_DEPTH
