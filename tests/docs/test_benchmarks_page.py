"""The page for authors of benchmarks: its commands do what it says, on files that the tools wrote."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from preprocessor.cli import main
from preprocessor.results.formats import FORMATS
from tests.results.formats.pagecommands import PAGE, commands
from tests.results.formats.test_recorded import FILES, RECORDED

OURS = "mongo-tables "
HEADINGS = {
    "pytestbenchmark": "pytest-benchmark", "hyperfine": "hyperfine", "gobenchmark": "Go", "jmh": "JMH",
    "criterion": "Criterion", "googlebenchmark": "Google Benchmark", "bencher": "Bencher Metric Format", "ycsb": "YCSB",
}  # fmt: skip


def comment() -> str:
    """The comment that the page shows first."""
    return re.findall(r"^```markdown\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]


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
    tools = [one.module for one in FORMATS if one.recognise is not None]
    assert HEADINGS.keys() == set(tools)
    assert commands().keys() >= set(HEADINGS.values())


@pytest.mark.parametrize("recorded", FILES, ids=[path.relative_to(RECORDED).as_posix() for path in FILES])
def test_the_first_comment_shows_what_a_tool_wrote(recorded, folder):
    name = "bench.txt" if recorded.suffix == ".txt" else "bench.json"
    shutil.copy(recorded, folder / name)
    if recorded.parent.name == "ycsb":
        (folder / "README.md").write_text(comment().replace('"time"', '"AverageLatency"'), "utf-8")
    for command in ours("Your own benchmarks"):
        assert main([one.replace("bench.json", name) for one in command]) == 0
    assert "| Benchmark " in (folder / "README.md").read_text("utf-8")


def test_a_run_is_kept_two_are_compared_many_are_followed_and_one_is_handed_on(folder, capsys):
    recorded = next(path for path in FILES if path.parent.name == "pytestbenchmark")
    for name in ("bench.json", "old.json", "new.json"):
        shutil.copy(recorded, folder / name)
    for month in ("2026-01", "2026-02"):
        given = ["--as", "bench", "--results", f"runs/{month}", "--date", f"{month}-01"]
        assert main(["import", "bench.json", *given]) == 0
    every = ours("Keep a run") + ours("Compare runs, and follow them") + ours("Hand it on")
    assert [command[0] for command in every] == ["import", "compare", "history", "import", "export", "export"]
    for command in every:
        if "--reference" not in command:
            assert main(command) == 0, command
    assert "no verdict: not measured side by side" in capsys.readouterr().out


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
