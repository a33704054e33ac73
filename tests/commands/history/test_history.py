"""`mongo-tables history`: rows over campaigns, where they changed, and which changes somebody has explained."""

from __future__ import annotations

import json
import subprocess

import pytest

from preprocessor.cli import main
from preprocessor.runner.store import FileStore
from tests.results.blockrows import campaign, measured
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
    assert lines[0] == "t: size 1: 99.5/s (98 to 102), 18 campaigns from 2026-11-01 to 2026-11-01"
    assert lines[1].startswith("t: size 4: 41/s (40.2 to 41.8), 18 campaigns")
    assert lines[2].startswith("  from 2026-11-01 10:00 on -19.7 % (-21.2 to -18.1 %)")
    assert lines[2].endswith("; not known why; campaign of-10")
    assert lines[3] == "1 change in 2 rows"


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
    assert capsys.readouterr().out.startswith("t: size 4: 0.41")


def test_everything_is_one_json_document(campaigns, capsys):
    assert history(*campaigns, "--json") == 0
    first, second = json.loads(capsys.readouterr().out)["series"]
    assert (len(first["points"]), first["changes"]) == (18, [])
    (change,) = second["changes"]
    assert (change["campaign"], change["known"]) == ("of-10", None)
    assert change["low"] < change["ratio"] < change["high"] < 1


def test_a_campaign_of_one_block_has_no_end_in_json(tmp_path, capsys):
    folder = keep(tmp_path / "one", campaign([measured(1, [100], [101])]))
    assert history(folder, "--json") == 0
    (series,) = json.loads(capsys.readouterr().out)["series"]
    assert [(point["low"], point["high"]) for point in series["points"]] == [(0, None)]


def test_revisions_of_a_folder_are_campaigns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def git(*arguments):
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *names, *arguments], check=True, capture_output=True)

    git("init")
    for rows in STEADY[:3]:
        keep(tmp_path / "fixtures", rows)
        git("add", "-A")
        git("commit", "-m", "more")
    assert history("--revisions", "fixtures") == 0
    assert "3 campaigns from" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[change]]\nrow = 't: *'\ncampaign = 'of-1'\n", "change 1: `reason` is missing"),
        (f"{KNOWN}date = 2026-11-01\n", "change 1: `date` is not known"),
        (KNOWN.replace('"#7"', "7"), "change 1: `ticket` is no text"),
        ("[other]\n", "only [[change]] is known"),
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
