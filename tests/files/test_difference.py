"""What differs between two texts is one change, no longer than it must be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.files.text_changes import difference

TEXTS = st.text("ab\n", max_size=12)


@given(TEXTS, TEXTS)
def test_the_change_makes_the_one_text_of_the_other(before: str, after: str) -> None:
    start, end, text = difference(before, after)
    assert before[:start] + text + before[end:] == after


@given(TEXTS, TEXTS)
def test_the_change_is_as_short_as_it_can_be(before: str, after: str) -> None:
    start, end, text = difference(before, after)
    assert before[:start] == after[:start]
    assert before[start : start + 1] != after[start : start + 1] or start == len(before) == len(after)
    assert not (text and end > start and text[-1] == before[end - 1])


def test_equal_texts_differ_by_nothing() -> None:
    assert difference("aa", "aa") == (2, 2, "")
