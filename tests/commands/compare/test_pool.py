"""Several campaigns are concluded together into their rows, and kept as little data."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from datetime import UTC, datetime

import pytest

from mongo_tables.cli import main
from mongo_tables.runner.store import FileStore, open_store
from tests.results.blockrows import SHAKE, campaign, measured, shaken


def keep(folder, hour, speed=50, minute=0, **parts):
    """Write a campaign that began then into this folder: size 4 is so fast beside size 1."""
    rows = campaign(
        [measured(1, shaken(100), shaken(100, SHAKE[::-1])), measured(4, shaken(speed))],
        0,
        f"of-{hour}",
        hour,
    )
    for row in rows:
        start = row["campaign"]["start"].replace(minute=minute)
        row = {**row, "campaign": {**row["campaign"], "start": start}, **parts}
        FileStore(folder).put({**row, "start_time": start})
    return str(folder)


def pool(results, *others):
    """Pool results with campaigns; from the first option on ``others`` are options."""
    options = [str(one) for one in others]
    named = options and not options[0].startswith("--")
    return main(["compare", str(results), *(["--pool"] if named else []), *options])


def rows_of(folder):
    return FileStore(folder).rows("t")


def test_the_rows_say_what_both_campaigns_conclude_and_so_does_the_command(tmp_path, capsys):
    new, old = keep(tmp_path / "new", 9), keep(tmp_path / "old", 3, 40)
    assert pool(new, old) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "t: each row to its reference, in the same block, over several campaigns" in lines
    assert any(
        line.endswith("  2.0 or 2.5 times slower (2.0 to 2.5 times), 20 blocks of 2 campaigns")
        for line in lines
    )
    assert "    campaign of-3 of 2026-11-01 03:00: ratio 0.400 (0.397 to 0.403), 10 blocks" in lines
    (_, found) = rows_of(tmp_path / "new")
    assert (found["campaigns"]["verdict"], found["campaigns"]["count"]) == ("slower", 2)
    assert found["repeats"][0]["operations_per_second"] == 50
    assert "campaigns" not in rows_of(tmp_path / "old")[1]


def test_pooling_moves_no_row_to_the_history_and_pooling_again_changes_nothing(tmp_path):
    new, old = keep(tmp_path / "new", 9), keep(tmp_path / "old", 3)
    assert pool(new, old) == 0
    first = (tmp_path / "new/results/t.jsonl").read_bytes()
    assert pool(new, old) == 0
    assert (tmp_path / "new/results/t.jsonl").read_bytes() == first
    assert not (tmp_path / "new/results_history").exists()


def test_a_row_that_was_pooled_and_is_measured_anew_is_in_the_history(tmp_path):
    pool(keep(tmp_path / "new", 9), keep(tmp_path / "old", 3))
    keep(tmp_path / "new", 12)
    assert "campaigns" not in rows_of(tmp_path / "new")[1]
    assert (tmp_path / "new/results_history/t.jsonl").exists()


def test_what_is_kept_is_thin_and_can_be_pooled_and_compared_again(tmp_path, capsys):
    folder, kept = tmp_path / "fixtures", tmp_path / "fixtures" / "campaigns"
    long = {"series": list(range(5000)), "hardware": {"cpu": "A"}}
    assert pool(keep(folder, 3, 40, **long), "--keep", kept) == 0
    assert capsys.readouterr().out == f"kept: {kept / 'of-3'}: 2 rows\n"
    assert "campaigns" not in rows_of(folder)[1]
    thin = (kept / "of-3/results/t.jsonl").read_bytes()
    assert len(thin) < (folder / "results/t.jsonl").stat().st_size / 10
    keep(folder, 9, **long)
    assert pool(folder, *sorted(kept.iterdir()), "--keep", kept) == 0
    assert [place.name for place in sorted(kept.iterdir())] == ["of-3", "of-9"]
    assert (kept / "of-3/results/t.jsonl").read_bytes() == thin
    (_, found) = rows_of(folder)
    assert [one["id"] for one in found["campaigns"]["each"]] == ["of-3", "of-9"]
    capsys.readouterr()
    assert main(["compare", str(kept / "of-3")]) == 0
    assert "2.50 times slower (2.48 to 2.52 times), 10 blocks" in capsys.readouterr().out


def test_a_page_over_the_results_does_not_mind_campaigns_that_are_kept_beside_them(tmp_path, capsys):
    folder, path = tmp_path / "fixtures", tmp_path / "page.md"
    pool(keep(folder, 3), "--keep", folder / "campaigns")
    table = {
        "collection": "results",
        "pipeline": [
            {"$project": {"size": "$_id.size", "ratio": "$comparison.ratio"}},
            {"$sort": {"size": 1}},
        ],
        "columns": ["size", "ratio"],
        "headers": ["Size", "Ratio"],
    }
    path.write_text(f"# Speed\n\n<!-- MONGO_TABLE: {json.dumps(table)} -->\n", encoding="utf-8")
    assert main(["check", str(path), "--results", str(folder)]) == 0, capsys.readouterr()


def test_campaigns_of_one_hour_are_told_and_so_are_rows_and_machines(tmp_path, capsys):
    new = keep(tmp_path / "new", 3, minute=50, hardware={"cpu": "A"})
    old = keep(tmp_path / "old", 2, minute=55, hardware={"cpu": "B"})
    FileStore(tmp_path / "old").put({**rows_of(tmp_path / "old")[1], "_id": {"size": 7, "testname": "t"}})
    assert pool(new, old) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-3:] == [
        "campaigns differ: hardware.cpu: B, A",
        "not pooled: t: size 7: not among the rows of the results",
        "campaigns of-2 and of-3 began 55 minutes apart: both may share a state of the machine",
    ]


def test_a_refusal_leaves_everything_as_it_was(tmp_path, capsys):
    new = keep(tmp_path / "new", 9, experiment={"scale": 0.01})
    old = keep(tmp_path / "old", 3, experiment={"scale": 1})
    before = (tmp_path / "new/results/t.jsonl").read_bytes()
    assert pool(new, old, "--keep", tmp_path / "kept") == 2
    said = capsys.readouterr().err
    assert "experiment.scale is 1 in the first and 0.01 in the second" in said
    assert (tmp_path / "new/results/t.jsonl").read_bytes() == before
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "new", "--json"), "because they write rows"),
        (("new", "--keep", "kept", "--json"), "because they write rows"),
        (("new", "new"), "no row was compared with a reference in two campaigns"),
        (("HEAD:new", "new"), "HEAD:new: conclusions cannot be written into a revision of Git"),
        (("older", "--keep", "kept"), "no row names its campaign"),
        (
            ("new", "--keep", "mongodb://user:secret@host"),
            "--keep requires a folder, not a connection string",
        ),
    ],
)
def test_what_cannot_be_done_is_said(arguments, said, tmp_path, monkeypatch, capsys):
    keep(tmp_path / "new", 9)
    FileStore(tmp_path / "older").put({**measured(1, [100]), "start_time": datetime(2026, 1, 1, tzinfo=UTC)})
    monkeypatch.chdir(tmp_path)
    assert pool(*arguments) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "secret" not in err + out


def test_a_campaign_whose_name_leads_elsewhere_is_not_kept(tmp_path, capsys):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    keep(tmp_path / "new", 9, campaign={"id": "../../elsewhere", "start": start})
    assert pool(tmp_path / "new", "--keep", tmp_path / "kept" / "here") == 2
    assert "is not valid as the name of a folder" in capsys.readouterr().err
    assert not (tmp_path / "elsewhere").exists()


def test_a_campaign_may_be_that_of_a_revision(tmp_path, monkeypatch):
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    monkeypatch.chdir(tmp_path)
    keep(tmp_path / "fixtures", 3)
    for asked in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        subprocess.run([*git, *asked], check=True)
    keep(tmp_path / "fixtures", 9)
    assert pool("fixtures", "HEAD:fixtures") == 0
    assert rows_of(tmp_path / "fixtures")[1]["campaigns"]["count"] == 2


def test_results_and_campaigns_may_be_in_databases(mongod, tmp_path):
    new, old = (mongod.uri(f"pool_{name}") for name in ("new", "old"))
    for uri, hour in ((new, 9), (old, 3)):
        with closing(open_store(uri)) as store:
            keep(tmp_path / str(hour), hour)
            for row in rows_of(tmp_path / str(hour)):
                store.put(row)
    assert pool(new, old, "--keep", tmp_path / "kept") == 0
    with closing(open_store(new)) as store:
        assert [row["campaigns"]["count"] for row in store.rows("t")] == [2, 2]
    assert sorted(place.name for place in (tmp_path / "kept").iterdir()) == ["of-3", "of-9"]


def test_compare_says_the_verdict_of_all_campaigns_and_fails_by_it(tmp_path, capsys):
    new, old = keep(tmp_path / "new", 9, 80), keep(tmp_path / "old", 3, 120)
    assert main(["compare", new, "--fail-if", "slower"]) == 1
    assert pool(new, old) == 0
    capsys.readouterr()
    assert main(["compare", new, "--fail-if", "slower"]) == 0
    out = capsys.readouterr().out
    assert "t: each row to its reference, in the same block, over several campaigns\n" in out
    assert (
        "  between 21 % slower and 21 % faster (depending on the campaign: -20 or +20 %), 20 blocks of 2 campaigns\n"
        in out
    )
    assert "  80/s (78.4 to 81.6)  0.980  between" in out
    assert "    speeds are those of this row's own campaign\n" in out
    assert main(["compare", new, "--json"]) == 0
    (_, row) = json.loads(capsys.readouterr().out)["rows"]
    assert [one["id"] for one in row["campaigns"]] == ["of-3", "of-9"]


def test_a_range_of_a_few_campaigns_is_not_said_to_be_an_interval_of_95_per_cent(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Two to four have the range of their 95 % intervals instead" in said
    assert "ratio, 95 % interval" not in said


def test_a_row_that_does_not_say_of_which_campaign_it_is_is_left_out_with_that_reason(tmp_path, capsys):
    new, old = keep(tmp_path / "new", 9), keep(tmp_path / "old", 3)
    row = rows_of(tmp_path / "new")[1]
    FileStore(tmp_path / "new").put({**row, "campaign": {"start": row["campaign"]["start"]}})
    assert pool(new, old, "--keep", tmp_path / "kept") == 0
    assert "not pooled: t: size 4: it does not name its campaign" in capsys.readouterr().out
