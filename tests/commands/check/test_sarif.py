"""``check --sarif``: findings for code scanning, beside those for whoever looks at the job."""

from __future__ import annotations

import json
from pathlib import Path

from mongo_tables.findings.reporters import report
from tests.commands.test_commands import mongo_tables

PAGE = '# Runs\n\n<!-- RESULT_TABLE: {"collection": "runs", "columns": ["n"], "sorted": "n"} -->\n'


def test_findings_are_written_as_sarif_beside_annotations(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    arguments = ("check", "--static", "page.md", "--format")
    said = mongo_tables(*arguments, "github", "--sarif", "out/check.sarif", cwd=tmp_path, expect=1).stdout
    assert said.startswith("::error file=page.md,line=3,")
    assert (tmp_path / "out/check.sarif").read_text() == mongo_tables(
        *arguments, "sarif", cwd=tmp_path, expect=1
    ).stdout


def test_results_out_of_reach_are_one_message_and_no_report(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE.replace("sorted", "sort"))
    dead = ("--results", "mongodb://127.0.0.1:1/db")
    arguments = ("check", "page.md", "--format", "json", "--sarif", "check.sarif", *dead)
    done = mongo_tables(*arguments, cwd=tmp_path, expect=2)
    assert (done.stdout, (tmp_path / "check.sarif").exists()) == ("", False)
    for command in ("compare", "history"):
        assert mongo_tables(command, dead[1], cwd=tmp_path, expect=2).stderr == done.stderr


def test_a_page_without_faults_leaves_a_file_without_results(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Runs\n")
    mongo_tables("check", "--static", "page.md", "--sarif", "check.sarif", cwd=tmp_path)
    assert json.loads((tmp_path / "check.sarif").read_text()) == json.loads(report([], "sarif"))
