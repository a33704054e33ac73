"""A shell completes the commands and options that the program has."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from mongo_tables.cli import COMMANDS
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
    assert completed("./completions", "mongo-tables check --format j", tmp_path) == ["json"]


def test_a_bash_that_somebody_types_into_completes(tmp_path: Path) -> None:
    script = mongo_tables("completion", "bash", cwd=tmp_path).stdout
    (tmp_path / "completions").write_text(f"{script}\nPS1='ready> '\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execvp("bash", ["bash", "--noprofile", "--rcfile", "completions", "-i"])
    read_until(b"ready> ", terminal)
    os.write(terminal, b"mongo-tables check --fail-on e\t--stat\t#typed")
    assert read_until(b"#typed", terminal).endswith(b"check --fail-on error --static #typed")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)


def read_until(end: bytes, terminal: int) -> bytes:
    """What a terminal shows, up to some text."""
    shown, last = b"", time.monotonic() + 60
    while not shown.endswith(end) and time.monotonic() < last:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 1)
    return shown


def test_a_shell_says_of_a_command_what_the_list_of_commands_says(tmp_path: Path) -> None:
    for shell in ("zsh", "fish"):
        script = mongo_tables("completion", shell, cwd=tmp_path).stdout
        assert "find the faults of comments in pages" in script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_every_command(shell: str, tmp_path: Path) -> None:
    script = mongo_tables("completion", shell, cwd=tmp_path).stdout
    assert [name for name in COMMANDS if name not in script] == []


def test_a_shell_that_is_not_known_is_told(tmp_path: Path) -> None:
    assert "did you mean `bash`?" in mongo_tables("completion", "bsh", cwd=tmp_path, expect=2).stderr
