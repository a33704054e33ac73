"""What tables cost a build: CPU seconds of whole ``mkdocs build`` processes, side by side in one run.

Two sites are generated in a temporary folder, small (11 pages, 32 tables) and large (300 pages, 900
tables), every table 8 rows of 6 columns, in three variants with the same prose:

* ``plain``: no tables at all
* ``pipes``: the same cells as Markdown pipe tables, written by hand
* ``comments``: ``MONGO_TABLE`` comments

Builds of the variants take turns, so that a busy moment of the machine hits all of them alike, and only the
ratios and differences within one run mean anything. Printed is the least user and system time of a build's
process, with the difference to ``plain`` and whether it holds the bar:

    python benchmarks/site_speed.py             # both sites
    python benchmarks/site_speed.py small -n 9  # one of them, nine builds of each variant
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIANTS = ("plain", "pipes", "comments")
ROWS, COLUMNS = 8, 6
CONFIG = """\
site_name: Speed
theme:
  name: material
  font: false
markdown_extensions: [admonition, attr_list, md_in_html, tables, pymdownx.details, pymdownx.superfences]
plugins: [search{plugin}]
"""
PROSE = (
    "Throughput grows with the number of client threads until the disk is the limit. Beyond that point more threads "
    "only wait longer, which the tail of the latency shows first. *Median* and **p99** are measured by the client, "
    "with `majority` write concern; see [the first page](index.md) for the set-up.\n"
)


@dataclass(frozen=True, slots=True)
class Size:
    """A site to generate, and how many seconds over ``plain`` it may cost."""

    pages: int
    tables: int
    builds: int


SIZES = {"small": Size(11, 32, 7), "large": Size(300, 900, 3)}


def value(table: int, row: int, column: int) -> float | int:
    """The number in a cell: the same in every variant."""
    number = (table * 7919 + row * 104729 + column * 1299709) % 1_000_003
    return number if column % 2 else number / 100


def cells(table: int) -> list[list[float | int]]:
    """The rows of a table."""
    return [[2**row, *(value(table, row, column) for column in range(1, COLUMNS))] for row in range(ROWS)]


def no_table(table: int) -> str:
    """Nothing, for ``plain``."""
    return ""


def pipe_table(table: int) -> str:
    """A table as an author writes it by hand."""
    lines = [" | ".join(f"Column {column}" for column in range(COLUMNS)), " | ".join(["---:"] * COLUMNS)]
    lines += [" | ".join(str(cell) for cell in row) for row in cells(table)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def comment(table: int) -> str:
    """A table as a comment with a pipeline of its own."""
    names = [f"c{column}" for column in range(COLUMNS)]
    body = {
        "collection": "results",
        "pipeline": [
            {"$match": {"_id.testname": f"experiment {table}"}},
            {"$project": {"_id": 0, **{name: f"$values.{name}" for name in names}}},
            {"$sort": {"c0": 1}},
        ],
        "columns": names,
        "headers": [f"Column {column}" for column in range(COLUMNS)],
    }
    return f"<!-- MONGO_TABLE:\n{json.dumps(body, indent=2)}\n-->\n"


TABLES: Mapping[str, Callable[[int], str]] = {"plain": no_table, "pipes": pipe_table, "comments": comment}


def write_site(folder: Path, size: Size, kind: str) -> None:
    """Generate one variant of a site."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    plugin = ", mongo-tables" if kind == "comments" else ""
    (folder / "mkdocs.yml").write_text(CONFIG.format(plugin=plugin), encoding="utf-8")
    per_page = [size.tables // size.pages + (page < size.tables % size.pages) for page in range(size.pages)]
    table = 0
    for page, count in enumerate(per_page):
        parts = [f"# Page {page}\n", PROSE]
        for _ in range(count):
            parts += [f"## Experiment {table}\n", PROSE, TABLES[kind](table), PROSE]
            table += 1
        name = "index.md" if page == 0 else f"page-{page}.md"
        (docs / name).write_text("\n".join(parts), encoding="utf-8")
    if kind == "comments":
        write_fixtures(folder / "fixtures" / "results", size)


def write_fixtures(folder: Path, size: Size) -> None:
    """The result documents behind the tables, one line each."""
    folder.mkdir(parents=True)
    lines = [
        json.dumps(
            {
                "_id": {"testname": f"experiment {table}", "row": row},
                "values": {f"c{column}": number for column, number in enumerate(cell)},
            }
        )
        for table in range(size.tables)
        for row, cell in enumerate(cells(table))
    ]
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def cpu_seconds(folder: Path) -> float:
    """User and system time of one build, start of Python included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    # An installed package is compiled; a working copy is, too, once the first round has filled this folder.
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    command = [sys.executable, "-m", "mkdocs", "build", "-q"]
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(root: Path, size: Size, builds: int) -> dict[str, float]:
    """Least CPU seconds of each variant: the build that was least disturbed. The first round is not counted."""
    for kind in TABLES:
        write_site(root / kind, size, kind)
    samples: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for number in range(builds + 1):
        for variant in VARIANTS:
            spent = cpu_seconds(root / variant)
            if number:
                samples[variant].append(spent)
    return {variant: min(values) for variant, values in samples.items()}


def bars(name: str, seconds: Mapping[str, float]) -> dict[str, float]:
    """How many seconds over ``plain`` the comments may take: on a large site as many as tables written by hand."""
    return {"comments": 0.25 if name == "small" else seconds["pipes"] - seconds["plain"]}


def report(name: str, size: Size, seconds: Mapping[str, float]) -> bool:
    """Print the figures of a site; True when every bar holds."""
    print(
        f"{name}: {size.pages} pages, {size.tables} tables of {ROWS} rows and {COLUMNS} columns, CPU seconds"
    )
    allowed, held = bars(name, seconds), True
    for variant in VARIANTS:
        over = seconds[variant] - seconds["plain"]
        line = f"  {variant:<8} {seconds[variant]:7.2f}"
        if variant != "plain":
            line += f"  over plain {over:+6.2f}"
        if variant in allowed:
            good = over <= allowed[variant]
            held = held and good
            line += f"  allowed {allowed[variant]:+6.2f}  {'holds' if good else 'DOES NOT HOLD'}"
        print(line)
    return held


def main() -> int:
    """Measure the sites that are asked for; 1 when a bar does not hold."""
    parser = argparse.ArgumentParser(description="CPU seconds of site builds with and without tables")
    parser.add_argument(
        "sizes", nargs="*", choices=[*SIZES, list(SIZES)], default=list(SIZES), help="default: both"
    )
    parser.add_argument("-n", "--builds", type=int, help="builds of each variant (default: 7 small, 3 large)")
    arguments = parser.parse_args()
    held = True
    for name in arguments.sizes:
        size = SIZES[name]
        with tempfile.TemporaryDirectory(prefix="site-speed-") as root:
            seconds = measure(Path(root), size, arguments.builds or size.builds)
        held = report(name, size, seconds) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
