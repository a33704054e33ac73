"""Numbers of plain files are shown with few digits, a whole column alike, where their author says nothing of digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128, Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.render.columns import columns_of, with_few_digits
from mongo_tables.render.number_text import read_numbers
from mongo_tables.render.table_layout import total_rows
from mongo_tables.render.values import cell_text
from mongo_tables.results.model import PlainRows
from tests.render.specs import chart, table

LONG = 13.666666666666666
DOUBLES = st.floats(allow_nan=False, allow_infinity=False, width=64)
PLAIN_SIZES = st.floats(1e-6, 1e12)


def shown(values: Sequence[Any], **form: Any) -> list[str]:
    """What stands in the cells of a column of a plain file."""
    rows = PlainRows({"v": value} for value in values)
    spec = with_few_digits(table("v", **({"format": {"v": form}} if form else {})), rows)
    return list(columns_of(spec, rows)[0].texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0000027749993023462594, "0.000002775"),
        (LONG, "13.67"),
        (-LONG, "-13.67"),
        (9.99999999, "10.00"),
        (999.9999999, "1000"),
        (1234.5678, "1235"),
        (123456789.123, "123456789"),
        (1.23456789e-7, "1.235e-7"),
        (1.2345678901e-300, "1.235e-300"),
    ],
)
def test_a_long_fraction_has_four_digits_and_all_before_its_decimal_sign(value: float, text: str) -> None:
    assert shown([value]) == [text]


def test_all_fractions_of_a_column_with_a_long_one_have_as_many_digits() -> None:
    assert shown([LONG, 1.5, 2.0, 0.25, 0.0]) == ["13.67", "1.500", "2.000", "0.2500", "0"]


@pytest.mark.parametrize(
    "values",
    [
        [1, 1234567, Int64(2**60), -3],
        [1.5, 0.25, 123.456, 1e-7, 4.0],
        [1e21, 12345678.0, -0.0],
        ["13.666666666666666", None, True],
        [Decimal128("13.666666666666666")],
        [math.nan, math.inf],
        [[LONG]],
    ],
)
def test_a_column_without_a_long_fraction_is_shown_as_it_is(values: list[Any]) -> None:
    assert shown(values) == [cell_text(value) for value in values]


def test_whole_numbers_texts_and_gaps_beside_a_long_fraction_stay_as_they_are() -> None:
    others = [7, 1234567, Int64(2**60), 12345678.0, "1.23456789", None, True, math.nan, -math.inf]
    assert shown([LONG, *others])[1:] == [cell_text(value) for value in others]


def test_a_format_that_says_how_many_digits_is_followed_and_one_that_does_not_is_kept() -> None:
    assert shown([LONG], decimals=1) == ["13.7"]
    assert shown([LONG], significant=6) == ["13.6667"]
    assert shown([1234.56789], thousands=True) == ["1,235"]
    assert shown([LONG], locale="de") == ["13,67"]
    assert shown([0.13666666666666], percent=True) == ["13.67 %"]
    assert shown([LONG], currency="€", currency_place="before") == ["€13.67"]
    assert shown([1.23456e-6], duration="s") == ["1.23 µs"]


def test_an_amount_of_money_beside_a_long_fraction_keeps_its_decimals_and_gets_no_more() -> None:
    money = [LONG, 1234567.891, 0.005, 0.00512345, 12.0, 3]
    told = shown(money, currency="€", currency_place="before")
    assert told == ["€13.67", "€1234567.89", "€0.005", "€0.005123", "€12.00", "€3.00"]


def test_results_of_arithmetic_have_few_digits_wherever_they_come_from() -> None:
    for value in (LONG, 1 / 3, 31980.64767555124, Decimal128(Decimal(1) / 3)):
        rows = [{"v": value}, {"v": 1.5}]
        spec = with_few_digits(table("v"), rows)
        assert columns_of(spec, rows)[0].texts == (*shown([value]), "1.500")


def test_what_was_stored_elsewhere_keeps_the_very_spec() -> None:
    spec = table("v")
    assert with_few_digits(spec, [{"v": 13.6666666666666}]) is spec
    assert with_few_digits(spec, PlainRows([{"v": 1.5}])) is spec


def test_a_value_and_its_range_are_written_alike_whichever_of_them_is_long() -> None:
    rows = PlainRows([{"v": 13.5, "low": 12.999999999, "high": 14}])
    spec = with_few_digits(table("v", spread={"v": ["low", "high"]}), rows)
    assert columns_of(spec, rows)[0].texts == ("13.50 (13.00–14)",)


def test_totals_of_a_column_have_few_digits_as_its_cells() -> None:
    rows = PlainRows([{"name": "a", "v": LONG}, {"name": "b", "v": 1.5}])
    spec = with_few_digits(table("name", "v", totals={"v": "sum"}), rows)
    assert total_rows(spec, columns_of(spec, rows))[0].cells["v"].text == "15.17"


def test_a_chart_has_the_texts_of_a_table() -> None:
    spec = chart("n", "v", spread={"v": ["low", "high"]})
    rows = PlainRows([{"n": 1, "v": 1, "low": 0.9999999, "high": 2}])
    assert with_few_digits(spec, rows).format.keys() == {"v"}


@given(DOUBLES)
def test_what_is_shown_is_off_by_half_of_the_fourth_digit_at_most(value: float) -> None:
    (text,) = shown([value])
    exact = Decimal(cell_text(value))
    assert abs(Decimal(text) - exact) <= Decimal(5).scaleb(min(exact.adjusted() - 4, -1)) if exact else True


@given(st.lists(PLAIN_SIZES, min_size=1, max_size=8))
def test_a_column_is_wholly_as_it_came_or_wholly_of_four_digits(values: list[float]) -> None:
    texts = shown(values)
    if texts != [cell_text(value) for value in values]:
        digits = {text: len(text.replace(".", "").lstrip("0")) for text in texts}
        assert all(count == 4 or (count > 4 and "." not in text) for text, count in digits.items())


@given(st.lists(DOUBLES, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_a_cell_does_not_depend_on_the_order_of_rows_and_keeps_the_order_of_values(
    values: list[float], random: Any
) -> None:
    mixed = sorted(values, key=lambda _: random.random())
    assert sorted(shown(values)) == sorted(shown(mixed))
    numbers = [Decimal(text) for text in shown(sorted(values))]
    assert numbers == sorted(numbers)


@given(DOUBLES)
def test_what_is_shown_is_read_back_as_it_is(value: float) -> None:
    (text,) = shown([value])
    assert read_numbers(text).numbers == (Decimal(text),)
