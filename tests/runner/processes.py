"""``mongo-tables run`` as a process of its own, and a small experiment for it."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import bson.json_util
import psutil

from mongo_tables.runner.store import FileStore
from tests.signals import heed_signals

ROOT = Path(__file__).parents[2]
TINY = """\
name = "tiny"
title = "A few documents"
workload = "insert"
repeats = 3
scaled = ["totalDocsToInsert"]

[parameters]
database = "mongo_tables_tiny"
collection = "inserts"
numberOfThreads = 3
writeBatchSize = 7

[[variants]]
docSizeKB = 1.0
totalDocsToInsert = 200

[[variants]]
docSizeKB = 4.0
totalDocsToInsert = 100
nSecondaryIndexes = 1
"""

VARIANTS = 6
SLOW = TINY.split("[[variants]]")[0].replace("repeats = 3", "repeats = 1").replace(
    "writeBatchSize = 7\n", ""
) + "".join(
    f"\n[[variants]]\ndocSizeKB = {size}.0\ntotalDocsToInsert = 1000\nwriteBatchSize = 3\n"
    for size in range(1, VARIANTS + 1)
)
"""An experiment whose variants take a moment each."""

LONGEST_WAIT_SECONDS = 300.0
"""Nothing here takes so long, on a machine however busy; it is there so that nothing waits for ever."""


def start(*arguments, **options):
    """Start ``mongo-tables run`` with these arguments, as from a terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "mongo_tables.cli", "run", *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_signals, **options,
    )  # fmt: skip


def finish(process, timeout=LONGEST_WAIT_SECONDS):
    """Wait for it: exit code, standard output, standard error."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def wait_until(process, condition):
    """Wait until the condition holds, as long as the process runs."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while not condition():
        assert process.poll() is None, finish(process)
        assert time.monotonic() < deadline
        time.sleep(0.02)


def measured(folder):
    """(target, size, block, whether again) → when a window began, of all that is kept of a run or in its rows."""
    windows = (folder / ".runs" / "tiny").glob("*.jsonl")
    aware = bson.json_util.DEFAULT_JSON_OPTIONS.with_options(tz_aware=True)  # as those of the rows are
    read = [bson.json_util.loads(path.read_text("utf-8"), json_options=aware) for path in windows]
    return {
        (row["_id"].get("target", ""), row["variant"]["docSizeKB"], repeat["block"], repeat["again"]): repeat[
            "start_time"
        ]
        for row in [*read, *FileStore(folder).rows("tiny")]
        for repeat in row["repeats"]
    }


def children_of(process):
    """All processes below this one, at the moment."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def servers_of(process):
    """The servers that it started."""
    return [child for child in children_of(process) if _name(child).startswith("mongod")]


def supervisors_of(process):
    """The processes that hold the servers that it started."""
    return [
        child for child in children_of(process) if any("supervisor.py" in word for word in _command(child))
    ]


def kill(processes):
    """Kill each of them that has not ended yet: a run that loses one server may end the others first."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _name(process):
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""
