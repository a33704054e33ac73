"""Two sets of results: what is faster, what slower, what noise, by a rule that is stated."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from preprocessor.cli import main
from preprocessor.results.comparison import compare
from preprocessor.runner.store import FileStore


def row(variant, speeds, name="t", **provenance):
    return {
        "_id": {"size": variant, "testname": name},
        "start_time": datetime(2026, 1, 1, tzinfo=UTC),
        "repeats": [{"operations_per_second": float(speed)} for speed in speeds],
        "versions": {"server": "6.0.5", **provenance},
    }


def verdict(old, new):
    (only,) = compare([row(1, old)], [row(1, new)]).rows
    return only.verdict, only.chance and round(only.chance, 4)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((10, 11, 12), (13, 14, 15), ("faster", 0.1)),
        ((13, 14, 15), (10, 11, 12), ("slower", 0.1)),
        ((10, 11, 12, 11, 10), (13, 14, 15, 13, 14), ("faster", 0.0079)),
        ((10, 11, 12), (12, 14, 15), ("noise", None)),
        ((10, 11, 12), (10, 11, 12), ("noise", None)),
        ((10, 11), (20, 21, 22), ("too few repeats", None)),
    ],
)
def test_only_repeats_that_do_not_overlap_are_a_difference(old, new, expected):
    assert verdict(old, new) == expected


def test_the_ratio_is_that_of_the_medians_and_its_range_that_of_all_repeats():
    (only,) = compare([row(1, (10, 20, 40))], [row(1, (30, 50, 60))]).rows
    assert (only.ratio, only.low, only.high) == (2.5, 0.75, 6.0)


def test_rows_of_one_side_only_and_differing_provenance_are_named():
    difference = compare([row(1, (1, 1, 1)), row(2, (1,))], [row(1, (1, 1, 1), server="8.0.1"), row(3, (1,))])
    assert difference.only_old == ("t: size 2",)
    assert difference.only_new == ("t: size 3",)
    assert difference.rows[0].differs == {"versions.server": ("6.0.5", "8.0.1")}


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
    said = [line for line in capsys.readouterr().out.splitlines() if " in OLD, " in line]
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


def run(*arguments):
    return main(["compare", *arguments])


def test_the_command_says_what_is_slower_and_can_fail_for_it(folders, capsys):
    assert run(*folders) == 0
    out = capsys.readouterr().out
    assert "0.786  (0.667 to 0.923)  slower, by chance 10.0%  size 1" in out
    assert "not measured alike: versions.harness: old in OLD, new in NEW" in out
    assert run(*folders, "--fail-if-slower") == 1
    assert run(folders[1], folders[0], "--fail-if-slower") == 0


def test_the_command_gives_json_too(folders, capsys):
    assert run(*folders, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["verdict"] == "slower"


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
    assert hint.startswith("  hint: a folder has them in results/NAME.jsonl; ")


def test_documents_of_something_else_are_sent_to_the_command_that_compares_them(folders, tmp_path, capsys):
    place = tmp_path / "sports" / "results"
    place.mkdir(parents=True)
    (place / "games.jsonl").write_text('{"_id": 1, "game": "A : B"}\n', encoding="utf-8")
    assert main(["compare", str(place.parent), folders[1]]) == 2
    line, hint = capsys.readouterr().err.splitlines()
    assert line.endswith("has documents, but none that `mongo-tables run` wrote")
    assert "mongo-tables diff" in hint


def test_the_list_of_commands_says_what_compare_is_for(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = " ".join(capsys.readouterr().out.split())
    assert "compare compare two sets of rows that run wrote; for any others: diff" in listed


def test_a_speed_of_nothing_and_documents_without_repeats_have_no_ratio():
    (stood,) = compare([row(1, (0, 0, 0))], [row(1, (1, 2, 3))]).rows
    assert (stood.ratio, stood.low, stood.high, stood.verdict) == (None, None, None, "faster")
    foreign = {"_id": {"size": 1, "testname": "t"}, "duration": 5}
    (only,) = compare([foreign], [row(1, (1, 2, 3))]).rows
    assert (only.ratio, only.low, only.high, only.verdict) == (None, None, None, "too few repeats")


def test_the_command_compares_what_can_be_compared(folders, tmp_path, capsys):
    for folder in folders:
        store = FileStore(Path(folder))
        store.put(row(2, (0, 0, 0)))
        store._write("results", "t", [*store.rows("t"), {"_id": 7}, {"_id": {"of": "something else"}}])
    assert run(*folders) == 0
    out = capsys.readouterr().out
    assert "      n/a  (n/a to n/a)  noise  size 2" in out
    assert "something else" not in out


def test_the_rows_of_a_revision_are_compared_as_those_of_a_folder(tmp_path, monkeypatch, capsys):
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    monkeypatch.chdir(tmp_path)
    FileStore(tmp_path / "fixtures").put(row(1, (10, 11, 12)))
    for asked in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        subprocess.run([*git, *asked], check=True)
    FileStore(tmp_path / "fixtures").put(row(1, (20, 21, 22)))
    assert run("HEAD:fixtures", "fixtures") == 0
    assert "faster" in capsys.readouterr().out
