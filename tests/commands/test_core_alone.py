"""The core stands alone: every command's help, completion and the message about a missing extra need no extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.cli import COMMANDS

EXTRAS = (
    "asyncssh", "cryptography", "distributed", "greenlet", "hdrh", "lsprotocol", "markdown", "mkdocs", "mongomock",
    "psutil", "pyarrow", "pygls", "pytest", "scipy",
)  # fmt: skip
CORE = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {extras!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {extras!r} else found(name, package)
sys.meta_path.insert(0, Hidden())
from mongo_tables.program import main
sys.exit(main())
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a process where no package of an extra is found."""
    code = CORE.format(extras=EXTRAS)
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_prints_its_help(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: mongo-tables {command}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_commands_and_workloads(tmp_path: Path, shell: str) -> None:
    done = run(tmp_path, "completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "point_reads" in done.stdout


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
    assert f"pip install 'mongo-tables[{extra}]'" in done.stderr


def test_a_module_of_the_folder_called_as_the_source_root_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "preprocessor.py").write_text("raise SystemExit('the module of the folder was loaded')\n")
    (tmp_path / "README.md").write_text("# Title\n")
    done = subprocess.run(
        [sys.executable, "-m", "mongo_tables.program", "check", "README.md"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
