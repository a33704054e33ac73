"""What its tables cost this project's own site: CPU seconds of whole builds, against the same site written by hand.

Three builds take turns, so that a busy moment of the machine hits all of them alike:

* ``static``: every comment replaced by the table or the number that it gives, no plugin, no extension
* ``cold``: the site as it is, no cache from an earlier build
* ``warm``: the same, built before

Printed is the least user and system time of a build's process, and the ratio to ``static``, whose bar is 1.3. The
static pages have no charts, downloads and provenance, which nobody writes by hand: the ratio counts these too.

    python -m benchmarks.site_build          # five rounds
    python -m benchmarks.site_build -n 9 --profile
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.site_speed import cpu_seconds

ROOT = Path(__file__).parents[1]
BAR = 1.3
DOORS = 2
"""The plugin and the extension, in ``mkdocs.yml``."""
PARTS = ("docs", "fixtures", "tests/lint/pages")
_PLUGIN = re.compile(r"^  - mongo-tables:\n(?:      .*\n)+", re.MULTILINE)


def write_sites(folder: Path) -> dict[str, Path]:
    """The site as it is, and with static tables, each in a folder of its own."""
    sites = {name: folder / name for name in ("static", "comments")}
    for site in sites.values():
        for part in PARTS:
            shutil.copytree(ROOT / part, site / part)
        shutil.copy(ROOT / "mkdocs.yml", site)
    command = [
        sys.executable,
        "-m",
        "preprocessor.cli",
        "render",
        "docs",
        "--output",
        str(folder / "rendered"),
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.copytree(folder / "rendered" / "docs", sites["static"] / "docs", dirs_exist_ok=True)
    config = sites["static"] / "mkdocs.yml"
    static, doors = _PLUGIN.subn("", config.read_text("utf-8"))
    if doors != DOORS:
        raise SystemExit(f"mkdocs.yml opens {doors} doors, not {DOORS}: the static site would not be static")
    config.write_text(static, "utf-8")
    return sites


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Least CPU seconds of each build. The first round is not counted."""
    sites = write_sites(folder)
    cache = folder / "cache"
    samples: dict[str, list[float]] = {"static": [], "cold": [], "warm": []}
    for number in range(rounds + 1):
        for build, found in samples.items():
            if build == "cold":
                shutil.rmtree(cache, ignore_errors=True)
            spent = cpu_seconds(sites["static" if build == "static" else "comments"], cache)
            if number:
                found.append(spent)
    return {build: min(found) for build, found in samples.items()}


def profile(folder: Path) -> None:
    """Print where a cold build's time goes, by function."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    os.chdir(folder / "comments")
    os.environ["MONGO_TABLES_CACHE"] = str(folder / "profiled")
    config = load_config("mkdocs.yml")
    profiler = cProfile.Profile()
    config.plugins.on_startup(command="build", dirty=False)
    profiler.runcall(build, config)
    config.plugins.on_shutdown()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("preprocessor", 40)


def main() -> int:
    """Measure; 1 when the bar does not hold."""
    parser = argparse.ArgumentParser(
        description="CPU seconds of this site's builds, with and without its comments"
    )
    parser.add_argument("-n", "--rounds", type=int, default=5, help="builds of each kind (default: 5)")
    parser.add_argument("--profile", action="store_true", help="also show where a cold build's time goes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="site-build-") as root:
        seconds = measure(Path(root), arguments.rounds)
        if arguments.profile:
            profile(Path(root))
    for build, least in seconds.items():
        ratio = least / seconds["static"]
        said = "" if build == "static" else f"  {ratio:.2f} of static, bar {BAR}"
        print(f"{build:<7}{least:6.2f} s{said}{'' if ratio < BAR else '  DOES NOT HOLD'}")
    return 0 if max(seconds.values()) < BAR * seconds["static"] else 1


if __name__ == "__main__":
    sys.exit(main())
