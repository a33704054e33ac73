"""Figures in sentences: which numbers are meant, how exactly, and of what."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.pages.prose.numbers import Figure, figures, unit_of
from mongo_tables.render.values import cell_text
from mongo_tables.specs.columnformat import ColumnFormat


def only(text: str) -> Figure:
    (figure,) = figures(text)
    return figure


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("at 22,000 queries per second", 21_884, "query/s"),
        ("some 20 k documents/s", 19_661, "document/s"),
        ("takes 19.9 ms", 19.91, "time"),
        ("writes 125MB/s", 124.39, "byte/s"),
        ("with 6.2 million documents", 6_291_456, "document"),
        ("about 33% of it", 33.5, "%"),
        (">100,000 1KB documents per second", 105_842, "document/s"),
        ("between 20-30 ms", 27, "time"),
        ("uses 2,200 IOPS", 2229, "IOPS"),
        ("is 4,321 altogether", 4321, None),
        ("needs 512 megabytes", 511.6, "byte"),
        ("needs 3 tebibytes", 3, "byte"),
        ("takes 7.7e-2 s", 0.0772, "time"),
        ("takes 2 hrs", 2, "time"),
        ("takes 350 nsecs/op", 350, "time"),
        ("allocates 48 B/op", 48, "byte"),
        ("allocates 1,234 bytes/op", 1234, "byte"),
    ],
)
def test_a_figure_stands_for_what_rounds_to_it(text: str, value: float, kind: str | None) -> None:
    figure = only(text)
    assert figure.low <= value <= figure.high
    assert (figure.unit.kind if figure.unit else None) == kind


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("at 22,000 queries per second", 24_000),
        ("takes 19.9 ms", 21),
        ("10,000 queries per second", 10_884),
        ("about 70 threads", 50),
        ("under 50 ms", 51),
    ],
)
def test_a_figure_does_not_stand_for_what_is_farther_off(text: str, value: float) -> None:
    figure = only(text)
    assert not figure.low <= value <= figure.high


@pytest.mark.parametrize(
    "text",
    [
        "in 2026 and on 2026-11-21",
        "on 21 November 2026",
        "MongoDB 6.0.5 and version 3.11",
        "an M40, its p99, seed000",
        "see section 5, page 1200",
        "batches of 1,000, pages of 4,096",
        "the 3 of them",
        "a few 10s of ms",
        f"the code 1{'0' * 400} ms",
    ],
)
def test_years_versions_names_and_chosen_sizes_are_no_figures(text: str) -> None:
    assert list(figures(text)) == []


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Speed (MB/s)", "byte/s"),
        ("Time Taken (s) ", "time"),
        ("O/S IOPS", "IOPS"),
        ("Queries/s", "query/s"),
        ("documents/s", "document/s"),
        ("Num Threads", "thread"),
        ("Memory (B/op)", "byte"),
        ("Time in GC (s/s)", "/s"),
        ("CPU Usage (%)", "%"),
        ("% of time", "%"),
        ("Query Type", None),
        ("Disk Size", None),
    ],
)
def test_a_header_names_its_unit(header: str, kind: str | None) -> None:
    unit = unit_of(header)
    assert (unit.kind if unit else None) == kind


@given(st.integers(1, 10**6), st.integers(0, 4))
def test_a_figure_stands_for_the_number_that_a_cell_shows_so(number: int, decimals: int) -> None:
    """A half as well, which cells round away from zero: 0.9745 ms is shown as 0.975."""
    half = (Decimal(number) - Decimal("0.5")).scaleb(-decimals)
    low, high = only(f"takes {cell_text(float(half), ColumnFormat(decimals=decimals))} ms").span()
    assert low <= float(half) <= high


def test_the_place_of_a_figure_is_that_of_its_first_digit() -> None:
    figure = only("reaches ~30,100 inserts/s here")
    assert (figure.start, figure.written) == (9, "30,100 inserts/s")
