"""The pages of this project's own site: every result has a page, and a server gives the pages that files give."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bson import json_util
from pymongo import MongoClient

from tests.mongod import Mongod

HERE = Path(__file__).parents[2]
PAGES = sorted(HERE.glob("docs/experiments/*.md"))
EXPERIMENT_PAGES = [page for page in PAGES if page.name != "index.md"]
MEASURED = sorted(path.stem for path in HERE.glob("fixtures/results/*.jsonl"))


def render(source: str, folder: Path) -> dict[str, bytes]:
    command = [
        sys.executable,
        "-m",
        "mongo_tables.cli",
        "render",
        "docs",
        "--results",
        source,
        "--output",
        str(folder),
    ]
    done = subprocess.run(command, cwd=HERE, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.md"))}


@pytest.mark.thorough
def test_a_server_gives_the_same_pages_as_the_files(mongod: Mongod, tmp_path: Path) -> None:
    client: MongoClient[dict[str, object]] = MongoClient(mongod.uri())
    for folder in (HERE / "fixtures").glob("[!.]*"):
        client.own_site[folder.name].drop()
        for file in sorted(folder.glob("*.jsonl")):
            lines = file.read_text("utf-8").splitlines()
            client.own_site[folder.name].insert_many([json_util.loads(line) for line in lines])
    from_files = render("fixtures", tmp_path / "files")
    from_server = render(mongod.uri("own_site"), tmp_path / "server")
    client.drop_database("own_site")
    assert from_files.keys() == from_server.keys()
    assert [page for page, text in from_files.items() if text != from_server[page]] == []


@pytest.mark.parametrize("experiment", MEASURED)
def test_what_was_measured_has_a_page_that_is_in_the_index(experiment: str) -> None:
    shown = f'"{experiment.removesuffix("_control")}"'
    pages = [page for page in EXPERIMENT_PAGES if shown in page.read_text("utf-8")]
    index = (HERE / "docs/experiments/index.md").read_text("utf-8")
    navigation = (HERE / "mkdocs.yml").read_text("utf-8")
    assert any(f"({page.name})" in index and f"experiments/{page.name}" in navigation for page in pages)


@pytest.mark.parametrize("page", EXPERIMENT_PAGES, ids=lambda page: page.stem)
def test_a_page_of_an_experiment_says_what_to_do_why_what_it_does_not_show_and_how_to_run_it(
    page: Path,
) -> None:
    text = page.read_text("utf-8")
    lead = text.partition("\n## ")[0]
    assert all(part in lead for part in ("**Do:**", "**Cost:**", "**When not:**"))
    assert re.search(r"^## Why ", text, re.MULTILINE)
    assert "\n## What this does not show\n" in text
    _, _, how = text.partition("\n## Run it\n")
    assert re.search(r"^mongo-tables run \w+", how.partition("\n## ")[0], re.MULTILINE)


@pytest.mark.parametrize("page", EXPERIMENT_PAGES, ids=lambda page: page.stem)
def test_a_page_of_an_experiment_says_what_its_rows_say(page: Path) -> None:
    text = page.read_text("utf-8")
    checks = re.findall(r"<!-- MONGO_CHECK: (\{.*?\}) -->", text, re.DOTALL)
    assert [check for check in checks if "message" not in json.loads(check)] == []
    lead = text.partition("\n## ")[0]
    if "<!-- MONGO_VALUE: " not in lead and "<!-- MONGO_CHECK: " not in lead:
        # There is no row to say anything; with the rows of a user's own there will be.
        assert "**Not measured here**" in lead
        assert text.count('"empty": "Not measured here."') == text.count("<!-- MONGO_TABLE: ")


@pytest.mark.parametrize("page", EXPERIMENT_PAGES, ids=lambda page: page.stem)
def test_a_page_says_how_far_its_campaigns_are_apart_and_that_no_counters_were_published(page: Path) -> None:
    text = page.read_text("utf-8")
    _, _, limits = text.partition("\n## What this does not show\n")
    if '"Previous campaign"' in text and "**Not measured here**" not in text:
        assert '"where": {"setting": "Compared with the previous campaign"}' in limits
    if '-fingerprint"' in text and '"regime"' not in text:
        assert "No counters were published for this work" in text


def mongo_tables(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mongo_tables.cli", *arguments]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=600, check=False)


def test_the_pages_of_this_project_have_no_fault_and_no_open_number_and_chance_finds_few() -> None:
    done = mongo_tables("check", "--numbers", "--report", "docs", "README.md")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stdout + done.stderr
    assert " 0 open\n" in done.stdout
    assert 0 < float(re.findall(r"control: ([\d.]+) %", done.stdout)[0]) <= 10
    assert done.stderr.endswith(": no fault\n")


def test_the_table_in_the_readme_is_that_of_the_fixtures() -> None:
    done = mongo_tables("render", "--in-place", "--check", "README.md")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
