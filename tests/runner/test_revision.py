"""A row says which code measured it: the commit, and whether files differed from it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from mongo_tables.runner import host

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(folder: Path, *asked: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, check=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository of one commit, with results beside it."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, *WHO, "commit", "--quiet", "-m", "Begin")
    return package


def test_files_of_a_commit_are_told_by_it(package: Path) -> None:
    assert host._of_checkout(package) == git(package, "rev-parse", "HEAD")[:12]


def test_changed_files_are_told(package: Path) -> None:
    (package / "__init__.py").write_text("more = 1\n", encoding="utf-8")
    assert host._of_checkout(package).endswith(".changed")


def test_results_that_a_run_wrote_are_no_change_of_the_program(package: Path) -> None:
    (package.parent / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    assert not host._of_checkout(package).endswith(".changed")


def test_an_environment_inside_somebodys_repository_is_not_of_its_commit(package: Path) -> None:
    installed = package.parent / ".venv" / "mongo_tables"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("", encoding="utf-8")
    assert host._of_checkout(installed) == ""


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    assert host._of_checkout(tmp_path) == ""


def test_without_git_nothing_is_said(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(package))
    assert host._of_checkout(package) == ""


@pytest.mark.parametrize(
    ("noted", "commit"),
    [
        (
            json.dumps({"url": "x", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}),
            "0123456789ab",
        ),
        (json.dumps({"url": "file:///x", "dir_info": {}}), ""),
        (None, ""),
    ],
)
def test_what_pip_noted_says_the_commit_where_it_fetched_one(noted: str | None, commit: str) -> None:
    assert host._of_installation(noted) == commit


def test_the_number_comes_first() -> None:
    assert re.fullmatch(r"mongo-tables \d+\.\d+\.\d+(\+g[0-9a-f]{12}(\.changed)?)?", host.harness())
