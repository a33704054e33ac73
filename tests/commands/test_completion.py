"""A shell completes the commands and options that the program has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.commands.test_commands import mongo_tables


def completed(script: str, line: str, cwd: Path) -> list[str]:
    """What bash offers for the last word of a line."""
    words = " ".join(f"'{word}'" for word in line.split(" "))
    asked = (
        f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        '$(complete -p mongo-tables | sed -E "s/.*-F ([^ ]+).*/\\1/"); printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked], cwd=cwd, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.split()


def test_bash_completes_commands_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "completions").write_text(mongo_tables("completion", "bash", cwd=tmp_path).stdout)
    (tmp_path / "docs").mkdir()
    assert completed("./completions", "mongo-tables ch", tmp_path) == ["check"]
    assert completed("./completions", "mongo-tables check --sta", tmp_path) == ["--static"]
    assert completed("./completions", "mongo-tables schema exp", tmp_path) == ["experiment"]
    assert completed("./completions", "mongo-tables check do", tmp_path) == ["docs"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_every_command(shell: str, tmp_path: Path) -> None:
    script = mongo_tables("completion", shell, cwd=tmp_path).stdout
    help_text = mongo_tables("--help", cwd=tmp_path).stdout
    commands = [
        line.split()[0] for line in help_text.splitlines() if line.startswith("    ") and line[4] != " "
    ]
    assert {"check", "diff", "completion"} <= set(commands)
    assert [name for name in commands if name not in script] == []


def test_a_shell_that_is_not_known_is_told(tmp_path: Path) -> None:
    assert "did you mean `bash`?" in mongo_tables("completion", "bsh", cwd=tmp_path, expect=2).stderr
