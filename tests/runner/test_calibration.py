"""Equal things are measured in pairs, and what is found of them is written as far as it is known."""

from __future__ import annotations

import json
from itertools import pairwise

import bson.json_util
import pytest

from preprocessor.cli import main
from preprocessor.commands.calibrate.writing import format_found
from preprocessor.runner import calibration
from preprocessor.runner import experiment as experiments
from preprocessor.runner.blocks import Plan
from preprocessor.runner.store import FileStore
from preprocessor.runner.workloads import workload
from tests.runner.measured import Cutting

INSERTS = "single_inserts"


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

    def run(*arguments):
        given = f"--blocks 3 --seconds 0.1 --processes 1 --target {replica_set.uri} --output {tmp_path}"
        return told(INSERTS, *given.split(), *arguments)

    return run


def documents(folder):
    lines = (folder / "calibration" / f"{INSERTS}.jsonl").read_text("utf-8").splitlines()
    return [bson.json_util.loads(line) for line in lines]


def test_workloads_are_no_experiments_of_run_all_and_can_be_measured_as_they_are():
    assert not set(calibration.names()) & set(experiments.names())
    loaded = [calibration.load(name) for name in calibration.names()]
    assert [one.name for one in loaded] == calibration.names()
    databases = [one.parameters["database"] for one in loaded]
    assert len(set(databases)) == len(databases)
    # The windows of all variants find the same, in whatever order they come.
    assert not any(workload(one.workload).TRAITS.goes_on for one in loaded)


def test_200_pairs_are_shared_out_and_windows_are_as_long_as_published_ones():
    tasks = calibration.plan([calibration.load(name) for name in calibration.names()], None, None)
    assert sum(sum(task.pairs) for task in tasks) == calibration.PAIRS
    assert {task.experiment.name: task.seconds for task in tasks} == {
        "batch_inserts": 2.0,
        "point_reads": 0.7,
        "single_inserts": 0.7,
        "updates": 0.7,
    }


def test_workloads_take_turns_and_no_group_is_larger_than_the_others():
    wanted = [calibration.load(name) for name in ("updates", INSERTS)]
    groups = [one for _, one in calibration.list_groups(calibration.plan(wanted, 7, 0.1))]
    assert [one.name for one in groups] == [
        "calibrate_updates_1",
        "calibrate_single_inserts_1",
        "calibrate_updates_2",
        "calibrate_single_inserts_2",
    ]
    # The reference has two windows, so that one variant less is needed.
    assert [len(one.variants) for one in groups] == [9, 9, 3, 3]
    assert [variant["order"] for variant in groups[0].variants] == list(range(1, 10))


def rows_of(speeds, first_again):
    """Rows of equal variants in the blocks of these speeds."""
    started = bson.json_util.loads('{"$date": "2026-11-23T08:00:00Z"}')
    about = {"start_time": started, "duration": 100}
    rows = [
        {
            "campaign": {"measured_again": 2},
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


def test_no_window_is_in_two_pairs():
    group = calibration.gather_group(rows_of([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)], (7.0, 8.0)))
    assert [(pair.speeds, pair.references) for pair in group.pairs] == [
        ((7.0, 8.0), (1.0, 2.0)),
        ((3.0, 4.0), (5.0, 6.0)),
    ]
    assert group.measured_again == 2
    assert (group.end - group.start).total_seconds() == 0.1


def test_a_dry_run_says_how_long_it_takes_and_measures_nothing(told, tmp_path):
    code, out, _ = told("--dry-run", "--output", tmp_path / "out")
    assert code == 0
    assert "updates: 50 pairs in 10 groups, each over 20 blocks of windows of 0.7 s, about" in out
    assert "all 200 pairs" in out
    minutes = [int(line.split()[-2]) for line in out.splitlines()]
    assert sum(minutes[:-1]) == pytest.approx(minutes[-1], abs=2)
    assert not (tmp_path / "out").exists()
    half = int(told("--dry-run", "--blocks", 10)[1].split()[-2])
    assert half == pytest.approx(minutes[-1] / 2, abs=15)  # the data of a group is loaded whatever its blocks


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["insert_docsize"], "no workload 'insert_docsize'"),
        (["--blocks", "2"], "3 or more"),
        (["--pairs", "0"], "from 1 on"),
    ],
)
def test_what_cannot_be_measured_is_told(told, arguments, complaint):
    code, _, err = told(*arguments)
    assert (code, complaint in err) == (2, True), err


def test_several_targets_are_refused(told, monkeypatch, tmp_path):
    monkeypatch.setenv("MONGO_TABLES_TARGET", "a=local b=local")
    code, _, err = told("--output", tmp_path)
    assert (code, "one target" in err) == (2, True), err


def test_a_pair_is_measured_in_shuffled_blocks_and_what_is_found_is_written(quick, tmp_path):
    # Another one, of more pairs, was begun here and not gone on with.
    FileStore(tmp_path).keep_state(calibration.name_group(calibration.load(INSERTS), 1), {"done": []})
    code, out, err = quick("--pairs", 1, "--json")
    assert code == 0, err
    (found,) = documents(tmp_path)
    (printed,) = json.loads(out)["calibration"]
    assert printed["_id"] == found["_id"] == {"campaign": found["campaign"]["id"], "workload": INSERTS}
    assert (found["pairs"], found["pairs_asked"], found["pairs_together"], found["blocks"]) == (1, 1, 1, 3)
    assert (found["window_seconds"], found["client"]["connections"]) == (0.1, 10)
    assert found["hardware"]["cores"] and found["versions"]["server"] and found["servers"]["members"]
    assert found["start_time"] < found["end_time"]
    assert [row["slowdown"] for row in found["power"]][-1] == 0.25
    assert not (tmp_path / ".runs").exists()
    assert not (tmp_path / "results").exists()
    text = "\n".join(format_found([found]))
    assert "single_inserts: 1 pair of equal things, each over 3 blocks of windows of 0.1 s" in text


@pytest.mark.thorough
def test_what_was_interrupted_goes_on_in_the_same_block(quick, tmp_path, monkeypatch):
    measured = 8
    with monkeypatch.context() as patched:
        patched.setattr("preprocessor.runner.progress.Progress", lambda *given: Cutting(measured))
        code, _, err = quick("--pairs", 6)
    assert (code, "--resume goes on" in err) == (130, True), err
    first = tmp_path / ".runs" / "calibrate_single_inserts_1"
    kept = {path.name: path.stat().st_mtime_ns for path in first.iterdir()}
    assert len(kept) == measured
    campaign = json.loads(first.with_suffix(".json").read_bytes())["campaign"]["id"]
    # The last window of the last group is not measured, so that what is kept can be looked at.
    with monkeypatch.context() as patched:
        patched.setattr("preprocessor.runner.progress.Progress", lambda *given: Cutting(35 - measured))
        assert quick("--pairs", 6, "--resume")[0] == 130
    assert {name: (first / name).stat().st_mtime_ns for name in kept} == kept
    (partial,) = documents(tmp_path)
    assert (partial["pairs"], partial["pairs_asked"]) == (5, 6)
    assert quick("--pairs", 6, "--resume")[0] == 0
    (found,) = documents(tmp_path)
    assert (found["pairs"], found["_id"]["campaign"]) == (6, campaign)
    assert not (tmp_path / ".runs").exists()


@pytest.mark.thorough
def test_a_calibration_whose_time_is_over_says_what_it_knows_and_replaces_no_other(quick, tmp_path):
    code, out, err = quick("--pairs", 1, "--time", "0.001s")
    assert (code, out) == (2, "no group of pairs is measured yet\n")
    assert "the time is over" in err and "--resume" in err
    for _ in range(2):
        assert quick("--pairs", 1)[0] == 0
    one, other = (found["campaign"]["start"] for found in documents(tmp_path))
    assert one < other


def test_windows_of_a_group_are_shuffled_anew_in_each_block():
    _, group = next(calibration.list_groups(calibration.plan([calibration.load(INSERTS)], 5, None)))
    plan = Plan([range(len(group.variants))], reference=0, twice=True, shuffled=True, seed=f"1/{group.name}")
    orders = [plan.turns(block) for block in range(20)]
    assert all(len(turns) == len(set(turns)) == 10 for turns in orders)
    assert all(one != other for one, other in pairwise(orders))
