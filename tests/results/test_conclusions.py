"""What stands in a row about how it compares: with its reference, and with the same row on another target."""

from __future__ import annotations

import json
from collections import Counter
from math import inf, sqrt
from random import Random
from statistics import fmean

import bson
import pytest
from jsonschema import Draft7Validator

from mongo_tables.directives.schemas import load
from mongo_tables.results.conclusions import conclude, conclude_targets, pair_equal_rows
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.intervals import interval
from tests.results.blockrows import SHAKE, measured, shaken
from tests.results.campaigns import KINDS, simulate_alike

REFERENCE = measured(1, [100] * 10, shaken(100))


def test_a_variant_is_compared_in_each_block_with_the_mean_of_both_measurements_of_its_reference():
    (found, _) = conclude([measured(4, [50, 60, 70]), measured(1, [100, 100, 100], [121, 144, 100])], 1)
    expected = interval([50, 60, 70], [110, 120, 100])
    assert [found[name] for name in ("ratio", "low", "high", "blocks", "p")] == pytest.approx(expected)
    assert found["against"] == "size 1"


def test_the_reference_has_its_second_measurement_to_its_first():
    _, own = conclude([measured(4, [50] * 10), REFERENCE], 1)
    expected = interval(shaken(100), [100] * 10)
    assert own["against"] == "itself"
    assert (own["ratio"], own["low"], own["blocks"]) == pytest.approx((expected.ratio, expected.low, 10))
    assert own["verdict"] == "no difference"


def test_each_row_has_its_verdict_at_its_place():
    shifted = SHAKE[3:] + SHAKE[:3]
    rows = [measured(2, shaken(120)), REFERENCE, measured(3, shaken(80)), measured(4, shaken(100, shifted))]
    found = conclude(rows, 1)
    assert [one["verdict"] for one in found] == ["faster", "no difference", "slower", "no difference"]
    assert [one["against"] for one in found] == ["size 1", "itself", "size 1", "size 1"]
    assert {one["margin"] for one in found} == {0.1}


def test_what_leaves_one_alone_need_not_stand_among_many():
    """Its p is 3 %, which one of twenty rows without a difference has by chance."""
    slight = measured(2, [104, 90, 121, 99, 125, 103, 129, 108, 114, 101])
    flat = measured(1, [100] * 10)
    alike = [measured(size, shaken(100, SHAKE[size % 7 :] + SHAKE[: size % 7])) for size in range(3, 22)]
    (alone,) = conclude([slight, flat], 1)[:1]
    assert alone["verdict"] == "faster"
    assert 0.02 < alone["p"] < 0.05
    assert conclude([slight, flat, *alike], 1)[0] == {**alone, "verdict": "not known"}


def test_only_blocks_that_have_both_are_compared():
    (found, _) = conclude([measured(4, [50, 60]), measured(1, [100, 100, 100, 100])], 1)
    assert found["blocks"] == 2
    assert found["ratio"] == pytest.approx(sqrt(0.5 * 0.6))


@pytest.mark.parametrize("speeds", [[0, 60], []], ids=["nothing was done in a block", "no block"])
def test_what_has_no_ratio_is_not_known(speeds):
    (found, own) = conclude([measured(4, speeds), measured(1, [100, 100])], 1)
    assert found == {
        "against": "size 1", "ratio": None, "low": 0.0, "high": inf, "p": 1.0, "blocks": len(speeds),
        "margin": 0.1, "verdict": "not known",
    }  # fmt: skip
    assert (own["blocks"], own["verdict"]) == (0, "not known")


def test_two_blocks_that_are_alike_are_no_finding():
    (found, _) = conclude([measured(4, [200, 200]), measured(1, [100, 100])], 1)
    assert (found["ratio"], found["low"], found["high"]) == (pytest.approx(2), 0.0, inf)
    assert found["verdict"] == "not known"


def test_a_row_is_compared_with_the_same_one_on_the_first_target():
    first = [measured(size, [100] * 10, target="a") for size in (1, 2)]
    second = [
        measured(size, speeds, target="b") for size, speeds in ((2, shaken(120)), (1, shaken(100)), (3, [5]))
    ]
    faster, alike, alone = conclude_targets(first, second)
    assert (faster["against"], faster["verdict"], faster["blocks"]) == ("a", "faster", 10)
    assert faster["ratio"] == pytest.approx(interval(shaken(120), [100] * 10).ratio)
    assert alike["verdict"] == "no difference"
    assert alone is None


def test_what_two_copies_of_the_same_data_may_differ_by_makes_no_target_faster():
    """Their interval is from 1.008 to 1.012, which a variant is called faster for."""
    exact = [1 + shake / 10 for shake in (0.0, 0.02, -0.02, 0.03, -0.03)]
    first = measured(1, [100] * 10, target="a")
    second = measured(1, shaken(101, exact * 2), target="b")
    (found,) = conclude_targets([first], [second])
    assert (found["low"] > 1, found["verdict"], found["negligible"]) == (True, "no difference", 0.02)
    as_variants = conclude([measured(2, shaken(101, exact * 2)), measured(1, [100] * 10)], 1)[0]
    assert (as_variants["verdict"], "negligible" in as_variants) == ("faster", False)
    assert as_variants["p"] < 0.001 < 0.9 < found["p"]


def test_the_speed_in_a_block_is_the_mean_of_the_windows_there_and_back():
    back = [{**one, "back": True} for one in measured(1, [400, 100], [900, 900])["repeats"]]
    there = measured(1, [100, 100], [900, 400])
    (own,) = conclude([{**there, "repeats": [*there["repeats"], *back]}], 0)
    assert own["ratio"] == pytest.approx(sqrt(900 / 200 * 600 / 100))
    assert own["blocks"] == 2


def test_each_of_equal_measurements_is_a_row_between_two_others_that_are_its_reference():
    """Which of the two of a reference comes first in its block changes from one block to the next."""
    rows = [measured(1, [2, 4], [8, 16]), measured(2, [32, 64]), measured(3, [128])]
    assert [(pair.blocks, pair.speeds, pair.references) for pair in pair_equal_rows(rows)] == [
        ((0,), (2,), (pytest.approx(32),)),  # of 128 and 8
        ((0, 1), (8, 4), (pytest.approx(8), pytest.approx(32))),  # of 2 and 32, of 16 and 64
        ((0,), (32,), (pytest.approx(32),)),
        ((0,), (128,), (pytest.approx(8),)),
    ]
    assert pair_equal_rows([measured(1, [2, 4], [8, 16])]) == []


@pytest.mark.parametrize(("others", "pairs"), [(1, 3), (2, 4), (3, 10), (4, 12)])
def test_no_two_pairs_of_equal_rows_are_the_same_and_each_measurement_is_the_row_as_often(others, pairs):
    random = Random(5)
    rows = [measured(1, [random.random()], [random.random()])]
    rows += [measured(2 + size, [random.random()]) for size in range(others)]
    found = pair_equal_rows(rows)
    assert len(set(found)) == len(found) == pairs
    assert set(Counter(pair.speeds for pair in found).values()) == {pairs // (others + 2)}


def test_the_name_of_the_reference_is_the_same_on_all_targets():
    rows = [measured(2, [50, 51], target="b"), measured(1, [100, 100], [100, 101], target="b")]
    assert conclude(rows, 1)[0]["against"] == "size 1"


def test_what_is_concluded_is_as_the_schema_of_results_says():
    rows = [measured(2, shaken(120)), REFERENCE, measured(3, [50]), measured(4, [])]
    for found in conclude(rows, 1):
        published = json.loads(write_line(bson.encode({"comparison": found, "targets": found})))
        Draft7Validator({**load("result"), "required": []}).validate(published)


def told_something(kind, blocks, number):
    """The share of experiments of ten rows that do not differ from their reference in which one is said to."""
    random = Random(f"{kind}/{blocks}")
    told = []
    for _ in range(number):
        first, second, *others = simulate_alike(kind, blocks, 12, random)
        rows = [
            measured(1, first, second),
            *(measured(2 + size, speeds) for size, speeds in enumerate(others)),
        ]
        told.append(any(one["verdict"] in ("faster", "slower") for one in conclude(rows, 0)[1:]))
    return fmean(told)


def test_where_no_row_differs_hardly_an_experiment_says_that_one_does():
    """Alone each of ten rows would be told apart in 5 % of all cases: one or more of them in a third."""
    assert told_something("autocorrelated", 10, 60) <= 0.15


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_where_no_row_differs_hardly_one_in_many_experiments_says_that_one_does(kind):
    assert told_something(kind, 20, 500) <= 0.08
