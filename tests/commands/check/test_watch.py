"""`check --watch` checks anew at each change of what it reads, and ends quietly."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest

from mongo_tables.cli import main
from tests.signals import heed_signals

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

    def __init__(self, folder: Path, *pages: str) -> None:
        command = [sys.executable, "-m", "mongo_tables.cli", "check", "--watch", *pages]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
            preexec_fn=heed_signals,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=60)

    @property
    def waits(self) -> bool:
        """Whether it has said nothing since it was last asked what it told."""
        return self._lines.empty()

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
    with Watching(folder) as started:
        yield started


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
    told = watching.told()
    assert "mongo-tables: mkdocs.yml:2:1: not YAML" in told[1]
    # What it said before says nothing of the pages by now.
    assert not any("no fault" in line for line in told)
    (folder / "mkdocs.yml").write_text("docs_dir: docs\nplugins: [mongo-tables: {results: nowhere}]\n")
    assert "nowhere" in " ".join(watching.told())
    (folder / "mkdocs.yml").write_text("docs_dir: docs\n")
    assert watching.told()[-1] == "1 comment on 1 page: no fault"


def test_pages_in_folders_behind_links_are_looked_at(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "docs/linked").symlink_to("../elsewhere")
    with Watching(folder) as watching:
        assert watching.told() == ["1 comment on 1 page: no fault"]
        (folder / "elsewhere/page.md").write_text("# Page\n")
        assert watching.told()[-1] == "1 comment on 2 pages: no fault"


def test_it_waits_while_nothing_changes_but_hidden_files_beside_pages(
    folder: Path, watching: Watching
) -> None:
    watching.told()
    hidden = folder / "docs/.page.md.swp"
    for _ in range(2):
        hidden.write_text("x")
        time.sleep(0.5)
        hidden.unlink()
        time.sleep(0.5)
    (folder / "docs/.#page.md").symlink_to("nowhere")
    time.sleep(0.5)
    assert watching.waits
    (folder / "docs/page.md").write_text(f"{PAGE}\n")
    assert watching.told() == ["docs/page.md changed", "1 comment on 1 page: no fault"]


def test_a_hidden_page_and_a_drawing_beside_a_page_are_looked_at(folder: Path) -> None:
    (folder / "README.md").write_text(PAGE)
    with Watching(folder, "docs", "README.md") as watching:
        watching.told()
        (folder / "docs/.drafts").mkdir()
        for name in ("docs/.page.md", "docs/.drafts/page.md"):
            (folder / name).write_text("# Hidden\n")
            assert watching.told()[0] == f"{name} changed"
        (folder / "README.speed.svg").write_text("<svg/>")
        assert watching.told()[0] == "README.speed.svg changed"


def test_results_in_a_hidden_folder_that_a_pattern_names_are_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_TABLES_RESULTS", "runs=*/.benchmarks/*/*.csv")
    file = folder / "bench/.benchmarks/Linux/0001.csv"
    file.parent.mkdir(parents=True)
    file.write_text("n\n1\n")
    with Watching(folder) as watching:
        watching.told()
        file.write_text("n\n2\n")
        assert watching.told()[0] == "bench/.benchmarks/Linux/0001.csv changed"
        first = folder / "other/.benchmarks/Linux/0001.csv"
        first.parent.mkdir(parents=True)
        first.write_text("n\n3\n")
        assert "other/.benchmarks" in watching.told()[0]


def test_a_file_that_the_site_inherits_from_another_is_looked_at(folder: Path, watching: Watching) -> None:
    watching.told()
    (folder / "shared").mkdir()
    (folder / "shared/base.yml").write_text("INHERIT: ../root.yml\n")
    (folder / "mkdocs.yml").write_text("INHERIT: shared/base.yml\n")
    assert "root.yml: No such file" in " ".join(watching.told())
    (folder / "root.yml").write_text("plugins: [mongo-tables: {results: nowhere}]\n")
    changed, told, *_ = watching.told()
    assert changed == "root.yml changed" and "nowhere" in told
    (folder / "root.yml").write_text("plugins: [mongo-tables: {results: fixtures}]\n")
    assert watching.told() == ["root.yml changed", "1 comment on 1 page: no fault"]


def test_a_site_file_that_comes_to_lie_beside_the_one_above_is_looked_at(folder: Path) -> None:
    (folder / "zensical.toml").write_text('[project]\nsite_name = "Runs"\n')
    with Watching(folder / "docs") as watching:
        assert watching.told() == ["1 comment on 1 page: no fault"]
        (folder / "mkdocs.yml").write_text("plugins: [mongo-tables: {results: nowhere}]\n")
        changed, told, *_ = watching.told()
        assert changed == "../mkdocs.yml changed"
        assert "mkdocs.yml and zensical.toml name different pages or results" in told
        (folder / "docs/mkdocs.yml").write_text("docs_dir: .\n")
        assert watching.told()[0] == "mkdocs.yml changed"


def test_a_site_file_around_a_page_that_is_named_is_looked_at(folder: Path) -> None:
    (folder / "other/docs").mkdir(parents=True)
    (folder / "other/docs/page.md").write_text(PAGE)
    with Watching(folder, "other/docs/page.md") as watching:
        watching.told()
        (folder / "other/mkdocs.yml").write_text("site_name: Other\n")
        assert watching.told()[0] == "other/mkdocs.yml changed"


def test_a_file_that_comes_into_a_page_from_elsewhere_is_looked_at(folder: Path, watching: Watching) -> None:
    watching.told()
    (folder / "docs/page.md").write_text('{% include "../parts/a.md" %}\n')
    watching.told()
    (folder / "new").mkdir()
    (folder / "new/a.md").write_text('{% include "b.md" %}\n')
    (folder / "new").rename(folder / "parts")
    assert watching.told()[0] == "parts/a.md changed"
    (folder / "parts/b.md").write_text(PAGE.replace("all", "none"))
    changed, told, *_ = watching.told()
    assert changed == "parts/b.md changed" and told.startswith("parts/b.md:3:55: error MT140")
    (folder / "parts/b.md").write_text(PAGE)
    assert watching.told() == ["parts/b.md changed", "1 comment on 2 pages: no fault"]


def test_folders_for_snippets_are_those_that_the_site_names_now(folder: Path, watching: Watching) -> None:
    watching.told()
    (folder / "docs/page.md").write_text('--8<-- "a.md"\n')
    watching.told()
    for name in ("one", "other"):
        (folder / name).mkdir()
        (folder / f"{name}/a.md").write_text(PAGE.replace("all", name))
        snippets = f"pymdownx.snippets: {{base_path: {name}}}"
        (folder / "mkdocs.yml").write_text(f"markdown_extensions: [{snippets}]\n")
        assert watching.told()[1].startswith(f"{name}/a.md:3:55: error MT140")


def test_a_page_that_is_named_is_checked_again_when_another_has_the_table_that_it_quotes(
    folder: Path,
) -> None:
    (folder / "mkdocs.yml").write_text("docs_dir: docs\n")
    quoting = folder / "docs/quoting.md"
    quoting.write_text('It is <!-- MONGO_VALUE: {"table": "runs", "column": "n", "where": {"n": 1}} -->.\n')
    with Watching(folder, "docs/quoting.md") as watching:
        assert "MT139" in watching.told()[0]
        (folder / "docs/page.md").write_text(PAGE.replace("{", '{"id": "runs", ', 1))
        assert watching.told() == ["docs/page.md changed", "1 comment on 1 page: no fault"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fix", "--write"],
        ["--baseline", "a", "--write-baseline"],
        ["--sarif", "a"],
        ["--format", "json"],
    ],
)
def test_what_writes_files_or_one_document_does_not_go_with_it(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--watch", *arguments]) == 2
    assert "--watch" in capsys.readouterr().err
