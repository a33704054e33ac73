"""The wheel and the sdist hold what they should, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path
from typing import NamedTuple

import pytest

from mongo_tables import __version__

ROOT = Path(__file__).parents[2]
NAME = f"mongo_tables-{__version__}"
IN_SDIST = (
    ".github/workflows/",
    "preprocessor/",
    "docs/",
    "hooks/",
    "fixtures/",
    "tests/",
    "benchmarks/",
    "release/",
)
BESIDE = {
    ".gitignore", ".pre-commit-hooks.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "PKG-INFO", "README.md",
    "RELEASING.md", "action.yml", "mkdocs.yml", "pyproject.toml",
}  # fmt: skip
ABOUT = {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}


class Packages(NamedTuple):
    """Both packages of this checkout."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    return Packages(folder / f"{NAME}-py3-none-any.whl", folder / f"{NAME}.tar.gz")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of this checkout that Git has, or would take; of an unpacked sdist those that it would take."""
    git = ["git"]
    if not (ROOT / ".git").exists():
        git += ["--git-dir", str(tmp_path_factory.mktemp("git")), "--work-tree", "."]
        subprocess.run([*git, "init", "--quiet"], cwd=ROOT, check=True, capture_output=True)
    told = subprocess.run(
        [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    return {name for name in told.decode().split("\0") if name and (ROOT / name).exists()}


def test_the_wheel_has_the_package_and_what_describes_it(packages: Packages, files: set[str]) -> None:
    with zipfile.ZipFile(packages.wheel) as wheel:
        found = {name for name in wheel.namelist() if not name.endswith("/")}
    own = {name.removeprefix("preprocessor/") for name in files if name.startswith("preprocessor/")}
    examples = "tests/lint/pages/"
    own |= {
        f"mongo_tables/lint/examples/{name.removeprefix(examples)}"
        for name in files
        if name.startswith(examples)
    }
    assert found == own | {f"{NAME}.dist-info/{name}" for name in ABOUT}


def test_the_sdist_has_what_builds_the_site_and_runs_the_tests(packages: Packages, files: set[str]) -> None:
    with tarfile.open(packages.sdist) as sdist:
        found = {member.name.removeprefix(f"{NAME}/") for member in sdist.getmembers() if not member.isdir()}
    assert found == {name for name in files if name.startswith(IN_SDIST)} | BESIDE


def test_the_wheel_has_at_most_1750_kilobytes_and_the_sdist_eight_megabytes(packages: Packages) -> None:
    assert packages.wheel.stat().st_size < 1_750_000
    assert packages.sdist.stat().st_size < 8_000_000


def test_what_the_index_shows_is_complete(packages: Packages) -> None:
    with zipfile.ZipFile(packages.wheel) as wheel:
        told = message_from_string(wheel.read(f"{NAME}.dist-info/METADATA").decode())
    assert told["Name"] == "mongo-tables" and told["Version"] == __version__
    assert told["License-Expression"] == "Apache-2.0"
    labels = {address.partition(",")[0] for address in told.get_all("Project-URL", [])}
    assert labels == {"Changelog", "Documentation", "Issues", "Repository"}
    needed = {
        re.split("[ <>=~[;]", one)[0] for one in told.get_all("Requires-Dist", []) if "extra ==" not in one
    }
    assert {"jsonschema", "markdown-it-py", "pymongo"} <= needed
    assert not needed & {"Markdown", "mkdocs", "mkdocs-material", "numpy", "pyarrow", "psutil", "scipy"}
