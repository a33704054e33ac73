"""The plugin and the Markdown extension in one configuration show figures of one source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, table, write

LATE = "  - pymdownx.snippets:\n      auto_append: [late.md]\n"


@pytest.mark.parametrize("lists_both", [True, False])
def test_the_extension_beside_the_plugin_has_its_options(
    lists_both: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    extension = "  - mongo-tables:\n      results: elsewhere\n" if lists_both else ""
    files = {
        "mkdocs.yml": f"{CONFIG}plugins:\n  - mongo-tables:\n      results: kept\nmarkdown_extensions:\n{LATE}{extension}",
        "docs/index.md": "# Home\n\nWords.\n",
        "late.md": f"\n{table('late')}\n",
        "kept/r/r.jsonl": ROWS,
    }
    outcome = built(write(tmp_path, files))
    assert outcome.done is lists_both, outcome.log
    assert lists_both or "MT119" in outcome.log
    assert not lists_both or 'id="late"' in (tmp_path / "site/index.html").read_text("utf-8")
