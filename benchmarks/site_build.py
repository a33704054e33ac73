"""What its comments cost this project's own site: CPU seconds of whole builds, against the same site made by hand.

Three builds take turns, so that a busy moment of the machine hits all of them alike:

* ``tables``: a pipe table or a number in the place of every comment, and nothing else; no plugin, no extension
* ``by hand``: the same site as the plugin builds it, pasted: each figure whole, with its chart, its provenance and its
  pipeline, as HTML in the page, and its downloads as files
* ``comments``: the site as it is

Printed is the least user and system time of a build's process, and its ratio to both sites without comments. The bar
of 1.0 is for the ratio to ``by hand``, which shows its readers the same; ``tables`` shows them less.

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
from functools import partial
from pathlib import Path

from benchmarks.site_speed import cpu_seconds
from mongo_tables.build import build
from mongo_tables.directives import comments
from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import place_of
from mongo_tables.hosts.published_files import PublishedDocuments, Shelf, path_of_all, put
from mongo_tables.results.answers import Answers
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.guards import Limits
from mongo_tables.site.disk import snapshot_of

ROOT = Path(__file__).parents[1]
BAR = 1.0
DOORS = 2
"""The plugin and the extension, in ``mkdocs.yml``."""
PARTS = ("docs", "hooks", "fixtures", "tests/lint/pages")
_PLUGIN = re.compile(r"^  - mongo-tables:\n(?:      .*\n)+", re.MULTILINE)


def write_sites(folder: Path) -> dict[str, Path]:
    """The site as it is, and the two without comments, each in a folder of its own."""
    sites = {name: folder / name for name in ("tables", "by hand", "comments")}
    for site in sites.values():
        for part in PARTS:
            shutil.copytree(ROOT / part, site / part)
        shutil.copy(ROOT / "mkdocs.yml", site)
    _write_tables(sites["tables"], folder / "rendered")
    _paste_figures(sites["by hand"])
    for name in ("tables", "by hand"):
        _close_doors(sites[name] / "mkdocs.yml")
    return sites


def _write_tables(site: Path, rendered: Path) -> None:
    command = [sys.executable, "-m", "mongo_tables.program", "render", "docs", "--output", str(rendered)]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.copytree(rendered / "docs", site / "docs", dirs_exist_ok=True)


def _paste_figures(site: Path) -> None:
    """Write into the pages what the plugin would put there, and beside them the files that it would write."""
    docs, fixtures = site / "docs", site / "fixtures"
    files = [file.relative_to(docs) for file in sorted(docs.rglob("*.md"))]
    texts_of = {file.as_posix(): (docs / file).read_text("utf-8") for file in files}
    source = Answers(str(fixtures), Limits(), workers=1)
    report = build(snapshot_of(texts_of, "figures", docs / "pipelines"), source)
    documents = PublishedDocuments.of(open_fixtures(fixtures).local, "results")
    put({**documents.files, path_of_all("results"): documents.together}, docs)
    for page in report.pages:
        shelf = Shelf(page.file, _address(page.file))
        figures = report.figures.html(page, shelf.place, partial(documents.address, shelf.url))
        texts = [_as_block(comment, html) for comment, html in zip(page.comments, figures, strict=True)]
        (docs / page.file).write_text(comments.replace(page.text, page.comments, texts), "utf-8")
        put(shelf.files, docs)


def _address(page: str) -> str:
    """The address of a page within the site."""
    name = page.removesuffix(".md")
    return name.removesuffix("index") if Path(name).name == "index" else f"{name}/"


def _as_block(comment: Comment, html: str) -> str:
    """HTML as Markdown takes it: what belongs to a sentence in its line, a figure in lines of its own."""
    if place_of(comment.keyword) != "block":
        return html
    return f"\n{comment.prefix}".join(["", *html.split("\n"), ""])


def _close_doors(config: Path) -> None:
    without, doors = _PLUGIN.subn("", config.read_text("utf-8"))
    if doors != DOORS:
        raise SystemExit(f"mkdocs.yml opens {doors} doors, not {DOORS}: the site would not be static")
    config.write_text(without, "utf-8")


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Least CPU seconds of each build. The first round is not counted."""
    sites = write_sites(folder)
    samples: dict[str, list[float]] = {"tables": [], "by hand": [], "comments": []}
    for number in range(rounds + 1):
        for name, found in samples.items():
            spent = cpu_seconds(sites[name])
            if number:
                found.append(spent)
    return {name: min(found) for name, found in samples.items()}


def profile(folder: Path) -> None:
    """Print where a build's time goes, by function."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    os.chdir(folder / "comments")
    config = load_config("mkdocs.yml")
    profiler = cProfile.Profile()
    config.plugins.on_startup(command="build", dirty=False)
    profiler.runcall(build, config)
    config.plugins.on_shutdown()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("mongo_tables", 40)


def main() -> int:
    """Measure; 1 when the bar does not hold."""
    parser = argparse.ArgumentParser(
        description="CPU seconds of this site's builds, with and without its comments"
    )
    parser.add_argument("-n", "--rounds", type=int, default=5, help="builds of each kind (default: 5)")
    parser.add_argument("--profile", action="store_true", help="also show where a build's time goes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="site-build-") as root:
        seconds = measure(Path(root), arguments.rounds)
        if arguments.profile:
            profile(Path(root))
    by_hand = seconds["by hand"]
    for name, least in seconds.items():
        ratios = f"{least / seconds['tables']:.2f} of tables, {least / by_hand:.2f} of by hand"
        held = "" if least < BAR * by_hand else f"  over the bar of {BAR}"
        print(f"{name:<8}{least:6.2f} s  {ratios}{held}")
    return 0 if seconds["comments"] < BAR * by_hand else 1


if __name__ == "__main__":
    sys.exit(main())
