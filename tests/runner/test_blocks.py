"""Each block has every variant, in an order of its own, and the reference twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from mongo_tables.runner.blocks import Plan, Turn, count_disturbed, excesses, is_disturbed


def plan(**changed):
    return Plan(
        **{
            "variants": [range(5)],
            "reference": 2,
            "twice": True,
            "shuffled": True,
            "seed": "1/tiny",
            **changed,
        }
    )


@pytest.mark.parametrize("block", range(4))
def test_a_block_has_every_variant_once_and_the_reference_twice(block):
    turns = plan().turns(block)
    assert Counter(turn.variant for turn in turns) == {0: 1, 1: 1, 2: 2, 3: 1, 4: 1}
    assert [turn.again for turn in turns if turn.variant == 2] == [False, True]
    assert not any(turn.again for turn in turns if turn.variant != 2)


@pytest.mark.parametrize("block", range(4))
def test_a_block_that_goes_back_has_the_same_turns_once_more_from_its_end(block):
    there, back = plan().turns(block), plan(and_back=True).turns(block)
    assert back[: len(there)] == there
    assert back[len(there) :] == [replace(turn, back=True) for turn in reversed(there)]
    places = {turn: place for place, turn in enumerate(back)}
    middles = {(places[turn] + places[replace(turn, back=True)]) / 2 for turn in there}
    assert middles == {(len(back) - 1) / 2}  # what drifts evenly through a block falls on all alike


def test_every_variant_is_as_often_early_as_late():
    places = dict.fromkeys(range(5), 0)
    for block in range(400):
        for place, turn in enumerate(plan(twice=False).turns(block)):
            places[turn.variant] += place
    assert all(1.8 < total / 400 < 2.2 for total in places.values())


def test_orders_are_drawn_anew_for_each_block_and_again_the_same_for_one_seed():
    assert plan().turns(3) == plan().turns(3)
    assert plan().turns(3) != plan(seed="2/tiny").turns(3)
    assert len({tuple(plan().turns(block)) for block in range(20)}) > 15


def test_targets_follow_one_another_for_each_variant_and_take_turns_in_being_first():
    firsts = Counter()
    for block in range(200):
        turns = plan(variants=[range(3), range(3)], reference=0).turns(block)
        assert len(turns) == 8
        for one, other in zip(turns[::2], turns[1::2], strict=True):
            assert (one.variant, one.again) == (other.variant, other.again)
            assert {one.target, other.target} == {0, 1}
            firsts[one.target] += 1
    assert 0.9 < firsts[0] / firsts[1] < 1.1


def test_a_target_has_the_variants_that_are_its_own():
    turns = plan(variants=[[0, 2], [1]], twice=False).turns(0)
    assert sorted((turn.target, turn.variant) for turn in turns) == [(0, 0), (0, 2), (1, 1)]


def test_where_a_window_goes_on_from_the_last_one_the_order_is_that_of_the_file():
    turns = plan(variants=[range(3), range(3)], shuffled=False, twice=False).turns(7)
    assert [turn.variant for turn in turns] == [0, 1, 2, 0, 1, 2]
    assert [turn.target for turn in turns] in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def attempts_with(*others, milliseconds=700):
    """An attempt of each block, with two windows of which the second had so many processors used by others."""
    return [
        [
            {
                Turn(0, 0): {"processors": {"other": 0.5}, "duration": milliseconds},
                Turn(0, 1): {"processors": {"other": other}, "duration": milliseconds},
            }
        ]
        for other in others
    ]


def test_a_block_is_disturbed_when_others_used_more_than_they_ever_had_to():
    found = excesses(attempts_with(0.3, 0.45, 0.1, 0.31))
    assert [one for (one,) in found] == pytest.approx([0.2, 0.35, 0.0, 0.21])
    assert [is_disturbed(one) for (one,) in found] == [False, True, False, True]


def test_what_others_used_in_two_windows_of_a_measurement_is_their_mean():
    """A burst of the system while it writes to disk is in one of them; who counts the most of more windows sees more."""

    def block(there, back):
        found = ((there, False), (back, True))
        return {
            Turn(0, 1, back=is_back): {"processors": {"other": other}, "duration": 700}
            for other, is_back in found
        }

    burst, calm = block(0.4, 0.1), block(0.1, 0.1)
    assert excesses([[burst], [calm]]) == [[pytest.approx(0.15)], [0.0]]


def test_the_least_may_be_of_an_attempt_that_does_not_count():
    (first,), (second,) = attempts_with(0.6, 0.1)
    assert excesses([[first, second]]) == [[pytest.approx(0.5), 0.0]]


def test_a_window_too_short_to_count_processors_disturbs_nothing():
    assert excesses(attempts_with(0.1, 0.9, milliseconds=300)) == [[None], [None]]


def test_nothing_is_disturbed_where_processors_are_not_known():
    assert excesses([[{Turn(0, 0): {"processors": None, "duration": 700}}]]) == [[None]]
    assert not is_disturbed(None)


@pytest.mark.parametrize(
    ("found", "count"),
    [
        ([0.0], None),
        ([0.0, 0.5], None),
        ([0.0, 0.5, 0.1], 1),
        ([0.0, None, 0.1], 0),
        ([None, None, None], None),
    ],
)
def test_how_many_blocks_are_disturbed_is_not_known_of_fewer_than_three(found, count):
    assert count_disturbed(found) == count
