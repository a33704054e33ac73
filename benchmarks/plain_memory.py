"""What a large plain file costs in memory: `python -m benchmarks.plain_memory`.

Makes a CSV of 300 MB in a temporary folder, and a page whose table reads three of its columns. Prints for a command,
cold (no cache yet) and warm, its seconds of processor time and its peak of memory (resident set), and ends with 1 where
that is more than ``MOST``. ``--narrow``: cells of one digit, of which most are in a file and each takes its room.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.fixture_memory import cost

MEGABYTES = 300
MOST = 1_500_000_000
RESULTS = "bench.csv"
PAGE = """\
# Page

<!-- MONGO_TABLE: {
  "collection": "bench",
  "pipeline": [
    {"$group": {"_id": "$threads", "mean": {"$avg": "$mean"}, "longest": {"$max": "$longest"}}},
    {"$sort": {"_id": 1}}
  ],
  "columns": ["_id", "mean", "longest"],
  "headers": ["Threads", "Mean", "Longest"]
} -->
"""


def usual(number: int) -> str:
    """A row as a benchmark has it."""
    return (
        f"test {number % 97},{2 ** (number % 8)},{number % 1000 / 7:.6f},{number % 5000},{number % 13 / 3:.4f},"
        f"2026-11-{1 + number % 28:02}T10:{number % 60:02}:00Z,abc{number % 1009:06}\n"
    )


def narrow(number: int) -> str:
    """A row of digits."""
    return f"{number % 10},{number % 7},{number % 8},{number % 9},,{number % 2},{number % 3}\n"


def project(folder: Path, size: int, *, digits: bool) -> int:
    """Write page and file; give the rows of the file."""
    (folder / "page.md").write_text(PAGE)
    row = narrow if digits else usual
    written = rows = 0
    with (folder / RESULTS).open("w", encoding="utf-8") as lines:
        lines.write("name,threads,mean,longest,stddev,at,commit\n")
        while written < size:
            some = "".join(map(row, range(rows, rows + 10_000)))
            written, rows = written + len(some), rows + 10_000
            lines.write(some)
    return rows


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("-m", "--megabytes", type=int, default=MEGABYTES)
    options.add_argument("--narrow", action="store_true", help="cells of one digit")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = project(folder, given.megabytes * 10**6, digits=given.narrow)
        print(f"{given.megabytes} MB, {rows:,} rows")
        peaks = []
        for label in ("cold", "warm"):
            found = cost(folder, "render", RESULTS)
            peaks.append(found.peak)
            print(f"{label}: {found.seconds:.1f} s CPU, {found.peak / 10**6:,.0f} MB at most")
    raise SystemExit(max(peaks) > MOST)


if __name__ == "__main__":
    main()
