"""Texts with numbers, times or dates that are sorted letter by letter are reported (MT408)."""

from __future__ import annotations

import pytest
from bson.code import Code

from mongo_tables.lint.order_rules import find_misplaced_texts


@pytest.mark.parametrize(
    "texts",
    [
        ("10 ms", "9 ms"), ("$12", "$2"), ("(10)", "(5)"), ("50%", "7%"), ("v1.10", "v1.9"), ("12.50 €", "2.50 €"),
        ("12.00 €", "2.50 €"), ("$12.00", "$2.50"), ("1,200", "900"), ("1,200.50 kg", "90.75 kg"), ("12,00 €", "2,50 €"),
        ("12.5 ms", "2.7 ms"), ("12 ms", "9.5 µs"), ("1.5 s", "12 ms"), ("1 h", "30 min"), ("1 200", "900"),
        ("02/01/2027", "11/20/2026"), ("03.12.2026", "20.11.2025"), ("03.12.2026", "20.11.2026"), ("01-2027", "02-2026"),
        ("Apr 2026", "Jan 2026"), ("3 April 2026", "4 January 2026"),
    ],
)  # fmt: skip
def test_two_texts_in_the_wrong_order_are_found(texts: tuple[str, str]) -> None:
    assert find_misplaced_texts(texts, 1) == f'"{texts[0]}" comes before "{texts[1]}"'
    assert find_misplaced_texts(texts, -1) == f'"{texts[1]}" comes before "{texts[0]}"'


@pytest.mark.parametrize(
    "texts",
    [
        ("09 ms", "10 ms"), ("2.50 €", "3.00 €"), ("a", "b"), ("2026-01", "2026-02"), ("1.5 s", "2.5 s"), ("10 kB", "9 MB"),
        ("x12", "y2"), ("Jan 2026", "Mar 2026"), ("Foo 2026", "Bar 2026"), (None, 5), ("1.2.3", "1.2.4"),
        ("0000000003.0000000009", "0000000003.0000000010"), (Code("10 ms"), Code("9 ms")),
    ],
)  # fmt: skip
def test_texts_in_their_order_or_without_one_are_not(texts: tuple[object, object]) -> None:
    assert find_misplaced_texts(texts, 1) is None
