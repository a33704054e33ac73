"""The process as its surroundings treat it: interrupted at any moment, with a stream closed, with a full disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.signals import heed_signals

TABLE = '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["Run"]} -->\n'
ROOT = Path(__file__).parents[2]

# Runs the program as its script does, and says when the imports of the start are over and main has begun.
PROGRAM = """\
import sys
from mongo_tables import cli
prepare = cli._prepare_process
def begin():
    sys.stderr.write("begun\\n")
    prepare()
cli._prepare_process = begin
sys.exit(cli.main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    rows = "".join(f'{{"_id": {number}, "n": {number}}}\n' for number in range(300))
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(rows)
    (tmp_path / "page.md").write_text(TABLE)
    return tmp_path


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["/bin/sh", "-c", f'PYTHON="{sys.executable} -m mongo_tables.cli"; {script}'],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45])
def test_an_interrupt_is_one_line_at_whatever_moment(delay: float, folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "render", "page.md"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) in [
        (130, "mongo-tables: interrupted\n"),
        (-signal.SIGINT, ""),  # Its work was done.
        (0, ""),
    ]


@pytest.mark.parametrize("command", ["render page.md", "check page.md", "schema", "init --table runs"])
def test_a_closed_standard_output_is_one_line(command: str, folder: Path) -> None:
    done = shell(f"$PYTHON {command} >&-", folder)
    assert (done.returncode, done.stderr) == (2, "mongo-tables: standard output is closed\n")


def test_closed_standard_error_and_input_are_no_matter(folder: Path) -> None:
    assert "| Run |" in shell("$PYTHON render page.md 2>&- <&-", folder).stdout
    assert "RESULT_TABLE" in shell("$PYTHON init --table runs 2>&- <&-", folder).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("command", ["render page.md", "schema", "init --table runs"])
def test_a_full_standard_output_is_named(command: str, folder: Path) -> None:
    done = shell(f"$PYTHON {command} >/dev/full", folder)
    assert done.returncode == 2
    assert "mongo-tables: standard output: No space left on device" in done.stderr


def test_a_terminal_without_a_character_shows_another(folder: Path) -> None:
    (folder / "page.md").write_text(TABLE.replace('["n"]', '["größe→"]'), encoding="utf-8")
    told = shell("PYTHONIOENCODING=ascii $PYTHON check page.md", folder)
    assert told.returncode == 1
    assert "`gr??e?`" in told.stdout


def test_a_schema_is_the_same_on_every_terminal(folder: Path) -> None:
    utf8, ascii = (
        shell(f"PYTHONIOENCODING={name} $PYTHON schema", folder).stdout for name in ("utf-8", "ascii")
    )
    assert not utf8.isascii()
    assert ascii == utf8


def test_a_reader_who_has_enough_is_no_fault(folder: Path) -> None:
    (folder / "page.md").write_text(TABLE * 30)
    assert shell("$PYTHON render page.md | head -1", folder).returncode == 0


# Importing ends in callbacks of weak references, where what is raised is lost, and makes classes, where Python 3.11
# gives another error for it.
IN_A_CALLBACK = """
thing = Thing()
kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
del thing
queue.SimpleQueue().get()
"""
IN_A_CLASS = """
class Named:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)
type("Owner", (), {"x": Named()})
"""
AT_A_PLACE = """\
import queue, signal, sys, weakref
from mongo_tables import cli
from mongo_tables.commands import schema

class Thing:
    pass

def run(arguments):
    exec(PLACE, globals())

schema.run = run
sys.exit(cli.main())
"""


IN_AN_IMPORT = """\
import os, signal, sys
from mongo_tables import program

class Finder:
    def find_spec(self, name, *rest):
        if name == "mongo_tables.commands.parser":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.exit(program.main())
"""
INTERRUPTED = {
    "in a callback": AT_A_PLACE.replace("PLACE", repr(IN_A_CALLBACK)),
    "in a class": AT_A_PLACE.replace("PLACE", repr(IN_A_CLASS)),
    "while it starts": IN_AN_IMPORT,
}


@pytest.mark.parametrize("program", INTERRUPTED.values(), ids=INTERRUPTED)
def test_an_interrupt_is_one_line_wherever_it_comes(program: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program, "schema"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=heed_signals,
    )
    assert (done.returncode, done.stderr) == (130, "mongo-tables: interrupted\n")
