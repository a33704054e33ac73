"""What a first check costs: `python -m benchmarks.start_speed`.

A page with one table from a JSON file of 100 kB is checked, and a README that has the table written into it, beside
the yardstick `python -c "import json, bson, jsonschema"`. Prints least and median of the CPU seconds of whole processes
that take turns, and how many times the yardstick each check takes; ends with 1 where that of the README is more than
``MOST``.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.check_speed import cpu_seconds, environment_in, machine

MOST = 1.5
YARDSTICK = ["-c", "import json, bson, jsonschema"]
PROGRAM = ["-m", "mongo_tables.program"]
RESULTS, PAGE, README = "bench.json", "speed.md", "README.md"
BYTES = 100_000
TEXT = """# Speed

<!-- MONGO_TABLE: {
  "collection": "bench",
  "pipeline": [
    {"$group": {"_id": "$size", "mean": {"$avg": "$mean"}}},
    {"$sort": {"_id": 1}},
    {"$project": {"_id": 0, "size": "$_id", "mean": {"$round": ["$mean", 2]}}}
  ],
  "columns": ["size", "mean"],
  "headers": ["Size", "Mean (ms)"]
} -->
"""


def write_project(folder: Path) -> None:
    """Write a page, a README of the same, and a file of results."""
    drawn = random.Random(1)
    rows: list[dict[str, object]] = []
    while len(json.dumps(rows)) < BYTES:
        rows += [
            {
                "name": f"test {number}",
                "size": 2**number,
                "mean": drawn.uniform(1, 100),
                "stddev": drawn.random(),
                "rounds": drawn.randrange(1000),
            }
            for number in range(12)
        ]
    (folder / RESULTS).write_text(json.dumps(rows), encoding="utf-8")
    for page in (PAGE, README):
        (folder / page).write_text(TEXT, encoding="utf-8")


def measure(rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each process, by its command."""
    pages = (PAGE, README)
    commands = {
        "python -c 'import json, bson, jsonschema'": YARDSTICK,
        **{
            f"check {page} --results {RESULTS}": [*PROGRAM, "check", page, "--results", RESULTS]
            for page in pages
        },
    }
    times: dict[str, list[float]] = {label: [] for label in commands}
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder))
        environment = environment_in(folder, bytecode=True)
        cpu_seconds([*PROGRAM, "render", "--in-place", README, "--results", RESULTS], environment, folder)
        for number in range(rounds + 1):
            for label, arguments in commands.items():
                seconds = cpu_seconds(arguments, environment, folder)
                if number:  # the first round fills the caches
                    times[label].append(seconds)
    return times


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("-n", "--rounds", type=int, default=15)
    given = options.parse_args()
    times = measure(given.rounds)
    print(f"{machine()}\n{given.rounds} rounds, CPU seconds{'least':>32}{'median':>9}")
    for label, found in times.items():
        print(f"{label:<46}{min(found):9.3f}{median(found):9.3f}")
    yardstick, *checks = times.values()
    for label, check in zip(list(times)[1:], checks, strict=True):
        least, middle = min(check) / min(yardstick), median(check) / median(yardstick)
        print(f"{'times the yardstick: ' + label.split()[1]:<46}{least:9.2f}{middle:9.2f}")
    raise SystemExit(middle > MOST)


if __name__ == "__main__":
    main()
