"""Both packages in an empty environment: run by ``python -m tests.outside packages``, as it fetches what they need.

Nothing of the user's own is there: no home, no configuration of Git, and of programs those in ``PROGRAMS``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mongo_tables import __version__
from tests.commands.diff.pull_requests import environment, propose, start
from tests.release import fake_gh
from tests.release.actionsteps import ROOT, run_step
from tests.release.test_action import CHANGED, FILES

pytestmark = pytest.mark.timeout(1800)

NAME = f"mongo_tables-{__version__}"
PROGRAMS = (
    "basename",
    "bash",
    "cat",
    "dirname",
    "env",
    "git",
    "head",
    "ls",
    "mkdir",
    "rm",
    "sed",
    "sh",
    "uname",
)
"""What is on the path, beside Python: no compiler among it."""


class Bare(NamedTuple):
    """An environment with one of the packages in it."""

    folder: Path
    package: Path

    def run(self, *command: str, cwd: Path | None = None, expect: int = 0, **more: str) -> str:
        """What a command says; where it is a program of the environment, that one is meant."""
        own = self.folder / "venv/bin" / command[0]
        done = subprocess.run(
            [str(own) if own.exists() else command[0], *command[1:]],
            cwd=cwd or self.folder,
            env={**self.variables(), **more},
            capture_output=True,
            text=True,
            check=False,
        )
        print("$", *command, "\n", done.stdout[-1500:], done.stderr[-1500:])
        assert done.returncode == expect, (command, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_", "HTTP"))}
        own = {"HOME": str(self.folder / "home"), "PATH": str(self.folder / "programs"), "LC_ALL": "C.UTF-8"}
        return {**kept, **own, "PIP_FIND_LINKS": str(self.package.parent), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)], cwd=ROOT, check=True
    )
    return folder


@pytest.fixture(scope="module", params=[f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"], ids=["wheel", "sdist"])
def bare(
    request: pytest.FixtureRequest, dist: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bare]:
    made = prepare(tmp_path_factory.mktemp("bare"), dist / request.param)
    made.run("pip", "install", "--quiet", f"{made.package}[site]")
    yield made


def prepare(folder: Path, package: Path) -> Bare:
    (folder / "home").mkdir()
    (folder / "programs").mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found
        (folder / "programs" / name).symlink_to(found)
    base = Path(sys.executable).resolve()
    (folder / "programs/python3").symlink_to(base)
    subprocess.run([str(base), "-m", "venv", str(folder / "venv")], check=True)
    return Bare(folder, package)


def test_no_compiler_is_there(bare: Bare) -> None:
    assert not any(
        shutil.which(name, path=bare.variables()["PATH"]) for name in ("cc", "gcc", "clang", "rustc")
    )


def test_a_clean_checkout_that_is_installed_builds_our_own_site(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(checkout)], check=True)
    bare = prepare(tmp_path, checkout)
    bare.run("pip", "install", "--quiet", ".[site]", cwd=checkout)
    where = bare.run("python", "-c", "import mongo_tables; print(mongo_tables.__file__)", cwd=checkout)
    assert Path(where.strip()).is_relative_to(bare.folder / "venv")
    bare.run("mkdocs", "build", "--strict", cwd=checkout)
    assert "<figure" in (checkout / "site/experiments/insert-docsize/index.html").read_text()
    assert (
        subprocess.run(["git", "status", "--short"], cwd=checkout, capture_output=True, check=True).stdout
        == b""
    )


def test_the_readme_s_first_commands_make_a_readme_with_a_table(bare: Bare) -> None:
    project = bare.folder / "readme"
    project.mkdir()
    (project / "README.md").write_text("# Mine\n")
    (project / "bench.json").write_text('[{"name": "a", "mean": 1.5}, {"name": "b", "mean": 2.5}]')
    bare.run("git", "init", "-q", cwd=project)
    said = bare.run("mongo-tables", "init", cwd=project)
    assert "README.md" in said and "| " in (project / "README.md").read_text()
    bare.run("mongo-tables", "check", "--numbers", cwd=project)


def test_the_guide_s_first_five_steps_make_a_site(bare: Bare) -> None:
    project = bare.folder / "guide"
    guide = (ROOT / "docs/authors/guide.md").read_text()
    guide = guide[guide.index("## 1. ") : guide.index("## 6. ")]
    (project / "docs").mkdir(parents=True)
    (project / "fixtures/results").mkdir(parents=True)
    (project / "fixtures/results/mine.jsonl").write_text(
        re.findall(r"```json\n(.*?)```", guide, re.DOTALL)[0]
    )
    comments = re.findall(r"```markdown\n(.*?)```", guide, re.DOTALL)
    table = next(one for one in comments if '"Inserts/s"' in one).replace("{", '{"id": "insert-speed", ', 1)
    sentences = [one for one in comments if "RESULT_VALUE" in one or "RESULT_CHECK" in one]
    (project / "docs/index.md").write_text("\n".join(["# Mine\n", table, *sentences]))
    (project / "mkdocs.yml").write_text(re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)[0])
    assert "| Threads |" in bare.run("mongo-tables", "render", "docs/index.md", cwd=project)
    assert "no fault" in bare.run("mongo-tables", "check", "docs", cwd=project)
    bare.run("mkdocs", "build", "--strict", cwd=project)
    assert "41884" in (project / "site/index.html").read_text()


def test_hooks_find_a_fault_whether_they_install_the_wheel_or_build_this_repository(bare: Bare) -> None:
    bare.run("pip", "install", "--quiet", "pre-commit")
    hooks = start(
        bare.folder / "hooks",
        {
            ".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_text(),
            **{name: (ROOT / "release/hooks" / name).read_text() for name in ("pyproject.toml", "README.md")},
        },
    )
    user = start(bare.folder / "user", FILES)
    for repository in (hooks.folder, ROOT):
        command = (
            "pre-commit",
            "try-repo",
            str(repository),
            "mongo-tables-check",
            "--all-files",
            "--verbose",
        )
        there = {"PRE_COMMIT_HOME": str(bare.folder / "kept")}
        (user.folder / "docs/index.md").write_text(FILES["docs/index.md"])
        assert "Passed" in bare.run(*command, cwd=user.folder, **there)
        (user.folder / "docs/index.md").write_text(FILES["docs/index.md"].replace('"sort"', '"sorted"'))
        assert "MT130" in bare.run(*command, cwd=user.folder, expect=1, **there)


def test_the_action_s_scripts_install_check_and_comment(bare: Bare) -> None:
    repository = start(bare.folder / "repository", {**FILES, "pip.py": "raise SystemExit('not this one')\n"})
    commits = propose(repository, CHANGED)
    place = bare.folder / "job"
    variables = environment(place, "synchronize", commits)
    told = {name: text for name, text in variables.items() if name.startswith(("GITHUB_", "RUNNER_"))}
    github = fake_gh.install(bare.folder / "programs")
    told = {**bare.variables(), **told, "GITHUB_ENV": str(place / "env")}
    told |= {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "Codertocat/Hello-World"}
    assert run_step("Say where things are", {}, repository.folder, told).returncode == 0
    places = dict(line.split("=", 1) for line in (place / "output").read_text().splitlines())
    values = {f"steps.places.outputs.{name}": path for name, path in places.items()}
    values |= {
        "github.action_path": str(bare.package),
        **fake_gh.job_values(),
        "steps.python.outputs.python-path": "",
    }
    for name in (
        "Install mongo-tables",
        "Check pages",
        "Find the numbers that change",
        "Comment on the pull request",
    ):
        done = run_step(name, values, repository.folder, told)
        print(f"[{name}]", done.returncode, done.stdout[-500:], done.stderr[-500:])
        assert done.returncode == 0, (name, done.stdout, done.stderr)
    assert "| 8 | Speed (ops/s) | 30,100 | 45,150 | 1.5 times |" in github.bodies()[0]
