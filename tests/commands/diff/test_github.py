"""``diff`` in a job: reviewers see which numbers a pull request changes, in one report; no one speaks through it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from mongo_tables.commands.diff.changes import MOST
from tests.commands.diff.pull_requests import PAGE, SITE, Repository, environment, propose, rows, start
from tests.commands.test_commands import mongo_tables

BEFORE = {
    "mkdocs.yml": SITE,
    "docs/index.md": PAGE,
    "fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=30100),
}
CHANGED = {"fixtures/runs/a.jsonl": rows(t1=4200, t8=45150, t16=41000)}
"""One row changed, one is new, one is gone."""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return start(tmp_path / "repository", BEFORE)


class Job(NamedTuple):
    """A job that ran: what it wrote and said."""

    place: Path
    said: str

    @property
    def text(self) -> str:
        return (self.place / "report/changes.md").read_text()

    @property
    def summary(self) -> str:
        return (self.place / "summary.md").read_text()


def compared(repository: Repository, commits: tuple[str, str], *options: str) -> Job:
    """The first step of the Action."""
    place = repository.folder.parent / "job"
    variables = environment(place, "synchronize", commits)
    done = mongo_tables(
        "diff", "--report", str(place / "report"), *options, cwd=repository.folder, expect=None, **variables
    )
    changed = (place / "output").read_text().splitlines()[-1] == "changed=true"
    assert done.returncode == (1 if changed else 0)
    return Job(place, done.stdout)


def reviewed(repository: Repository, files: dict[str, str]) -> Job:
    """The step for a pull request with these files."""
    return compared(repository, propose(repository, files))


def test_a_changed_a_new_and_a_vanished_row_are_told_in_one_table(repository: Repository) -> None:
    job = reviewed(repository, CHANGED)
    body = job.text
    assert "**1 number changed, 1 row new, 1 row gone**" in body
    assert body.splitlines()[-5:] == [
        "| Row | Column | Before | Now | Now to before |",
        "| --- | --- | ---: | ---: | ---: |",
        "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |",
        "| 16 **new row** | Speed (ops/s) |  | 41,000 |  |",
        "| 4 **row gone** | Speed (ops/s) | 15,000 |  |  |",
    ]
    assert "#### speed, <code>docs/index&#46;md</code>, line 3" in body


def test_a_pull_request_that_changes_no_number_says_so(repository: Repository) -> None:
    job = reviewed(repository, {"README.md": "# Read me\n"})
    assert "**No number changed**" in job.summary
    assert (job.place / "output").read_text() == "changed=false\n"


def test_two_sites_of_a_repository_have_reports_with_marks_of_their_own(repository: Repository) -> None:
    commits = propose(repository, {**CHANGED, "other.yml": SITE})
    marks = {
        compared(repository, commits, *options).text.partition("\n")[0]
        for options in ((), ("--config-file", "other.yml"))
    }
    assert len(marks) == 2


def test_a_changed_comment_in_a_page_changes_numbers_as_well(repository: Repository) -> None:
    job = reviewed(repository, {"docs/index.md": PAGE.replace('"sort"', '"where": {"threads": 8}, "sort"')})
    body = job.text
    assert "**2 rows gone**" in body


def test_new_and_vanished_tables_are_told(repository: Repository) -> None:
    other = PAGE.replace('"speed"', '"fast"')
    job = reviewed(repository, {"docs/index.md": "# Runs\n", "docs/other.md": other})
    body = job.text
    assert "**1 table new, 1 table gone**" in body
    assert "#### fast (new table), <code>docs/other&#46;md</code>, line 3" in body


def test_a_first_site_is_a_pull_request_with_new_tables_alone(tmp_path: Path) -> None:
    repository = start(tmp_path / "repository", {"README.md": "# Read me\n"})
    job = reviewed(repository, BEFORE)
    assert "**1 table new**" in job.text


def test_what_others_merged_meanwhile_is_no_change_of_the_pull_request(repository: Repository) -> None:
    old = repository.git("rev-parse", "main")
    _, head = propose(repository, {"README.md": "# Read me\n"})
    repository.git("checkout", "-q", "main")
    repository.commit(CHANGED)
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "changes")
    repository.git("checkout", "-q", "--detach", "main")
    assert "**No number changed**" in compared(repository, (old, head)).text


def test_a_checkout_of_the_branch_itself_is_compared_with_where_it_began(repository: Repository) -> None:
    _, head = propose(repository, {"README.md": "# Read me\n"})
    repository.git("checkout", "-q", "main")
    newer = repository.commit(CHANGED)
    repository.git("checkout", "-q", "--detach", "changes")
    assert "**No number changed**" in compared(repository, (newer, head)).text


def test_a_shallow_clone_fetches_what_it_lacks(repository: Repository, tmp_path: Path) -> None:
    commits = propose(repository, CHANGED)
    repository.git("branch", "merged")
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "--branch=merged", f"file://{repository.folder}", str(clone)],
        check=True,
    )
    assert "30,100 | 45,150" in compared(Repository(clone), commits).text


def test_a_commit_that_cannot_be_had_is_told_with_what_to_do(repository: Repository, tmp_path: Path) -> None:
    commits = propose(repository, CHANGED)
    repository.git("branch", "merged")
    clone = Repository(tmp_path / "clone")
    subprocess.run(
        [
            "git",
            "clone",
            "-q",
            "--depth=1",
            "--branch=merged",
            f"file://{repository.folder}",
            str(clone.folder),
        ],
        check=True,
    )
    clone.git("remote", "remove", "origin")
    variables = environment(tmp_path / "job", "synchronize", commits)
    done = mongo_tables("diff", "--report", "report", cwd=clone.folder, expect=2, **variables)
    assert "fetch-depth: 2" in done.stderr


def test_what_an_archive_leaves_out_is_compared_all_the_same(tmp_path: Path) -> None:
    repository = start(
        tmp_path / "repository",
        {**BEFORE, ".gitattributes": "docs export-ignore\nfixtures export-ignore\n"},
    )
    job = reviewed(repository, CHANGED)
    assert "30,100 | 45,150" in job.text


def test_the_checkout_and_its_index_stay_as_they_are(repository: Repository) -> None:
    commits = propose(repository, CHANGED)
    before = repository.git("status", "--porcelain"), (repository.folder / ".git/index").read_bytes()
    compared(repository, commits)
    assert (
        repository.git("status", "--porcelain"),
        (repository.folder / ".git/index").read_bytes(),
    ) == before


def test_a_revision_can_be_named_where_no_pull_request_is(repository: Repository, tmp_path: Path) -> None:
    propose(repository, CHANGED)
    told = ("--report", str(tmp_path / "out"))
    here = repository.folder
    mongo_tables("diff", "main:.", ".", *told, cwd=here, expect=1, GITHUB_EVENT_NAME="")
    assert "30,100 | 45,150" in (tmp_path / "out/changes.md").read_text()
    for given in ((), ("main:.",)):
        refused = mongo_tables("diff", *given, *told, cwd=here, expect=2, GITHUB_EVENT_NAME="push")
        assert "OLD and NEW are required" in refused.stderr
    unknown = mongo_tables("diff", "nowhere:.", ".", *told, cwd=here, expect=2)
    assert "nowhere:.: fatal: Not a valid object name nowhere" in unknown.stderr


def test_changes_are_data_as_well(repository: Repository) -> None:
    job = compared(repository, propose(repository, CHANGED))
    (table,) = json.loads((job.place / "report/changes.json").read_text())["tables"]
    assert table["came_cells"] == [
        {"row": "16", "column": "Speed (ops/s)", "old": "", "new": "41,000", "ratio": None}
    ]
    assert table["went_cells"][0]["old"] == "15,000"
    assert (job.place / "output").read_text() == "changed=true\n"


# -- what must not be --


def test_pull_request_target_is_refused(repository: Repository, tmp_path: Path) -> None:
    commits = propose(repository, CHANGED)
    variables = environment(tmp_path / "job", "synchronize", commits, GITHUB_EVENT_NAME="pull_request_target")
    done = mongo_tables("diff", "--report", "report", cwd=repository.folder, expect=2, **variables)
    assert "run the workflow on `pull_request`" in done.stderr


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"pull_request": 3}', '{"pull_request": {"base": {}, "head": {}}}'],
)
def test_an_event_file_that_is_none_is_one_line(text: str, repository: Repository, tmp_path: Path) -> None:
    variables = environment(tmp_path / "job", "synchronize", ("0" * 40, "1" * 40))
    (tmp_path / "job/event.json").write_text(text)
    done = mongo_tables("diff", "--report", "report", cwd=repository.folder, expect=2, **variables)
    assert done.stderr.startswith("mongo-tables: ")


@pytest.mark.parametrize("name", ["--upload-pack=touch forged", "main", "0" * 39])
def test_a_commit_of_the_event_is_no_option_of_git(name: str, repository: Repository, tmp_path: Path) -> None:
    variables = environment(tmp_path / "job", "synchronize", (name, "1" * 40))
    done = mongo_tables("diff", "--report", "report", cwd=repository.folder, expect=2, **variables)
    assert "no commits of a pull request" in done.stderr
    assert not (repository.folder / "forged").exists()


def test_values_are_shown_as_they_are_and_speak_to_nobody(repository: Repository) -> None:
    hostile = "@octocat | <img src=x> [a](https://evil.example) `#12` -->\n::set-output"
    job = reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=hostile, t4=15000, t8=30100)})
    body = job.text
    (line,) = [line for line in body.splitlines() if line.startswith("| 1 |")]
    assert line.count("|") == 6
    assert not set("@<[`#") & set(line.replace("<code>", "").replace("</code>", "").replace("&#", ""))
    assert "evil.example" not in body and "https:" not in line


def test_names_of_pages_and_tables_are_values_of_the_pull_request_too(repository: Repository) -> None:
    page = PAGE.replace('"id": "speed"', '"title": "@octocat ![x](http://a.example/)"')
    job = reviewed(repository, {"docs/index.md": "# Runs\n", "docs/@team <b>.md": page})
    body = job.text
    rest = body.replace("<code>", "").replace("</code>", "").splitlines()
    heads = [line for line in rest if line.startswith("#### ")]
    assert len(heads) == 2 and not any(set("@<![") & set(line) for line in heads)


def test_very_many_changes_stay_within_what_a_comment_may_be(repository: Repository) -> None:
    many = {f"t{number}": number for number in range(1, 3000)}
    job = reviewed(repository, {"fixtures/runs/a.jsonl": rows(**many)})
    body = job.text
    assert MOST - 1000 < len(body) < 65_000
    assert body.count("<details>") == body.count("</details>") == 1
    assert "more lines: the artifact of this job has all of them" in body
    assert len(json.loads((job.place / "report/changes.json").read_text())["tables"][0]["came"]) > 2900


def test_tables_that_have_no_rows_for_a_fault_are_counted(repository: Repository) -> None:
    job = reviewed(
        repository,
        {
            "docs/index.md": PAGE.replace(
                '"sort": "threads"',
                '"pipeline": [{"$set": {"ops": {"$divide": ["$ops", {"$subtract": ["$threads", 1]}]}}}]',
            )
        },
    )
    assert "1 table cannot be compared; `mongo-tables check` says why." in job.text


def test_a_base_without_a_site_does_not_take_that_of_a_folder_above(tmp_path: Path) -> None:
    repository = start(tmp_path / "repository", {"README.md": "# Read me\n", "docs/index.md": PAGE})
    propose(repository, BEFORE)
    told = ("main:.", ".", "--report", "report")
    mongo_tables("diff", *told, cwd=repository.folder, expect=1, GITHUB_EVENT_NAME="")
    found = json.loads((repository.folder / "report/changes.json").read_text())["tables"]
    assert [one["failed"][1] for one in found] == [""] and found[0]["failed"][0]
    assert {one.name for one in (repository.folder / "report").iterdir()} == {"changes.md", "changes.json"}


def test_a_few_very_long_values_stay_within_it_too(repository: Repository) -> None:
    long = {f"t{number}": "@" * 1000 for number in range(20, 40)}
    job = reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=30100, **long)})
    assert len(job.text) < 65_000
    many = PAGE.replace('"columns": ["threads", "ops"]', '"columns": ["threads", "ops", "a", "b", "c", "d"]')
    many = many.replace('["Threads", "Speed"]', '["Threads", "Speed", "A", "B", "C", "D"]')
    text = "".join(
        json.dumps({"_id": n, "threads": "#" * 999, "ops": n, **dict.fromkeys("abcd", "@" * 999)}) + "\n"
        for n in range(6)
    )
    job = reviewed(repository, {"docs/index.md": many, "fixtures/runs/a.jsonl": text})
    assert len(job.text) < 65_000


def test_a_pull_request_that_mends_the_file_of_the_site_is_told_all_the_same(tmp_path: Path) -> None:
    broken = SITE.replace("results: fixtures", "results: [fixtures]")
    repository = start(tmp_path / "repository", {**BEFORE, "mkdocs.yml": broken})
    job = reviewed(repository, {"mkdocs.yml": SITE})
    assert "no base to compare with: mkdocs.yml: `results` is not a string" in job.said
    assert "**1 table new**" in job.text
