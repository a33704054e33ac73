"""The page for authors of benchmarks: its commands do what it says, on files that the tools wrote."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.cli import main
from mongo_tables.results.formats import FORMATS
from tests import forked
from tests.docs.pageblocks import Block, assert_says, blocks
from tests.results.formats.pagecommands import PAGE, commands
from tests.results.formats.test_recorded import FILES, RECORDED

OURS = "mongo-tables "


def comment() -> str:
    """The comment that the page shows first."""
    return next(block.text for block in blocks(PAGE) if block.text.startswith("<!-- RESULT_TABLE"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text(comment(), "utf-8")
    return tmp_path


def ours(heading: str) -> list[list[str]]:
    """The arguments of each of our commands under a heading, without what goes into a file."""
    lines = [line.partition(" > ")[0] for line in commands()[heading] if line.startswith(OURS)]
    return [shlex.split(line)[1:] for line in lines]


def test_every_format_has_a_section():
    assert commands().keys() >= {one.name for one in FORMATS if one.marks}


@pytest.mark.parametrize("recorded", FILES, ids=[path.relative_to(RECORDED).as_posix() for path in FILES])
def test_the_first_comment_shows_what_a_tool_wrote(recorded, folder):
    name = "bench.txt" if recorded.suffix == ".txt" else "bench.json"
    shutil.copy(recorded, folder / name)
    if recorded.parent.name == "ycsb":
        (folder / "README.md").write_text(comment().replace('"time"', '"AverageLatency"'), "utf-8")
    if '"failed"' in recorded.with_name(f"{recorded.name}.documents.jsonl").read_text("utf-8"):
        knowing = (
            comment()
            .replace("\n} -->", ',\n  "ignore": {"MT432": "some failed, and are shown"}\n} -->')
            .replace('"format": {', '"format": {"per_second": {"missing": "–"}, ')
        )
        (folder / "README.md").write_text(knowing, "utf-8")
    if recorded.parent.name == "pytestbenchmark":  # its names have numbers, which sort as text
        text = comment().replace('"sort": "_id"', '"sort": ["benchmark", "parameters.n", "_id"]')
        (folder / "README.md").write_text(text, "utf-8")
    for command in (["render", "--in-place"], ["check", "--fail-on", "note"]):
        assert main([*command, "README.md", "--results", name]) == 0
    assert "| Benchmark " in (folder / "README.md").read_text("utf-8")


class Reader:
    """Somebody who does what the page says, in a repository of their own, but for what takes a network or a benchmark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.readme = folder / "README.md"
        self.said = ""
        names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        mine = dict.fromkeys(names, "reader@example.org")
        self.environment = {
            **os.environ,
            **mine,
            "PATH": path,
            "PRE_COMMIT_HOME": str(folder / ".git" / "cache"),
        }
        self.run("git init -q")

    def run(self, line: str, expect: int = 0) -> str:
        """Run a line of the shell, and give what it said."""
        program, *arguments = shlex.split(line)
        if program == "mongo-tables":
            done = forked.completed(program, arguments, self.folder, self.environment)
        else:
            done = subprocess.run(
                [program, *arguments],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == expect, (line, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def follow(self, block: Block) -> None:
        """Do what one block of the page is for."""
        if block.language == "json":
            (self.folder / "bench.json").write_text(block.text)
        elif block.language == "text":
            assert_says(self.said, block.text)
        elif block.language == "markdown":
            self.write(block.text)
        elif not block.text.startswith(("python3 -m venv", "hyperfine")):
            self.said = "".join(map(self.run, block.text.splitlines()))

    def write(self, text: str) -> None:
        """Write the page's README, then its comment and its values over those there, and a sentence behind the first."""
        before = self.readme.read_text("utf-8") if self.readme.exists() else ""
        if text.startswith("<!-- RESULT_TABLE"):
            draft = text.replace(',\n  "tolerance": "10 %"', "")
            assert draft in before
            self.readme.write_text(before.replace(draft, text), "utf-8")
        elif text.startswith("`sort"):
            before = re.sub(r"(## Results\n\n)`sort.*\n\n", r"\1", before)  # what `init` wrote
            typed = before.index("`sort")
            self.readme.write_text(before[:typed] + text + before[before.index("\n", typed) + 1 :], "utf-8")
        elif before:
            head, heading, tail = before.partition("\n\n## Results")
            self.readme.write_text(f"{head}\n{text.rstrip()}{heading}{tail}", "utf-8")
        else:
            self.readme.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader who has done all steps of the page."""
    found = Reader(tmp_path_factory.mktemp("reader"))
    steps = [block for block in blocks(PAGE) if block.heading[:2] in ("1.", "2.", "3.", "4.", "5.")]
    assert [block.language for block in steps].count("sh") == 5
    for block in steps:
        found.follow(block)
    return found


def test_the_steps_of_the_page_end_in_a_commit_of_a_table_two_values_and_a_check(reader: Reader) -> None:
    assert reader.run("git log --format=%s") == "Hold the README to its benchmarks\n"
    assert reader.run("git diff --name-only HEAD") == ""
    readme = reader.readme.read_text("utf-8")
    assert "| sort lines.txt    | 181 ms |      5.519 |" in readme
    assert [readme.count(f"RESULT_{keyword}: ") for keyword in ("TABLE", "VALUE", "CHECK")] == [1, 2, 1]


def measure_again(reader: Reader, factor: float) -> None:
    """Another file of results, all times of which are longer."""
    measured = json.loads(reader.run("git show HEAD:bench.json"))
    for one in measured["results"]:
        one["mean"] *= factor
    (reader.folder / "bench.json").write_text(json.dumps(measured))


@pytest.mark.parametrize("factor", [0.93, 1.08])
def test_a_run_within_the_tolerance_is_committed_with_the_page_as_it_is(
    reader: Reader, factor: float
) -> None:
    measure_again(reader, factor)
    before = reader.readme.read_bytes()
    assert "no fault" in reader.run("mongo-tables check --numbers README.md")
    reader.run("mongo-tables render --in-place README.md")
    assert reader.readme.read_bytes() == before
    reader.run("git commit -qam again")
    reader.run("git reset -q --hard HEAD~1")


def test_the_hook_stops_what_does_not_hold_and_what_it_is_held_against_from_going(reader: Reader) -> None:
    readme = reader.readme.read_text("utf-8")
    measure_again(reader, 1.5)
    reader.run("mongo-tables check", expect=1)
    assert "files were modified by this hook" in reader.run("git commit -qam slower", expect=1)
    assert "| sort lines.txt    | 272 ms |" in reader.readme.read_text("utf-8")
    reader.run("git commit -qam slower")
    reader.run("git reset -q --hard HEAD~1")
    reader.readme.write_text(readme.replace("-->181 ms<", "-->170 ms<"), "utf-8")
    assert "MT164" in reader.run("git commit -qam faster", expect=1)
    reader.readme.write_text(readme.replace("# mysort\n", "# mysort\n\nIt sorts in 170 ms.\n"), "utf-8")
    assert "MT324" in reader.run("git commit -qam faster", expect=1)
    reader.run("git checkout -q .")
    reader.run("git rm -q bench.json")
    assert "no file bench.json" in reader.run("git commit -qm gone", expect=1)
    reader.run("git reset -q --hard")


def test_what_is_kept_without_samples_is_small_and_is_what_a_set_up_takes(folder, capsys):
    recorded = next(path for path in FILES if path.parent.name == "pytestbenchmark")
    shutil.copy(recorded, folder / "bench.json")
    (folder / "README.md").unlink()
    (command,) = ours("pytest-benchmark")
    assert main(command) == 0
    assert "samples" not in "".join(
        path.read_text("utf-8") for path in (folder / "fixtures").rglob("*.jsonl")
    )
    assert main(["init"]) == 0
    assert "fixtures: a folder with collections" in capsys.readouterr().out


def test_a_run_is_kept_two_are_compared_and_many_are_followed(folder, capsys):
    recorded = next(path for path in FILES if path.parent.name == "pytestbenchmark")
    for name in ("bench.json", "old.json", "new.json"):
        shutil.copy(recorded, folder / name)
    for month in ("2026-01", "2026-02"):
        given = ["--as", "bench", "--results", f"runs/{month}", "--date", f"{month}-01"]
        assert main(["import", "bench.json", *given]) == 0
    every = ours("Keep a run") + ours("Compare runs, and follow them")
    assert [command[0] for command in every] == ["import", "compare", "history", "import"]
    for command in every:
        if "--reference" not in command:
            assert main(command) == 0, command
    assert "no verdict: measured without blocks" in capsys.readouterr().out


def test_runs_in_turn_get_a_verdict(folder, capsys):
    recorded = (RECORDED / "hyperfine" / "1.15.0.json").read_text("utf-8")
    for number in range(10, 30):
        renamed = recorded.replace("sleep 0.001", "./old").replace("sleep 0.002", "./new")
        (folder / f"run-{number}.json").write_text(renamed)
    (command,) = (one for one in ours("Compare runs, and follow them") if "--reference" in one)
    files = sorted(map(str, Path().glob("run-*.json")))
    assert main([*command[:1], *files, *command[2:]]) == 0
    capsys.readouterr()
    assert main(["compare", "fixtures"]) == 0
    assert "times as fast" in capsys.readouterr().out


def test_the_table_of_the_latest_run_has_its_benchmarks_alone_with_the_change_since_the_run_before(folder):
    recorded = json.loads((RECORDED / "pytestbenchmark" / "4.0.0.json").read_text("utf-8"))
    first, *others = recorded["benchmarks"]
    for day, machine, benchmarks, factor in (
        (1, "b", [first, others[0]], 1.0), (2, "c", [first, others[0]], 2.0), (3, "a", [first, others[1]], 3.0),
    ):  # fmt: skip
        stats = first["stats"] | {"median": factor}
        run = recorded | {
            "datetime": f"2026-03-0{day}T10:00:00+00:00",
            "benchmarks": [{**benchmarks[0], "stats": stats}],
        }
        run["benchmarks"] += benchmarks[1:]
        (folder / "runs" / machine).mkdir(parents=True)
        (folder / "runs" / machine / "0001.json").write_text(json.dumps(run), "utf-8")
    latest = next(block.text for block in blocks(PAGE) if '"id": "latest"' in block.text)
    (folder / "README.md").write_text(latest, "utf-8")
    assert main(["render", "--in-place", "README.md", "--results", "runs=runs/*/*.json"]) == 0
    rows = [
        line for line in (folder / "README.md").read_text("utf-8").splitlines() if line.startswith("| test")
    ]
    shown = {
        row.split("|")[1].strip().replace("\\", ""): [*map(str.strip, row.split("|")[2:5])] for row in rows
    }
    assert shown.keys() == {first["name"], others[1]["name"]}
    assert shown[first["name"]] == ["3.00 s", "2.00 s", "50.0 %"]
    assert shown[others[1]["name"]][1:] == ["–", "new"]
