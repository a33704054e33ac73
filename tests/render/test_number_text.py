"""Numbers as formats write them: rounded, in per cent, a currency or a fitting unit, with the signs of a language."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from babel import Locale
from babel.numbers import format_currency, format_decimal, format_percent
from bson import Decimal128, Int64
from bson.datetime_ms import DatetimeMS
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.directives.columns import ColumnFormat, convention_of
from mongo_tables.directives.schemas import load
from mongo_tables.render.markup import typeset
from mongo_tables.render.number_text import is_written_by, number_text, read_numbers
from mongo_tables.render.values import brief_text, cell_text

LOCALES = load("value")["properties"]["format"]["properties"]["locale"]["enum"]


def shown(value: Any, **keys: Any) -> str:
    """The text of a number, which is read back as one that the format wrote."""
    form = ColumnFormat.of(keys)
    text = cell_text(value, form)
    assert all(is_written_by(one, form) for one in read_numbers(text, form).written), text
    return text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0012345, 3, "0.00123"),
        (123456.0, 3, "123000"),
        (1.5, 3, "1.50"),
        (9.996, 3, "10.0"),
        (0.09996, 3, "0.100"),
        (99999, 2, "100000"),
        (5, 3, "5"),
        (1234, 3, "1230"),
        (Int64(2**60), 3, "1150000000000000000"),
        (Decimal128("1E+3"), 2, "1000"),
        (-2.675, 3, "-2.68"),
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (math.nan, 3, "NaN"),
        (-math.inf, 3, "-Infinity"),
        (5e-324, 1, "0." + "0" * 323 + "5"),
    ],
)
def test_digits_that_count_are_kept_and_a_whole_number_gets_none(value: Any, digits: int, text: str) -> None:
    assert shown(value, significant=digits) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 15))
def test_rounding_to_digits_is_off_by_half_of_the_last_at_most(value: float, digits: int) -> None:
    text = shown(value, significant=digits)
    exact = Decimal(cell_text(value))
    assert (
        abs(Decimal(text) - exact) <= Decimal(5).scaleb(exact.adjusted() - digits) if exact else text == "0"
    )
    kept = text.lstrip("-0.").replace(".", "")
    assert len(kept.rstrip("0")) <= digits


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.25, {}, "25 %"),
        (0.07, {}, "7 %"),
        (0.12345, {"decimals": 1}, "12.3 %"),
        (-0.5, {}, "-50 %"),
        (1, {}, "100 %"),
        (12.5, {"thousands": True}, "1,250 %"),
        (0.25, {"locale": "de"}, "25\u00a0%"),
        (0.255, {"locale": "pl"}, "25,5%"),
        (math.inf, {}, "Infinity"),
    ],
)
def test_a_ratio_is_shown_in_per_cent(value: Any, form: dict[str, Any], text: str) -> None:
    assert shown(value, percent=True, **form) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (12.5, {"currency": "€"}, "€12.50"),
        (12.5, {"currency": "EUR"}, "EUR 12.50"),
        (1200, {"currency": "$", "thousands": True}, "$1,200.00"),
        (1200, {"currency": "$", "decimals": 0}, "$1200"),
        (0.000125, {"currency": "$"}, "$0.000125"),
        (-3, {"currency": "$"}, "-$3.00"),
        (3, {"currency": "SEK", "currency_place": "after"}, "3.00 SEK"),
        (1234.5, {"currency": "€", "locale": "de", "thousands": True}, "1.234,50\u00a0€"),
        (1234.5, {"currency": "€", "locale": "nl", "thousands": True}, "€\u00a01.234,50"),
        (1234.5, {"currency": "€", "locale": "de", "currency_place": "before"}, "€1234,50"),
        (Decimal128("0.1"), {"currency": "R$", "significant": 1}, "R$0.1"),
    ],
)
def test_an_amount_of_money_has_its_currency_and_two_decimals_at_least(
    value: Any, form: dict[str, Any], text: str
) -> None:
    assert shown(value, **form) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_500_000, "ns", "1.5 ms"),
        (1_500_000.0, "ns", "1.50 ms"),
        (999.96, "ms", "1.00 s"),
        (999.4, "ms", "999 ms"),
        (0.0001234, "us", "0.123 ns"),
        (59.999, "s", "1.00 min"),
        (59.96, "s", "1.00 min"),
        (59.94, "s", "59.9 s"),
        (3599.0, "s", "1.00 h"),
        (90, "s", "1.5 min"),
        (3600, "s", "1 h"),
        (36, "h", "1.5 d"),
        (100_000, "h", "4170 d"),
        (0, "ms", "0 ms"),
        (-0.002, "s", "-2.00 ms"),
        (Decimal128("2.5"), "µs", "2.50 µs"),
        (math.nan, "s", "NaN"),
    ],
)
def test_a_duration_is_shown_in_the_unit_that_fits_it(value: Any, unit: str, text: str) -> None:
    assert shown(value, duration=unit) == text


@pytest.mark.parametrize(
    ("value", "system", "text"),
    [
        (512, "IEC", "512 B"),
        (1023, "IEC", "1023 B"),
        (1000.4, "IEC", "1000 B"),
        (1023.7, "IEC", "1.00 KiB"),
        (1024, "IEC", "1 KiB"),
        (1536, "IEC", "1.5 KiB"),
        (2**20, "IEC", "1 MiB"),
        (2**20 - 1, "IEC", "1.00 MiB"),
        (1010, "SI", "1.01 kB"),
        (1023.5, "SI", "1.02 kB"),
        (1500.0, "SI", "1.50 kB"),
        (999_999, "SI", "1.00 MB"),
        (2**70, "IEC", "1020 EiB"),
        (-2048, "IEC", "-2 KiB"),
    ],
)
def test_an_amount_of_bytes_is_shown_in_steps_of_its_system(value: Any, system: str, text: str) -> None:
    assert shown(value if abs(value) < 2**63 else Decimal128(str(value)), bytes=system) == text


def test_amounts_have_the_digits_that_are_asked_for() -> None:
    assert shown(1234567, duration="ns", decimals=3) == "1.235 ms"
    assert shown(1234567, duration="ns", significant=2) == "1.2 ms"
    assert shown(1536, bytes="IEC", decimals=2, locale="de") == "1,50 KiB"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ({"date": "%d %b %Y"}, "31 Dec 2025"),
        ({"date": "%d %b %Y %H:%M", "timezone": "Europe/Berlin"}, "01 Jan 2026 00:30"),
        ({"date": "%H:%M %z", "timezone": "+05:30"}, "05:00 +0530"),
        ({"date": "%G-W%V, 100 %%"}, "2026-W01, 100 %"),
        ({}, "2025-12-31T23:30:00Z"),
    ],
)
def test_a_date_is_written_by_its_pattern_in_its_zone(form: dict[str, Any], text: str) -> None:
    assert shown(datetime(2025, 12, 31, 23, 30, tzinfo=UTC), **form) == text


def test_the_clock_of_a_zone_changes_with_the_season() -> None:
    form = {"date": "%H:%M", "timezone": "America/New_York"}
    assert [shown(datetime(2026, month, 8, 12), **form) for month in (3, 7)] == ["08:00", "08:00"]
    assert [shown(datetime(2026, 3, day, 12), **form) for day in (7, 8)] == ["07:00", "08:00"]


def test_a_date_that_no_pattern_can_write_and_a_text_stay_as_they_are() -> None:
    assert shown(DatetimeMS(10**17), date="%Y") == "Date(100000000000000000)"
    assert shown("2026-01-01", date="%Y") == "2026-01-01"


@pytest.mark.parametrize("value", ["12", True, [1], None])
def test_what_is_no_number_is_not_formatted_as_one(value: Any) -> None:
    assert shown(value, percent=True) == cell_text(value)


@pytest.mark.parametrize("locale", LOCALES)
def test_each_convention_is_that_of_the_cldr(locale: str) -> None:
    name = locale.replace("-", "_")
    convention = convention_of(locale)
    symbols = Locale.parse(name).number_symbols
    symbols = symbols.get("latn", symbols)
    assert (convention.decimal, convention.group) == (symbols["decimal"], symbols["group"])
    # Babel 2.19 takes what stands between two apostrophes for quoted text, and leaves them out.
    large = 1234.5 if convention.group == "'" else 1234567.5
    for value in (large, 0.25, -3.5):
        number = Decimal(str(value))
        assert shown(value, locale=locale, thousands=True) == format_decimal(
            number, locale=name, decimal_quantization=False
        )
        percent = format_percent(number, locale=name, decimal_quantization=False)
        assert shown(value, locale=locale, thousands=True, percent=True) == percent
    for currency, sign in (("EUR", "€"), ("USD", "$")):
        if (
            sign in (theirs := format_currency(Decimal(str(large)), currency, locale=name))
            and "US" not in theirs
        ):
            assert shown(large, locale=locale, thousands=True, currency=sign) == theirs


@given(st.floats(allow_nan=False) | st.integers(-(2**63), 2**63 - 1), st.sampled_from(LOCALES))
def test_a_number_in_any_convention_is_still_that_number(value: float, locale: str) -> None:
    convention = convention_of(locale)
    text = shown(value, locale=locale, thousands=True)
    plain = text.replace(convention.group, "").replace(convention.decimal, ".")
    assert Decimal(plain) == Decimal(cell_text(value))


def test_a_message_tells_the_number_as_it_came_where_the_cell_shows_another() -> None:
    assert brief_text(0.2534, ColumnFormat(percent=True, decimals=1)) == "0.2534"
    assert brief_text(1.23456789, ColumnFormat(significant=3)) == "1.23"
    assert brief_text(1e21, ColumnFormat(thousands=True)) == "1e+21"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-€5.00", "−€5.00"),
        ("-EUR 5", "−EUR 5"),
        ("-5 %", "−5\u00a0%"),
        ("1 (-$3.00 to $2.00)", "1 (−$3.00 to $2.00)"),
        ("a-b", "a-b"),
    ],
)
def test_a_minus_stands_before_a_currency_as_before_digits_and_no_line_ends_before_a_per_cent_sign(
    text: str, shown: str
) -> None:
    assert typeset(text) == shown


@pytest.mark.parametrize(
    ("number", "texts"),
    [
        ("1023", ["1023 B", "1.0 KiB", "1023 B"]),
        ("1034240", ["1010 KiB", "1010 KiB", "1010 KiB"]),
        ("1047552", ["1023 KiB", "1.0 MiB", "1023 KiB"]),
        ("1048575", ["1.00 MiB", "1.0 MiB", "1.000 MiB"]),
        ("1073741823", ["1.00 GiB", "1.0 GiB", "1.000 GiB"]),
        ("-1048575", ["-1.00 MiB", "-1.0 MiB", "-1.000 MiB"]),
        ("1099511627775", ["1.00 TiB", "1.0 TiB", "1.000 TiB"]),
    ],
)
def test_a_size_just_below_a_unit_is_carried_or_whole(number: str, texts: list[str]) -> None:
    forms = (ColumnFormat(bytes="IEC"), *(ColumnFormat(bytes="IEC", significant=digits) for digits in (2, 4)))
    assert [number_text(number, form, whole=True) for form in forms] == texts


@pytest.mark.parametrize(
    ("keys", "texts"),
    [
        ({"decimals": 2}, ["(12.50)", "12.50", "0.00"]),
        ({"currency": "€", "currency_place": "before", "decimals": 2}, ["(€12.50)", "€12.50", "€0.00"]),
        ({"currency": "€", "locale": "de", "decimals": 2}, ["(12,50\u00a0€)", "12,50\u00a0€", "0,00\u00a0€"]),
        ({"percent": True, "decimals": 0}, ["(1250 %)", "1250 %", "0 %"]),
        ({"duration": "s", "decimals": 1}, ["(12.5 s)", "12.5 s", "(1.0 ms)"]),
    ],
)
def test_negative_amounts_are_in_brackets_where_the_format_asks_for_it(
    keys: dict[str, Any], texts: list[str]
) -> None:
    form = ColumnFormat(negative="brackets", **keys)
    assert [number_text(number, form, whole=False) for number in ("-12.5", "12.5", "-0.001")] == texts
