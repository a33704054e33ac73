"""What a build holds in memory for each comment while MkDocs writes pages: `python -m benchmarks.held_memory`.

Builds the site of `large_site` (MkDocs' theme) in this process, and adds up what `mongo_tables` allocated and still
exists when its `on_env` has returned, except by importing it. Prints the bytes for each comment (three tables and a
value on each page), and exits with 1 if they are more than ``MOST``. ``--list N`` adds the N lines that allocated
most.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any, Final

import mongo_tables
from benchmarks.large_site import TABLES_A_PAGE, write_site

PAGES: Final = 1000
COMMENTS_A_PAGE: Final = TABLES_A_PAGE + 1
MOST: Final = 8_000
"""Bytes."""
_FRAMES: Final = 12
_PACKAGE: Final = str(Path(mongo_tables.__file__).parent)


def build(site: Path) -> None:
    """Build a site in this process."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    config = load_config(str(site / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=False)
    build_site(config)
    config.plugins.on_shutdown()


def held_at_on_env(site: Path) -> tracemalloc.Snapshot:
    """Build a site, and return what our code holds when all pages are judged and none is written."""
    from mongo_tables.hosts.mkdocs_plugin import MongoTablesPlugin

    found: list[tracemalloc.Snapshot] = []
    on_env = MongoTablesPlugin.on_env

    def traced(self: MongoTablesPlugin, *args: Any, **kwargs: Any) -> None:
        on_env(self, *args, **kwargs)
        gc.collect()
        found.append(tracemalloc.take_snapshot())
        tracemalloc.stop()

    traced.mkdocs_priority = on_env.mkdocs_priority  # type: ignore[attr-defined]
    MongoTablesPlugin.on_env = traced  # type: ignore[method-assign]
    tracemalloc.start(_FRAMES)
    build(site)
    return found[0].filter_traces([tracemalloc.Filter(True, f"{_PACKAGE}/*", all_frames=True)])


def own_line(trace: tracemalloc.Traceback) -> str:
    """Return the innermost line of ours that led to an allocation."""
    frame = next(one for one in reversed(trace) if one.filename.startswith(_PACKAGE))
    return f"{frame.filename.removeprefix(_PACKAGE + '/')}:{frame.lineno}"


def main() -> int:
    """Measure; 1 when the bar does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="?", type=int, default=PAGES, help=f"default: {PAGES}")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="the N lines that allocated most")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="held-memory-") as temporary:
        root = Path(temporary)
        for name, pages in (("few", 2), ("many", given.pages)):
            write_site(root / name, pages, "comments", "mkdocs")
        build(root / "few")  # Modules and what they make once are no memory of the build.
        traces = held_at_on_env(root / "many").traces
    comments = given.pages * COMMENTS_A_PAGE
    sizes, counts = Counter[str](), Counter[str]()
    for one in traces:
        line = own_line(one.traceback)
        sizes[line] += one.size
        counts[line] += 1
    for line, size in sizes.most_common(given.list):
        print(f"{size / comments:9.1f} bytes {counts[line] / comments:7.2f} objects  {line}")
    held = sum(sizes.values()) / comments
    holds = "holds" if held <= MOST else "DOES NOT HOLD"
    print(f"{'bytes held for each comment':<50} {held:6,.0f}, at most {MOST:,}  {holds}")
    return 0 if held <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
