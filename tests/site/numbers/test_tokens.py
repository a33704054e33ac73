"""Numbers and units in texts."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.site.numbers.matching import NearTables, find_place
from mongo_tables.site.numbers.tables import read_table
from mongo_tables.site.numbers.text import Notation, kind_of, normalized, read_heading, read_numbers

ENGLISH, GERMAN = Notation(), Notation(".", ",")
UNITS = {
    "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "seconds": 1, "min": 60, "hours": 3600, "B": 1, "bytes": 1, "kB": 1e3,
    "MiB": 2**20, "GiB/s": 2**30, "MB per second": 1e6, "%": 0.01, "percent": 0.01, "×": 1, "times": 1, "x": 1,
    "inserts/s": 1, "documents a second": 1, "requests per minute": 1 / 60, "€": 1,
}  # fmt: skip
numbers = st.decimals(min_value=0, max_value=10**9, places=3, allow_nan=False)
places = st.integers(0, 3)


@given(numbers, places, st.booleans(), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " ", "\u00a0"]))
def test_a_number_with_its_unit_is_read_wherever_it_is(
    number: Decimal, decimals: int, grouped: bool, unit: str, between: str
) -> None:
    digits = f"{number:{',' if grouped else ''}.{decimals}f}"
    between = between or (" " if unit in ("times", "percent") else "")
    text = f"In it (about {digits}{between}{unit}), more."
    (found,) = read_numbers(text, ENGLISH)
    assert (found.written, text[found.start : found.end]) == (digits, f"{digits}{between}{unit}")
    assert found.value == pytest.approx(float(digits.replace(",", "")))
    assert UNITS[unit] in [pytest.approx(one.factor) for one in found.units]


@given(numbers, places)
def test_a_decimal_comma_is_read_as_a_decimal_point_is(number: Decimal, decimals: int) -> None:
    digits = f"{number:,.{decimals}f}"
    swapped = digits.translate(str.maketrans(",.", ".,"))
    (english,), (german,) = read_numbers(f"{digits} ms", ENGLISH), read_numbers(f"{swapped} ms", GERMAN)
    assert (english.value, english.precisions) == (german.value, german.precisions)


@given(st.decimals(min_value=100, max_value=10**6, places=3), st.integers(0, 3))
def test_a_number_is_found_in_the_cell_that_it_rounds_and_not_in_one_half_a_digit_away(
    cell: Decimal, decimals: int
) -> None:
    table = read_table(["| Name | Time (ms) |", "| --- | --: |", f"| a name | {cell} |"], ENGLISH)
    step = Decimal(10) ** -decimals
    rounded = cell.quantize(step)
    for typed, expected in ((rounded, True), (rounded + 2 * step, False)):
        sentence = f"It takes {typed} ms."
        (number,) = read_numbers(sentence, ENGLISH)
        exact = number.precisions[:1]  # final zeros are another matter
        number = type(number)(**{**{n: getattr(number, n) for n in number.__slots__}, "precisions": exact})
        assert (find_place(number, sentence, NearTables([table])) is not None) is expected


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for one in read_numbers(text, ENGLISH, {"thread"}):
        assert one.start <= one.digits_at < one.end
        assert text[one.digits_at :].startswith(one.written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v8.0.4, 2026-11-28, 12:30, M60, a.5 and x1", []),
        ("4–5 ms, 4 to 5 ms, 4 and 5 ms", ["4", "5 ms"] * 3),
        ("$5, €1.50 and 3 €", ["$5", "€1.50", "3 €"]),
        ("41,821 small files per second", ["41,821 small files per second"]),
        ("20 large threads of 16 threads", ["20 large threads", "16 threads"]),
        ("5 large ms", []),
        ("45 KB a row, 12 bytes/event", ["45 KB a row", "12 bytes/event"]),
        ("a 12-fold", ["12-fold"]),
        ("1,2 ms", []),
        (f"{'9' * 400} ms, {'0' * 400}.5 ms and 1{'0' * 400} %", []),
    ],
)
def test_what_is_a_number_with_a_unit(text: str, expected: list[str]) -> None:
    found = read_numbers(text, ENGLISH, {"thread"})
    assert [text[one.start : one.end] for one in found if one.has_unit] == expected


@pytest.mark.parametrize(
    ("language", "text", "unit"),
    [
        ("en", "55.9 FPS", "frames/s"), ("en", "9 IOPS", "IO/s"), ("en", "8 Mbps", "MB/s"), ("en", "3 GHz", "GHz"),
        ("en", "3 W", "W"), ("en", "3 J", "J"), ("en", "3 GFLOPS", "GFLOPS"), ("de", "3 Sekunden", "s"), ("de", "3 Mal", "×"),
        ("fr", "3 secondes", "s"), ("fr", "3 requêtes/s", "ops/s"), ("fr", "3 Go", "GB"), ("fr", "3 Ko", "KB"),
        ("es", "3 segundos", "s"), ("pl", "3 мс", "ms"), ("pl", "3 сек", "s"), ("pl", "3 раза", "×"), ("pl", "3 МБ/с", "MB/s"),
    ],
)  # fmt: skip
def test_units_of_other_trades_and_languages(language: str, text: str, unit: str) -> None:
    found = read_numbers(text, Notation.of(language))[0]
    assert found.written + text[len(found.written) :] == text[: found.end]
    expected = read_numbers(f"1 {unit}", ENGLISH)[0].units
    assert {kind_of(one) for one in found.units} == {kind_of(one) for one in expected}


def test_operations_of_a_disk_are_no_operations_of_a_program() -> None:
    disk, program = read_numbers("9 IOPS and 9 ops/s", ENGLISH)
    assert {kind_of(one) for one in disk.units}.isdisjoint({kind_of(one) for one in program.units})


def test_go_is_a_language_and_mb_are_bits() -> None:
    assert [one.units for one in read_numbers("5 Go files, 12 Mb", ENGLISH)] == [(), ()]


@pytest.mark.parametrize(
    ("header", "words", "unit", "nouns"),
    [
        ("Mean time (ms)", "mean time", "ms", []),
        ("Mean [ms]", "mean", "ms", []),
        ("Files/s", "files s", "files/s", []),
        ("Threads", "threads", "", ["thread"]),
        ("Disk IOPS", "disk iops", "IO/s", []),
        ("p99 ms", "p99", "ms", []),
        ("vm ns/op", "vm", "ns/op", []),
        ("时间（ms）", "时间", "ms", []),
        ("Option B", "option b", "", []),
        ("HTTP requests per second", "http requests per second", "", ["request"]),
        ("Speed (documents/s)", "speed", "documents/s", []),
    ],
)
def test_a_header_has_words_a_unit_and_nouns(header: str, words: str, unit: str, nouns: list[str]) -> None:
    found = read_heading(header)
    assert words in found.names
    assert found.nouns == set(nouns)
    expected = read_numbers(f"1 {unit}", ENGLISH)[0].units
    assert {kind_of(one) for one in found.units} == {kind_of(one) for one in expected}


def test_names_are_compared_without_case_marks_and_blanks_before_units() -> None:
    assert normalized("With “4KB”, (sort -n): M40.") == normalized("with 4 kb sort -n m40")
