"""`compare --explain`: whoever doubts a verdict can do the sum again."""

from __future__ import annotations

import re
from math import exp
from random import Random

import pytest

from mongo_tables.cli import main
from tests.commands.compare.test_compare import keep, of_blocks
from tests.results.blockrows import SHAKE, campaign, measured, shaken


def explained(capsys, *arguments):
    assert main(["compare", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def ending(lines, start):
    (line,) = [line.strip() for line in lines if line.strip().startswith(start)]
    return line


def test_two_campaigns_are_explained_from_the_blocks_to_the_verdict(tmp_path, capsys):
    old = keep(tmp_path / "old", of_blocks(shaken(50)))
    new = keep(tmp_path / "new", of_blocks(shaken(40, SHAKE[::-1])))
    lines = explained(capsys, old, new, "--explain", "t: size 4")
    assert lines[0] == "t: size 4: NEW to OLD"
    assert sum(line.startswith("      9 ") for line in lines) == 2
    assert "n = 10." in lines[12]
    assert ending(lines, "The difference of both means is").endswith("a ratio of 0.8000.")
    assert "degrees of freedom" in ending(lines, "Welch")
    assert ending(lines, "The quantile of t for 95 % is")
    assert ending(lines, "Benjamini and Hochberg").endswith(
        "for only this row: p may be up to 0.05, so this one holds."
    )
    assert ending(lines, "So:").startswith("So: 20 % slower")


def test_the_sum_can_be_done_again_from_what_is_printed(tmp_path, capsys):
    folder = keep(
        tmp_path / "one", campaign([measured(1, [100] * 5, [100] * 5), measured(4, [80, 90, 85, 95, 88])])
    )
    lines = explained(capsys, folder, "--explain", "t: size 4")
    logs = [float(line.split()[-1]) for line in lines[2:7]]
    mean = sum(logs) / 5
    error = (sum((one - mean) ** 2 for one in logs) / 4 / 5) ** 0.5
    quantile = float(ending(lines, "The quantile").split(" is ")[1].split(":")[0])
    low, _, high = ending(lines, "As ratios:").removeprefix("As ratios: ").rstrip(".").split()
    assert exp(mean - quantile * error) == pytest.approx(float(low), abs=2e-4)
    assert exp(mean + quantile * error) == pytest.approx(float(high), abs=2e-4)


def test_signed_ranks_are_explained_from_twenty_blocks_on(tmp_path, capsys):
    random = Random(1)
    speeds = [100 * exp(random.gauss(0, 0.05)) for _ in range(20)]
    folder = keep(tmp_path / "one", campaign([measured(1, [100] * 20, speeds), measured(4, speeds)]))
    lines = explained(capsys, folder, "--explain", "t: size 4")
    assert "the means of all 210 pairs" in ending(lines, "From 20 blocks on signed ranks")
    assert ending(lines, "For 95 % and 20 blocks").startswith(
        "For 95 % and 20 blocks 52 of them are left out at each end"
    )
    assert ending(lines, "(Where something has several windows in a block")


def test_all_rows_of_an_experiment_or_of_all_are_explained_in_turn(tmp_path, capsys):
    folder = keep(tmp_path / "one", of_blocks(shaken(50)))
    for asked in (("--explain", "t"), ("--explain",)):
        lines = explained(capsys, folder, *asked)
        assert [line for line in lines if line.startswith("t: ")] == [
            "t: size 1: the reference to itself, in the same block",
            "t: size 4: each row to its reference, in the same block",
        ]


def test_what_has_no_interval_says_why(tmp_path, capsys):
    folder = keep(tmp_path / "one", campaign([measured(1, [100], [101]), measured(4, [50])]))
    lines = explained(capsys, folder, folder, "--explain")
    assert "the reference" in lines[1]
    assert ending(lines, "Fewer than three blocks do not say how much blocks differ")
    assert ending(lines, "So: not known")


def test_a_row_that_is_not_there_is_said_with_the_nearest(tmp_path, capsys):
    folder = keep(tmp_path / "one", of_blocks(shaken(50)))
    assert main(["compare", folder, "--explain", "t: size 5"]) == 2
    assert "did you mean `t: size" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "given"),
    [
        (lambda repeats: repeats[:-1], r"0\.\d{4} \(0\.\d{4} to 0\.\d{4}\) over 9 blocks"),
        (lambda repeats: repeats[:2], r"0\.\d{4} over 2 blocks"),
        (
            lambda repeats: [*repeats[:-1], {**repeats[-1], "operations_per_second": 0.0}],
            "one of them did no work",
        ),
    ],
    ids=["a block is missing", "two are left", "a block is 0"],
)
def test_an_interval_that_is_not_that_of_the_blocks_is_not_explained_by_them(change, given, tmp_path, capsys):
    reference, row = of_blocks(shaken(50))
    folder = keep(tmp_path / "one", [reference, {**row, "repeats": change(row["repeats"])}])
    lines = explained(capsys, folder, "--explain", "t: size 4")
    told = ending(lines, "The row says a ratio of")
    assert re.fullmatch(
        rf"The row says a ratio of 0\.\d{{4}} over 10 blocks\. That is not what its blocks give: {given}\. "
        "Blocks were lost or changed; what follows is the row's\\.",
        told,
    )
    assert not [line for line in lines if "Student" in line]
    assert ending(lines, "So:").startswith("So: 2.00 times slower")
