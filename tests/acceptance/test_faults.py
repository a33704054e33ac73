"""A page with one fault of each kind: every door lists all of them, where they are, and lets none through."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAULTY = Path(__file__).parent / "faulty"
EXPECTED = (FAULTY / "expected.txt").read_text("utf-8")
PLACES = re.findall(r"^page\.md:(\d+):(\d+): (\w+) (MT\d+)", EXPECTED, re.MULTILINE)

MKDOCS = """\
site_name: faulty
theme: {name: null, custom_dir: theme}
markdown_extensions: [admonition]
plugins:
  - mongo-tables: {results: fixtures}
"""


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one page, the faulty one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / "main.html").write_text("{{ page.content }}")
    (tmp_path / "mkdocs.yml").write_text(MKDOCS)
    shutil.copy(FAULTY / "page.md", tmp_path / "docs" / "index.md")
    shutil.copytree(FAULTY / "fixtures", tmp_path / "fixtures")
    return tmp_path


def test_check_lists_every_fault_with_line_and_column() -> None:
    done = run("mongo_tables.cli", "check", "page.md", "--results", "fixtures", cwd=FAULTY)
    assert done.stdout == EXPECTED
    assert (done.returncode, done.stderr) == (1, "")


def test_every_place_is_where_the_fault_is() -> None:
    lines = (FAULTY / "page.md").read_text("utf-8").splitlines()
    at = {rule: lines[int(line) - 1][int(column) - 1 :] for line, column, _, rule in PLACES}
    assert at["MT120"].startswith(",}")
    assert at["MT130"].startswith('"colums"')
    assert at["MT135"].startswith('"ms"]')
    assert at["MT201"].startswith('"$out"')
    assert at["MT302"].startswith('"msec"')
    assert at["MT304"].startswith('"run"')
    assert at["MT101"].startswith("<!-- MONGO_TABLE")


def test_the_json_report_holds_the_same_findings() -> None:
    arguments = ("check", "page.md", "--results", "fixtures", "--format", "json")
    done = run("mongo_tables.cli", *arguments, cwd=FAULTY)
    found = json.loads(done.stdout)["findings"]
    places = [(str(one["line"]), str(one["column"]), one["severity"], one["rule"]) for one in found]
    assert places == PLACES


def test_render_writes_nothing(tmp_path: Path) -> None:
    arguments = ("render", "page.md", "--results", "fixtures", "--output", str(tmp_path / "out"))
    done = run("mongo_tables.cli", *arguments, cwd=FAULTY)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("page.md:") >= len(PLACES)
    assert not (tmp_path / "out").exists()


def test_the_build_ends_with_every_fault_listed_and_no_site(site: Path) -> None:
    done = run("mkdocs", "build", cwd=site)
    assert done.returncode != 0
    for line, column, _, rule in PLACES:
        assert re.search(rf"docs/index\.md:{line}:{column}: {rule}", done.stderr), (line, column, rule)
    assert "Traceback" not in done.stderr
    assert not (site / "site" / "index.html").exists()


def test_pre_commit_stops_the_commit(site: Path) -> None:
    hooks = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
    # The hook as it is offered to others, run from the environment of the tests instead of one of its own.
    local = hooks.read_text("utf-8").replace("language: python", "language: system")
    local = "\n".join(
        "    " + line for line in local.splitlines() if "minimum_pre_commit_version" not in line
    )
    (site / ".pre-commit-config.yaml").write_text(f"repos:\n- repo: local\n  hooks:\n{local}\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    identity = {
        f"GIT_{who}_{what}": "tester@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    environment = {**identity, "PATH": path, "PRE_COMMIT_HOME": str(site / ".cache")}

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, **environment}
        return subprocess.run(
            ["git", *arguments], cwd=site, env=settings, capture_output=True, text=True, check=False
        )

    git("init", "-q")
    assert run("pre_commit", "install", cwd=site, **environment).returncode == 0
    git("add", "docs", "fixtures", ".pre-commit-config.yaml")
    stopped = git("commit", "-m", "Publish a faulty page")
    assert stopped.returncode == 1, stopped.stderr
    said = stopped.stdout + stopped.stderr
    assert "docs/index.md:9:114: error MT120" in said
    for name in ("mongo-tables check", r"mongo-tables check \(changed pages\)"):
        assert re.search(rf"^{name}\.+Failed$", said, re.MULTILINE)

    sound = (
        '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["Run"]} -->\n'
    )
    (site / "docs" / "index.md").write_text(sound)
    git("add", "docs")
    # The second hook writes the table into the page: the first try is stopped, with a changed file.
    assert git("commit", "-m", "Publish a sound page").returncode == 1
    git("add", "docs")
    passed = git("commit", "-m", "Publish a sound page")
    assert passed.returncode == 0, passed.stderr
    assert "|   1 |" in (site / "docs" / "index.md").read_text("utf-8")
    git("rm", "-rq", "fixtures")
    stopped = git("commit", "-m", "Remove what the page is held against")
    assert stopped.returncode == 1, stopped.stdout
    assert "there is no fixture folder" in stopped.stdout + stopped.stderr
