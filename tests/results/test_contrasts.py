"""Rows that an experiment compares with another one than its reference."""

from __future__ import annotations

import pytest

from mongo_tables.results.conclusions import conclude, conclude_contrasts
from mongo_tables.results.pooling import pool_rows
from mongo_tables.results.within_campaign import compare_within
from tests.results.blockrows import campaign, measured, shaken

UP = [1.0, 1.03, 0.97, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.98]
ROWS = [
    measured(1, shaken(100), shaken(100, UP)),
    measured(2, shaken(200, UP)),
    measured(3, shaken(150)),
    measured(4, shaken(151, UP)),
]


def with_contrasts(rows, contrasts):
    for place, told in conclude_contrasts(rows, contrasts).items():
        rows[place] = {**rows[place], "contrast": told}
    return rows


def test_a_contrast_is_the_ratio_to_the_row_that_is_named_in_the_same_blocks():
    found = conclude_contrasts(ROWS, {1: 2, 3: 2})
    assert (found[1]["against"], found[1]["verdict"], found[1]["blocks"]) == ("size 3", "faster", 10)
    assert found[1]["ratio"] == pytest.approx(200 / 150, rel=0.02)
    assert found[3]["verdict"] == "no difference"


def test_contrasts_of_an_experiment_are_judged_together_and_apart_from_its_comparisons():
    one = shaken(100, [1.06, 1.0, 1.05, 0.99, 1.04, 1.0, 1.03, 0.995, 1.05, 1.01])
    rows = [measured(1, shaken(100)), measured(2, [100] * 10), measured(3, one)]
    alone = conclude_contrasts(rows, {2: 1})[2]
    assert alone["verdict"] == "faster"
    others = [measured(4 + size, shaken(100, UP)) for size in range(9)]
    crowd = conclude_contrasts([*rows, *others], {2: 1, **{3 + size: 1 for size in range(9)}})
    assert crowd[2]["p"] == alone["p"]
    assert crowd[2]["verdict"] != "faster"
    assert conclude([*rows, *others], 0)[1]["verdict"] == conclude(rows, 0)[1]["verdict"]


def test_campaigns_are_pooled_in_contrasts_too():
    first = with_contrasts(campaign(ROWS), {1: 2, 3: 2})
    second = with_contrasts(campaign(ROWS, identity="two", hour=3), {1: 2, 3: 2})
    rows = {row["_id"]["size"]: row for row in pool_rows(second, first).rows}
    assert rows[2]["campaigns"]["contrast"]["verdict"] == "faster"
    assert rows[2]["campaigns"]["contrast"]["against"] == "size 3"
    assert [one["id"] for one in rows[4]["campaigns"]["contrast"]["each"]] == ["one", "two"]
    assert "contrast" not in rows[3]["campaigns"]


def test_compare_lists_contrasts_behind_the_comparisons_with_the_reference():
    rows = with_contrasts(campaign(ROWS), {1: 2})
    *_, last = compare_within(rows).rows
    assert (last.judged.verdict, last.other.speed) == ("faster", pytest.approx(200, rel=0.02))
    alone = [row for row in rows if row["_id"]["size"] != 3]
    *_, last = compare_within(alone).rows
    assert last.missing == "there is no row of size 3"
