"""The windows of all blocks become a row of each variant on each target, with what it is to others."""

from __future__ import annotations

import pytest

from mongo_tables.runner.blocks import Plan, Turn
from mongo_tables.runner.journal import SlicesPlace
from mongo_tables.runner.result_rows import conclude_slices, gather, gather_rows
from mongo_tables.runner.slice_windows import SliceWindows, Which


def window(target, number, block, speed, again=False):
    repeat = {"block": block, "again": again, "operations_per_second": speed}
    return {
        "_id": {"order": number, "testname": "tiny", **({"target": target} if target else {})},
        "work": {"operations_per_second": speed},
        "latency": {"count": 5000},
        "client": {"connections": 1, "client_bound": False},
        "checks": {"steady_part": True, "settled": True},
        "topology": {},
        "experiment": {},
        "repeats": [repeat],
    }


def blocks_of(plan, speed, names=("",)):
    """Blocks in which ``speed`` says how fast the variant of a target is in a block."""
    return [
        {
            turn: window(names[turn.target], turn.variant, block, speed(turn, block), turn.again)
            for turn in plan.turns(block)
        }
        for block in range(6)
    ]


def plan_of(*variants, **changed):
    return Plan(
        **{"variants": variants, "reference": 0, "twice": True, "shuffled": True, "seed": "1", **changed}
    )


def test_each_variant_is_compared_with_the_reference_in_its_block():
    drift = [100, 200, 50, 400, 100, 300]
    plan = plan_of([0, 1, 2])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: drift[block] * (1 + turn.variant)), side_by_side=False
    )
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2, 3])
    assert [row["comparison"]["verdict"] for row in rows] == ["no difference", "faster", "faster"]
    assert [row["comparison"]["against"] for row in rows] == ["itself", "order 0", "order 0"]
    assert rows[1]["speed"] == {"median": 300.0, "low": 100.0, "high": 800.0, "blocks": 6}
    assert [row["experiment"]["repeats"] for row in rows] == [6, 6, 6]
    assert [len(row["repeats"]) for row in rows] == [12, 6, 6]


def test_targets_side_by_side_have_a_reference_each_and_are_compared_with_the_first():
    plan = plan_of([0, 1], [0, 1])
    speeds = {(0, 0): 100, (0, 1): 200, (1, 0): 50, (1, 1): 50}
    found = blocks_of(plan, lambda turn, block: speeds[turn.target, turn.variant], names=("a", "b"))
    rows = gather_rows(plan, found, side_by_side=True)
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2, 1, 1])
    assert [row.get("targets", {}).get("ratio") for row in rows] == pytest.approx([None, None, 0.5, 0.25])


def test_variants_on_machines_of_their_own_are_those_of_one_experiment():
    plan = plan_of([0], [1])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: 100 * (1 + turn.variant), ("", "")), side_by_side=False
    )
    assert [row["comparison"]["ratio"] for row in rows] == pytest.approx([1, 2])


def test_work_at_a_given_rate_is_not_compared():
    plan = plan_of([0, 1], compares=False)
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100), side_by_side=False)
    assert not any("comparison" in row for row in rows)
    assert rows[0]["speed"]["median"] == pytest.approx(100)


@pytest.mark.parametrize("doubtful", range(3))
def test_a_row_says_what_is_doubtful_in_any_of_its_windows(doubtful):
    windows = [window("", 0, block, 100 + block) for block in range(3)]
    for one in windows:
        one["topology"]["cache_shrunk"] = True
    sound = gather(windows)
    windows[doubtful]["client"]["client_bound"] = True
    windows[doubtful]["checks"] = {"steady_part": False, "settled": False}
    windows[doubtful]["topology"]["cache_shrunk"] = False
    row = gather(windows)
    assert (sound["client"]["client_bound"], row["client"]["client_bound"]) == (False, True)
    assert (sound["topology"]["cache_shrunk"], row["topology"]["cache_shrunk"]) == (True, False)
    for check in ("steady_part", "settled"):
        assert (sound["checks"][check], row["checks"][check]) == (True, False)


def test_a_row_does_not_say_of_caches_what_no_window_knows():
    assert "cache_shrunk" not in gather([window("", 0, block, 100) for block in range(3)])["topology"]


def test_a_variant_that_did_nothing_has_no_ratio():
    plan = plan_of([0, 1])
    rows = gather_rows(
        plan, blocks_of(plan, lambda turn, block: 0 if turn == Turn(0, 1) else 9), side_by_side=False
    )
    assert (rows[1]["comparison"]["ratio"], rows[1]["comparison"]["verdict"]) == (None, "not known")
    assert rows[1]["speed"] == {"median": 0.0, "low": 0.0, "high": 0, "blocks": 6}


def test_rows_of_each_target_are_judged_together_in_slices_as_in_blocks():
    """Of two rows that are judged together the one with a p of 3 % is not faster; of one alone it is."""
    slight = [104, 90, 121, 99, 125, 103, 129, 108, 114, 101]
    plan = plan_of([0], [0], [0])
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100, "abc"), side_by_side=True)
    windows = SliceWindows()
    for block, speed in enumerate(slight):
        for target, did in ((1, 1.03 * speed), (2, 100 + block % 2)):
            window = {"operations": [100.0, did], "mean_latency": [900.0] * 2, "errors": [{}] * 2}
            rest = {"processors": None, "duration": 2000, "slice_ms": 40.0}
            windows.add(SlicesPlace(block, (0, target), 0), window | rest)
    conclude_slices(rows, plan, windows.counted(), "a")
    assert 0.025 < rows[1]["slices"]["p"] < 0.05
    assert [row["slices"]["verdict"] for row in rows[1:]] == ["faster", "no difference"]


def test_what_windows_in_slices_say_is_in_the_rows_of_the_other_targets_and_in_the_reference():
    plan = plan_of([0, 1], [0, 1])
    rows = gather_rows(plan, blocks_of(plan, lambda turn, block: 100, names=("a", "b")), side_by_side=True)
    found = {
        Which(0, 0): lambda block: [100.0, 100.0],
        Which(1, 0): lambda block: [100.0 + block, 50.0 + block / 2],
        Which(1, 1): lambda block: [100.0, 200.0],
    }
    windows = SliceWindows()
    for which, speeds in found.items():
        for block in range(6):
            window = {
                "operations": speeds(block), "mean_latency": [900.0, None], "errors": [{}, {}],
                "processors": None, "duration": 2000, "slice_ms": 40.0,
            }  # fmt: skip
            windows.add(SlicesPlace(block, (0, which.target), which.variant), window)
    conclude_slices(rows, plan, windows.counted(), "a")
    assert [row.get("slices", {}).get("ratio") for row in rows] == pytest.approx([1, None, 0.5, 2])
    assert [row.get("slices", {}).get("against") for row in rows] == ["itself", None, "a", "a"]
    assert (rows[2]["slices"]["blocks"], rows[2]["slices"]["negligible"]) == (6, 0.02)
    doubts = {name: rows[2]["slices"][name] for name in ("measured_again", "disturbed", "mean_latency")}
    assert doubts == {"measured_again": 0, "disturbed": None, "mean_latency": 900.0}


def test_planned_contrasts_stand_in_the_rows_of_each_target_that_has_both():
    plan = plan_of([0, 1, 2], [0, 2], contrasts={2: 1})
    blocks = blocks_of(plan, lambda turn, block: 100 * (1 + turn.variant) + block, ("a", "b"))
    rows = gather_rows(plan, blocks, side_by_side=True)
    assert [row.get("contrast", {}).get("against") for row in rows] == [None, None, "order 1", None, None]
    assert rows[2]["contrast"]["ratio"] == pytest.approx(1.5, rel=0.01)


def test_a_variant_that_was_measured_there_and_back_has_both_windows_and_one_speed_in_each_block():
    plan = plan_of([0, 1], and_back=True)
    blocks = [
        {
            turn: window("", turn.variant, block, 400.0 if turn.back else 100.0, turn.again)
            for turn in plan.turns(block)
        }
        for block in range(3)
    ]
    rows = gather_rows(plan, blocks, side_by_side=False)
    assert [len(row["repeats"]) for row in rows] == [12, 6]
    assert [row["speed"]["median"] for row in rows] == pytest.approx([200, 200])
