"""How the cost of one page grows with its tables: CPU seconds of whole ``mkdocs build`` processes, and of ``check``.

Two sites of one page are generated, with few tables and with ten times as many, every table 8 rows of 6 columns as in
``site_speed``: as Markdown pipe tables written by hand, and as comments. There is a heading for every fifty tables, for
the search of Material looks at all headings for each. Their builds take turns. Two bars must hold:

* many tables as comments, built without a cache, cost at most 1.5 times as much as the same tables by hand
* many tables cost at most 11 times as much as a tenth of them, by comments and in ``check`` alike

    python -m benchmarks.page_growth              # 1,000 and 10,000 tables, one build of each kind
    python -m benchmarks.page_growth 400 -n 3     # 400 and 4,000 tables, three builds of each
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.site_speed import PROSE, TABLES, Size, cpu_seconds, write_fixtures, write_site

TIMES = 10
TABLES_A_HEADING = 50
OF_HAND = 1.5
OF_FEW = 11.0
KINDS = ("by hand", "built", "checked")


def checking_seconds(site: Path) -> float:
    """User and system time of one check of the page, start of Python included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "mongo_tables.program", "check", "docs"]
    done = subprocess.run(command, cwd=site, check=False, stdout=subprocess.DEVNULL)
    if done.returncode > 1:  # Findings are not what is measured.
        raise SystemExit(f"the check failed: {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def write_page(folder: Path, count: int, kind: str) -> None:
    """Generate one variant of a site of one page."""
    write_site(folder, Size(1, 1, 1), kind)
    heading = "## From {0} on\n\n".format
    parts = [
        f"{heading(table) if table % TABLES_A_HEADING == 0 else ''}{PROSE}\n{TABLES[kind](table)}"
        for table in range(count)
    ]
    (folder / "docs" / "index.md").write_text("\n".join(["# Growth\n", *parts]), encoding="utf-8")
    if kind == "comments":
        shutil.rmtree(folder / "fixtures")
        write_fixtures(folder / "fixtures" / "results", Size(1, count, 1))


def measure(root: Path, few: int, rounds: int) -> dict[tuple[str, int], float]:
    """Least CPU seconds of each kind, by the number of tables."""
    counts = (few, few * TIMES)
    for count in counts:
        for kind in ("pipes", "comments"):
            write_page(root / str(count) / kind, count, kind)
    run: Mapping[str, Callable[[Path], float]] = {
        "by hand": lambda site: cpu_seconds(site / "pipes"),
        "built": lambda site: cpu_seconds(site / "comments"),
        "checked": lambda site: checking_seconds(site / "comments"),
    }
    samples: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for count in counts:
            for kind in KINDS:
                samples.setdefault((kind, count), []).append(run[kind](root / str(count)))
    return {each: min(found) for each, found in samples.items()}


def report(seconds: Mapping[tuple[str, int], float], few: int) -> bool:
    """Print what was measured; True when every bar holds."""
    many, held = few * TIMES, True
    for kind in KINDS:
        growth = seconds[kind, many] / seconds[kind, few]
        of_hand = seconds[kind, many] / seconds["by hand", many]
        good = kind == "by hand" or (growth <= OF_FEW and (kind != "built" or of_hand <= OF_HAND))
        held = held and good
        print(
            f"{kind:<8} {few:,} tables {seconds[kind, few]:7.2f} s, {many:,} tables {seconds[kind, many]:7.2f} s: "
            f"{growth:5.1f} times as much, {of_hand:.2f} of by hand  {'holds' if good else 'DOES NOT HOLD'}"
        )
    return held


def main() -> int:
    """Measure; 1 when a bar does not hold."""
    parser = argparse.ArgumentParser(description="CPU seconds of one page with few tables and with many")
    parser.add_argument("few", nargs="?", type=int, default=1000, help="the smaller number (default: 1000)")
    parser.add_argument("-n", "--rounds", type=int, default=1, help="builds of each kind (default: 1)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="page-growth-") as root:
        seconds = measure(Path(root), arguments.few, arguments.rounds)
    return 0 if report(seconds, arguments.few) else 1


if __name__ == "__main__":
    sys.exit(main())
