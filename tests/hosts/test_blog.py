"""A blog's excerpts, archives and feeds have the numbers and the figures of its posts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.hosts.inprocess import ROWS, built, html, seen, table, value, write
from tests.hosts.plugins.smallsite import read, with_tokens

HEADER = ["Kind", "Trains"]
CHART = (
    '<!-- MONGO_CHART: {"id": "drawn", "title": "Drawn", "collection": "r", "pipeline": [{"$sort": {"_id": 1}}],'
    ' "mark": "bar", "x": "a", "y": "n"} -->'
)
CONFIG = """\
site_name: Small
site_url: https://example.org/
theme:
  name: material
  font: false
plugins:
  - search
  - blog:
      blog_toc: true
      pagination_per_page: 2
  - mongo-tables
  - rss:
      use_git: false
      abstract_chars_count: 600
      date_from_meta:
        as_creation: date
"""


def post(day: int, heading: str, text: str) -> str:
    return f"---\ndate: 2026-01-{day:02}\ncategories: [Trains]\n---\n\n# {heading}\n\n{text}\n"


POSTS = {
    "docs/blog/index.md": "# Blog\n",
    "docs/index.md": f"# Home\n\n{table('one')}\n",
    "docs/blog/posts/first.md": post(
        1,
        f"We have {value('speeds')} trains",
        f"We reach {value('speeds')} per second.\n\n{table('speeds')}\n\n{CHART}\n\n<!-- more -->\n\n{table('behind')}",
    ),
    "docs/blog/posts/second.md": post(
        2,
        "Second",
        f"At home {value('one', row='x')}.\n\n- Listed\n\n    {table('speeds-2')}\n\n<!-- more -->\nMore.",
    ),
    "fixtures/r/r.jsonl": ROWS,
}
VIEWS = ("blog/index.html", "blog/archive/2026/index.html", "blog/category/trains/index.html")
FIRST = "blog/2026/01/01/we-have-trains/index.html"


@pytest.fixture(scope="module")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = write(tmp_path_factory.mktemp("blog"), {"mkdocs.yml": CONFIG, **POSTS})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        outcome = built(folder)
        assert outcome.done, outcome.log
        assert outcome.errors == []
        yield folder


def test_excerpts_have_the_numbers_and_the_figures_of_their_posts(blog: Path) -> None:
    for view in VIEWS:
        found = seen(blog, view)
        assert found.values == ["3", "5", "5"], view
        assert found.headings == ["We have 5 trains"]
        assert found.tables == [
            [HEADER, ["x", "3"], ["y", "5"]],
            [HEADER, ["x", "3"], ["y", "5"]],
            [["a", "n"], ["x", "3"], ["y", "5"]],
        ]
        assert found.labels == ["3", "5"]
        assert found.faults == []
        assert "We have 5 trains\n" in re.sub("<[^>]*>", "", html(blog, view))


def test_no_file_of_a_blog_has_a_token(blog: Path) -> None:
    assert with_tokens(blog / "site") == []


def test_an_excerpt_has_no_anchor_of_its_post_and_its_links_lead_there(blog: Path) -> None:
    anchors = {
        str(page.relative_to(blog / "site")): set(
            re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8"))
        )
        for page in (blog / "site").rglob("*.html")
    }
    for view in VIEWS:
        text = html(blog, view)
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids)), view
        figures = "".join(re.findall(r"<figure.*?</figure>", text, re.DOTALL))
        links = [
            urlsplit(urljoin(f"/{view}", each)) for each in re.findall(r'<a\b[^>]* href="([^"]+)"', figures)
        ]
        assert any(link.fragment for link in links)
        for link in links:
            page = link.path.lstrip("/") + ("index.html" if link.path.endswith("/") else "")
            assert (blog / "site" / page).is_file(), link
            assert not link.fragment or link.fragment in anchors[page], link


def test_a_feed_has_the_numbers_and_the_rows_of_its_posts(blog: Path) -> None:
    feed = json.loads(html(blog, "feed_json_created.json"))
    texts = {item["title"]: item["content_html"] for item in feed["items"]}
    assert "We reach 5 per second." in re.sub("<[^>]*>", "", texts["We have 5 trains"])
    assert "At home 3." in re.sub("<[^>]*>", "", texts["Second"])
    assert read(texts["We have 5 trains"]).tables[0] == [HEADER, ["x", "3"], ["y", "5"]]
    assert "How it was made" not in str(feed)
    described = unescape(html(blog, "feed_rss_created.xml"))
    assert "We reach 5 per second." in re.sub("<[^>]*>", "", described)
    links = re.findall(r'href="([^"]*)"', texts["We have 5 trains"])
    assert links != []
    assert all(link.startswith("https://example.org/blog/2026/01/01/") for link in links)


def _paged(tmp_path: Path, index: str) -> Path:
    config = CONFIG[: CONFIG.index("  - rss:")].replace("per_page: 2", "per_page: 1")
    posts = {f"docs/blog/posts/{day}.md": post(day, f"Post {day}", "Words.") for day in (1, 2)}
    home = f"# Home\n\n{table('one')}\n"
    files = {
        "mkdocs.yml": config,
        "fixtures/r/r.jsonl": ROWS,
        "docs/index.md": home,
        "docs/blog/index.md": index,
    }
    return write(tmp_path, {**files, **posts})


def test_a_value_on_the_first_page_of_a_blog_is_shown_there_though_further_pages_have_the_title_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = _paged(tmp_path, f"# Blog\n\nThere are {value('one')} trains.\n")
    outcome = built(site)
    assert outcome.done, outcome.log
    assert re.search("There are .*5.* trains", html(site, "blog/index.html"))
    assert "There are" not in html(site, "blog/page/2/index.html")


def test_a_fault_on_a_page_that_a_plugin_made_is_told_with_the_page_and_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = built(_paged(tmp_path, f"# Blog\n\n{value('nobody')}\n"))
    assert not outcome.done
    places = [line.split(": MT")[0] for line in outcome.errors if "MT" in line]
    assert places == ["blog/page/2/index.md (generated by material/blog):3:29", "docs/blog/index.md:3:29"]
