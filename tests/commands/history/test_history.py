"""`mongo-tables history`: rows over campaigns, where they changed, and which changes somebody has explained."""

from __future__ import annotations

import json
import subprocess
from math import inf

import pytest

from mongo_tables.cli import main
from mongo_tables.commands.history import say_change
from mongo_tables.results.intervals import Interval
from mongo_tables.runner.store import FileStore
from tests.results.test_history import SLOWER, STEADY

KNOWN = """\
[[change]]
row = "t: *"
campaign = "of-10"
reason = "the journal is written twice"
ticket = "#7"
"""


def keep(folder, rows):
    for row in rows:
        FileStore(folder).put({**row, "start_time": row["campaign"]["start"]})
    return str(folder)


@pytest.fixture
def campaigns(tmp_path):
    return [keep(tmp_path / str(number), rows) for number, rows in enumerate([*STEADY, *SLOWER])]


def history(*arguments):
    return main(["history", *map(str, arguments)])


def test_each_row_is_a_line_and_its_changes_below(campaigns, capsys):
    assert history(*campaigns) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "t: size 1   99.5/s (98 to 102)  18 campaigns  from 2026-11-01 to 2026-11-01"
    assert lines[1].startswith("t: size 4  41/s (40.2 to 41.8)  18 campaigns")
    assert lines[2].startswith("  from 2026-11-01 10:00 on 20 % slower (18 to 21 %)")
    assert lines[2].endswith("; unknown reason; campaign of-10")
    assert lines[3] == "1 change in 2 rows"


def test_rows_that_later_runs_replaced_in_a_folder_are_campaigns_as_well(campaigns, tmp_path, capsys):
    assert history(*campaigns, "--points") == 0
    apart = capsys.readouterr().out
    for rows in (*STEADY, *SLOWER):
        together = keep(tmp_path / "one", rows)
    assert history(together, "--points") == 0
    assert capsys.readouterr().out == apart


def test_two_runs_into_one_folder_are_two_campaigns(tmp_path, capsys):
    """The second run moves the rows of the first one to another file."""
    for rows in STEADY[:2]:
        folder = keep(tmp_path / "fixtures", rows)
    assert (tmp_path / "fixtures" / "results_history" / "t.jsonl").exists()
    assert history(folder) == 0
    assert "  2 campaigns  " in capsys.readouterr().out


def test_a_change_that_is_explained_says_why_and_does_not_fail(campaigns, tmp_path, capsys):
    assert history(*campaigns, "--fail") == 1
    (tmp_path / "changes.toml").write_text(KNOWN, encoding="utf-8")
    assert history(*campaigns, "--fail", "--known", tmp_path / "changes.toml") == 0
    assert "; known: the journal is written twice (#7); campaign of-10" in capsys.readouterr().out


def test_points_name_versions_and_what_was_asked_otherwise(campaigns, capsys):
    assert history(*campaigns[:2], "--points", "--experiment", "t") == 0
    assert "  2026-11-01 00:00  50/s (49 to 51)    of-0" in capsys.readouterr().out.splitlines()


def test_ratios_have_no_unit(campaigns, capsys):
    assert history(*campaigns, "--ratio") == 0
    assert capsys.readouterr().out.startswith("t: size 4  0.41")


def git(*arguments):
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *names, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository that has no commit yet, and is the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    git("init")
    return tmp_path


def commit(folder, rows):
    """Commit the rows as the fixtures of the folder; give the name of the commit."""
    keep(folder / "fixtures", rows)
    git("add", "-A")
    git("commit", "-m", "more")
    return git("rev-parse", "HEAD")


def test_revisions_of_a_folder_are_campaigns(repository, capsys):
    for rows in STEADY[:3]:
        commit(repository, rows)
    assert history("--revisions", "fixtures") == 0
    assert "3 campaigns  from" in capsys.readouterr().out
    assert history("--revisions", "HEAD~2..HEAD:fixtures") == 0
    assert "2 campaigns  from" in capsys.readouterr().out
    assert history("--revisions", "HEAD~2") == 2
    assert "v1.0..HEAD:fixtures" in capsys.readouterr().err


def test_rows_from_before_campaigns_had_names_belong_to_the_commit_that_brought_them(repository, capsys):
    sets = [[{**row, "campaign": {"start": row["campaign"]["start"]}} for row in rows] for rows in STEADY[:2]]
    first = commit(repository, sets[0])
    commit(repository, [{**row, "note": "written again"} for row in sets[0]])
    last = commit(repository, sets[1])
    assert history("fixtures", "--revisions", "fixtures", "--points") == 0
    points = [line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.startswith("  20")]
    assert points == [first[:12], last[:12]] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[change]]\nrow = 't: *'\ncampaign = 'of-1'\n", "change 1 needs row, campaign, reason"),
        (f"{KNOWN}date = 2026-11-01\n", "change 1 needs row, campaign, reason"),
        (KNOWN.replace('"#7"', "7"), "may have a ticket, all of them strings"),
        ("[other]\n", "it must have only tables [[change]]"),
        ("[[change]\n", "changes.toml: "),
    ],
)
def test_a_file_of_known_changes_says_what_is_wrong_with_it(text, said, campaigns, tmp_path, capsys):
    (tmp_path / "changes.toml").write_text(text, encoding="utf-8")
    assert history(*campaigns, "--known", tmp_path / "changes.toml") == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no campaign is named"),
        (("nowhere",), "nowhere"),
        (("--known", "nowhere.toml"), "nowhere.toml: No such file"),
        (("--revisions", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_shown_is_told(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert history(*arguments) == 2
    assert said in capsys.readouterr().err


def test_an_experiment_that_no_campaign_has_is_told(campaigns, capsys):
    assert history(*campaigns, "--experiment", "other") == 2
    assert "no row has a speed" in capsys.readouterr().err


def test_points_are_written_as_documents_that_pages_can_show(campaigns, tmp_path):
    (tmp_path / "changes.toml").write_text(KNOWN, encoding="utf-8")
    known = ["--known", tmp_path / "changes.toml"]
    assert history(*campaigns, "--write", tmp_path / "fixtures", *known) == 0
    lines = (tmp_path / "fixtures" / "history" / "t.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    assert len(documents) == 36
    (changed,) = [one for one in documents if one["change"]]
    assert changed["_id"] == {"row": "t: size 4", "campaign": "of-10", "of": "speed"}
    assert (changed["variant"], changed["change"]["ticket"]) == ("size 4", "#7")
    assert changed["change"]["text"] == "20 % slower (18 to 21 %)"
    reasons = {one["_id"]["campaign"]: one["known"] for one in documents}
    assert reasons["of-10"] == {"reason": "the journal is written twice", "ticket": "#7"}
    assert reasons["of-9"] is None
    assert history(*campaigns[:2], "--write", tmp_path / "fixtures") == 0
    assert len((tmp_path / "fixtures" / "history" / "t.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_speeds_and_ratios_stand_side_by_side(campaigns, tmp_path):
    for _ in range(2):
        assert history(*campaigns, "--write", tmp_path / "fixtures") == 0
        assert history(*campaigns, "--ratio", "--write", tmp_path / "fixtures") == 0
    lines = (tmp_path / "fixtures" / "history" / "t.jsonl").read_text(encoding="utf-8").splitlines()
    of = [json.loads(line)["_id"]["of"] for line in lines]
    assert (of.count("speed"), of.count("ratio")) == (36, 18)


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Interval(0.8, 0.75, 0.85, 10, 0.0), "20 % slower (15 to 25 %)"),
        (Interval(1.21, 0.47, 3.10, 10, 0.0), "21 % faster (-53 to +210 %)"),
        (Interval(0.5, 0.0, inf, 1, 0.0), "50 % slower"),
    ],
)
def test_an_interval_with_no_difference_in_it_has_signs(ratio, said):
    assert say_change(ratio) == said
