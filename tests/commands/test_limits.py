"""A pipeline that costs too much ends a command with one finding, or one line: never with a hang or a traceback."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_commands import mongo_tables
from tests.signals import heed_signals

DOUBLED = {
    "$reduce": {
        "input": {"$range": [0, 40]},
        "initialValue": ["$_id"],
        "in": {"$concatArrays": ["$$value", "$$value"]},
    }
}
NUMBERS = {"$range": [0, 9000]}


def project(folder: Path, pipeline: list[Any]) -> Path:
    """A folder with one page of one table over one document."""
    comment = {"collection": "runs", "pipeline": pipeline, "columns": ["n"], "headers": ["N"]}
    (folder / "docs").mkdir()
    (folder / "docs" / "page.md").write_text(f"# Runs\n\n<!-- MONGO_TABLE: {json.dumps(comment)} -->\n")
    (folder / "fixtures" / "runs").mkdir(parents=True)
    (folder / "fixtures" / "runs" / "a.jsonl").write_text(
        '{"_id": 1, "s": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}\n'
    )
    return folder


@pytest.mark.parametrize(
    ("pipeline", "limit", "said"),
    [
        ([{"$match": {"_id": 1}}, {"$project": {"n": {"$size": DOUBLED}}}], "memory=50", "stage 2, $project: a stage used more than 50 MiB"),
        ([{"$project": {"n": {"$concat": ["$s"] * 40000}}}], "document=0.5", "stage 1, $project: an expression made a string of more than 512 KiB"),
        ([{"$match": {"s": {"$regex": "^(a+)+$"}}}, {"$project": {"n": "$_id"}}], "step=5000", "stage 1, $match: a regular expression took more than 5,000 steps"),
        ([{"$project": {"n": {"$map": {"input": NUMBERS, "in": {"$sum": {"$map": {"input": NUMBERS, "in": {"$add": ["$$this", 1]}}}}}}}}], "processor=0.5", "stage 1, $project: the pipeline used more than 0.5 seconds of processor time"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["--limit", "mkdocs.yml"])
def test_a_limit_of_the_site_or_the_command_line_ends_the_check_with_its_name(
    tmp_path: Path, pipeline: list[Any], limit: str, said: str, where: str
) -> None:
    folder, options = project(tmp_path, pipeline), ["--limit", limit]
    if where == "mkdocs.yml":
        name, number = limit.split("=")
        (folder / "mkdocs.yml").write_text(f"plugins:\n  - mongo-tables:\n      {name}_limit: {number}\n")
        options = []
    done = mongo_tables("check", *options, cwd=folder, expect=1)
    assert f"error MT301 {said}" in done.stdout
    assert f"raise {limit.partition('=')[0]}_limit; on the command line, with --limit" in done.stdout


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("memory=x", "--limit: memory_limit must be a number above 0, not x"),
        ("memory", "--limit: memory_limit must be a number above 0, not nothing"),
        ("step=-1", "--limit: step_limit must be a number above 0, not -1"),
        ("time=inf", "--limit: time_limit must be a number above 0, not inf"),
        (
            "speed=1",
            "--limit: unknown limit 'speed': write one of time, connect, row, processor, memory, document",
        ),
    ],
)
def test_a_limit_that_is_none_is_refused_in_one_line(tmp_path: Path, limit: str, said: str) -> None:
    folder = project(tmp_path, [{"$project": {"n": 1}}])
    assert said in mongo_tables("check", "--limit", limit, cwd=folder, expect=2).stderr


def test_a_wrong_limit_of_the_site_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = project(tmp_path, [{"$project": {"n": 1}}])
    (folder / "mkdocs.yml").write_text("plugins:\n  - mongo-tables:\n      step_limit: many\n")
    done = mongo_tables("check", cwd=folder, expect=2)
    assert done.stderr == "mongo-tables: mkdocs.yml: step_limit must be a number above 0, not many\n"


def _with_little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (450 * 2**20,) * 2)


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        pytest.param(["render", "docs/page.md"], marks=pytest.mark.thorough),
        pytest.param(["explain", "docs/page.md"], marks=pytest.mark.thorough),
    ],
)
def test_too_little_memory_is_one_line_and_status_2(tmp_path: Path, command: list[str]) -> None:
    folder = project(tmp_path, [{"$project": {"n": {"$size": DOUBLED}}}])
    done = subprocess.run(
        [sys.executable, "-m", "mongo_tables.cli", *command, "--limit", "memory=100000"],
        cwd=folder,
        preexec_fn=_with_little_memory,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("  hint: ")]
    assert said in (
        ["mongo-tables: this pipeline needs more memory than the machine allows"],
        ["mongo-tables: not enough memory"],
    )


@pytest.mark.parametrize("command", [["check"], ["check", "--static"], ["render", "docs/page.md"]])
def test_an_endless_search_ends(tmp_path: Path, command: list[str]) -> None:
    folder = project(tmp_path, [{"$match": {"s": {"$regex": "^(a+)+$"}}}, {"$project": {"n": "$_id"}}])
    mongo_tables(*command, cwd=folder, expect=0 if "--static" in command else 1)


def test_an_interrupt_ends_a_costly_pipeline(tmp_path: Path) -> None:
    inner = {"$sum": {"$map": {"input": NUMBERS, "in": {"$add": ["$$this", 1]}}}}
    folder = project(tmp_path, [{"$project": {"n": {"$map": {"input": NUMBERS, "in": inner}}}}])
    running = subprocess.Popen(
        [sys.executable, "-m", "mongo_tables.cli", "check", "--limit", "processor=1e6"],
        cwd=folder,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert (running.returncode, said) == (130, b"mongo-tables: interrupted\n")


@pytest.mark.parametrize(("limit", "reached"), [("memory=1", True), ("memory=64", False)])
@pytest.mark.parametrize("where", ["--limit", "mkdocs.yml"])
def test_a_check_that_runs_nothing_holds_constants_against_the_same_limits(
    tmp_path: Path, limit: str, reached: bool, where: str
) -> None:
    folder, options = project(tmp_path, [{"$project": {"n": "$$many"}}]), ["--limit", limit]
    page = folder / "docs" / "page.md"
    page.write_text(
        page.read_text().replace(
            '"pipeline"', '"let": {"many": {"$size": {"$range": [0, 1000000]}}}, "pipeline"'
        )
    )
    if where == "mkdocs.yml":
        (folder / "mkdocs.yml").write_text(
            f"plugins:\n  - mongo-tables:\n      {limit.replace('=', '_limit: ')}\n"
        )
        options = []
    done = mongo_tables("check", "--static", *options, cwd=folder, expect=int(reached))
    assert ("error MT312 a stage used more than 1 MiB" in done.stdout) is reached
