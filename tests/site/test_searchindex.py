"""The index of a search has the same words in it, whether they wait for it or are parsed with their page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mongo_tables.site import searchindex
from tests.site.inprocess import ROWS, built, table, write

INDEX = "site/search/search_index.json"
MARKUP = '{"_id": 3, "a": "<b> & \\"c\\" \\u00a0\\u2028 \\\\ 1,234", "n": 14909}\n'
THEMES = {"mkdocs": "{name: mkdocs}", "material": "{name: material, font: false}"}
HOOKS = {
    "reads what search plugins get": "def on_page_context(context, **_):\n    return context\n",
    "reads the index": 'def on_post_build(config):\n    open(config.site_dir + "/search/search_index.json").read()\n',
}


def site_of(folder: Path, theme: str, search: str = "search", hook: str = "") -> Path:
    formatted = table("one").replace(
        '"id"', '"format": {"n": {"thousands": true}}, "caption": "A & *b*", "id"'
    )
    pages = {
        "docs/index.md": f"# First\n\nBefore.\n\n{formatted}\n\nBetween.\n\n{table('two')}\n",
        "docs/next.md": f"# Second\n\n## Part\n\nWords\n{table('three', 4)}\nbehind.\n\n{table('four', 9)}\n",
        "docs/copy.md": f"# First\n\nBefore.\n\n{table('five')}\n",
    }
    settings = f"site_name: Small\ntheme: {THEMES[theme]}\nplugins: [{search}, mongo-tables]\n"
    hooks = (
        {"mkdocs.yml": f"{settings}hooks: [hook.py]\n", "hook.py": hook} if hook else {"mkdocs.yml": settings}
    )
    return write(folder, {**hooks, "fixtures/r/r.jsonl": f"{ROWS}{MARKUP}", **pages})


def texts(site: Path) -> Sequence[Sequence[str]]:
    """Where each text of the index is found, and its words."""
    outcome = built(site)
    assert outcome.done, outcome.log
    entries = json.loads((site / INDEX).read_text("utf-8"))["docs"]
    return [[each["location"], each["title"], *each["text"].split()] for each in entries]


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return str(request.param)


@pytest.mark.parametrize("block", [1, 97, 2**20])
def test_words_that_wait_are_those_that_would_have_been_parsed(
    block: int, theme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path, theme)
    monkeypatch.setattr(searchindex, "_BLOCK", block)
    made, kept = texts(site), texts(site)
    assert b"mongo-tables:" not in (site / INDEX).read_bytes()
    monkeypatch.setattr("mongo_tables.site.plugin.find_waiting", lambda config, plugin: None)
    assert made == kept == texts(site)
    assert sum("14909" in text for text in made) >= 2


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_no_words_wait_where_somebody_else_reads_them(
    hook: str, theme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path, theme, hook=hook)
    monkeypatch.setattr(searchindex.WaitingWords, "mark", None)
    monkeypatch.setattr(searchindex.WaitingWords, "mark_packed", None)
    assert any("14909" in text for text in texts(site))


def test_an_index_that_is_prepared_for_readers_has_its_words_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchindex.WaitingWords, "mark_packed", None)
    assert any(
        "14909" in text for text in texts(site_of(tmp_path, "mkdocs", "search: {prebuild_index: true}"))
    )


def test_a_page_that_only_looks_as_if_it_had_a_mark_stays_as_it_is(theme: str, tmp_path: Path) -> None:
    site = site_of(tmp_path, theme)
    written = f"mongo-tables:{'0' * 16}-0-0 and mongo-tables:{'0' * 16}-0-77"
    write(site, {"docs/odd.md": f"# Odd\n\n{written}\n"})
    assert any(written in " ".join(text) for text in texts(site))
