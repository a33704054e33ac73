"""What of a sentence is changed, one place at a time, so that it says something else; and what is left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.pages.prose.mutations import find_mutations


def changes(text):
    return [(one.written, one.instead) for one in find_mutations(text)]


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("Reads are faster.", [("faster", "slower")]),
        ("Fewer reads cost more.", [("Fewer", "More"), ("more", "fewer")]),
        ("At least three of 139 rows.", [("least", "most"), ("three", "seven"), ("139", "417")]),
        ("It took 0.260 ms and 22,000 reads.", [("0.260", "0.780"), ("22,000", "66,000")]),
        ("We looked at 400 of 2,000 rows, at 2000 reads/s.", [("400", "133"), ("2,000", "6,000"), ("2000", "6000")]),
        ("It had 22\u202f000 inserts/s, below 30.", [("22\u202f000", "66\u202f000"), ("below", "above"), ("30", "90")]),
        ("A share of 12 % or of 95 %.", [("12", "36"), ("95", "32")]),
        ("Half of it, a third, nine tenths.",
         [("Half", "Twice"), ("third", "tenth"), ("nine", "three"), ("tenths", "halves")]),
        ("None of them was twice as fast.", [("None", "All"), ("twice", "thrice")]),
        ("It costs what it reads, not what it returns.",
         [("reads, not what it returns", "returns, not what it reads")]),
        ("It is measured, not assumed, and costs what it reads.", []),
        ("Prices are those of 2024-12-19, of 3.", [("2024-12-19", "2014-12-19"), ("3", "9")]),
    ],
)  # fmt: skip
def test_figures_number_words_and_directions_become_others(sentence, changed):
    assert changes(sentence) == changed


@pytest.mark.parametrize(
    "text",
    [
        "In 2026-11 with MongoDB 8.0.1 on an M40, by page 3, in 2024, of `2026-11-22`.",
        "See the table below, and above all the year 2024.",
        "The third window is that of `insert 20 documents`.",
        "## 3. The window\n\n1. Once\n2. Again",
        "Look at [the rows](https://example.org/2/faster).",
        "<!-- The speed was 22,000, and is faster now. -->",
        "```\nfaster by 3 ms\n```",
        "The 99th percentile, p99, and a 3-node set.",
    ],
)
def test_names_years_versions_code_links_and_comments_stay(text):
    assert changes(text) == []


def test_headings_rows_of_tables_and_captions_are_sentences_too():
    assert changes("# 3 findings\n\n| One | faster |\n| --- | --- |\n| two | 4 |") == [
        ("3", "9"), ("faster", "slower"), ("two", "five"), ("4", "12"),
    ]  # fmt: skip
    page = '<!-- MONGO_TABLE: {"caption": "The fastest of 3"} -->'
    span = (page.index("The"), page.index('"}'))
    assert [(one.written, one.sentence) for one in find_mutations(page, (), [span])] == [
        ("fastest", "The fastest of 3"), ("3", "The fastest of 3"),
    ]  # fmt: skip


def test_a_change_is_made_at_its_place_alone_and_names_its_sentence():
    page = "# H\n\nOne is faster. The other,\n<!-- MONGO_VALUE: {} --> of it, is slower.\n"
    first, second = find_mutations(page)
    assert first.apply(page) == page.replace("is faster", "is slower")
    assert second.apply(page) == page.replace("is slower", "is faster")
    assert (first.sentence, second.sentence) == ("One is faster.", "The other, of it, is slower.")


@given(st.text(alphabet="abc 0123456789.,%-–#\n`<>!", max_size=60))
def test_every_change_makes_another_page_and_leaves_all_around_it(text):
    for one in find_mutations(text):
        changed = one.apply(text)
        assert changed != text
        assert changed.startswith(text[: one.start] + one.instead)
        assert changed.endswith(text[one.start + len(one.written) :])
