"""The core stands alone: every command's help, completion and the message about a missing extra need no extra."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mongo_tables.cli import COMMANDS, GROUPS
from mongo_tables.files.process import install_command


def core_packages() -> set[str]:
    """Give the distributions that an installation without extras has: the closure of our own requirements."""
    found, asked = set[str](), ["mongo-tables"]
    while asked:
        name = canonicalize_name(asked.pop())
        if name not in found:
            found.add(name)
            needs = map(Requirement, requires(name) or ())
            asked += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


@cache
def hidden_modules() -> list[str]:
    """Give the top-level modules that are installed here and that the core does not bring."""
    core = core_packages()
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if not core & {canonicalize_name(owner) for owner in owners} and module.isidentifier()
    )


CORE = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {hidden!r} else found(name, package)
sys.meta_path.insert(0, Hidden())
from mongo_tables.program import main
sys.exit(main())
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a process where nothing but the core and what it requires is found."""
    code = CORE.format(hidden=hidden_modules())
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_what_the_extras_bring_is_hidden_and_what_the_core_requires_is_not() -> None:
    assert {"greenlet", "mkdocs", "mongomock", "pyarrow", "pygls", "pytest", "scipy"} <= {*hidden_modules()}
    assert not {"bson", "jsonschema", "mongo_tables", "pymongo", "shtab", "yaml"} & {*hidden_modules()}


def test_the_program_alone_prints_its_help(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    assert all(f"\n{title}:\n" in done.stdout for title in GROUPS)
    assert done.stdout == run(tmp_path, "--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_prints_its_help(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: mongo-tables {command}")
    assert "\nexample" in done.stdout.lower()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_every_command(tmp_path: Path, shell: str) -> None:
    done = run(tmp_path, "completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "calibrate" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["run", "insert_docsize"], "runner"),
        (["calibrate"], "runner"),
        (["calibrate", "--dry-run"], "runner"),
        (["lsp"], "lsp"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    tmp_path: Path, arguments: list[str], extra: str
) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"command {arguments[0]} needs the extra {extra}" in done.stderr
    assert install_command(extra) in done.stderr


def test_a_module_of_the_folder_called_as_the_source_root_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "preprocessor.py").write_text("raise SystemExit('the module of the folder was loaded')\n")
    (tmp_path / "README.md").write_text("# Title\n")
    done = subprocess.run(
        [sys.executable, "-m", "mongo_tables.program", "check", "README.md"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
