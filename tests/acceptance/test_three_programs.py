"""MkDocs, ProperDocs and Zensical build this project's own site, and show the same figures on every page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.builds import article, environment, read
from tests.ownsite import HERE, PARTS

FIGURE = re.compile(r'<figure class="mongo-table".*?</figure>', re.DOTALL)
VALUE = re.compile(r'<span class="mongo-value"[^>]*>.*?</span>', re.DOTALL)
DRAWING = re.compile(r'<svg class="mongo-chart.*?</svg>', re.DOTALL)
HOOKS = re.compile(r"^hooks:\n(?: .*\n)+", re.MULTILINE)
"""They make the pages of rules, which have no figures, and Zensical runs none."""
CAMPAIGN_LINK = re.compile(r'<a href="[^"]*documents/campaigns/[^"]*">(\w+)</a>')
"""The link of a campaign to its rows, which a hook of the site writes."""


class Figures(NamedTuple):
    """What a reader sees of results on a page: the cells of tables, values in sentences, drawings."""

    tables: list[list[list[str]]]
    values: list[str]
    drawings: list[str]


def figures_of(page: Path) -> Figures:
    html = CAMPAIGN_LINK.sub(r"\1", article(page))
    tables = [table for figure in FIGURE.findall(html) for table in read(figure).tables]
    return Figures([without_files(table) for table in tables], VALUE.findall(html), DRAWING.findall(html))


def without_files(table: list[list[str]]) -> list[list[str]]:
    """A list of runs without the links to their documents: the plugin alone puts files beside pages."""
    return [row[:-1] for row in table] if table[0][-1] == "Document" else table


def build(program: str, folder: Path) -> Path:
    for part in PARTS:
        shutil.copytree(HERE / part, folder / part)
    settings = (HERE / "mkdocs.yml").read_text("utf-8")
    (folder / "mkdocs.yml").write_text(HOOKS.sub("", settings), "utf-8")
    command = [sys.executable, "-m", program, "build", *(["-q"] if program == "properdocs" else [])]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(MONGO_TABLES_RESULTS=""),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.thorough
@pytest.mark.parametrize("program", ["properdocs", "zensical"])
def test_every_page_has_the_figures_that_it_has_under_mkdocs(
    program: str, own_site: Path, tmp_path: Path
) -> None:
    """What hooks write into pages is none of the figures."""
    built = build(program, tmp_path)
    pages = [page.relative_to(HERE / "docs").with_suffix("") for page in sorted(HERE.glob("docs/**/*.md"))]
    places = [page.parent if page.name == "index" else page for page in pages]
    compared = 0
    for place in places:
        expected = figures_of(own_site / place / "index.html")
        assert figures_of(built / place / "index.html") == expected, place
        compared += sum(map(len, expected))
    assert compared > 500
