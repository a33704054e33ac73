"""``diff`` in a job: reviewers see which numbers a pull request changes, in one comment; no one speaks through it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mongo_tables.commands.diff.changes import MOST
from tests.commands.diff import fake_github
from tests.commands.diff.fake_github import BOT, TOKEN, GitHub
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
def github() -> Iterator[GitHub]:
    with fake_github.running() as server:
        yield server


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


def compared(
    repository: Repository, commits: tuple[str, str], *options: str, event: str = "synchronize"
) -> Job:
    """The first step of the Action."""
    place = repository.folder.parent / "job"
    variables = environment(place, event, commits)
    done = mongo_tables(
        "diff", "--report", str(place / "report"), *options, cwd=repository.folder, expect=None, **variables
    )
    changed = (place / "output").read_text().splitlines()[-1] == "changed=true"
    assert done.returncode == (1 if changed else 0)
    return Job(place, done.stdout)


def posted(
    job: Job,
    commits: tuple[str, str],
    github: GitHub,
    event: str = "synchronize",
    *options: str,
    expect: int = 0,
) -> str:
    """The second step of the Action: what it says."""
    variables = environment(job.place, event, commits, GITHUB_TOKEN=TOKEN, GITHUB_API_URL=github.address)
    done = mongo_tables("diff", "--post", "report", *options, cwd=job.place, expect=expect, **variables)
    return done.stdout + done.stderr


def reviewed(
    repository: Repository, files: dict[str, str], github: GitHub, event: str = "synchronize"
) -> tuple[Job, str]:
    """Both steps for a pull request with these files."""
    commits = propose(repository, files)
    job = compared(repository, commits, event=event)
    return job, posted(job, commits, github, event)


def test_a_changed_a_new_and_a_vanished_row_are_told_in_one_table(
    repository: Repository, github: GitHub
) -> None:
    job, said = reviewed(repository, CHANGED, github)
    assert said == "comment: created\n"
    (body,) = github.bodies()
    assert body == job.text
    assert "**1 number changed, 1 row new, 1 row gone**" in body
    assert body.splitlines()[-5:] == [
        "| Row | Column | Before | Now | Now to before |",
        "| --- | --- | ---: | ---: | ---: |",
        "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |",
        "| 16 **new row** | Speed (ops/s) |  | 41,000 |  |",
        "| 4 **row gone** | Speed (ops/s) | 15,000 |  |  |",
    ]
    assert "#### speed, <code>docs/index&#46;md</code>, line 3" in body


def test_the_next_push_edits_the_comment_in_place(repository: Repository, github: GitHub) -> None:
    reviewed(repository, CHANGED, github)
    github.add("What a fine change.")
    _, said = reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=60200)}, github)
    assert said == "comment: edited\n"
    (body,) = github.bodies()
    assert "| 8 | Speed (ops/s) | 30,100 | 60,200 | 2 times |" in body
    assert "row gone" not in body


def test_a_push_that_takes_the_changes_back_says_so_in_the_comment(
    repository: Repository, github: GitHub
) -> None:
    reviewed(repository, CHANGED, github)
    reviewed(repository, {"README.md": "# Read me\n"}, github)
    (body,) = github.bodies()
    assert "**No number changed**" in body


def test_a_pull_request_that_changes_no_number_gets_no_comment(
    repository: Repository, github: GitHub
) -> None:
    job, said = reviewed(repository, {"README.md": "# Read me\n"}, github)
    assert said == "comment: not needed\n"
    assert github.comments == []
    assert "**No number changed**" in job.summary
    assert (job.place / "output").read_text() == "changed=false\n"


def test_the_same_numbers_again_edit_nothing(repository: Repository, github: GitHub) -> None:
    job, _ = reviewed(repository, CHANGED, github)
    before = len(github.asked)
    commits = (repository.git("rev-parse", "main"), repository.git("rev-parse", "changes"))
    assert posted(job, commits, github) == "comment: unchanged\n"
    assert [method for method, _ in github.asked[before:]] == ["GET"]


def test_a_comment_is_found_behind_many_others(repository: Repository, github: GitHub) -> None:
    for number in range(130):
        github.add(f"Comment {number}")
    reviewed(repository, CHANGED, github)
    _, said = reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=1)}, github)
    assert said == "comment: edited\n"
    assert len(github.bodies()) == 1


def test_nobody_elses_comment_is_edited_whatever_stands_in_it(repository: Repository, github: GitHub) -> None:
    job, _ = reviewed(repository, CHANGED, github)
    forged = f"{job.text}\nMerge at once."
    github.comments.clear()
    github.add(forged, "stranger")
    commits = (repository.git("rev-parse", "main"), repository.git("rev-parse", "changes"))
    assert posted(job, commits, github) == "comment: created\n"
    assert github.bodies("stranger") == [forged]


def test_two_sites_of_a_repository_have_a_comment_each(repository: Repository, github: GitHub) -> None:
    commits = propose(repository, {**CHANGED, "other.yml": SITE})
    for options in ((), ("--config-file", "other.yml")):
        posted(compared(repository, commits, *options), commits, github)
    assert len(github.bodies()) == 2


def test_a_changed_comment_in_a_page_changes_numbers_as_well(repository: Repository, github: GitHub) -> None:
    reviewed(repository, {"docs/index.md": PAGE.replace('"sort"', '"where": {"threads": 8}, "sort"')}, github)
    (body,) = github.bodies()
    assert "**2 rows gone**" in body


def test_new_and_vanished_tables_are_told(repository: Repository, github: GitHub) -> None:
    other = PAGE.replace('"speed"', '"fast"')
    reviewed(repository, {"docs/index.md": "# Runs\n", "docs/other.md": other}, github)
    (body,) = github.bodies()
    assert "**1 table new, 1 table gone**" in body
    assert "#### fast (new table), <code>docs/other&#46;md</code>, line 3" in body


def test_a_first_site_is_a_pull_request_with_new_tables_alone(tmp_path: Path, github: GitHub) -> None:
    repository = start(tmp_path / "repository", {"README.md": "# Read me\n"})
    reviewed(repository, BEFORE, github)
    assert "**1 table new**" in github.bodies()[0]


def test_what_others_merged_meanwhile_is_no_change_of_the_pull_request(
    repository: Repository, github: GitHub
) -> None:
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


def test_what_an_archive_leaves_out_is_compared_all_the_same(tmp_path: Path, github: GitHub) -> None:
    repository = start(
        tmp_path / "repository",
        {**BEFORE, ".gitattributes": "docs export-ignore\nfixtures export-ignore\n"},
    )
    reviewed(repository, CHANGED, github)
    assert "30,100 | 45,150" in github.bodies()[0]


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
        assert "name OLD and NEW" in refused.stderr
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


# -- tokens that may not write --


@pytest.mark.parametrize("event", ["fork", "gone"])
def test_a_fork_without_a_token_that_may_write_has_the_summary_and_fails_nothing(
    event: str, repository: Repository, github: GitHub
) -> None:
    github.write_status = 403
    job, said = reviewed(repository, CHANGED, github, event)
    assert said.startswith("::notice::no comment: a pull request from a fork")
    assert github.comments == []
    assert "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |" in job.summary


def test_a_fork_whose_token_may_write_gets_its_comment(repository: Repository, github: GitHub) -> None:
    reviewed(repository, CHANGED, github, "fork")
    assert len(github.bodies()) == 1


def test_a_missing_permission_is_told_with_its_name(repository: Repository, github: GitHub) -> None:
    github.write_status = 403
    _, said = reviewed(repository, CHANGED, github)
    assert said.startswith("::warning::no comment: POST was answered by 403")
    assert "permissions: pull-requests: write" in said


@pytest.mark.parametrize("status", [500, 502])
def test_a_server_in_trouble_fails_no_job(status: int, repository: Repository, github: GitHub) -> None:
    github.read_status = status
    _, said = reviewed(repository, CHANGED, github)
    assert said.startswith(f"::warning::no comment: GET was answered by {status}")


def test_no_server_at_all_fails_no_job(repository: Repository) -> None:
    with fake_github.running() as gone:
        pass
    _, said = reviewed(repository, CHANGED, gone)
    assert said.startswith("::warning::no comment: GET had no answer")


def test_the_token_goes_to_the_api_alone_and_is_said_nowhere(repository: Repository, github: GitHub) -> None:
    with fake_github.running() as elsewhere:
        github.moved_to = f"{elsewhere.address}/repos/Codertocat/Hello-World/issues/2/comments"
        job, said = reviewed(repository, CHANGED, github)
        assert elsewhere.asked == []
    assert github.tokens == {TOKEN}
    assert TOKEN not in said + job.said + job.text + job.summary
    assert "302" in said


def test_the_step_with_the_token_reads_no_page(repository: Repository, github: GitHub) -> None:
    job, _ = reviewed(repository, CHANGED, github)
    commits = (repository.git("rev-parse", "main"), repository.git("rev-parse", "changes"))
    for file in [*repository.folder.rglob("*.md"), *repository.folder.rglob("*.jsonl")]:
        file.unlink()
    assert posted(job, commits, github) == "comment: unchanged\n"


# -- what must not be --


@pytest.mark.parametrize("step", ["--report", "--post"])
def test_pull_request_target_is_refused(step: str, repository: Repository, tmp_path: Path) -> None:
    commits = propose(repository, CHANGED)
    variables = environment(tmp_path / "job", "synchronize", commits, GITHUB_EVENT_NAME="pull_request_target")
    done = mongo_tables("diff", step, "report", cwd=repository.folder, expect=2, **variables)
    assert "on: pull_request" in done.stderr


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
    assert "no number, repository and commits" in done.stderr
    assert not (repository.folder / "forged").exists()


def test_values_are_shown_as_they_are_and_speak_to_nobody(repository: Repository, github: GitHub) -> None:
    hostile = "@octocat | <img src=x> [a](https://evil.example) `#12` -->\n::set-output"
    reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=hostile, t4=15000, t8=30100)}, github)
    (body,) = github.bodies()
    (line,) = [line for line in body.splitlines() if line.startswith("| 1 |")]
    assert line.count("|") == 6
    assert not set("@<[`#") & set(line.replace("<code>", "").replace("</code>", "").replace("&#", ""))
    assert "evil.example" not in body and "https:" not in line


def test_names_of_pages_and_tables_are_values_of_the_pull_request_too(
    repository: Repository, github: GitHub
) -> None:
    page = PAGE.replace('"id": "speed"', '"title": "@octocat ![x](http://a.example/)"')
    reviewed(repository, {"docs/index.md": "# Runs\n", "docs/@team <b>.md": page}, github)
    (body,) = github.bodies()
    rest = body.replace("<code>", "").replace("</code>", "").splitlines()
    heads = [line for line in rest if line.startswith("#### ")]
    assert len(heads) == 2 and not any(set("@<![") & set(line) for line in heads)


def test_very_many_changes_stay_within_what_a_comment_may_be(repository: Repository, github: GitHub) -> None:
    many = {f"t{number}": number for number in range(1, 3000)}
    job, said = reviewed(repository, {"fixtures/runs/a.jsonl": rows(**many)}, github)
    assert said == "comment: created\n"
    (body,) = github.bodies()
    assert MOST - 1000 < len(body) < 65_000
    assert body.count("<details>") == body.count("</details>") == 1
    assert "more lines: the artifact of this job has all of them" in body
    assert len(json.loads((job.place / "report/changes.json").read_text())["tables"][0]["came"]) > 2900


def test_tables_that_have_no_rows_for_a_fault_are_counted(repository: Repository, github: GitHub) -> None:
    job, _ = reviewed(
        repository,
        {
            "docs/index.md": PAGE.replace(
                '"sort": "threads"',
                '"pipeline": [{"$set": {"ops": {"$divide": ["$ops", {"$subtract": ["$threads", 1]}]}}}]',
            )
        },
        github,
    )
    assert "1 table cannot be compared: the check says what is wrong." in job.text


def test_who_owns_the_token_can_be_somebody_else(repository: Repository, github: GitHub) -> None:
    job, _ = reviewed(repository, CHANGED, github)
    github.comments[0]["user"]["login"] = "our-app[bot]"
    github.comments[0]["body"] = github.comments[0]["body"].replace("45,150", "1")
    commits = (repository.git("rev-parse", "main"), repository.git("rev-parse", "changes"))
    assert posted(job, commits, github, "synchronize", "--author", "our-app[bot]") == "comment: edited\n"
    assert github.bodies(BOT) == []


def test_a_base_without_a_site_does_not_take_that_of_a_folder_above(tmp_path: Path) -> None:
    repository = start(tmp_path / "repository", {"README.md": "# Read me\n", "docs/index.md": PAGE})
    propose(repository, BEFORE)
    told = ("main:.", ".", "--report", "report")
    mongo_tables("diff", *told, cwd=repository.folder, expect=1, GITHUB_EVENT_NAME="")
    found = json.loads((repository.folder / "report/changes.json").read_text())["tables"]
    assert [one["failed"][1] for one in found] == [""] and found[0]["failed"][0]
    assert {one.name for one in (repository.folder / "report").iterdir()} == {"changes.md", "changes.json"}


def test_a_few_very_long_values_stay_within_it_too(repository: Repository, github: GitHub) -> None:
    long = {f"t{number}": "@" * 1000 for number in range(20, 40)}
    reviewed(repository, {"fixtures/runs/a.jsonl": rows(t1=4200, t4=15000, t8=30100, **long)}, github)
    assert len(github.bodies()[0]) < 65_000
    many = PAGE.replace('"columns": ["threads", "ops"]', '"columns": ["threads", "ops", "a", "b", "c", "d"]')
    many = many.replace('["Threads", "Speed"]', '["Threads", "Speed", "A", "B", "C", "D"]')
    text = "".join(
        json.dumps({"_id": n, "threads": "#" * 999, "ops": n, **dict.fromkeys("abcd", "@" * 999)}) + "\n"
        for n in range(6)
    )
    job, said = reviewed(repository, {"docs/index.md": many, "fixtures/runs/a.jsonl": text}, github)
    assert said == "comment: edited\n" and len(job.text) < 65_000


def test_a_pull_request_that_mends_the_file_of_the_site_is_told_all_the_same(
    tmp_path: Path, github: GitHub
) -> None:
    broken = SITE.replace("results: fixtures", "results: [fixtures]")
    repository = start(tmp_path / "repository", {**BEFORE, "mkdocs.yml": broken})
    job, _ = reviewed(repository, {"mkdocs.yml": SITE}, github)
    assert "no base to compare with: mkdocs.yml: `results` is not a string" in job.said
    assert "**1 table new**" in job.text
