"""One item more in a list of YAML: everything else stays to the byte, or nothing is done."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.commands.init.site_files import add_item

ITEM = {"ours": {"results": "a, b: #c.json"}}

words = st.text(st.sampled_from("ab-: #'\"{}[]|>&*!%@é,\n"), max_size=6)
values = st.recursive(
    words | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
lists = st.lists(words.filter(str.strip) | st.dictionaries(words, values, min_size=1, max_size=2), max_size=4)
documents = st.dictionaries(st.sampled_from(["a", "list", "z"]), values, max_size=2)


def is_part_of(part: str, whole: str) -> bool:
    """Whether all signs of a text stand in another one, in their order."""
    signs = iter(whole)
    return all(sign in signs for sign in part)


@given(
    documents, lists, st.sampled_from([None, False, True]), st.integers(2, 6), st.sampled_from(["\n", "\r\n"])
)
def test_a_text_is_added_to_only_so_that_it_says_what_it_said_and_the_item(
    others: dict[str, Any], listed: list[Any], flow: bool | None, indent: int, newline: str
) -> None:
    settings = {**others, "list": listed, "after": 1}
    dumped = yaml.safe_dump(
        settings, sort_keys=False, default_flow_style=flow, indent=indent, allow_unicode=True
    )
    text = f"# first\n{dumped}# last\n".replace("\n", newline)
    added = add_item(text, "list", ITEM)
    if added is not None:
        assert yaml.safe_load(added) == {**settings, "list": [*listed, ITEM]}
        assert is_part_of(text, added)
    elif newline == "\n":
        assert not listed or flow is not False, text


@given(documents.filter(lambda settings: "list" not in settings))
def test_a_list_that_is_not_there_is_written_at_the_end(settings: dict[str, Any]) -> None:
    text = (
        yaml.safe_dump(settings, sort_keys=False, default_flow_style=False) if settings else "# nothing yet"
    )
    added = add_item(text, "list", ITEM, first="search")
    assert added is not None
    assert added.startswith(text)
    assert yaml.safe_load(added) == {**settings, "list": ["search", ITEM]}


@pytest.mark.parametrize(
    "text",
    [
        "list: [\n",
        "- a\n",
        "a: 1\n---\nlist: []\n",
        "list: {a: 1}\n",
        "list:\n",
        "x: &x []\nlist: *x\n",
        "a: \t1\n: 2\n",
    ],
)
def test_what_cannot_be_added_to_is_not(text: str) -> None:
    assert add_item(text, "list", ITEM) is None


def test_a_comment_behind_the_last_item_stays_behind_it() -> None:
    text = "list:\n  - a  # the first\n  # none yet\nb: 1\n"
    assert add_item(text, "list", "c") == "list:\n  - a  # the first\n  - c\n  # none yet\nb: 1\n"
