"""A site of many pages takes little memory: no page holds its figures before it is written, or afterwards."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from mongo_tables.site.placeholders import NAME
from tests.hosts.inprocess import CONFIG, ROWS, Outcome, built, html, table, value, write

HOOK = """
from pathlib import Path

from mkdocs.plugins import event_priority

seen = []
pages = []

def look(where):
    seen.append(f"{where} {sum('<table' in page.content for page in pages)}")

def on_env(env, *, config, files):
    pages.extend(file.page for file in files.documentation_pages())
    look("converted")

@event_priority(-100)  # as a template
def on_page_context(context, *, page, **_):
    look("written")

def on_post_build(config):
    look("built")
    Path("held.txt").write_text("\\n".join(seen))
"""


def test_no_page_holds_its_tables_before_its_turn_or_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "mkdocs.yml": f"{CONFIG}plugins: [search, mongo-tables]\nhooks: [hook.py]\n",
        "hook.py": HOOK,
        "docs/index.md": f"# There are {value('two')}\n\nOr {value('one')}.\n\n{table('one')}\n",
        "docs/two.md": f"# Second\n\n{table('two')}\n\nWords\n{table('three', 4)}\nin between.\n",
        "fixtures/r/r.jsonl": ROWS,
    }
    outcome = built(write(tmp_path, files))
    assert outcome.done, outcome.log
    held = (tmp_path / "held.txt").read_text(encoding="utf-8").split("\n")
    assert held == ["converted 0", "written 1", "written 1", "built 0"]
    assert html(tmp_path, "two/index.html").count('<figure class="mongo-table"') == 2


def built_with(folder: Path, hook: str, page: str) -> Outcome:
    """Build a site of one page with a hook."""
    files = {
        "mkdocs.yml": f"{CONFIG}plugins: [search, mongo-tables]\nhooks: [hook.py]\n",
        "hook.py": dedent(hook),
        "docs/index.md": page,
        "fixtures/r/r.jsonl": ROWS,
    }
    return built(write(folder, files))


def test_search_plugins_read_the_texts_of_figures_and_templates_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hook = """
        from pathlib import Path

        def on_page_context(context, *, page, **_):  # as a search plugin
            Path("read.txt").write_text(page.content)
    """
    outcome = built_with(tmp_path, hook, f"# Runs\n\nIt is {value('one')}.\n\n{table('one')}\n")
    assert outcome.done, outcome.log
    read, shown = (tmp_path / "read.txt").read_text(encoding="utf-8"), html(tmp_path, "index.html")
    assert "<table" not in read
    assert "href" not in read.replace('href="#', "")
    figure = shown.partition("<figure")[2].partition("</table>")[0]
    cells = re.findall(r"<t[hd]\b[^>]*>(?:<a[^>]*>)?([^<]+)", figure)
    assert len(cells) > 3
    assert " ".join(cells) in re.sub(r"\s+", " ", read)
    assert not NAME.search(shown)


def test_a_figure_that_a_hook_takes_away_while_pages_are_written_fails_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hook = """
        import re

        def on_page_context(context, *, page, **_):
            page.content = re.sub("<!--.*?-->", "", page.content)
    """
    outcome = built_with(tmp_path, hook, f"# Runs\n\nWords.\n\n{table('one')}\n")
    assert not outcome.done
    assert any(line.startswith("docs/index.md:5:1: ") and "MT118" in line for line in outcome.errors), (
        outcome.errors
    )
