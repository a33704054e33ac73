"""What figures cost a site of many pages: CPU seconds and memory of whole processes, side by side in one run.

A site of 10,000 pages is generated, with three tables of 8 rows and 6 columns on each, and one of a tenth of that.
Each hundred pages are a folder, whose tables read a collection of their own. A page quotes a number of the next.
Both come in the variants of ``site_speed``, with the same theme:

* ``plain``: without tables
* ``pipes``: the same cells as Markdown pipe tables, written by hand
* ``comments``: comments

Builds of the variants take turns. Then one page of the site is checked, static and with its rows, as an editor or a
hook does. These bars must hold:

* a build costs at most 1.0 times as much as ``pipes``
* it takes at most 1.3 times the memory of ``pipes``
* what figures cost over ``plain`` grows at most 1.1 times as fast as the number of pages
* a check of one page takes at most 1 s of processor time

    python -m benchmarks.large_site                           # takes long: six builds
    python -m benchmarks.large_site 1000 --theme mkdocs       # 1,000 pages and 100
    python -m benchmarks.large_site 10000 --checks            # the checks alone
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.check_speed import machine
from benchmarks.site_speed import PROSE, cells, no_table, pipe_table

PAGES, TABLES_A_PAGE, PAGES_A_FOLDER = 10_000, 3, 100
TIMES = 10
OF_PIPES, OF_MEMORY, OF_GROWTH = 1.0, 1.3, 1.1
OF_CHECK = 1.0
CHECKS = 3
VARIANTS = ("plain", "pipes", "comments")
CONFIG = """\
site_name: Large
theme: {{name: {theme}{more}}}
markdown_extensions: [admonition, attr_list, md_in_html, tables, pymdownx.details, pymdownx.superfences]
plugins: [search{plugin}]
# The navigation of each page has one entry, lest what is measured be that of ten thousand.
nav: [index.md]
not_in_nav: "*"
"""


class Cost(NamedTuple):
    """User and system time of a process in seconds, and the peak of its resident set in bytes."""

    seconds: float
    peak: int


def name_of(page: int) -> str:
    """The path of a page in the docs folder."""
    return f"suite-{page // PAGES_A_FOLDER:03}/page-{page % PAGES_A_FOLDER:03}.md"


def collection_of(table: int) -> str:
    """The collection that a table reads."""
    return f"suite_{table // TABLES_A_PAGE // PAGES_A_FOLDER:03}"


def comment(table: int) -> str:
    """A table as a comment with an id and a pipeline of its own."""
    names = [f"c{column}" for column in range(6)]
    body = {
        "id": f"speed-{table}",
        "collection": collection_of(table),
        "pipeline": [
            {"$match": {"_id.testname": f"experiment {table}"}},
            {"$project": {"_id": 0, **{name: f"$values.{name}" for name in names}}},
            {"$sort": {"c0": 1}},
        ],
        "columns": names,
        "headers": [f"Column {column}" for column in range(6)],
    }
    return f"<!-- MONGO_TABLE:\n{json.dumps(body, indent=2)}\n-->\n"


def quoted(table: int, kind: str) -> str:
    """A number of a table in a sentence."""
    if kind != "comments":
        return str(cells(table)[0][1])
    return f'<!-- MONGO_VALUE: {{"table": "speed-{table}", "column": "c1", "where": {{"c0": 1}}}} -->'


def write_site(folder: Path, pages: int, kind: str, theme: str) -> None:
    """Generate one variant of a site."""
    write = {"plain": no_table, "pipes": pipe_table, "comments": comment}[kind]
    (folder / "docs").mkdir(parents=True)
    (folder / "docs/index.md").write_text(f"# Large\n\n{PROSE}", encoding="utf-8")
    more = ", font: false" if theme == "material" else ""
    plugin = ", mongo-tables" if kind == "comments" else ""
    (folder / "mkdocs.yml").write_text(CONFIG.format(theme=theme, more=more, plugin=plugin), encoding="utf-8")
    prose = PROSE.replace("(index.md)", "(../index.md)")
    for page in range(pages):
        parts = [
            f"# Page {page}\n",
            f"The next page begins at {quoted((page + 1) % pages * TABLES_A_PAGE, kind)}.\n",
        ]
        for table in range(page * TABLES_A_PAGE, (page + 1) * TABLES_A_PAGE):
            parts += [f"## Experiment {table}\n", prose, write(table), prose]
        file = folder / "docs" / name_of(page)
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(parts), encoding="utf-8")
    if kind == "comments":
        write_fixtures(folder / "fixtures", pages)


def write_fixtures(folder: Path, pages: int) -> None:
    """The result documents behind the tables, one line each."""
    lines: dict[str, list[str]] = {}
    for table in range(pages * TABLES_A_PAGE):
        for row, cell in enumerate(cells(table)):
            values = {f"c{column}": number for column, number in enumerate(cell)}
            document = {"_id": {"testname": f"experiment {table}", "row": row}, "values": values}
            lines.setdefault(collection_of(table), []).append(json.dumps(document))
    for collection, documents in lines.items():
        (folder / collection).mkdir(parents=True)
        (folder / collection / "all.jsonl").write_text("\n".join(documents) + "\n", encoding="utf-8")


def cost_of(arguments: Sequence[str], site: Path) -> Cost:
    """What one Python process costs, from its start to its end. Ends the benchmark where it fails."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(site.parent / "compiled")}
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, cwd=site, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit status {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def measure_builds(root: Path, rounds: int) -> dict[str, Cost]:
    """The least time and the least memory of each variant."""
    found: dict[str, list[Cost]] = {variant: [] for variant in VARIANTS}
    for number in range(rounds):
        for variant in VARIANTS:
            cost = cost_of(["mkdocs", "build", "-q"], root / variant)
            # Moved, not removed: ext4 takes long for new files where thousands have just gone.
            (root / variant / "site").rename(root / f"built-{variant}-{number}")
            found[variant].append(cost)
            print(f"  {variant:<8} {cost.seconds:8.2f} s {cost.peak / 1e6:8,.0f} MB", flush=True)
    return {
        name: Cost(min(one.seconds for one in each), min(one.peak for one in each))
        for name, each in found.items()
    }


def measure_checks(root: Path) -> dict[str, float]:
    """The least CPU seconds of a check of one page, static and with its rows."""
    name = f"docs/{name_of(PAGES_A_FOLDER // 2)}"
    found = {}
    for command in (["check", "--static"], ["check"]):
        asked = ["mongo_tables.program", *command, name]
        label = f"{' '.join(command)} PAGE"
        found[label] = min(cost_of(asked, root / "comments").seconds for _ in range(CHECKS))
        print(f"  {label:<32} {found[label]:6.3f} s", flush=True)
    return found


def judge(costs: Mapping[str, Cost], few: Mapping[str, Cost] | None) -> list[tuple[str, float, float]]:
    """What must hold of builds: its name, what was measured, and the most that it may be."""
    plain, pipes, comments = (costs[name] for name in VARIANTS)
    found = [
        ("time of a build, of pipes", comments.seconds / pipes.seconds, OF_PIPES),
        ("memory of a build, of pipes", comments.peak / pipes.peak, OF_MEMORY),
    ]
    if few:
        grown = (comments.seconds - plain.seconds) / (few["comments"].seconds - few["plain"].seconds)
        found.append((f"growth over plain, of {TIMES} times as many pages", grown / TIMES, OF_GROWTH))
    return found


def measure(root: Path, given: argparse.Namespace) -> list[tuple[str, float, float]]:
    """All that must hold, measured on sites in a folder."""
    costs: list[dict[str, Cost]] = []
    found: list[tuple[str, float, float]] = []
    for pages in [given.pages // TIMES, given.pages] if not given.checks else [given.pages]:
        place = root / str(pages)
        print(f"{pages:,} pages, {pages * TABLES_A_PAGE:,} tables, theme {given.theme}", flush=True)
        for kind in ("comments",) if given.checks else ("plain", "pipes", "comments"):
            write_site(place / kind, pages, kind, given.theme)
        if not given.checks:
            costs.append(measure_builds(place, given.rounds))
        if pages == given.pages:
            found += [(name, seconds, OF_CHECK) for name, seconds in measure_checks(place).items()]
        shutil.rmtree(place)
    return [*(judge(costs[-1], costs[0]) if costs else ()), *found]


def main() -> int:
    """Measure; 1 when a bar does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", nargs="?", type=int, default=PAGES, help=f"pages of the large site (default: {PAGES})"
    )
    parser.add_argument("-n", "--rounds", type=int, default=1, help="builds of each variant (default: 1)")
    parser.add_argument(
        "--theme", choices=("material", "mkdocs"), default="material", help="default: material"
    )
    parser.add_argument("--checks", action="store_true", help="measure the checks alone")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(prefix="large-site-") as root:
        found = measure(Path(root), given)
    for name, measured, most in found:
        print(
            f"{name:<50} {measured:6.3f}, at most {most}  {'holds' if measured <= most else 'DOES NOT HOLD'}"
        )
    return 0 if all(measured <= most for _, measured, most in found) else 1


if __name__ == "__main__":
    sys.exit(main())
