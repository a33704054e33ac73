"""A page with its figures in place is also a page of a site, which shows each of them once, as the build has it."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest

from mongo_tables.cli import main
from mongo_tables.hosts.markdown_extension import MongoTablesExtension
from tests.hosts.inprocess import CONFIG, built, html, table, value, write

CHART = (
    '<!-- MONGO_CHART: {"id": "drawn", "title": "Trains", "collection": "r", "pipeline": [{"$sort": {"_id": 1}}], '
    '"x": "a", "y": "n", "mark": "bar"} -->'
)
PAGE = f"""\
# Trains

They are {value("trains")} of a kind, not {value("trains", row="x")}.

- In a list {value("trains")} of them.

> Quoted {value("trains")} once.

| a | b |
| - | - |
| of | {value("trains")} trains |

{table("trains")}

{CHART}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {
            "mkdocs.yml": f"{CONFIG}plugins:\n  - mongo-tables:\n      results: fixtures\n",
            "fixtures/r/a.jsonl": '{"_id": 1, "a": "x", "n": 733}\n{"_id": 2, "a": "y", "n": 955}\n',
            "docs/index.md": PAGE,
        },
    )
    return tmp_path


def figures(page: str) -> str:
    """The part of a page that is made of its text."""
    main = page[page.index("<h1") : page.index("</figure>", page.index("mongo-chart__wide")) + 1]
    return re.sub(r"<svg.*?</svg>", "<svg>", main, flags=re.DOTALL)


def test_a_site_shows_each_figure_once_and_no_picture_of_its_chart(folder: Path) -> None:
    assert built(folder).done
    before = figures(html(folder, "index.html"))
    assert main(["render", "--in-place", "docs/index.md"]) == 0
    assert (folder / "docs/index.drawn.svg").exists()
    assert "-->955<!--" in (folder / "docs/index.md").read_text()
    assert built(folder).done
    page = html(folder, "index.html")
    assert figures(page) == before
    assert page.count('data-v="955">955</span>') == 4
    assert "mongo-tables: begin" not in page
    assert "index.drawn.svg" not in page


def test_a_site_shows_the_results_of_its_build_whatever_stands_in_the_page(folder: Path) -> None:
    assert main(["render", "--in-place", "docs/index.md"]) == 0
    data = folder / "fixtures/r/a.jsonl"
    data.write_text(data.read_text().replace("955", "957"))
    assert built(folder).done
    page = html(folder, "index.html")
    assert page.count('data-v="957">957</span>') == 4
    assert "955" not in figures(page)


def test_the_extension_shows_each_figure_once(folder: Path) -> None:
    def converted() -> str:
        extension = MongoTablesExtension(results="fixtures", file="docs/index.md")
        text = (folder / "docs/index.md").read_text()
        return str(markdown.markdown(text, extensions=[extension, "tables"]))

    before = converted()
    assert main(["render", "--in-place", "docs/index.md"]) == 0
    assert converted() == before
    assert before.count('data-v="955">955</span>') == 4
