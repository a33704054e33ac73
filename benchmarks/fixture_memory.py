"""What a large fixture costs in memory: `python -m benchmarks.fixture_memory`.

Makes a fixture of a million documents of about 290 bytes in a temporary folder, and a page whose table reads three
fields of them. Prints for a command, cold (no cache yet) and warm, its seconds of processor time and how far its peak
of memory (resident set) is above that of the same command with one document, in bytes for each byte of the fixture.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

DOCUMENTS = 1_000_000
PAGE = """\
# Page

<!-- MONGO_TABLE: {
  "collection": "results",
  "pipeline": [
    {"$match": {"ok": true}},
    {"$group": {"_id": "$threads", "rate": {"$avg": "$rate"}, "longest": {"$max": "$latency.max"}}},
    {"$sort": {"_id": 1}}
  ],
  "columns": ["_id", "rate", "longest"],
  "headers": ["Threads", "Operations/s", "Longest"]
} -->
"""


class Cost(NamedTuple):
    """Seconds of processor time, and the peak of the resident set in bytes."""

    seconds: float
    peak: int


def line(number: int) -> str:
    """One document of about 290 bytes."""
    return (
        f'{{"_id": {number}, "name": "insert_docsize_{number % 97}", "host": "node-{number % 13}.example.org", '
        f'"threads": {2 ** (number % 8)}, "ok": true, "rate": {number * 0.37:.2f}, "errors": 0, '
        f'"latency": {{"mean": {number % 1000 / 7:.4f}, "max": {number % 5000}}}, '
        f'"note": "row {number} of a long list, with a few words more than a table of a page needs to show", '
        f'"kept": false}}\n'
    )


def project(folder: Path, documents: int) -> int:
    """Write page and fixture; give the bytes of the fixture."""
    (folder / "fixtures/results").mkdir(parents=True)
    (folder / "page.md").write_text(PAGE)
    file = folder / "fixtures/results/all.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(map(line, range(documents)))
    return file.stat().st_size


def cost(folder: Path, command: str, results: str = "fixtures") -> Cost:
    """What a command costs in a project, with the cache beside it. Raises ``RuntimeError`` where it fails."""
    called = [sys.executable, "-c", _PROGRAM, command, "page.md", "--results", results]
    root = str(Path(__file__).parents[1])
    given = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(called, cwd=folder, env=given, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    seconds, peak = done.stderr.split()[-2:]
    return Cost(float(seconds), int(peak))


# The peak is asked of the process itself: what the system tells its parent is at least what the parent had.
_PROGRAM = """
import re, resource, sys, time
from pathlib import Path
from mongo_tables.cli import main
status = main(sys.argv[1:])
told = Path("/proc/self/status")
if told.exists():
    peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", told.read_text())[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time(), peak, file=sys.stderr)
sys.exit(status)
"""


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("-n", "--documents", type=int, default=DOCUMENTS)
    options.add_argument("-c", "--command", choices=("render", "check", "explain"), default="render")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        small, large = Path(temporary) / "small", Path(temporary) / "large"
        project(small, 1)
        size = project(large, given.documents)
        print(f"{given.documents:,} documents, {size / 2**20:.0f} MiB")
        cost(small, given.command)
        empty = cost(small, given.command)
        for label in ("cold", "warm"):
            found = cost(large, given.command)
            more = found.peak - empty.peak
            ratio = f"{more / size:.2f} bytes for each byte"
            print(f"{label}: {found.seconds:.1f} s CPU, {more / 2**20:,.0f} MiB more than with one, {ratio}")


if __name__ == "__main__":
    main()
