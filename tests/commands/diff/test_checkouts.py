"""``diff`` of two checkouts: each with its own pages and its own results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.diff.pull_requests import PAGE, SITE, Repository, rows, start
from tests.commands.test_commands import mongo_tables

FILES = {"mkdocs.yml": SITE, "docs/index.md": PAGE, "fixtures/runs/a.jsonl": rows(t1=4200, t8=30100)}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return start(tmp_path / "here", FILES)


def differences(repository: Repository, *arguments: str, expect: int = 1) -> list[str]:
    return mongo_tables("diff", *arguments, cwd=repository.folder, expect=expect).stdout.splitlines()


def test_a_revision_and_the_checkout_each_have_their_own_pages(repository: Repository) -> None:
    repository.commit(
        {
            "docs/index.md": PAGE.replace(
                '"headers": ["Threads", "Speed"]', '"headers": ["Threads", "Rate"]'
            ),
            "fixtures/runs/a.jsonl": rows(t1=4200, t8=30100, t16=1),
        }
    )
    assert differences(repository, "HEAD~1:.", ".") == [
        "docs/index.md:3: speed",
        "  row came: 16",
        "  column came: Rate (ops/s)",
        "  column went: Speed (ops/s)",
    ]
    assert differences(repository, "HEAD:.", ".", expect=0) == ["nothing changed"]


def test_two_folders_are_compared_wherever_they_are(repository: Repository, tmp_path: Path) -> None:
    other = start(tmp_path / "there", {**FILES, "fixtures/runs/a.jsonl": rows(t1=8400, t8=30100)})
    assert differences(repository, str(other.folder), ".")[1:] == [
        "  1, Speed (ops/s): 8,400 → 4,200 (0.5 times)"
    ]


def test_pages_that_are_named_are_the_only_ones(repository: Repository) -> None:
    repository.commit(
        {"docs/other.md": PAGE.replace('"speed"', '"other"'), "fixtures/runs/a.jsonl": rows(t1=1)}
    )
    found = differences(repository, "HEAD~1:.", ".", "docs/other.md")
    assert found == ["docs/other.md:3: other came"]


def test_a_revision_from_before_there_was_a_site_has_no_tables(tmp_path: Path) -> None:
    repository = start(tmp_path / "here", {"README.md": "# Read me\n"})
    repository.commit(FILES)
    assert differences(repository, "HEAD~1:.", ".") == ["docs/index.md:3: speed came"]


def test_a_revision_without_results_has_tables_without_rows(repository: Repository) -> None:
    repository.git("rm", "-q", "-r", "fixtures")
    repository.commit({})
    repository.commit({"fixtures/runs/a.jsonl": rows(t1=4200)})
    found = differences(repository, "HEAD~1:.", ".")
    assert found[1].startswith("  the old has no rows: ")


def test_a_checkout_and_a_results_source_are_two_things(repository: Repository) -> None:
    done = mongo_tables("diff", "fixtures", ".", cwd=repository.folder, expect=2)
    assert "one side is a checkout" in done.stderr


def test_a_repository_of_results_alone_is_a_results_source(tmp_path: Path) -> None:
    repository = start(tmp_path / "results", {"runs/a.jsonl": rows(t1=4200, t8=30100)})
    repository.commit({"runs/a.jsonl": rows(t1=4200, t8=60200)})
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert differences(repository, "HEAD~1:.", ".", str(page))[1:] == [
        "  8, Speed (ops/s): 30,100 → 60,200 (2 times)"
    ]
