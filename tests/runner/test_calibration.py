"""Equal things are measured in pairs, and what is found of them is written as far as it is known."""

from __future__ import annotations

import json
from itertools import pairwise
from math import sqrt

import bson.json_util
import pytest

from mongo_tables.cli import main
from mongo_tables.commands.calibrate import format_found, format_plan
from mongo_tables.results.calibration import calibrate
from mongo_tables.results.conclusions import Pairs
from mongo_tables.runner import calibration, slices
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.blocks import Plan
from mongo_tables.runner.slices import Counted
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.workloads import workload
from tests.runner.measured import Cutting

INSERTS = "single_inserts"
FINE = calibration.Fine(width=0.04, windows=5)


@pytest.fixture
def told(capsys):
    """Runs the command in this process: exit code, output, errors."""

    def run(*arguments):
        try:
            code = main(["calibrate", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def quick(told, replica_set, tmp_path):
    """Runs it with few short windows, on a server that is there already."""

    def run(workload, *arguments):
        given = f"--blocks 3 --seconds 0.2 --processes 1 --target {replica_set.uri} --output {tmp_path}"
        return told(workload, *given.split(), *arguments)

    return run


def documents(folder, name=INSERTS):
    lines = (folder / "calibration" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [bson.json_util.loads(line) for line in lines]


def plan_of(*names, pairs=None, seconds=None, fine=FINE):
    return calibration.plan([calibration.load(name) for name in names], pairs, seconds, fine)


def test_workloads_are_no_experiments_of_run_all_and_can_be_measured_as_they_are():
    assert not set(calibration.names()) & set(experiments.names())
    loaded = [calibration.load(name) for name in calibration.names()]
    assert [one.name for one in loaded] == calibration.names()
    databases = [one.parameters["database"] for one in loaded]
    assert len(set(databases)) == len(databases)
    # The windows of all variants find the same, in whatever order they come.
    assert not any(workload(one.workload).goes_on for one in loaded)


def test_200_pairs_are_shared_out_and_windows_are_as_long_as_published_ones():
    tasks = plan_of(*calibration.names())
    assert sum(sum(task.pairs) for task in tasks) == calibration.PAIRS
    assert {task.experiment.name: task.seconds for task in tasks} == {
        "batch_inserts": 2.0,
        "point_reads": 0.7,
        "single_inserts": 0.7,
        "updates": 0.7,
    }


def test_work_that_can_is_measured_in_slices_too_and_fifty_pairs_are_a_hundred_trials():
    fine = {
        task.experiment.name: calibration.count_fine_pairs(task) for task in plan_of(*calibration.names())
    }
    assert fine == {"batch_inserts": 0, "point_reads": 25, "single_inserts": 0, "updates": 25}
    assert not any(task.fine for task in plan_of(*calibration.names(), fine=None))


def test_all_of_it_takes_less_than_two_hours_and_slices_at_most_half_an_hour():
    tasks = plan_of(*calibration.names())
    fine = sum(map(calibration.estimate_fine_seconds, tasks))
    blocks = sum(calibration.estimate_seconds(task, calibration.PUBLISHED.repeats) for task in tasks)
    assert fine <= 30 * 60
    assert fine + blocks <= 120 * 60


@pytest.mark.parametrize(("pairs", "windows"), [(1, 3), (2, 3), (3, 3), (4, 4), (10, 5), (11, 6), (13, 7)])
def test_measurements_of_a_block_are_as_few_as_make_the_pairs(pairs, windows):
    assert calibration.count_measurements(pairs) == windows


def test_workloads_take_turns_and_no_group_is_larger_than_the_others():
    listed = list(calibration.list_groups(plan_of("updates", INSERTS, pairs=13, seconds=0.1)))
    groups = [one for _, _, one in listed]
    assert [pairs for _, pairs, _ in listed] == [10, 10, 3, 3]
    assert [one.name for one in groups] == [
        "calibrate_updates_1",
        "calibrate_single_inserts_1",
        "calibrate_updates_2",
        "calibrate_single_inserts_2",
    ]
    # The reference has two windows.
    assert [len(one.variants) for one in groups] == [4, 4, 2, 2]
    assert [variant["order"] for variant in groups[0].variants] == [1, 2, 3, 4]


def rows_of(speeds, first_again):
    """Rows of equal variants in the blocks of these speeds."""
    started = bson.json_util.loads('{"$date": "2026-11-23T08:00:00Z"}')
    about = {"start_time": started, "duration": 100}
    rows = [
        {
            "campaign": {"measured_again": 2, "disturbed": 1},
            "repeats": [
                {"block": block, "again": False, "operations_per_second": speed, **about}
                for block, speed in enumerate(mine)
            ],
        }
        for mine in speeds
    ]
    rows[0]["repeats"] += [
        {"block": block, "again": True, "operations_per_second": speed, **about}
        for block, speed in enumerate(first_again)
    ]
    return rows


def counted(block, one, other):
    window = {"operations": [one, other]}
    return Counted(block, window, excess=None, attempts=1)


def test_each_measurement_of_a_block_is_a_row_and_each_group_has_its_windows_in_slices():
    rows = rows_of([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)], (7.0, 8.0))
    sliced = [[counted(0, 10.0, 11.0)], [counted(0, 14.0, 15.0)]]
    group = calibration.gather_group(4, rows, sliced)
    first, second, third, fourth = (1.0, 8.0), (7.0, 2.0), (3.0, 4.0), (5.0, 6.0)
    assert [pair.speeds for pair in group.pairs] == [first, second, third, fourth]
    others = [(fourth, second), (first, third), (second, fourth), (third, first)]
    for pair, (one, other) in zip(group.pairs, others, strict=True):
        assert pair.references == pytest.approx([sqrt(a * b) for a, b in zip(one, other, strict=True)])
    assert group.fine == sliced
    assert group.row["campaign"] == {"measured_again": 2, "disturbed": 1}
    assert (group.end - group.start).total_seconds() == 0.1


def test_a_dry_run_says_how_long_it_takes_and_measures_nothing(told, tmp_path):
    code, out, _ = told("--dry-run", "--output", tmp_path / "out")
    assert code == 0
    assert "updates: 50 pairs in 5 groups, each over 20 blocks of windows of 0.7 s, about" in out
    assert "updates: 25 pairs in slices of 40 ms, each over 8 windows of 2 s, about" in out
    assert "all 200 pairs and 50 in slices on" in out
    minutes = [float(line.split()[-2]) for line in out.splitlines()]
    assert sum(minutes[:-1]) == pytest.approx(minutes[-1], abs=3)
    assert not (tmp_path / "out").exists()
    whole = sum(map(minutes.__getitem__, (0, 1, 3, 4)))
    half = float(told("--dry-run", "--blocks", 10, "--slices", 0)[1].split()[-2])
    assert half == pytest.approx(whole / 2, abs=10)  # the data of a group is loaded whatever its blocks
    assert "slices" not in told("--dry-run", "--slices", 0)[1]
    _, line, _ = format_plan(plan_of("updates", pairs=1), 3)
    assert line.startswith("updates: 3 pairs in slices of 40 ms")


def found_of(workload, groups, **fine):
    """What a document says of pairs that do not differ at all."""
    pair = Pairs((0, 1, 2), (10.0, 11.0, 12.0), (10.0, 11.0, 12.0))
    figures = calibrate([[pair] * 2] * groups)
    about = {"workload": workload, "pairs_asked": 8, "blocks": 3, "window_seconds": 0.7}
    sides = {"second_to_first": {"ratio": 1.0012, "low": 0.9991, "high": 1.0034}}
    sliced = {"slice_seconds": 0.04, "windows": 3, "window_seconds": 2.0, **figures, **sides, **fine}
    return {**about, **figures, "client": {"connections": 4}, **({"fine": sliced} if fine else {})}


def test_what_is_found_is_told_in_plain_words():
    long = {"long_requests": True, "mean_latency": 12_340.0}
    lines = list(format_found([found_of("one", 4, **long), found_of("two", 1), found_of("three", 2, **long)]))
    assert lines[0] == ("one: 8 pairs of equal things, each over 3 blocks of windows of 0.7 s, 4 connections")
    assert lines[1] == (
        "  false alarms, each judged by itself: 0 of 8, 0 % (95 % interval 0 % to 49 %, "
        "computed for 4 independent pairs)"
    )
    assert lines.count("one in slices of 40 ms, each over 3 windows of 2 s: 8 pairs of equal things") == 1
    assert (
        "  smallest slowdown detected in 84 of 100 pairs, judged as the rows of an experiment: 1 % "
        in "\n".join(lines)
    )
    assert (
        "two: 2 pairs (of 8) of equal things, each over 3 blocks of windows of 0.7 s, 4 connections" in lines
    )
    assert [line for line in lines if line.startswith("all")] == [
        "all workloads: 14 pairs of equal things",
        "all workloads in slices: 12 pairs of equal things",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["insert_docsize"], "no workload 'insert_docsize'"),
        (["--blocks", "2"], "3 or more"),
        (["--pairs", "0"], "of 1 or more"),
        (["--slices", "-1"], "a number of 0 or more"),
        (["--slices", "0.0001", "--dry-run"], "from 1 to 1000 milliseconds, not '0.0001'"),
        (["--slices", "1e9", "--dry-run"], "from 1 to 1000 milliseconds, not '1e9'"),
        (
            ["--target", "a=local", "--target", "b=local", "--dry-run"],
            "calibrate measures on one target, but there are several",
        ),
    ],
)
def test_what_cannot_be_measured_is_told(told, arguments, complaint):
    code, _, err = told(*arguments)
    assert (code, complaint in err) == (2, True), err


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_several_targets_are_refused(more, told, monkeypatch, tmp_path):
    monkeypatch.setenv("MONGO_TABLES_TARGET", "a=local b=local")
    code, _, err = told("--output", tmp_path, *more)
    assert (code, "one target" in err) == (2, True), err


@pytest.mark.exhaustive
def test_load_machines_are_calibrated_as_one_machine_is_also_in_slices(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "SECONDS", 0.8)
    asked = ("--load-machines", "local:2", "--pairs", 1, "--slices", 200)
    code, out, err = quick("point_reads", *asked)
    assert code == 0, err
    (found,) = documents(tmp_path, "point_reads")
    assert found["client"] == {"kind": "wire", "processes": 2, "connections": 32, "load_machines": 2}
    assert (found["pairs"], found["fine"]["windows"], found["fine"]["slice_seconds"]) == (1, 3, 0.2)
    assert "in slices" in out


def test_load_machines_that_cannot_be_are_refused_and_a_dry_run_says_so_too(told, tmp_path):
    for more in ([], ["--dry-run"]):
        code, out, err = told("--load-machines", "tls://a.example:8786", "--output", tmp_path, *more)
        assert (code, out) == (2, "")
        assert "a local target accepts connections only from this machine" in err


def test_a_pair_is_measured_in_shuffled_blocks_and_what_is_found_is_written(quick, tmp_path):
    # Another one, of more pairs, was begun here and not gone on with.
    FileStore(tmp_path).keep_progress(
        calibration.name_group(calibration.load(INSERTS), 1), {"_id": 1, "done": []}
    )
    code, out, err = quick(INSERTS, "--pairs", 1)
    assert code == 0, err
    (found,) = documents(tmp_path)
    assert found["_id"] == {"campaign": found["campaign"]["id"], "workload": INSERTS}
    assert (found["pairs"], found["pairs_asked"], found["pairs_together"], found["blocks"]) == (1, 1, 1, 3)
    assert (found["window_seconds"], found["client"]["connections"]) == (0.2, 10)
    assert found["hardware"]["cores"] and found["versions"]["server"] and found["servers"]["members"]
    assert found["start_time"] < found["end_time"]
    assert [row["slowdown"] for row in found["power"]][-1] == 0.25
    assert not (tmp_path / ".runs").exists()
    assert not (tmp_path / "results").exists()
    text = "\n".join(format_found([found]))
    assert out == f"{text}\n"
    assert "single_inserts: 1 pair of equal things, each over 3 blocks of windows of 0.2 s" in text
    ((pair,),) = (group["each"] for group in found["groups"])
    assert pair["low"] <= pair["ratio"] <= pair["high"]
    assert "fine" not in found  # what it inserts would be another work for the next slice
    assert "slices" not in text


@pytest.mark.thorough
def test_what_was_interrupted_goes_on_in_the_same_block(quick, tmp_path, monkeypatch):
    measured = 8  # of 3 blocks of 5 windows, and 3 of 3
    with monkeypatch.context() as patched:
        patched.setattr("mongo_tables.commands.calibrate.Progress", lambda *given: Cutting(measured))
        code, _, err = quick(INSERTS, "--pairs", 12)
    assert (code, "with --resume continues" in err) == (130, True), err
    first = tmp_path / ".runs" / "calibrate_single_inserts_1"
    kept = {path.name: path.stat().st_mtime_ns for path in first.iterdir()}
    assert len(kept) == measured
    campaign = json.loads(first.with_suffix(".jsonl").read_bytes())["campaign"]["id"]
    # The last window of the last group is not measured, so that what is kept can be looked at.
    with monkeypatch.context() as patched:
        patched.setattr("mongo_tables.commands.calibrate.Progress", lambda *given: Cutting(23 - measured))
        assert quick(INSERTS, "--pairs", 12, "--resume")[0] == 130
    assert {name: (first / name).stat().st_mtime_ns for name in kept} == kept
    (partial,) = documents(tmp_path)
    assert (partial["pairs"], partial["pairs_asked"]) == (10, 12)
    assert quick(INSERTS, "--pairs", 12, "--resume")[0] == 0
    (found,) = documents(tmp_path)
    assert (found["pairs"], found["_id"]["campaign"]) == (12, campaign)
    assert not (tmp_path / ".runs").exists()


@pytest.mark.exhaustive
def test_a_calibration_whose_time_is_over_says_what_it_knows_and_replaces_no_other(quick, tmp_path):
    code, out, err = quick(INSERTS, "--pairs", 1, "--time", "0.001s")
    assert (code, out) == (2, "no group of pairs is measured yet\n")
    assert "the time is over" in err and "--resume" in err
    for _ in range(2):
        assert quick(INSERTS, "--pairs", 1)[0] == 0
    one, other = (found["campaign"]["start"] for found in documents(tmp_path))
    assert one < other


@pytest.mark.exhaustive
def test_work_that_can_takes_turns_with_itself_in_slices_and_goes_on_in_the_same_window(
    quick, tmp_path, monkeypatch
):
    # Long enough that neither side goes without an answer on a busy machine: a speed of nothing has no ratio.
    monkeypatch.setattr(slices, "SECONDS", 0.6)
    monkeypatch.setattr(slices, "WARMING_SECONDS", 0.1)
    asked = ("updates", "--pairs", 3, "--slices", 10)
    with monkeypatch.context() as patched:
        patched.setattr("mongo_tables.commands.calibrate.Progress", lambda *given: Cutting(6 + 3 + 1))
        assert quick(*asked)[0] == 130
    first = tmp_path / ".runs" / "calibrate_updates_1"
    kept = {path.name: path.stat().st_mtime_ns for path in first.iterdir()}
    assert sorted(name for name in kept if "slices" in name) == [
        "0-0-slices-0-0-0-again.jsonl",
        "0-0-slices-0-0-0.jsonl",
        "0-0-slices-0-0-1.jsonl",
    ]
    with monkeypatch.context() as patched:
        patched.setattr("mongo_tables.commands.calibrate.Progress", lambda *given: Cutting(2))
        assert quick(*asked, "--resume")[0] == 130
    assert {name: (first / name).stat().st_mtime_ns for name in kept} == kept
    code, _, err = quick(*asked[:-1], 20, "--resume")
    assert (code, "another slices" in err) == (2, True), err
    code, out, err = quick(*asked, "--resume")
    assert code == 0, err
    (found,) = documents(tmp_path, "updates")
    fine = found["fine"]
    assert (fine["pairs"], fine["windows"], fine["slice_seconds"], fine["window_seconds"]) == (
        3,
        3,
        0.01,
        0.6,
    )
    assert [group["pairs"] for group in fine["groups"]] == [3]
    assert fine["alone"]["number"] <= 2
    assert (fine["measured_again"], fine["failed"]) == (0, 0)
    assert fine["mean_latency"] > 0
    assert 0.5 < fine["second_to_first"]["ratio"] < 2
    assert fine["power"][-1]["slowdown"] == 0.25
    assert "updates in slices of 10 ms, each over 3 windows of 0.6 s: 3 pairs" in out


def test_windows_of_a_group_are_shuffled_anew_in_each_block():
    _, _, group = next(calibration.list_groups(plan_of(INSERTS)))
    plan = Plan([range(len(group.variants))], reference=0, twice=True, shuffled=True, seed=f"1/{group.name}")
    orders = [plan.turns(block) for block in range(20)]
    assert all(len(turns) == len(set(turns)) == 5 for turns in orders)
    assert all(one != other for one, other in pairwise(orders))
