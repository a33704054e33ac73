"""What the tools write today is known, made by the commands of the page for authors, word by word.

A command, not a part of the suite, since it needs the tools: ``python -m tests.outside benchmarks``. ``-k hyperfine`` takes
one of them. ``MONGO_TABLES_RECORD=FOLDER`` keeps what was written, so that it can be recorded. The small programs in
``programs`` are compiled by ``go``, ``cargo`` (with ``cargo-criterion``), ``mvn`` and ``c++`` (with libbenchmark), or run by ``npm``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import bson
import pytest
from jsonschema import Draft7Validator

from mongo_tables.cli import main
from mongo_tables.directives.schemas import load
from mongo_tables.results.extended_json import write_line
from tests.results.formats.pagecommands import commands
from tests.results.formats.reading import format_of, read

PROGRAMS = Path(__file__).parent / "programs"
KEPT = os.environ.get("MONGO_TABLES_RECORD", "")
LONG = 1800


def run(folder: Path, command: str) -> None:
    """Run a command line; a tool that is not there, or fails, fails the test."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def run_page(folder: Path, heading: str) -> None:
    """Run the first command under a heading of the page."""
    run(folder, commands()[heading][0])


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROGRAMS / request.param, tmp_path / request.param))


def names_of(path: Path, module: str) -> set[tuple[str, str]]:
    """Names and measures in a file that is known for the format of this module; it can be kept, and imported."""
    found = format_of(path)
    assert found is not None
    assert found.module == module
    validator = Draft7Validator(load("benchmark"))
    documents = read(path)
    for one in documents:
        validator.validate(json.loads(write_line(bson.encode(one))))
    assert main(["import", str(path), "--as", "bench", "--results", str(path.parent / "fixtures")]) == 0
    if KEPT:
        shutil.copy(path, Path(KEPT) / f"{module}-{path.name}")
    return {(one["_id"]["name"], one["metric"]) for one in documents}


@pytest.mark.parametrize("program", ["python"], indirect=True)
def test_pytest_benchmark(program):
    (program / "join_benchmarks.py").rename(program / "test_join.py")
    run_page(program, "pytest-benchmark")
    names = {f"test_join.py::{name}" for name in ("test_plus[10]", "test_plus[100]", "test_join")}
    assert names_of(program / "bench.json", "pytestbenchmark") == {(name, "time") for name in names}


def test_hyperfine(tmp_path):
    run_page(tmp_path, "hyperfine")
    names = {name for name, metric in names_of(tmp_path / "bench.json", "hyperfine") if metric == "time"}
    assert names == {"seq 1000 (n = 1000)", "seq 2000 (n = 2000)"}


@pytest.mark.parametrize("program", ["go"], indirect=True)
@pytest.mark.timeout(LONG)
def test_go(program):
    run_page(program, "Go")
    found = names_of(program / "bench.txt", "gobenchmark")
    assert {metric for _, metric in found} == {"time", "MB/s", "words/op", "B/op", "allocs/op"}
    assert any(name.startswith("BenchmarkJoin/plus/n=10") for name, _ in found)


@pytest.mark.parametrize("program", ["jmh"], indirect=True)
@pytest.mark.timeout(LONG)
def test_jmh(program):
    run(program, "mvn -q -B package")
    run_page(program, "JMH")
    found = names_of(program / "bench.json", "jmh")
    assert {("bench.Join.builder (n = 10)", "time"), ("bench.Join.repeat (n = 100)", "throughput")} <= found


@pytest.mark.parametrize("program", ["criterion"], indirect=True)
@pytest.mark.timeout(LONG)
def test_criterion(program):
    run_page(program, "Criterion")
    names = {"join/plus/10", "join/plus/100", "join/concat/10", "join/concat/100", "alone"}
    found = names_of(program / "bench.json", "criterion")
    assert {name for name, metric in found if metric == "time"} == names


@pytest.mark.parametrize("program", ["vitest"], indirect=True)
@pytest.mark.timeout(LONG)
def test_vitest(program):
    run(program, "npm install --no-audit --no-fund vitest")
    run_page(program, "Vitest")
    assert {("array 10", "time"), ("concat", "time p99")} <= names_of(program / "bench.json", "vitest")


@pytest.mark.parametrize("program", ["libtest"], indirect=True)
@pytest.mark.timeout(LONG)
def test_rust_benchmark(program):
    run(program, "RUSTC_BOOTSTRAP=1 cargo build --benches")
    run(program, f"RUSTC_BOOTSTRAP=1 {commands()['Rust benchmark'][0]}")
    assert {("words::join", "throughput"), ("nothing", "time")} <= names_of(program / "bench.txt", "libtest")


@pytest.mark.parametrize("program", ["google"], indirect=True)
@pytest.mark.timeout(LONG)
def test_google_benchmark(program):
    run(program, "c++ -O2 join.cc -lbenchmark -lpthread -o bench")
    run_page(program, "Google Benchmark")
    found = names_of(program / "bench.json", "googlebenchmark")
    assert {
        ("Join/n:10", "time"),
        ("Join/n:100", "bytes_per_second"),
        ("Fails", "time"),
        ("Nothing", "ratio"),
    } <= found
