"""A disk that is full, or a place that cannot be written: what was there before stays, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [], "columns": ["n"], "headers": ["Run"]} -->\n'
LIMITED = """\
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # Python keeps what it could write of a module.
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # Writing more fails, as on a full disk.
from mongo_tables.cli import main
sys.exit(main())
"""


def on_a_full_disk(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 1}\n')
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_page_that_cannot_take_the_new_comment_stays(folder: Path) -> None:
    (folder / "page.md").write_text("Text.\n" * 680)
    before = everything(folder)
    done = on_a_full_disk("init", "--table", "runs", "--append", "page.md", cwd=folder)
    assert (done.returncode, "page.md: File too large" in done.stderr) == (2, True)
    assert everything(folder) == before


def test_a_baseline_that_cannot_be_written_stays(folder: Path) -> None:
    (folder / "page.md").write_text(
        "\n".join(TABLE.replace('"pipeline"', f'"pipelin{n}"') for n in range(30))
    )
    (folder / "accepted.json").write_text('{"version": 1, "findings": []}\n')
    before = everything(folder)
    done = on_a_full_disk("check", "page.md", "--write-baseline", "--baseline", "accepted.json", cwd=folder)
    assert (done.returncode, "accepted.json: File too large" in done.stderr) == (2, True)
    assert everything(folder) == before


@pytest.mark.parametrize("where", [["--in-place"], ["--output", "out"]])
def test_of_several_pages_none_is_written_when_the_second_cannot_be(folder: Path, where: list[str]) -> None:
    (folder / "a.md").write_text(TABLE)
    (folder / "b.md").write_text("Text.\n" * 800 + "\n" + TABLE)
    before = everything(folder)
    done = on_a_full_disk("render", "a.md", "b.md", *where, cwd=folder)
    assert (done.returncode, "b.md: File too large" in done.stderr) == (2, True)
    assert everything(folder) == before
