"""Regular expressions as the server runs them."""

from __future__ import annotations

from typing import Any

import pymongo
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, NotOffline
from mongo_tables.aggregation.limits import LimitReached, PipelineLimits, measure_pipeline
from mongo_tables.aggregation.patterns import compile_pattern
from tests.mongod import Mongod


@given(st.text(max_size=8), st.text(max_size=8))
@example("", "\U000104b0")
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
    "pattern",
    [
        r"(?R)",
        r"(?1)(a)",
        r"(?&n)(?<n>a)",
        r"\X",
        r"\C",
        r"(*ACCEPT)",
        r"\y",
        r"[\d-z]",
        r"(?=a\K)",
        r"[\p{Lu}]",
        r"(?xx)a",
    ],
)
def test_what_servers_do_not_agree_about_is_not_guessed_at(pattern: str) -> None:
    with pytest.raises(NotOffline):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "options"), [(r"\x{1c80}", "i"), (r"[\x{1c80}]", "i"), (r"(?i)\x{1c80}", "")]
)
def test_a_letter_given_by_a_code_is_not_taken_for_a_case_that_is_newer(pattern: str, options: str) -> None:
    with pytest.raises(NotOffline):
        compile_pattern(pattern, options)


@pytest.mark.parametrize(
    ("pattern", "options", "text", "found"),
    [
        (r"\x{104b0}", "", "\U000104b0", "\U000104b0"),
        (r"\x{e9}", "", "é", "é"),
        (r"a{,2}", "", "aa{,2}", "a{,2}"),
        (r"a{ 1 }", "", "a{ 1 }", "a{ 1 }"),
        (r"\p{Lu}", "i", "a", None),
        (r"\p{Greek}", "", "\u0342", None),
        (r"(?|(a)|(b))\1", "", "bb", "bb"),
        (r"(*UCP)\w+", "", "café", "café"),
        (r"(?<=a|bc)d", "", "bcd", "d"),
    ],
)
def test_what_newer_libraries_read_otherwise_is_read_as_the_server_does(
    pattern: str, options: str, text: str, found: str | None, mongod: Mongod
) -> None:
    match = compile_pattern(pattern, options).search(text)
    assert (None if match is None else text[match.start : match.end]) == found
    assert _of_server(mongod, pattern, options, text) == found


def _of_server(mongod: Mongod, pattern: str, options: str, text: str) -> str | None:
    find = {"$regexFind": {"input": text, "regex": pattern, "options": options}}
    with pymongo.MongoClient[dict[str, Any]](mongod.uri()) as client:
        (row,) = client["admin"].aggregate([{"$documents": [{}]}, {"$project": {"found": find}}])
    return row["found"] and row["found"]["match"]


@pytest.mark.parametrize(
    "pattern", [r"(?<=a{1,3})b", r"(?<!(a?))b", r"\u0041", r"\N{U+41}", r"(?n)a", r"(?[a])"]
)
def test_what_only_newer_libraries_take_is_refused(pattern: str) -> None:
    with pytest.raises(AggregationError) as raised:
        compile_pattern(pattern)
    assert not isinstance(raised.value, NotOffline)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 40 + "!"),
        ("^(?:(a+)+$|a*!)", "a" * 18 + "!"),
        ("^(a|b)*$", "a" * 2000),
        ("^.*?b", "a" * 200_000),
    ],
)
def test_a_search_ends_where_the_server_gives_up(pattern: str, text: str, mongod: Mongod) -> None:
    with pytest.raises(LimitReached, match="more than 200,000 steps"):
        compile_pattern(pattern).matches(text)
    with pytest.raises(pymongo.errors.OperationFailure):
        _of_server(mongod, pattern, "", text)


def test_more_steps_may_be_allowed() -> None:
    text = "a" * 18 + "!"
    before = compile_pattern("^(?:(a+)+$|a*!)")
    with measure_pipeline(PipelineLimits(regex_steps=1_000_000)):
        assert before.matches(text)
        assert compile_pattern("^(?:(a+)+$|a*!)").matches(text)


def test_letters_whose_other_case_is_new_are_not_guessed_at() -> None:
    with pytest.raises(NotOffline):
        compile_pattern("ა", "i").matches("\u1c90")
    assert compile_pattern("ა", "i").matches("ა")


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AggregationError) as raised:
        compile_pattern("a", "z")
    assert raised.value.code == 51108
