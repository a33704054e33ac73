"""A release goes out only when its tag, its version, its changelog and its addresses fit each other."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mongo_tables import SITE, __version__
from release.ready import ROOT, find_faults

NEEDED = (
    "pyproject.toml",
    "CHANGELOG.md",
    "preprocessor/mongo_tables/__init__.py",
    "release/hooks/pyproject.toml",
)
TAG = f"v{__version__}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a release looks at, with addresses that somebody could have."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text().replace("mongo-tables.example", "mongo-tables.dev")
        (tmp_path / name).write_text(text)
    return tmp_path


def edit(checkout: Path, name: str, old: str, new: str) -> None:
    text = (checkout / name).read_text()
    assert old in text
    (checkout / name).write_text(text.replace(old, new))


def test_a_checkout_whose_parts_fit_is_ready(checkout: Path) -> None:
    assert list(find_faults(checkout, TAG)) == []


def test_an_address_that_nobody_can_have_is_told(checkout: Path) -> None:
    edit(checkout, "pyproject.toml", "code.mongo-tables.dev", "code.mongo-tables.example")
    assert all("is nobody's address yet" in fault for fault in find_faults(checkout, TAG))
    assert len(list(find_faults(checkout, TAG))) == 3


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("preprocessor/mongo_tables/__init__.py", f'"{__version__}"', '"9.9.9"', "the tag is"),
        ("CHANGELOG.md", f"## {__version__} - ", f"## {__version__} ", "no heading"),
        ("CHANGELOG.md", "## Unreleased", "## Soon", "does not begin with"),
        ("pyproject.toml", "Issues = ", "Tickets = ", "has no Issues"),
        ("preprocessor/mongo_tables/__init__.py", 'SITE = "https://', 'SITE = "https://www.', "is not SITE"),
        ("release/hooks/pyproject.toml", f"=={__version__}", "==0.0.1", "does not install"),
    ],
)
def test_what_does_not_fit_is_told(name: str, old: str, new: str, fault: str, checkout: Path) -> None:
    edit(checkout, name, old, new)
    assert any(fault in one for one in find_faults(checkout, TAG))


def test_the_workflow_s_command_fails_for_another_tag() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "release.ready", "v9.9.9"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"the tag is v9.9.9, and __version__ is {__version__}" in done.stderr


def test_schemas_are_called_by_the_site_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Documentation"] == SITE
    entry = re.findall(r'"url": "([^"]+)"', (ROOT / "RELEASING.md").read_text())
    assert entry and all(address.startswith(f"{SITE}schemas/") for address in entry)


def test_classifiers_are_versions_that_the_workflow_runs_the_tests_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/tests.yml").read_text())
    assert matrix and named
    assert {*named} <= {*re.findall(r"3\.\d+", matrix[1])}
