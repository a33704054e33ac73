"""Units: as headers and names write them, and through arithmetic."""

from __future__ import annotations

import pytest

from mongo_tables.lint.row_rules import read_unit
from mongo_tables.lint.shape import units


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("KiB", [1024]),
        ("kB", [1000]),
        ("KB", [1000, 1024]),
        ("MB/s", [1e6, 2**20]),
        ("MiB/s", [2**20]),
        ("ms", [0.001]),
        ("operations per second", [1]),
        ("pages/s", [1]),
        ("%", [0.01]),
        ("$ per hour", []),
        ("1.5", []),
        ("", []),
    ],
)
def test_a_written_unit_has_one_reading_or_two_or_none(text: str, factors: list[float]) -> None:
    assert [unit.factor for unit in units.readings(text)] == factors


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("Speed (MB/s)", "MB/s"),
        ("KB/s Network out", "KB/s"),
        ("Write (to disk) (KiB)", "KiB"),
        ("Time Taken (s) ", "s"),
        ("Number of threads", ""),
    ],
)
def test_a_header_names_its_unit_in_brackets_or_as_a_rate(header: str, unit: str) -> None:
    assert read_unit(header) == unit


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docSizeKB", "KiB"),
        ("MBperSecond", "MiB/s"),
        ("cachePageReadPerSecondKB", "KiB/s"),
        ("uptimeMillis", "ms"),
        ("bytes written", "B"),
        ("pages read into cache", "page"),
        ("nQueries", "query"),
        ("totalDocsToInsert", "document"),
        ("cache_gb", "GiB"),
    ],
)
def test_a_field_says_its_unit_by_its_name(name: str, text: str) -> None:
    assert units.of_field(name) == units.readings(text)[-1]


@pytest.mark.parametrize("name", ["ops", "thumbs", "NUMBER", "systems", "price", "rhythms", "nested"])
def test_other_names_say_nothing(name: str) -> None:
    assert units.of_field(name) is None


def test_kibibytes_a_millisecond_are_neither_kind_of_megabytes_a_second() -> None:
    (kib,) = units.readings("KiB")
    (ms,) = units.readings("ms")
    rate = units.divide_units(kib, ms)
    assert not any(units.same_size(rate, one) for one in units.readings("MB/s"))
    assert units.same_size(units.rescale_unit(rate, 1000 / 1024), units.readings("MiB/s")[0])


@pytest.mark.parametrize(
    ("number", "is_step"),
    [
        *((number, True) for number in (1000, 1024, 1048576, 1048.576, 0.001, 3600, 60)),
        *((number, False) for number in (256, 7, 0, -1000, float("inf"))),
    ],
)
def test_steps_between_units_are_powers_of_ten_1024_and_60(number: float, is_step: bool) -> None:
    assert units.converts(number) is is_step


def test_pages_are_not_bytes() -> None:
    (page,) = units.readings("pages/s")
    assert not page.is_data
    assert units.select_measured(page) == (("second", -1),)
