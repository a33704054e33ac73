"""The report of numbers, and its control; that of our own pages is in ``tests/acceptance/test_own_site.py``."""

from __future__ import annotations

from mongo_tables.commands.check.numbers import control, report_lines
from tests.site.numbers.test_classes import TABLE, VALUE, classify

PAGE = f"# Runs\n\nalpha takes 120.4 ms, beta {VALUE}, delta 111.1 ms.\n\n{TABLE}\n"


def test_the_report_has_the_open_numbers_the_counts_and_the_control() -> None:
    numbers = classify(PAGE)
    assert [*report_lines(numbers)] == [
        "page.md:3:" + str(PAGE.splitlines()[2].index("111.1") + 1) + ": open `111.1 ms`",
        "3 numbers: 1 bound (33 %), 1 found (33 %), 0 exempt, 1 open (33 %)",
        f"control: {100 * control(numbers):.1f} % of random numbers with as many digits match by chance",
    ]


def test_the_control_is_the_same_each_time_and_leaves_out_pages_without_tables() -> None:
    numbers = classify(PAGE)
    assert control(numbers) == control(numbers) == control([*numbers, *classify("It takes 120 ms.\n")])
    assert control([]) == control(classify("It takes 120 ms.\n")) == 0


def test_a_table_of_all_numbers_finds_everything() -> None:
    rows = [{"name": str(n), "n": n, "took": n, "size": n, "share": n} for n in range(1000)]
    numbers = classify(f"# Runs\n\nIt takes 120 ms.\n\n{TABLE}\n", rows)
    assert control(numbers) > 0.9
