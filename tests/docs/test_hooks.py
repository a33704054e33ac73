"""What the hooks of this project's own site do for its readers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from material.plugins.search.plugin import Parser

from docs.hooks.repository import on_post_page
from docs.hooks.searchwords import on_page_context

DOCS = Path(__file__).parents[2] / "docs"
EXPERIMENTS = sorted(DOCS.glob("experiments/*.md"))
CLONE = "<code># in a clone of this site&#39;s repository</code> <p>a clone of this site's\nrepository</p>"


def test_the_repository_is_a_link_in_text_and_in_code_where_its_address_is_known() -> None:
    linked = on_post_page(CLONE, SimpleNamespace(repo_url='https://host/a?b&c"'))
    start = '<a href="https://host/a?b&amp;c&quot;">'
    assert f"<code># in a clone of {start}this site&#39;s repository</a></code>" in linked
    assert f"a clone of {start}this site's\nrepository</a></p>" in linked


@pytest.mark.parametrize("unknown", [None, ""])
def test_without_an_address_none_is_invented(unknown: str | None) -> None:
    assert on_post_page(CLONE, SimpleNamespace(repo_url=unknown)) == CLONE


def page(meta: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(
        meta=meta, content='<h1 id="top">Inserts</h1>\n<p>Text.</p>\n<h2 id="b">B</h2>\n<h1>C</h1>'
    )


def test_a_page_is_found_by_words_that_it_does_not_show() -> None:
    inserts = page({"keywords": "insertMany, bulk <write>"})
    on_page_context({}, inserts)
    assert inserts.content.count("<p hidden>Also found as: insertMany, bulk &lt;write&gt;.</p>") == 1
    parser = Parser()
    parser.feed(inserts.content)
    assert "insertMany" in "".join(parser.data[0].text)
    assert "insertMany" not in "".join(parser.data[1].text)


def test_a_page_without_such_words_stays_as_it_is() -> None:
    plain = page({})
    on_page_context({}, plain)
    assert plain.content == page({}).content


@pytest.mark.parametrize("path", EXPERIMENTS, ids=[path.stem for path in EXPERIMENTS])
def test_every_experiment_is_found_by_what_others_call_it(path: Path) -> None:
    _, front, _ = path.read_text("utf-8").split("---\n", 2)
    assert "benchmark" in yaml.safe_load(front)["keywords"]
