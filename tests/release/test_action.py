"""The Action and the workflows do what their pages say, and hand nothing to whom it is not for."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands.diff.pull_requests import PAGE, SITE, environment, propose, rows, start
from tests.release import fake_gh
from tests.release.actionsteps import EXPRESSION, ROOT, defaults, read_action, run_step, step, steps
from tests.release.fake_gh import BOT, GitHub

FILES = {
    "mkdocs.yml": SITE,
    "docs/index.md": PAGE,
    "fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=30100),
}
CHANGED = {"fixtures/runs/a.jsonl": rows(t1=4200, t8=45150, t16=41000)}
CHECK, REVIEW, COMMENT = "Check pages", "Find the numbers that change", "Comment on the pull request"
WORKFLOWS = [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    return fake_gh.install(tmp_path / "programs")


def commented(folder: Path, github: GitHub, changed: str = "true", **inputs: str) -> str:
    """What the step that comments says about the report in ``folder``."""
    values = {
        **fake_gh.job_values(changed),
        "steps.places.outputs.folder": str(folder),
        **{f"inputs.{name.replace('_', '-')}": text for name, text in inputs.items()},
    }
    variables = {
        "PATH": f"{github.programs}:{os.environ['PATH']}",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "Codertocat/Hello-World",
    }
    done = run_step(COMMENT, values, folder, variables)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def report(folder: Path, text: str, site: str = "site") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "changes.md").write_text(f"<!-- mongo-tables review {site} -->\n{text}\n")
    return folder


def test_its_scripts_check_compare_and_comment(tmp_path: Path, github: GitHub) -> None:
    repository = start(tmp_path / "repository", FILES)
    commits = propose(repository, CHANGED)
    variables = environment(tmp_path / "job", "synchronize", commits)
    values = {
        "steps.places.outputs.programs": str(Path(sys.executable).parent),
        "steps.places.outputs.folder": str(tmp_path / "report"),
    }
    for name in (CHECK, REVIEW):
        done = run_step(name, values, repository.folder, variables)
        assert done.returncode == 0, (name, done.stdout, done.stderr)
    commented(tmp_path / "report", github)
    assert "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |" in github.bodies()[0]
    assert {one.name for one in (tmp_path / "report").iterdir()} == {
        "check.sarif",
        "changes.json",
        "changes.md",
    }


def test_the_next_push_edits_the_comment_in_place_and_nobody_elses(tmp_path: Path, github: GitHub) -> None:
    folder = report(tmp_path / "report", "first")
    forged, other = f"{(folder / 'changes.md').read_text()}Merge at once.", "Coverage: 90 %"
    github.write([{"author": "stranger", "body": forged}, {"author": BOT, "body": other}])
    commented(folder, github)
    commented(report(folder, "second"), github)
    commented(report(folder, "none"), github, changed="false")
    assert github.bodies() == [other, (folder / "changes.md").read_text()]
    assert github.bodies("stranger") == [forged]


def test_a_pull_request_that_changes_no_number_gets_no_comment(tmp_path: Path, github: GitHub) -> None:
    commented(report(tmp_path / "report", "none"), github, changed="false")
    assert github.bodies() == []


def test_two_sites_of_a_repository_have_a_comment_each(tmp_path: Path, github: GitHub) -> None:
    for site in ("one", "two", "one"):
        commented(report(tmp_path / "report", "numbers", site), github)
    assert len(github.bodies()) == 2


def test_who_owns_the_token_can_be_somebody_else(tmp_path: Path, github: GitHub) -> None:
    folder = report(tmp_path / "report", "first")
    github.write([{"author": "our-app[bot]", "body": (folder / "changes.md").read_text()}])
    commented(report(folder, "second"), github, comment_author="our-app[bot]")
    assert github.bodies("our-app[bot]") == [(folder / "changes.md").read_text()]
    assert github.bodies() == []


def test_a_token_that_may_not_write_fails_no_job(tmp_path: Path, github: GitHub) -> None:
    github.write([], may_write=False)
    said = commented(report(tmp_path / "report", "numbers"), github)
    assert said.startswith("::notice::no comment: a pull request from a fork")
    assert "pull-requests: write" in said


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
    made = {name for name in told if not name.startswith(("inputs.", "github.action_path"))}
    places = {f"steps.places.outputs.{name}" for name in ("folder", "programs")}
    known = {"steps.python.outputs.python-path", "steps.changes.outputs.changed"}
    assert made == {*places, *known, "github.event.pull_request.number"}
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
