"""`mongo-tables mutate`: sentences that could be wrong unseen are listed, those that follow from rows are not."""

from __future__ import annotations

import json

import pytest

from mongo_tables.cli import main

TABLE = """\
<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "columns": ["n", "ops"],
"headers": ["Threads", "Speed (inserts/s)"]} -->
"""
ROWS = '{"_id": 1, "n": 1, "ops": 4200.4}\n{"_id": 2, "n": 8, "ops": 30100}\n'


@pytest.fixture
def mutated(tmp_path, monkeypatch, capsys):
    """Runs the command on a page of this text: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(ROWS, encoding="utf-8")
    (tmp_path / "docs").mkdir()

    def run(text, *options):
        (tmp_path / "docs" / "page.md").write_text(text, encoding="utf-8")
        try:
            code = main(["mutate", *options])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


def test_a_figure_that_the_rows_have_is_noticed_when_it_is_another(mutated):
    assert mutated(f"# Runs\n\nMore threads reach 30,100 inserts/s.\n\n{TABLE}", "--at-least", "50") == (
        0,
        "docs/page.md:3:1: warning MT326 `More` could be `Fewer`, and nothing would notice\n"
        "    More threads reach 30,100 inserts/s.\n"
        "    ^\n"
        "  hint: bind what “More threads reach 30,100 inserts/s.” says to rows, by MONGO_VALUE, or leave it out\n"
        "1 warning in 1 file\n",
        "1 of 2 changes on 1 page are noticed, 50.0 %\n",
    )  # fmt: skip


def test_a_direction_that_nothing_holds_is_listed_and_fails(mutated):
    code, out, err = mutated(f"# Runs\n\nOne thread is slower.\n\n{TABLE}", "--format", "json")
    (found,) = json.loads(out)["findings"]
    assert (code, found["rule"], found["line"], found["column"]) == (1, "MT326", 3, 15)
    assert err == "0 of 1 change on 1 page are noticed, 0.0 %\n"


def test_what_a_comment_writes_cannot_be_wrong(mutated):
    value = '<!-- MONGO_VALUE: {"table": "speed", "column": "ops", "where": {"n": 8}} -->'
    code, out, err = mutated(f"# Runs\n\nThe speed is {value} inserts/s.\n\n{TABLE}")
    assert (code, out, err) == (0, "", "nothing on 1 page can be changed\n")


def test_the_file_is_not_touched(mutated, tmp_path):
    text = f"# Runs\n\nOne thread is slower.\n\n{TABLE}"
    mutated(text)
    assert (tmp_path / "docs" / "page.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("percent", ["-1", "101", "most", "1e2", ""])
def test_a_part_is_from_0_to_100(mutated, percent):
    code, _, err = mutated("# Runs\n", "--at-least", percent)
    assert (code, "a number from 0 to 100" in err) == (2, True)


def test_a_source_that_is_not_there_is_told(mutated):
    code, _, err = mutated(f"# Runs\n\nOne is faster.\n\n{TABLE}", "--results", "nowhere")
    assert (code, "nowhere" in err) == (2, True)
