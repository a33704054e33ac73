"""Rows that the last build wrote are not written again where they are the same, and are gone where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from preprocessor.site import plugin
from preprocessor.site.lastrows import ASIDE, LastRows
from tests.site.inprocess import CONFIG, built, write

ROWS = '{{"_id": 1, "n": {n}}}\n'
FILES = {
    "mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n",
    **{f"fixtures/{name}/r.jsonl": ROWS.format(n=5) for name in ("same", "other")},
    "docs/index.md": "# One\n\n"
    + "\n".join(
        f'<!-- MONGO_TABLE: {{"id": "{name}", "collection": "{name}", "columns": ["n"]}} -->\n'
        for name in ("same", "other")
    ),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site that was built."""
    write(tmp_path, FILES)
    assert built(tmp_path).done
    assert names(tmp_path) == ["index.other.csv", "index.other.json", "index.same.csv", "index.same.json"]
    return tmp_path


def names(site: Path) -> list[str]:
    return sorted(path.name for path in (site / "site/rows").iterdir())


def test_only_rows_that_are_others_are_written(site: Path) -> None:
    before = {path.name: path.stat().st_ino for path in (site / "site/rows").iterdir()}
    (site / "copy.csv").hardlink_to(site / "site/rows/index.other.csv")
    write(site, {"fixtures/other/r.jsonl": ROWS.format(n=7)})
    assert built(site).done
    after = {path.name: path.stat().st_ino for path in (site / "site/rows").iterdir()}
    assert {name for name in before if before[name] == after[name]} == {"index.same.csv", "index.same.json"}
    assert (site / "site/rows/index.other.csv").read_text() == "N\n7\n"
    assert (site / "copy.csv").read_text() == "N\n5\n"
    assert not (site / "site" / ASIDE).exists()


def test_rows_that_no_page_has_any_more_are_gone(site: Path) -> None:
    first, second = FILES["docs/index.md"].split("<!--")[:2]
    write(site, {"docs/index.md": f"{first}<!--{second}"})
    assert built(site).done
    assert names(site) == ["index.same.csv", "index.same.json"]
    write(site, {"docs/index.md": first})
    assert built(site).done
    assert not (site / "site/rows").exists()
    assert not (site / "site" / ASIDE).exists()


def test_pages_of_an_author_in_a_folder_of_that_name_come_and_go(site: Path) -> None:
    write(site, {"docs/rows/more.md": "# More\n"})
    assert built(site).done
    assert (site / "site/rows/more/index.html").exists()
    (site / "docs/rows/more.md").unlink()
    assert built(site).done
    assert names(site) == ["index.other.csv", "index.other.json", "index.same.csv", "index.same.json"]


def test_a_build_that_fails_leaves_nothing_aside(site: Path) -> None:
    write(site, {"docs/index.md": FILES["docs/index.md"].replace("columns", "columnz")})
    assert not built(site).done
    assert list((site / "site").iterdir()) == []


def test_a_site_that_was_not_emptied_keeps_its_rows(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: plugin.MongoTablesPlugin, *, config: object) -> None:
        self._site.last_rows.hold_aside()
        raise OSError("the disk is full")

    monkeypatch.setattr(plugin.MongoTablesPlugin, "on_pre_build", fail)
    with pytest.raises(OSError, match="the disk is full"):
        built(site)
    assert (site / "site/index.html").exists()
    assert len(names(site)) == 4
    assert not (site / "site" / ASIDE).exists()


@pytest.mark.parametrize("rows", ["are aside", "are half written"])
def test_what_a_build_that_was_killed_left_aside_is_used_or_removed(site: Path, rows: str) -> None:
    LastRows(site / "site").hold_aside()
    if rows == "are half written":
        write(site, {"site/rows/index.other.csv": "n\n"})
    assert built(site).done
    assert (site / "site/rows/index.other.csv").read_text() == "N\n5\n"
    assert len(names(site)) == 4
    assert not (site / "site" / ASIDE).exists()


def test_what_is_no_plain_file_is_replaced(site: Path) -> None:
    linked, pipe = site / "site/rows/index.same.csv", site / "site/rows/index.other.csv"
    linked.rename(site / "elsewhere.csv")
    linked.symlink_to(site / "elsewhere.csv")
    pipe.unlink()
    os.mkfifo(pipe)
    assert built(site).done
    assert [path.is_symlink() or not path.is_file() for path in (linked, pipe)] == [False, False]
    assert {path.read_text() for path in (linked, pipe, site / "elsewhere.csv")} == {"N\n5\n"}


def test_a_link_where_they_are_held_aside_is_not_followed(site: Path) -> None:
    write(site, {"elsewhere/kept.csv": "kept"})
    (site / "site" / ASIDE).symlink_to(site / "elsewhere")
    assert built(site).done
    assert (site / "elsewhere/kept.csv").read_text() == "kept"
    assert len(names(site)) == 4
    assert not (site / "site" / ASIDE).is_symlink()
