"""The same page shows the same cells, whatever builds the site from it.

What MDX 3, the parser of Docusaurus, makes of the page is recorded (``tests/site/mdx/make.sh``).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from markdown_it import MarkdownIt

from mongo_tables.cli import main
from tests.hosts.builds import read
from tests.hosts.inprocess import CONFIG, built
from tests.hosts.test_sphinx import CONF, build
from tests.hosts.test_sphinx import page as page_of

RECORDED: Final = Path(__file__).parents[1] / "site/mdx"


def _of_mkdocs() -> str:
    Path("mkdocs.yml").write_text(f"{CONFIG}plugins:\n  - mongo-tables:\n      results: m.jsonl\n")
    outcome = built(Path())
    assert outcome.done, outcome.errors
    return Path("site/page/index.html").read_text(encoding="utf-8")


def _of_markdown_it() -> str:
    """VitePress has markdown-it in JavaScript, of which this is the port."""
    assert main(["render", "--in-place", "docs/page.md", "--results", "m.jsonl"]) == 0
    return MarkdownIt("default", {"html": True}).render(Path("docs/page.md").read_text(encoding="utf-8"))


def _of_sphinx() -> str:
    Path("mongo-tables.toml").write_text('results = "m.jsonl"\n')
    Path("docs/conf.py").write_text(f"{CONF}root_doc = 'page'\n")
    done = build(Path())
    assert done.status == 0, done.warnings
    return page_of(Path(), "page")


def _of_mdx() -> str:
    return (RECORDED / "written.html").read_text(encoding="utf-8")


DOORS: Final[dict[str, Callable[[], str]]] = {
    "MkDocs": _of_mkdocs,
    "Sphinx": _of_sphinx,
    "VitePress": _of_markdown_it,
    "Docusaurus": _of_mdx,
}


def _cells(html: str) -> list[list[str]]:
    """The rows of the first table below its headers, with blanks as readers see them."""
    table = next(one for one in read(html).tables if len(one) > 4)
    rows = [[re.sub(r"\s+", " ", cell).strip() for cell in row] for row in table]
    return [row for row in rows if len(row) == 4][-5:]


@pytest.fixture
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of MDX as one of Markdown: with comments of HTML, and without JavaScript."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(RECORDED / "m.jsonl", tmp_path)
    text = (RECORDED / "page.mdx").read_text(encoding="utf-8")
    text = re.sub(r"^(?:import|export) .*\n|^</?Tabs>\n|^ *</?TabItem.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?s)```.*?```", "", text).replace("\n    {/*", "\n{/*").replace("\n  {/*", "\n    {/*")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text(text.replace("{/*", "<!--").replace("*/}", "-->"))


@pytest.mark.usefixtures("_page")
def test_every_door_shows_the_same_cells() -> None:
    cells = {door: _cells(show()) for door, show in DOORS.items()}
    assert len(cells["MkDocs"]) == 5
    assert cells == dict.fromkeys(DOORS, cells["MkDocs"])
