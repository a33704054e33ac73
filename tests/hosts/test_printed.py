"""Links to figures and rows lead there on the page that mkdocs-print-site makes of all pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, html, seen, table, value, write


def test_links_to_rows_lead_there_on_the_page_for_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "mkdocs.yml": f"{CONFIG}plugins:\n  - mongo-tables\n  - print-site\n",
        "docs/index.md": f"# Home\n\n{table('one')}\n\nSee [a row](deep/other.md#two--y), {value('two')}.\n",
        "docs/deep/other.md": f"# Other\n\nSee [it](#two) and [the first](../index.md#one--x).\n\n{table('two')}\n",
        "fixtures/r/r.jsonl": ROWS,
    }
    write(tmp_path, files)
    assert built(tmp_path).done
    printed = html(tmp_path, "print_page/index.html")
    text = printed[printed.index('id="print-site-page"') :]
    ids = re.findall(r' id="([^"]+)"', text)
    links = re.findall(r' href="#([^"]+)"', text)
    assert {"index-one--x", "deep-other-two--y", "deep-other-two"} <= set(links)
    assert [link for link in links if link not in ids] == []
    assert len(ids) == len(set(ids))
    assert (
        seen(tmp_path, "print_page/index.html").tables == [[["Kind", "Trains"], ["x", "3"], ["y", "5"]]] * 2
    )
    assert ' id="one--x"' in html(tmp_path, "index.html")
