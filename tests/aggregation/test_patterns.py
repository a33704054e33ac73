"""Regular expressions as the server runs them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preprocessor.aggregation import AggregationError, NotOffline
from preprocessor.aggregation.patterns import compile_pattern


@given(st.text(max_size=8), st.text(max_size=8))
def test_an_escaped_text_is_found_where_it_stands(before: str, text: str) -> None:
    if "\0" in text:
        return
    pattern = "".join(f"\\x{{{ord(letter):x}}}" for letter in text)
    found = compile_pattern(pattern).search(before + text)
    assert found is not None
    assert found.start == (before + text).find(text)


@given(
    st.from_regex(r"[a-c.|()*+?\[\]^$\\wd{}1,-]{0,10}", fullmatch=True),
    st.text(alphabet="abc1\n", max_size=6),
)
def test_any_pattern_is_run_or_refused_with_words(pattern: str, text: str) -> None:
    try:
        compile_pattern(pattern).search(text)
    except AggregationError as error:
        assert error.message


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a$", "a\n", "a"),
        (r"a\z", "a\n", None),
        (r"a\Z", "a\n", "a"),
        (r"\w", "é", None),
        (r"[[:^digit:]]+", "12ab", "ab"),
        (r"(?<word>b+)\k<word>", "abbbb", "bbbb"),
        (r"a++b", "aaab", "aaab"),
        (r"\Qa.b\E.", "a.bc", "a.bc"),
        (r"\h", "\u2003", "\u2003"),
        (r"(?i)É", "é", "é"),
        (r"(?x) a # a comment", "ba", "a"),
        (r"[]a]+", "]a", "]a"),
    ],
)
def test_pcre_means_what_it_means_on_the_server(pattern: str, text: str, found: str | None) -> None:
    match = compile_pattern(pattern).search(text)
    assert (None if match is None else text[match.start : match.end]) == found


def test_what_is_kept_out_is_not_in_the_match_and_is_no_capture() -> None:
    found = compile_pattern(r"(a)\K(b)").search("ab")
    assert found is not None
    assert (found.start, found.end, found.captures) == (1, 2, ("a", "b"))


@pytest.mark.parametrize(
    "pattern", ["(", ")", "[a", "a**", "+a", "[z-a]", "a{3,1}", "[[:no:]]", "\\", "(?<=a+)b"]
)
def test_a_pattern_that_the_server_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(AggregationError) as raised:
        compile_pattern(pattern)
    assert not isinstance(raised.value, NotOffline)
    assert raised.value.code == 51111


@pytest.mark.parametrize(
    "pattern", [r"\p{L}", r"(?R)", r"(?1)(a)", r"\X", r"(*ACCEPT)", r"(?|(a)|(b))", r"\G"]
)
def test_what_python_cannot_do_is_not_guessed_at(pattern: str) -> None:
    with pytest.raises(NotOffline):
        compile_pattern(pattern)


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AggregationError) as raised:
        compile_pattern("a", "z")
    assert raised.value.code == 51108


def test_python_is_given_no_flags_of_its_own() -> None:
    assert compile_pattern("a.b", "ims").compiled.flags & ~re.UNICODE == 0
