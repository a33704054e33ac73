"""Front matter takes no values: a comment in it would be published as it is written, so it ends the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.inprocess import CONFIG, ROWS, built, table, value, write

PLUGIN, EXTENSION = "plugins: [mongo-tables]\n", "plugins: []\nmarkdown_extensions: [mongo-tables]\n"


def site(folder: Path, settings: str, front: str, text: str) -> Path:
    files = {
        "mkdocs.yml": f"{CONFIG}{settings}",
        "docs/index.md": f"---\n{front}\n---\n\n# Home\n\n{text}\n",
        "fixtures/r/r.jsonl": ROWS,
    }
    return write(folder, files)


@pytest.mark.parametrize("settings", [PLUGIN, EXTENSION], ids=["plugin", "extension"])
@pytest.mark.parametrize("text", [table("one"), "Words."], ids=["with a table", "without"])
def test_no_page_is_published_with_the_json_of_a_comment_in_its_title(
    settings: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(site(tmp_path, settings, f"title: 'Reached {value('one')}'", text))
    try:
        outcome = built(tmp_path)
        done, said = outcome.done, outcome.log
    except Exception as error:
        done, said = False, str(error)
    assert not done
    assert "docs/index.md:2:17: MT127 MONGO_VALUE is in front matter" in said + capsys.readouterr().err
    assert main(["check", "docs"]) == 1
    assert "docs/index.md:2:17: error MT127 " in capsys.readouterr().out


@pytest.mark.parametrize("settings", [PLUGIN, EXTENSION], ids=["plugin", "extension"])
def test_a_remark_in_front_matter_is_nothing(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site(tmp_path, settings, f"title: Home\n# {value('one')}", table("one")))
    assert built(tmp_path).done
    assert main(["check", "docs"]) == 0
