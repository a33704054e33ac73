"""The Action and the workflows do what their pages say, and hand nothing to whom it is not for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands.diff import fake_github
from tests.commands.diff.fake_github import TOKEN
from tests.commands.diff.pull_requests import PAGE, SITE, environment, propose, rows, start
from tests.release.actionsteps import EXPRESSION, ROOT, defaults, read_action, run_step, step, steps

FILES = {
    "mkdocs.yml": SITE,
    "docs/index.md": PAGE,
    "fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=30100),
}
CHANGED = {"fixtures/runs/a.jsonl": rows(t1=4200, t8=45150, t16=41000)}
CHECK, REVIEW, COMMENT = "Check pages", "Find the numbers that change", "Comment on the pull request"
WORKFLOWS = [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]


def test_its_scripts_check_compare_and_comment(tmp_path: Path) -> None:
    repository = start(tmp_path / "repository", FILES)
    commits = propose(repository, CHANGED)
    with fake_github.running() as github:
        variables = environment(tmp_path / "job", "synchronize", commits, GITHUB_API_URL=github.address)
        values = {
            "steps.places.outputs.programs": str(Path(sys.executable).parent),
            "steps.places.outputs.folder": str(tmp_path / "report"),
            "inputs.token": TOKEN,
        }
        for name in (CHECK, REVIEW, COMMENT):
            done = run_step(name, values, repository.folder, variables)
            assert done.returncode == 0, (name, done.stdout, done.stderr)
    assert "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |" in github.bodies()[0]
    assert {one.name for one in (tmp_path / "report").iterdir()} == {
        "check.sarif",
        "changes.json",
        "changes.md",
    }


def test_a_fault_fails_the_check_and_the_numbers_are_told_all_the_same(tmp_path: Path) -> None:
    repository = start(tmp_path / "repository", FILES)
    commits = propose(repository, {**CHANGED, "docs/bad.md": PAGE.replace('"sort"', '"sorted"')})
    variables = environment(tmp_path / "job", "synchronize", commits)
    values = {
        "steps.places.outputs.programs": str(Path(sys.executable).parent),
        "steps.places.outputs.folder": str(tmp_path / "report"),
        "inputs.numbers": "true",
        "inputs.fail-on": "error",
        "inputs.config-file": "mkdocs.yml",
    }
    failed = run_step(CHECK, values, repository.folder, variables)
    assert failed.returncode == 1
    assert failed.stdout.startswith("::error file=docs/bad.md,line=3,")
    assert run_step(REVIEW, values, repository.folder, variables).returncode == 0
    assert all("!cancelled()" in step(name)["if"] for name in (REVIEW, COMMENT))


def test_only_the_step_that_reads_no_page_has_the_token() -> None:
    with_token = [one["name"] for one in steps() if "token" in str(one).lower().replace("has a token", "")]
    assert with_token == [COMMENT]
    assert step(COMMENT)["working-directory"] == "${{ steps.places.outputs.folder }}"


def test_pull_request_target_ends_the_job_at_once(tmp_path: Path) -> None:
    first = steps()[0]
    assert first["if"] == "${{ github.event_name == 'pull_request_target' }}"
    done = run_step(first["name"], {}, tmp_path, {})
    assert done.returncode == 2 and "pull_request_target" in done.stdout


def test_every_expression_of_a_script_is_known() -> None:
    told = {
        name for one in steps() for name in EXPRESSION.findall(str({k: one.get(k) for k in ("env", "with")}))
    }
    made = {name for name in told if name.startswith("steps.")}
    places = {f"steps.places.outputs.{name}" for name in ("folder", "programs")}
    assert made == {*places, "steps.python.outputs.python-path"}
    inputs = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert inputs == {name.removeprefix("inputs.") for name in defaults()}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_no_script_has_an_expression_in_it(file: Path) -> None:
    """What a pull request says would become a part of the script: it goes through the environment instead."""
    told = yaml.safe_load(file.read_text())
    found = told["runs"]["steps"] if "runs" in told else [
        one for job in told["jobs"].values() for one in job["steps"]
    ]  # fmt: skip
    assert found and not [one for one in found if "${{" in one.get("run", "")]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_what_others_wrote_is_named_by_its_commit(file: Path) -> None:
    used = [name for name in re.findall(r"uses: (\S+)", file.read_text()) if name != "./"]
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) for name in used)


@pytest.mark.parametrize("file", WORKFLOWS[1:], ids=lambda file: file.name)
def test_no_workflow_runs_for_pull_request_target_or_with_more_than_it_needs(file: Path) -> None:
    told = yaml.safe_load(file.read_text())
    assert "pull_request_target" not in told[True]  # YAML takes the key `on` for a truth.
    assert told["permissions"] == {"contents": "read"}


def test_the_page_names_every_input() -> None:
    page = (ROOT / "docs/authors/reviewing.md").read_text()
    assert [name for name in read_action()["inputs"] if f"`{name}`" not in page] == []
