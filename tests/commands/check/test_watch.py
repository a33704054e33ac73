"""`check --watch` checks anew at each change of what it reads, and ends quietly."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from preprocessor.cli import main
from preprocessor.commands.check.watching import take_look

PAGE = """\
# Runs

<!-- MONGO_TABLE: {"collection": "runs", "pipeline": ["all"], "columns": ["n"], "headers": ["N"]} -->
"""
WAITING = "waiting for changes; Ctrl-C ends"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 1}\n')
    (tmp_path / "docs" / "pipelines").mkdir(parents=True)
    (tmp_path / "docs" / "pipelines" / "all.json").write_text('[{"$sort": {"n": 1}}]')
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    return tmp_path


class Watching:
    """The command as it runs, and what it says up to where it waits."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "preprocessor.cli", "check", "--watch"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def told(self) -> list[str]:
        """The lines until it waits again."""
        lines = list(iter(lambda: self._lines.get(timeout=60), WAITING))
        return [line for line in lines if not line.startswith("    ")]

    def interrupt(self) -> tuple[int, list[str]]:
        """Status and last lines."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=60)
        return status, list(self._lines.queue)


@pytest.fixture
def watching(folder: Path) -> Iterator[Watching]:
    started = Watching(folder)
    yield started
    if started.process.poll() is None:
        started.process.kill()
    started.process.wait(timeout=60)


def replace(file: Path, text: str) -> None:
    """A new file in the place of the old one, as many editors save."""
    aside = file.with_name(f".{file.name}")
    aside.write_text(text)
    aside.replace(file)


@pytest.mark.parametrize("save", [Path.write_text, replace])
def test_findings_are_told_anew_at_each_change_until_an_interrupt(
    folder: Path, watching: Watching, save: Callable[[Path, str], object]
) -> None:
    sound = "1 comment on 1 page: no fault"
    assert watching.told() == [sound]
    save(folder / "docs/page.md", PAGE.replace('["n"]', '["speed"]'))
    assert watching.told() == [
        "docs/page.md changed",
        "docs/page.md:3:75: error MT302 no row has the column 'speed'",
        "  hint: the rows have _id, n",
        "1 error in 1 file",
    ]
    save(folder / "fixtures/runs/a.jsonl", '{"_id": 1, "speed": 1}\n')
    changed, unsorted, *_ = watching.told()
    assert changed == "fixtures/runs/a.jsonl changed"
    assert unsorted.startswith(
        "docs/page.md:3:55: error MT305 rows are sorted by `n`, but no document has it"
    )
    save(folder / "docs/pipelines/all.json", '[{"$sort": {"speed": 1}}]')
    assert watching.told() == ["docs/pipelines/all.json changed", sound]
    (folder / "docs/new.md").write_text(PAGE.replace("all", "none"))
    assert watching.told()[1].startswith("docs/new.md:3:55: error MT140")
    (folder / "docs/new.md").unlink()
    assert watching.told() == ["docs/new.md changed", sound]
    assert watching.interrupt() == (0, [])


def test_a_site_file_that_cannot_be_read_is_told_and_waited_for(folder: Path, watching: Watching) -> None:
    watching.told()
    (folder / "mkdocs.yml").write_text("docs_dir: [docs\n")
    assert "mongo-tables: mkdocs.yml:2:1: not YAML" in watching.told()[1]
    (folder / "mkdocs.yml").write_text("docs_dir: docs\nplugins: [mongo-tables: {results: nowhere}]\n")
    assert "nowhere" in " ".join(watching.told())
    (folder / "mkdocs.yml").write_text("docs_dir: docs\n")
    assert watching.told()[-1] == "1 comment on 1 page: no fault"


def test_hidden_folders_are_not_looked_at_and_a_missing_one_may_come(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_text("x")
    places = [tmp_path, tmp_path / "later"]
    assert take_look(places) == {}
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.md").write_text("x")
    assert list(take_look(places)) == [str(tmp_path / "later" / "a.md")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fix", "--write"],
        ["--baseline", "a", "--write-baseline"],
        ["--sarif", "a"],
        ["-"],
        ["--format", "json"],
    ],
)
def test_what_writes_files_or_one_document_does_not_go_with_it(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--watch", *arguments]) == 2
    assert "--watch" in capsys.readouterr().err
