"""A site of many pages takes little memory: no page holds its figures before it is written, or afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, html, table, value, write

HOOK = """
from pathlib import Path

seen = []
pages = []

def look(where):
    seen.append(f"{where} {sum('<table' in page.content for page in pages)}")

def on_env(env, *, config, files):
    pages.extend(file.page for file in files.documentation_pages())
    look("converted")

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
