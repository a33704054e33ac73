"""How much of our code one comment passes through: `python -m benchmarks.one_comment`.

One page with one table of three stages over two documents is built by `mkdocs build` and checked by
`mongo-tables check`, each in a fresh process without caches. Prints the distinct modules and functions of
`mongo_tables` that were entered, and the calls; lambdas and comprehensions count as functions. `--list` adds the
modules in the order in which they were first entered, with their functions; `--bars` exits with 1 if more than
``MODULES`` modules or ``FUNCTIONS`` functions were.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import mongo_tables

MODULES: Final = 90
FUNCTIONS: Final = 450
DOORS: Final = {
    "mkdocs build": ("mkdocs.__main__", "cli", ["build", "--quiet"]),
    "mongo-tables check": ("mongo_tables.cli", "main", ["check", "docs", "--results", "results"]),
}
_PACKAGE: Final = Path(mongo_tables.__file__).parent
_SITE: Final = """site_name: One comment
theme:
  name: mkdocs
plugins:
  - mongo-tables:
      results: results
"""
_DOCUMENTS: Final = [{"_id": 1, "size": 1, "ms": 1.5}, {"_id": 2, "size": 2, "ms": 2.25}]
_PAGE: Final = """# Speed

<!-- MONGO_TABLE: {
  "collection": "runs",
  "pipeline": [
    {"$match": {"size": {"$gte": 1}}},
    {"$sort": {"size": 1}},
    {"$project": {"_id": 0, "size": 1, "ms": 1}}
  ],
  "columns": ["size", "ms"],
  "headers": ["Size", "Mean (ms)"]
} -->
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """The functions that were entered, by module in the order of first entry, and the number of calls."""

    functions: dict[str, int]
    calls: int

    @property
    def within_bars(self) -> bool:
        """Whether few enough modules and functions were entered."""
        return len(self.functions) <= MODULES and sum(self.functions.values()) <= FUNCTIONS


def write_site(folder: Path) -> None:
    """Write a site of one page, and its results."""
    (folder / "docs").mkdir()
    (folder / "results").mkdir()
    (folder / "mkdocs.yml").write_text(_SITE, encoding="utf-8")
    (folder / "docs" / "index.md").write_text(_PAGE, encoding="utf-8")
    (folder / "results" / "runs.json").write_text(json.dumps(_DOCUMENTS), encoding="utf-8")


def trace(door: str) -> Trace:
    """Build or check the site in the working folder of this process; raises SystemExit if that fails."""
    calls: Counter[CodeType] = Counter()
    prefix = f"{_PACKAGE}{os.sep}"

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Bodies of modules and classes run when they are imported: they are no functions.
        if event == "call" and code.co_flags & CO_NEWLOCALS and code.co_filename.startswith(prefix):
            calls[code] += 1

    module, name, arguments = DOORS[door]
    main = getattr(__import__(module, fromlist=[name]), name)
    sys.argv = [door.split()[0], *arguments]
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        with suppress(SystemExit):
            if status := main():
                raise RuntimeError(f"{door} ended with {status}")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    functions: Counter[str] = Counter()
    for code in calls:
        functions[str(Path(code.co_filename).relative_to(_PACKAGE))] += 1
    return Trace(dict(functions), calls.total())


def traced_in_fresh_process(door: str) -> Trace:
    """Trace a door in a process and a folder of its own, with all caches off."""
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "benchmarks.one_comment", "--trace", door]
    with tempfile.TemporaryDirectory() as folder:
        write_site(Path(folder))
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{door}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return Trace(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--list", action="store_true", help="list modules, in order of first entry")
    options.add_argument("--bars", action="store_true", help="exit with 1 if a bar is missed")
    options.add_argument("--trace", choices=list(DOORS), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.trace:
        found = trace(given.trace)
        print(json.dumps({"functions": found.functions, "calls": found.calls}))
        return
    traces = {door: traced_in_fresh_process(door) for door in DOORS}
    print(f"{'':20}{'modules':>10}{'functions':>11}{'calls':>8}")
    for door, found in traces.items():
        print(f"{door:20}{len(found.functions):10}{sum(found.functions.values()):11}{found.calls:8}")
    print(f"{'bars':20}{MODULES:10}{FUNCTIONS:11}")
    for door, found in traces.items() if given.list else ():
        print(f"\n{door}")
        for module, number in found.functions.items():
            print(f"{number:5}  {module}")
    if given.bars:
        raise SystemExit(not all(found.within_bars for found in traces.values()))


if __name__ == "__main__":
    main()
