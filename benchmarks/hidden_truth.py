"""Experiments with their mechanism on and switched off: rows for ``tests/runner/test_hidden_truth.py``.

    python -m benchmarks.hidden_truth tests/runner/recorded/hidden_truth.jsonl

Three blocks of two variants of ``insert_idtype`` and ``insert_nindexes`` on a local server, smaller and with fewer
connections than published rows, each three times: with the mechanism; with UUIDs that ascend, or fields whose values
are all the same; and with a cache that holds everything. Rows keep what verdicts and fingerprints are computed from.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import bson

from mongo_tables import cli
from mongo_tables.results.extended_json import write_line
from mongo_tables.runner import blocks, experiment
from mongo_tables.runner.fingerprint import COUNTERS
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.workloads import inserts

WITHOUT = "HIDDEN_TRUTH_WITHOUT"
ROOM = "&cacheGB=3"
KEPT = ("start_time", "speed", "comparison")
CASES = (
    ("insert_idtype", "", ""),
    ("insert_idtype", "random keys", ""),
    ("insert_idtype", "", ROOM),
    ("insert_nindexes", "", ""),
    ("insert_nindexes", "different values", ""),
    ("insert_nindexes", "", ROOM),
)
VARIANTS = {"insert_idtype": (2, 3), "insert_nindexes": (1, 7)}
"""The numbers of the variants that are compared, the reference first."""


SMALL = {"numberOfThreads": 4, "writeBatchSize": 100}
SCALES = {"insert_idtype": 0.005, "insert_nindexes": 0.0125}


def switch_off(what: str) -> None:
    """Take out the mechanism, in this process: in those that it starts, too, as they import this module."""
    if what == "random keys":
        made = count(int.from_bytes(os.urandom(3), "big"))

        def ascending(config: Any, share: Any) -> Callable[[int], bytes]:
            def head(number: int) -> bytes:
                value: bytes = time.time_ns().to_bytes(10, "big") + next(made).to_bytes(6, "big")
                return b"\x05_id\0\x10\0\0\0\x04" + value

            return head

        inserts._KINDS["UUID"] = ascending
    if what == "different values":
        inserts.LARGEST_INT = 0


switch_off(os.environ.get(WITHOUT, ""))


def shorten(whole: experiment.Experiment) -> experiment.Experiment:
    """The experiment with the two variants."""
    numbers = VARIANTS[whole.name]
    places = {number: place for place, number in enumerate(numbers, 1)}
    rows = whole.published["rows"]
    return replace(
        whole,
        variants=tuple(whole.variants[number - 1] for number in numbers),
        parameters={**whole.parameters, **SMALL},
        scaled=tuple(name for name in whole.scaled if name not in SMALL),
        least={},
        least_scale=SCALES[whole.name],
        baseline=0,
        contrasts={},
        published={**whole.published, "rows": [rows[number - 1] for number in numbers]},
        full_size=tuple(
            {**entry, "variants": [places[one] for one in entry.get("variants", numbers) if one in places]}
            for entry in whole.full_size
        ),
    )


def measure(name: str, target: str, folder: Path) -> int:
    """Run it in this process."""
    blocks.FOREIGN_CORES = inf  # counters do not depend on what else the machine does
    load = experiment.load
    experiment.load = lambda name: shorten(load(name))
    options = ["--repeats", "3", "--seconds", "1", "--scale", "0.001", "--output", str(folder)]
    return cli.main(["run", name, "--target", target, *options])


def thin(row: Mapping[str, Any], case: str) -> dict[str, Any]:
    """What is kept of a row."""

    def states(name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path in (path for counter in COUNTERS.values() for path in counter.paths):
            value, into = row[name], found
            *names, last = path.split(".")
            for step in names:
                value, into = value[step], into.setdefault(step, {})
            into[last] = value[last]
        return found

    return {
        "_id": {**row["_id"], "case": case},
        **{field: row[field] for field in KEPT},
        "work": {"operations": row["work"]["operations"]},
        **{name: states(name) for name in ("before_status", "after_status")},
        "topology": {"cache_gb": row["topology"]["cache_gb"]},
        "versions": {name: row["versions"][name] for name in ("server", "harness")},
    }


def main(file: Path) -> None:
    """Measure each case in a process of its own, and write the rows."""
    file.parent.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = []
    for name, without, room in CASES:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "benchmarks.hidden_truth",
                name,
                f"local?members=1{room}",
                folder,
            ]
            subprocess.run(command, check=True, env={**os.environ, WITHOUT: without})
            case = f"without {without}" if without else "all in the cache" if room else "on"
            rows += [thin(row, case) for row in FileStore(Path(folder)).rows(name)]
            file.write_text("".join(f"{write_line(bson.encode(row))}\n" for row in rows), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        sys.exit(measure(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
