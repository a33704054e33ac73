"""While a commit is made, a check also asks whether Git has the files that its pages need."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables

PAGE = """\
<!-- RESULT_TABLE: {"collection": "bench", "columns": ["name", "ms"], "sort": "name"} -->

<!-- RESULT_CHART: {"collection": "bench", "x": "name", "y": "ms", "mark": "bar", "sort": "name"} -->
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a page, whose results and chart nobody has added."""
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    (tmp_path / "bench.csv").write_text("name,ms\nread,1.5\nwrite,2.5\n")
    (tmp_path / "other.csv").write_text("name\nx\n")
    (tmp_path / "README.md").write_text(PAGE)
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.csv"\npages = ["README.md"]\n')
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    add(tmp_path, "README.md", "mongo-tables.toml")
    return tmp_path


def add(folder: Path, *files: str) -> None:
    subprocess.run(["git", "add", *files], cwd=folder, check=True)


def in_a_commit(folder: Path) -> dict[str, str]:
    return {"GIT_INDEX_FILE": str(folder / ".git" / "index")}


def hinted(folder: Path, **environment: str) -> list[str]:
    done = mongo_tables("check", "--format", "json", cwd=folder, expect=None, **environment)
    return [f"{one['rule']} {one['hint']}" for one in json.loads(done.stdout)["findings"]]


def test_files_that_a_page_needs_and_git_does_not_track_stop_its_commit(project: Path) -> None:
    hook = in_a_commit(project)
    assert hinted(project, **hook) == ["MT311 git add README.chart.svg", "MT311 git add bench.csv"]
    assert hinted(project) == []
    add(project, "README.chart.svg", "bench.csv")
    assert hinted(project, **hook) == []


def test_what_git_ignores_and_pages_that_are_not_committed_stop_nothing(project: Path) -> None:
    (project / ".gitignore").write_text("*.csv\n*.svg\n")
    assert hinted(project, **in_a_commit(project)) == []
    (project / ".gitignore").unlink()
    subprocess.run(["git", "rm", "-q", "--cached", "README.md"], cwd=project, check=True)
    assert hinted(project, **in_a_commit(project)) == []
