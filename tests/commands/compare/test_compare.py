"""Two campaigns, or one: what is faster, what slower, what is not known, and why."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mongo_tables.cli import main
from mongo_tables.files.process import install_command
from mongo_tables.results.comparison import compare
from mongo_tables.results.conclusions import list_ratios, pair_blocks
from mongo_tables.results.intervals import interval_between
from mongo_tables.runner.store import FileStore
from tests.results.blockrows import SHAKE, campaign, measured, shaken, side_by_side


def row(variant, speeds, name="t", **provenance):
    return {
        "_id": {"size": variant, "testname": name},
        "start_time": datetime(2026, 1, 1, tzinfo=UTC),
        "repeats": [{"operations_per_second": float(speed)} for speed in speeds],
        "versions": {"server": "6.0.5", **provenance},
    }


def of_blocks(speeds, reference=100, identity="one", target=None):
    """A campaign of two rows: size 1, the reference, and size 4."""
    rows = [
        measured(1, shaken(reference), shaken(reference, SHAKE[::-1]), target),
        measured(4, speeds, target=target),
    ]
    return campaign(rows, 0, identity)


def without_blocks_of(other, row):
    """The row, in blocks that the other has not."""
    behind = len(other["repeats"])
    return {**row, "repeats": [{**one, "block": one["block"] + behind} for one in row["repeats"]]}


def verdicts(old, new):
    return [(one.judged.verdict, one.judged.of) for one in compare(old, new).rows]


def test_two_campaigns_are_judged_by_what_each_row_is_to_its_reference():
    """All was half as fast the second time, as on a machine that drifts: only the row that changed beside it is told."""
    old = of_blocks(shaken(50))
    assert verdicts(old, of_blocks(shaken(25), 50))[1] == ("no difference", "ratio to the reference")
    (_, faster) = compare(old, of_blocks(shaken(30), 50)).rows
    assert faster.judged.verdict == "faster"
    assert faster.judged.ratio == pytest.approx(1.2, rel=0.01)
    assert (faster.one.speed, faster.other.speed) == pytest.approx((50, 30), rel=0.02)
    assert verdicts(old, of_blocks(shaken(20), 50))[1][0] == "slower"


def test_the_ratio_of_two_campaigns_is_welchs_over_blocks():
    old, new = of_blocks(shaken(50)), of_blocks(shaken(56, SHAKE[::-1]))
    (_, found) = compare(old, new).rows
    ratios = [list_ratios(pair_blocks(side[1], side[0])) for side in (old, new)]
    expected = interval_between(*ratios)
    assert found.judged[1:6] == pytest.approx((*expected[:3], expected.p, 10))


def test_the_reference_of_two_campaigns_is_not_known_and_says_why():
    (reference, _) = compare(of_blocks(shaken(50)), of_blocks(shaken(50), 200)).rows
    assert (reference.judged.verdict, reference.judged.of) == ("not known", "speed")
    assert reference.judged.ratio == pytest.approx(2, rel=0.02)
    assert "so there is no row to relate it to" in reference.judged.reason


def test_all_rows_of_two_campaigns_are_judged_together():
    """Alone its p is below 5 %; among nineteen that do not differ, chance brings that."""
    slight = [1.05, 0.98, 1.09, 1.02, 1.08, 1.05, 1.03, 1.11, 1.0, 1.09]
    (_, alone) = compare(of_blocks(shaken(50)), of_blocks(shaken(50, slight))).rows
    assert alone.judged.p < 0.05
    assert alone.judged.verdict == "faster"
    others = [measured(size, shaken(50, SHAKE[size % 9 :] + SHAKE[: size % 9])) for size in range(10, 29)]
    sides = [
        campaign([measured(1, shaken(100), shaken(100, SHAKE[::-1])), measured(4, speeds), *others])
        for speeds in (shaken(50), shaken(50, slight))
    ]
    among = compare(*sides).rows[1]
    assert among.judged.p == alone.judged.p
    assert among.judged.verdict != "faster"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[1:], "its reference is not among the rows"),
        (lambda rows: campaign(rows[:1], 0, "another") + rows[1:], "its reference is not among the rows"),
        (
            lambda rows: campaign([*rows, measured(2, shaken(9), shaken(9))], 2),
            "size 1 in OLD and size 2 in NEW",
        ),
        (
            lambda rows: campaign([rows[0], measured(4, [0.0] * 10)]),
            "it did no work in 10 of 10 blocks in NEW",
        ),
        (
            lambda rows: campaign([rows[0], measured(4, [0.0, *shaken(50)[1:]])]),
            "it did no work in 1 of 10 blocks in NEW",
        ),
        (
            lambda rows: campaign([measured(1, [0.0, *shaken(100)[1:]], shaken(100)), rows[1]]),
            "its reference did no work in 1 of 10 blocks in NEW",
        ),
        (
            lambda rows: campaign([rows[0], without_blocks_of(rows[0], rows[1])]),
            "no block in NEW has both the row and its reference",
        ),
        (
            lambda rows: [
                {name: value for name, value in one.items() if name != "comparison"} for one in rows
            ],
            "its rate was fixed, so its speeds are not compared",
        ),
    ],
    ids=[
        "no reference",
        "a reference of another campaign",
        "another reference",
        "nothing was done",
        "nothing was done in one block",
        "the reference did nothing in one block",
        "no block in common",
        "at a rate",
    ],
)
def test_what_has_no_ratio_to_a_reference_is_not_known_and_says_why(change, reason):
    old = of_blocks(shaken(50))
    (found,) = [one for one in compare(old, change(old)).rows if one.variant == "size 4"]
    assert (found.judged.verdict, found.judged.low, found.evidence) == ("not known", None, ())
    assert reason in found.judged.reason


def test_rows_without_blocks_have_the_ratio_of_their_medians_and_no_verdict():
    (only,) = compare([row(1, (10, 20, 40))], [row(1, (300, 500, 600))]).rows
    assert (only.judged.ratio, only.judged.verdict, only.judged.low) == (25, None, None)
    assert only.judged.reason == "measured without blocks"
    half = compare([measured(1, [10, 20, 40])], [row(1, (300, 500, 600))]).rows[0]
    assert half.judged.reason == "measured without blocks in NEW"


def test_rows_of_one_side_only_and_differing_provenance_are_named():
    difference = compare([row(1, (1, 1, 1)), row(2, (1,))], [row(1, (1, 1, 1), server="8.0.1"), row(3, (1,))])
    assert difference.only_old == ("t: size 2",)
    assert difference.only_new == ("t: size 3",)
    assert difference.rows[0].differs == {"versions.server": ("6.0.5", "8.0.1")}


def test_a_client_that_was_scheduled_otherwise_is_named():
    normal, batch = ({**row(1, (1, 1, 1)), "client": {"scheduling": one}} for one in ("normal", "batch"))
    (only,) = compare([normal], [batch]).rows
    assert only.differs == {"client.scheduling": ("normal", "batch")}


def on(target, client="A", servers=None):
    """A row of a run on this target, with the processors of its client and its servers."""
    members = [{"role": "primary", **({"cpu": servers} if servers else {})}]
    return {
        **row(1, (1, 1, 1)),
        "experiment": {"target": target},
        "hardware": {"cpu": client},
        "servers": {"kind": "replica set", "members": members, "not_known": []},
    }


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (
            on("db:1", "A", "X"),
            on("db:1", "B", "Y"),
            [
                "servers on another machine: cpu: X in OLD, Y in NEW",
                "client on another machine: cpu: A in OLD, B in NEW",
            ],
        ),
        (
            on("local", "A", "A"),
            on("local", "B", "B"),
            ["measured on another machine: cpu: A in OLD, B in NEW"],
        ),
        (
            on("db:1"),
            on("db:1", servers="Y"),
            ["machine of the servers: cpu: not known in OLD, Y in NEW"],
        ),
        (on("local", "A"), on("db:1", "A", "A"), []),
        (on("db:1", "A", "X"), on("db:1", "A", "X"), []),
    ],
)
def test_other_machines_are_named_those_of_the_servers_first(old, new, lines, tmp_path, capsys):
    for side, one in (("old", old), ("new", new)):
        FileStore(tmp_path / side).put(one)
    assert run(str(tmp_path / "old"), str(tmp_path / "new")) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if " in OLD, " in line and line[0] != " "]
    assert [line for line in said if "machine" in line] == lines
    assert said[: len(lines)] == lines


def test_an_older_row_of_a_local_target_has_its_servers_on_the_machine_of_the_client():
    older = {**on("local", "A"), "servers": {}}
    (only,) = compare([older], [on("db:1", "A", "X")]).rows
    assert only.differs["servers.cpu"] == ("A", "X")
    assert not only.shared


@pytest.fixture
def folders(tmp_path):
    for side, speeds in (("old", (13, 14, 15)), ("new", (10, 11, 12))):
        FileStore(tmp_path / side).put(row(1, speeds, harness=side))
    return str(tmp_path / "old"), str(tmp_path / "new")


@pytest.fixture
def campaigns(tmp_path):
    """Size 4 is a fifth slower in the new one."""
    return (
        keep(tmp_path / "january", of_blocks(shaken(50))),
        keep(tmp_path / "june", of_blocks(shaken(40, SHAKE[::-1]), identity="two")),
    )


def keep(folder, rows):
    store = FileStore(folder)
    for one in rows:
        store.put({**one, "start_time": datetime(2026, 1, 1, tzinfo=UTC)})
    return str(folder)


def run(*arguments):
    return main(["compare", *arguments])


def cells(line):
    """The cells of an aligned line."""
    return re.split(" {2,}", line.strip())


def test_the_command_says_verdicts_in_words_and_speeds_beside_them(campaigns, capsys):
    assert run(*campaigns) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "t: NEW to OLD"
    assert cells(lines[1]) == [
        "row", "in OLD", "in NEW", "ratio", "verdict", "of its reference in OLD", "of its reference in NEW"
    ]  # fmt: skip
    assert cells(lines[2])[0] == "size 1"
    assert cells(lines[2])[-1].startswith("not known: it is the reference")
    assert cells(lines[3])[:2] == ["size 4", "50/s (49 to 51)"]
    assert "20 % slower (19 to 21 %), 10 blocks" in cells(lines[3])
    assert {"0.500", "0.400"} < set(cells(lines[3]))
    assert lines[4] == "measured alike: no recorded condition differs"
    assert "side by side: mongo-tables run NAME --target a=WHERE --target b=WHERE" in lines[-1]
    assert "interval does not include how the machine varies from hour to hour" in "\n".join(lines)


def test_the_command_says_what_has_no_verdict(folders, capsys):
    assert run(*folders) == 0
    out = capsys.readouterr().out
    assert ["size 1", "14/s", "11/s", "0.786", "no verdict: measured without blocks"] in map(
        cells, out.splitlines()
    )
    assert "not measured alike: versions.harness: old in OLD, new in NEW" in out
    assert "side by side" not in out


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ((), 0),
        (("slower",), 1),
        (("slower 5 %",), 1),
        (("slower 19.5%",), 1),
        (("slower 25 %",), 0),
        (("different 3 %",), 1),
        (("faster",), 0),
        (("not known",), 0),
        (("faster", "slower 5.5 %"), 1),
    ],
)
def test_the_command_fails_for_what_it_is_asked_to(conditions, status, campaigns, capsys):
    asked = [part for one in conditions for part in ("--fail-if", one)]
    assert run(*campaigns, *asked) == status
    said = capsys.readouterr().err
    assert said == (f"mongo-tables: {conditions[-1]}: t: size 4 (NEW to OLD)\n" if status else "")


def test_not_known_fails_for_a_row_but_not_for_a_reference(tmp_path, capsys):
    vague = keep(tmp_path / "vague", of_blocks([30, 80, 50, 20, 90, 40, 60, 50, 70, 25]))
    assert run(vague, vague, "--fail-if", "not known") == 1
    assert capsys.readouterr().err == "mongo-tables: not known: t: size 4 (NEW to OLD)\n"


def test_a_condition_that_nobody_understands_is_said_with_those_that_are(campaigns, capsys):
    for asked_for in ("slower than 5", "slower ٥ %"):
        with pytest.raises(SystemExit):
            run(*campaigns, "--fail-if", asked_for)
        said = capsys.readouterr().err
        allowed = "`slower`, `slower 5 %`, `faster 5 %`, `different 3 %` or `not known`"
        assert f"must be {allowed}, not '{asked_for}'" in said


def test_a_condition_does_not_pass_where_nothing_can_be_judged(folders, capsys):
    assert run(*folders, "--fail-if", "slower") == 2
    assert "--fail-if cannot judge any row: t: size 1: measured without blocks" in capsys.readouterr().err


def test_a_condition_does_not_pass_for_rows_whose_reference_is_not_there(tmp_path, capsys):
    old, new = (
        keep(tmp_path / "old", of_blocks(shaken(50))),
        keep(tmp_path / "new", of_blocks(shaken(10))[1:]),
    )
    assert run(old, new, "--fail-if", "slower 5 %") == 2
    assert (
        "--fail-if cannot judge any row: t: size 4: its reference is not among the rows"
        in capsys.readouterr().err
    )


def test_rows_that_no_condition_can_be_met_by_are_told(tmp_path, capsys):
    others = [{**one, "_id": {**one["_id"], "testname": "u"}} for one in of_blocks(shaken(50))]
    old = keep(tmp_path / "old", [*of_blocks(shaken(50)), *others, row(9, (1,))])
    new = keep(tmp_path / "new", [*of_blocks(shaken(10))[1:], *others])
    assert run(old, new, "--fail-if", "slower 5 %") == 2
    assert capsys.readouterr().err.splitlines() == [
        "mongo-tables: not judged: t: size 4: its reference is not among the rows",
        "mongo-tables: cannot pass: t: size 1: only in OLD",
        "mongo-tables: cannot pass: t: size 9: only in OLD",
    ]


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ([0.0] * 10, "t: size 4: it did no work in 10 of 10 blocks in NEW"),
        ([*shaken(50)[:9], 0.0], "t: size 4: it did no work in 1 of 10 blocks in NEW"),
        (None, "t: size 4: only in OLD"),
    ],
    ids=["dead", "dead in one block", "gone"],
)
def test_what_stopped_working_or_is_gone_does_not_pass(speeds, said, tmp_path, capsys):
    other = measured(7, shaken(30))
    rows = [measured(1, shaken(100), shaken(100)), measured(4, shaken(50)), other]
    left = [rows[0], *([measured(4, speeds)] if speeds else []), other]
    old, new = keep(tmp_path / "old", campaign(rows)), keep(tmp_path / "new", campaign(left))
    assert run(old, new) == 0
    capsys.readouterr()
    assert run(old, new, "--fail-if", "slower 5 %") == 2
    assert capsys.readouterr().err == f"mongo-tables: cannot pass: {said}\n"
    assert run(new, new, "--fail-if", "slower 5 %") == (2 if speeds and any(speeds) else 0)
    # What became slower beside it is told as that.
    worse = [*left[:-1], measured(7, shaken(20))]
    assert run(old, keep(tmp_path / "worse", campaign(worse)), "--fail-if", "slower 5 %") == 1


def test_a_reference_that_stopped_working_does_not_pass(tmp_path, capsys):
    dead = campaign([measured(1, [0.0] * 10, [0.0] * 10), measured(4, shaken(50))])
    others = [{**one, "_id": {**one["_id"], "testname": "u"}} for one in of_blocks(shaken(50))]
    old = keep(tmp_path / "old", [*of_blocks(shaken(50)), *others])
    assert run(old, keep(tmp_path / "new", [*dead, *others]), "--fail-if", "slower") == 2
    assert "cannot pass: t: size 1: it did no work in 10 of 10 blocks in NEW" in capsys.readouterr().err


def asked(rows, **parts):
    return [{**one, **parts} for one in rows]


def test_rows_of_other_work_have_no_verdict_and_make_no_condition_pass_or_fail(tmp_path, capsys):
    old = keep(tmp_path / "old", asked(of_blocks(shaken(50)), experiment={"scale": 1.0, "digest": "ab"}))
    new = keep(tmp_path / "new", asked(of_blocks(shaken(25)), experiment={"scale": 0.01, "digest": "cd"}))
    assert run(old, new, "--fail-if", "slower") == 2
    out, err = capsys.readouterr()
    said = "the two sides measured different work: they differ in experiment.digest, experiment.scale"
    assert any(cells(line)[0] == "size 4" and f"no verdict: {said}" in line for line in out.splitlines())
    assert f"--fail-if cannot judge any row: t: size 4: {said}" in err
    assert "not measured alike: experiment.scale: 1.0 in OLD, 0.01 in NEW" in out


def test_of_rows_of_other_work_beside_such_as_can_be_judged_is_told(tmp_path, capsys):
    others = [{**one, "_id": {**one["_id"], "testname": "u"}} for one in of_blocks(shaken(50))]
    sides = [
        keep(tmp_path / str(scale), [*asked(of_blocks(shaken(50)), experiment={"scale": scale}), *others])
        for scale in (1.0, 0.01)
    ]
    assert run(*sides, "--fail-if", "slower") == 0
    assert (
        "not judged: t: size 4: the two sides measured different work: they differ in experiment.scale\n"
        in capsys.readouterr().err
    )


def test_a_machine_or_version_is_no_other_work():
    old, new = (asked(of_blocks(shaken(50)), versions={"server": one}) for one in ("7.0", "8.0"))
    assert verdicts(old, new)[1][0] == "no difference"


def test_two_blocks_have_no_interval_and_no_verdict(tmp_path, capsys):
    rows = [campaign([measured(1, [100] * 2, [100] * 2), measured(4, [speed] * 2)]) for speed in (50, 10)]
    assert verdicts(*rows)[1] == ("not known", "ratio to the reference")
    old, new = (keep(tmp_path / name, some) for name, some in zip(("old", "new"), rows, strict=True))
    assert run(old, new, "--fail-if", "slower") == 2
    assert "t: size 4: fewer than three blocks have no interval" in capsys.readouterr().err
    assert run(old) == 0
    assert "  0.500  not known, 2 blocks\n" in capsys.readouterr().out


def test_a_verdict_over_two_blocks_that_an_older_version_wrote_is_not_taken(tmp_path, capsys):
    old, new = campaign([measured(1, [100] * 2, [100] * 2), measured(4, [50] * 2)])
    new["comparison"] |= {"low": 0.5, "high": 0.5, "p": 0.0, "verdict": "slower"}
    assert run(keep(tmp_path / "one", [old, new]), "--fail-if", "slower") == 2
    assert "  0.500  not known, 2 blocks\n" in capsys.readouterr().out


def test_a_reference_that_differs_from_itself_meets_no_condition(tmp_path, capsys):
    rows = [measured(1, shaken(100), shaken(121)), measured(4, shaken(109))]
    assert run(keep(tmp_path / "one", campaign(rows)), "--fail-if", "faster 5 %") == 0
    out, err = capsys.readouterr()
    assert ("faster" in out, err) == (True, "")


def test_a_reference_alone_can_neither_fail_nor_pass(tmp_path, capsys):
    folder = keep(tmp_path / "one", campaign([measured(1, shaken(100), shaken(121))]))
    assert run(folder, "--fail-if", "faster") == 2
    assert "--fail-if cannot judge any row: each is compared with itself" in capsys.readouterr().err


def test_a_row_that_the_second_target_has_not_does_not_pass(tmp_path, capsys):
    first, second = (of_blocks(shaken(50), target=name) for name in ("a", "b"))
    folder = keep(tmp_path / "both", [measured(9, shaken(50), target="a"), *side_by_side(first, second)])
    assert run(folder, "--fail-if", "slower") == 2
    assert capsys.readouterr().err == (
        "mongo-tables: cannot pass: t: size 9 on a: no other target has such a row\n"
    )


def test_the_command_gives_all_of_it_as_json(campaigns, capsys):
    assert run(*campaigns, "--json") == 0
    reference, slower = json.loads(capsys.readouterr().out)["rows"]
    assert reference["judged"]["reason"]
    assert slower["judged"]["verdict"] == "slower"
    assert slower["evidence"][1]["speeds"] == shaken(40, SHAKE[::-1])
    assert slower["one"]["speed"] == 50


def test_an_end_that_is_infinite_is_null_in_json(tmp_path, capsys):
    short = keep(tmp_path / "short", campaign([measured(1, [100], [101]), measured(4, [50])]))
    assert run(short, short, "--json") == 0
    judged = json.loads(capsys.readouterr().out)["rows"][1]["judged"]
    assert (judged["low"], judged["high"], judged["verdict"]) == (0, None, "not known")


def test_the_targets_of_a_campaign_stand_side_by_side(tmp_path, capsys):
    sides = [of_blocks(speeds, target=name) for name, speeds in (("a", shaken(50)), ("b", shaken(60)))]
    both = keep(tmp_path / "both", side_by_side(*sides))
    assert run(both, "--fail-if", "faster 10 %") == 1
    out, err = capsys.readouterr()
    assert "t: b to a, in the same block\n" in out
    assert [cells(line) for line in out.splitlines()[1:4]] == [
        ["row", "on a", "on b", "ratio", "verdict"],
        [
            "size 1 on b",
            "99.5/s (98 to 102)",
            "99.5/s (98 to 102)",
            "1.000",
            "no difference larger than 1 %, 10 blocks",
        ],
        [
            "size 4 on b",
            "50/s (49 to 51)",
            "60/s (58.8 to 61.2)",
            "1.200",
            "20.00 % faster (20.00 to 20.00 %), 10 blocks",
        ],
    ]
    assert len({line.index(cells(line)[-1]) for line in out.splitlines()[1:4]}) == 1
    assert err == "mongo-tables: faster 10 %: t: size 4 on b (b to a, in the same block)\n"


def in_slices(row, low, high, verdict):
    """The row of the second target with what it is to the first in slices."""
    figures = {"ratio": (low * high) ** 0.5, "low": low, "high": high, "p": 0.001, "blocks": 20}
    about = {"against": "a", "margin": 0.1, "negligible": 0.02, "verdict": verdict}
    return {**row, "slices": {**figures, **about}}


def test_what_slices_say_of_two_targets_follows_what_blocks_say(tmp_path, capsys):
    (first, second) = side_by_side(
        [measured(4, shaken(50), target="a")], [measured(4, shaken(50, SHAKE[::-1]), target="b")]
    )
    folder = keep(tmp_path / "both", [first, in_slices(second, 0.9, 0.94, "slower")])
    assert main(["compare", folder, "--fail-if", "slower 5 %"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "t: b to a, in the same block"
    assert [cells(lines[2])[at] for at in (0, -1)] == [
        "size 4 on b",
        "no difference larger than 2 %, 10 blocks",
    ]
    assert lines[3] == "t: b to a, in slices of the same window"
    assert cells(lines[5]) == ["size 4 on b", "n/a", "n/a", "0.920", "8 % slower (6 to 10 %), 20 blocks"]


def test_what_casts_doubt_on_slices_stands_below_and_so_does_the_first_target_with_itself(tmp_path, capsys):
    first, second = (measured(4, shaken(50), target=name) for name in ("a", "b"))
    first = in_slices(first, 0.99, 1.02, "no difference")
    first["slices"]["against"] = "itself"
    second = in_slices(second, 0.9, 0.94, "slower")
    second["slices"] |= {"long_requests": True, "mean_latency": 12_340.0, "disturbed": 3, "failed": 2}
    assert main(["compare", keep(tmp_path / "both", [first, second])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [lines[0], lines[3]] == [
        "t: a to itself, in slices of the same window", "t: b to a, in slices of the same window",
    ]  # fmt: skip
    assert cells(lines[2]) == [
        "size 4 on a",
        "n/a",
        "n/a",
        "1.005",
        "no difference larger than 2 %, 20 blocks",
    ]
    assert cells(lines[5]) == ["size 4 on b", "n/a", "n/a", "0.920", "8 % slower (6 to 10 %), 20 blocks"]
    assert lines[6:8] == [
        "    requests took up to 12.3 ms on average, more than a quarter of a slice: parts of them were compared",
        "    other programs used the machine in 3 of 20 windows",
    ]


def test_experiments_of_one_target_are_not_hidden_by_those_of_several(tmp_path, capsys):
    both = side_by_side(*(of_blocks(shaken(50), target=name) for name in ("a", "b")))
    alone = [{**one, "_id": {**one["_id"], "testname": "u"}} for one in of_blocks(shaken(50))]
    folder = keep(tmp_path / "all", [*both, *alone])
    assert main(["compare", folder, "--fail-if", "slower 5 %"]) == 1
    assert "slower 5 %: u: size 4 (each row to its reference, in the same block)" in capsys.readouterr().err


def test_what_is_not_known_of_the_reference_on_two_targets_fails_as_any_row(tmp_path):
    wild = [30, 80, 50, 20, 90, 40, 60, 50, 70, 25]
    sides = [
        campaign([measured(1, speeds, speeds, name)], 0) for name, speeds in (("a", [50] * 10), ("b", wild))
    ]
    assert run(keep(tmp_path / "both", side_by_side(*sides)), "--fail-if", "not known") == 1


def test_what_was_concluded_stands_also_where_the_rows_of_the_first_target_are_not_there(tmp_path, capsys):
    sides = [of_blocks(speeds, target=name) for name, speeds in (("a", shaken(50)), ("b", shaken(40)))]
    folder = keep(tmp_path / "b", side_by_side(*sides)[2:])
    assert main(["compare", folder, "--fail-if", "slower 5 %"]) == 1
    said = capsys.readouterr().out
    assert "  20.00 % slower" in said
    assert "    there is no row of a, so the conditions of its measurement are unknown" in said
    assert "measured alike" not in said


def test_a_target_that_did_nothing_is_told_and_fails_where_no_other_can(tmp_path, capsys):
    dead = campaign([measured(1, [0] * 10, [0] * 10, "b"), measured(4, [0] * 10, target="b")], 0)
    sides = [*side_by_side(of_blocks(shaken(50), target="a"), dead)]
    assert run(keep(tmp_path / "both", sides), "--fail-if", "slower") == 2
    assert (
        "--fail-if cannot judge any row: t: size 1 on b: it did no work in 10 of 10"
        in capsys.readouterr().err
    )
    working = side_by_side(of_blocks(shaken(50), target="a"), of_blocks(shaken(50), target="c"))[2:]
    assert run(keep(tmp_path / "three", [*sides, *working]), "--fail-if", "slower") == 2
    assert "cannot pass: t: size 4 on b: it did no work in 10 of 10 blocks" in capsys.readouterr().err


def test_one_block_on_each_side_is_judged_by_no_condition(tmp_path, capsys):
    rows = [campaign([measured(1, [100], [100]), measured(4, [speed])], 0) for speed in (50, 10)]
    old, new = (keep(tmp_path / name, some) for name, some in zip(("old", "new"), rows, strict=True))
    assert run(old, new, "--fail-if", "slower") == 2
    assert "t: size 4: fewer than three blocks have no interval" in capsys.readouterr().err


def test_the_first_target_with_itself_does_not_hide_what_its_rows_are_to_their_reference(tmp_path, capsys):
    reference, row = of_blocks(shaken(50), target="a")
    reference = in_slices(reference, 0.99, 1.02, "no difference")
    reference["slices"]["against"] = "itself"
    folder = keep(tmp_path / "a", [reference, row])
    assert run(folder, "--fail-if", "slower 5 %") == 1
    said = capsys.readouterr().out
    assert "t: a to itself, in slices of the same window" in said
    assert "  2.00 times slower" in said


def test_rows_of_which_nothing_is_concluded_are_named(tmp_path, capsys):
    first, second = (of_blocks(shaken(50), target=name) for name in ("a", "b"))
    alone = measured(9, shaken(50), target="b")
    unblocked = row(1, (10, 20, 40), name="u")
    folder = keep(tmp_path / "all", [*side_by_side(first, second), alone, unblocked])
    assert run(folder, "--fail-if", "slower") == 0
    out, err = capsys.readouterr()
    for told in ("t: size 9 on b: a has no such row", "u: size 1: measured without blocks"):
        assert f"not compared: {told}" in out
        assert f"not judged: {told}" in err


def test_conclusions_stand_without_the_repeats_that_they_are_of(tmp_path, capsys):
    both = side_by_side(*(of_blocks(shaken(50), target=name) for name in ("a", "b")))
    folder = keep(tmp_path / "both", [{**one, "repeats": []} for one in both])
    assert run(folder) == 0
    assert "no difference" in capsys.readouterr().out


def test_what_two_copies_may_differ_by_is_told_where_it_decides(tmp_path, capsys):
    rows = [measured(4, shaken(50), target=name) for name in ("a", "b")]
    folder = keep(tmp_path / "both", [rows[0], in_slices(rows[1], 1.01, 1.12, "not known")])
    assert main(["compare", folder]) == 0
    assert "two copies of the same data on one server may differ by 2 %" in capsys.readouterr().out


def test_of_one_target_each_row_stands_beside_its_reference(campaigns, capsys):
    assert run(campaigns[0]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "t: the reference to itself, in the same block"
    assert cells(lines[1]) == ["row", "first", "second", "ratio", "verdict"]
    assert cells(lines[2])[:4] == ["size 1", "100/s (98 to 102)", "100/s (98 to 102)", "1.000"]
    assert "no difference larger than " in lines[2]
    assert lines[3] == "t: each row to its reference, in the same block"
    assert cells(lines[5])[0] == "size 4" and lines[5].endswith(
        "2.00 times slower (1.99 to 2.01 times), 10 blocks"
    )
    assert len(lines) == 6


def test_the_reference_has_the_speeds_of_both_its_measurements(tmp_path, capsys):
    folder = keep(
        tmp_path / "one", campaign([measured(1, shaken(100), shaken(121)), measured(4, shaken(50))])
    )
    assert run(folder) == 0
    out = capsys.readouterr().out
    assert cells(out.splitlines()[2])[1:4] == ["100/s (98 to 102)", "121/s (119 to 123)", "1.210"]


def test_one_set_without_blocks_has_nothing_to_compare(folders, capsys):
    assert run(folders[0]) == 2
    assert "the results have no measurements in blocks" in capsys.readouterr().err


def test_without_what_computes_intervals_the_command_says_how_to_get_it(
    campaigns, folders, monkeypatch, capsys
):
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "scipy" else known(name))
    assert run(*campaigns) == 2
    said = capsys.readouterr().err
    assert "command compare needs the extra runner" in said
    assert install_command("runner") in said
    assert run(*folders) == 0


def test_nothing_in_common_is_an_error(folders, tmp_path, capsys):
    FileStore(tmp_path / "other").put(row(2, (10, 11, 12)))
    assert run(folders[0], str(tmp_path / "other")) == 2
    assert "no row is in both" in capsys.readouterr().err
    assert run(folders[0], str(tmp_path / "nowhere")) == 2
    assert f"no rows of `mongo-tables run` in {tmp_path / 'nowhere'}" in capsys.readouterr().err


def test_what_cannot_be_compared_is_said_as_every_command_says_its_faults(folders, tmp_path, capsys):
    assert main(["compare", folders[0], str(tmp_path / "nowhere")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line, hint = err.splitlines()
    assert line == f"mongo-tables: no rows of `mongo-tables run` in {tmp_path / 'nowhere'}"
    assert hint.startswith("  hint: a run writes results/NAME.jsonl; ")


def test_documents_of_something_else_are_sent_to_the_command_that_compares_them(folders, tmp_path, capsys):
    place = tmp_path / "sports" / "results"
    place.mkdir(parents=True)
    (place / "games.jsonl").write_text('{"_id": 1, "game": "A : B"}\n', encoding="utf-8")
    assert main(["compare", str(place.parent), folders[1]]) == 2
    line, hint = capsys.readouterr().err.splitlines()
    assert line.endswith("has documents, but none that `mongo-tables run` wrote")
    assert "mongo-tables diff" in hint


def test_help_says_which_rows_are_judged_together_and_what_one_campaign_a_side_is_worth(capsys):
    with pytest.raises(SystemExit):
        run("--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "The verdict of a row follows from the 95 % interval of its ratio over blocks" in said
    assert "the interval does not include how the machine varies from hour to hour" in said


def test_the_list_of_commands_says_what_compare_is_for(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = " ".join(capsys.readouterr().out.split())
    assert "compare compare rows written by `run` (for other rows, use `diff`)" in listed


def test_a_speed_of_nothing_and_documents_without_repeats_have_no_ratio():
    (stood,) = compare([row(1, (0, 0, 0))], [row(1, (1, 2, 3))]).rows
    assert (stood.judged.ratio, stood.judged.verdict) == (None, None)
    foreign = {"_id": {"size": 1, "testname": "t"}, "duration": 5}
    (only,) = compare([foreign], [row(1, (1, 2, 3))]).rows
    assert (only.one.speed, only.judged.ratio, only.judged.verdict) == (None, None, None)


def test_the_command_compares_what_can_be_compared(folders, tmp_path, capsys):
    for folder in folders:
        store = FileStore(Path(folder))
        store.put(row(2, (0, 0, 0)))
        store.write("results", "t", [*store.rows("t"), {"_id": 7}, {"_id": {"of": "something else"}}])
    assert run(*folders) == 0
    out = capsys.readouterr().out
    assert ["size 2", "0/s", "0/s", "n/a", "no verdict: measured without blocks"] in map(
        cells, out.splitlines()
    )
    assert "something else" not in out


def test_the_rows_of_a_revision_are_compared_as_those_of_a_folder(tmp_path, monkeypatch, capsys):
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    monkeypatch.chdir(tmp_path)
    FileStore(tmp_path / "fixtures").put(row(1, (10, 11, 12)))
    for asked in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        subprocess.run([*git, *asked], check=True)
    FileStore(tmp_path / "fixtures").put(row(1, (20, 21, 22)))
    assert run("HEAD:fixtures", "fixtures") == 0
    assert "  1.909  no verdict" in capsys.readouterr().out
