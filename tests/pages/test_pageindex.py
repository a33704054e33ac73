"""The index of names finds every page that reading all of them would find, whatever happened to the files since."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.files import states
from mongo_tables.pages import pageindex
from mongo_tables.pages.pageindex import PagesBelow
from mongo_tables.results import cachefolder

LONG_AGO = 1_700_000_000


def table(name: str) -> str:
    return f'<!-- MONGO_TABLE: {{"id": "{name}", "collection": "r", "columns": ["n"]}} -->\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pages that are old enough to be entered, and an index that is kept however few they are."""
    monkeypatch.setattr(pageindex, "WORTH", 1)
    monkeypatch.setattr(states, "SETTLED", -1)
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/one.md").write_text(table("one"))
    (tmp_path / "docs/deep/two.markdown").write_text(table("two"))
    (tmp_path / "docs/none.md").write_text("# None\n")
    return tmp_path / "docs"


def names(found: list[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found]


def read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that a look reads, as the index does not know them."""
    read: list[str] = []
    reading = pageindex._text
    with monkeypatch.context() as patch:
        patch.setattr(pageindex, "_text", lambda file: read.append(file.name) or reading(file))
        PagesBelow(folder).find_naming({"nowhere"})
    return sorted(set(read))


def test_pages_are_found_by_their_names_and_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]
        assert names(PagesBelow(folder).find_naming({"two", "nowhere"}), folder) == ["deep/two.markdown"]
        assert PagesBelow(folder).find_naming({"nowhere"}) == []
    assert read_again(folder, monkeypatch) == []


def test_pages_that_were_others_while_they_were_read_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep, aside, make = folder / "deep", folder.parent / "aside", pageindex._make

    def exchange_then_make(*given: Any) -> pageindex.Index:
        deep.rename(aside)
        deep.mkdir()
        (deep / "two.markdown").write_text(table("other"))
        made = make(*given)
        shutil.rmtree(deep)
        aside.rename(deep)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(pageindex, "_make", exchange_then_make)
        assert names(PagesBelow(folder).find_naming({"other"}), folder) == ["deep/two.markdown"]
    assert names(PagesBelow(folder).find_naming({"two"}), folder) == ["deep/two.markdown"]
    assert PagesBelow(folder).find_naming({"other"}) == []


def test_a_page_that_could_not_be_read_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = pageindex._text
    with monkeypatch.context() as patch:
        patch.setattr(pageindex, "_text", lambda file: None if file.name == "one.md" else read(file))
        assert PagesBelow(folder).find_naming({"one"}) == []
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]


def test_a_page_that_quotes_a_table_is_found_as_well(folder: Path) -> None:
    (folder / "prose.md").write_text('> <!-- MONGO_VALUE: {"table":\n> "one", "column": "n"} -->\n')
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md", "prose.md"]


def test_all_pages_of_a_name_are_found_and_none_whose_name_only_ends_or_begins_so(folder: Path) -> None:
    for name, written in (("same", "one"), ("longer", "one.more"), ("other", "another.one"), ("empty", "")):
        (folder / f"{name}.md").write_text(table(written))
    for _ in range(2):
        assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md", "same.md"]
        assert names(PagesBelow(folder).find_naming({""}), folder) == ["empty.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files there")
@pytest.mark.parametrize("name", ["two\nlines.md", "a\x01.md"])
def test_pages_are_found_beside_one_whose_name_is_no_name(name: str, folder: Path) -> None:
    (folder / name).write_text(table("odd"))
    for _ in range(2):
        assert names(PagesBelow(folder).find_naming({"odd"}), folder) == [name]
        assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]
        assert PagesBelow(folder).find_naming({"lines.md"}) == []


def test_a_change_of_the_same_length_at_the_same_time_is_seen(folder: Path) -> None:
    page = folder / "one.md"
    os.utime(page, (LONG_AGO, LONG_AGO))
    PagesBelow(folder).find_naming({"one"})
    before = page.stat().st_ctime_ns
    while page.stat().st_ctime_ns == before:  # The clock of the file system ticks more slowly than this runs.
        page.write_text(table("six"))
        os.utime(page, (LONG_AGO, LONG_AGO))
    assert PagesBelow(folder).find_naming({"one"}) == []
    assert names(PagesBelow(folder).find_naming({"six"}), folder) == ["one.md"]


def test_pages_that_came_and_went_are_seen(folder: Path) -> None:
    PagesBelow(folder).find_naming({"one"})
    (folder / "one.md").unlink()
    (folder / "new.md").write_text(table("one"))
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["new.md"]


def test_a_page_that_changed_a_moment_ago_is_read_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SETTLED", 10**15)
    PagesBelow(folder).find_naming({"one"})
    assert read_again(folder, monkeypatch) == ["none.md", "one.md", "two.markdown"]


def test_an_index_that_somebody_else_wrote_is_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PagesBelow(folder).find_naming({"one"})
    place = cachefolder.folder_for(folder)
    assert place is not None
    (entry,) = place.glob("*.bson")
    entry.write_bytes(entry.read_bytes().replace(b'"one"', b'"six"'))
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]


def test_without_a_cache_pages_are_found_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cachefolder.VARIABLE, "")
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]
    assert read_again(folder, monkeypatch) == ["none.md", "one.md", "two.markdown"]


def test_pages_that_take_in_files_or_are_made_by_templates_are_found_for_any_name(folder: Path) -> None:
    (folder / "taking.md").write_text('--8<-- "part.md"\n')
    (folder / "made.md").write_text("{{ table() }}\n")
    assert names(PagesBelow(folder).find_naming({"nowhere"}), folder) == ["taking.md"]
    assert names(PagesBelow(folder).find_late(), folder) == ["made.md", "taking.md"]


def test_a_single_page_stands_for_its_folder(folder: Path) -> None:
    assert PagesBelow(folder / "one.md").find_naming({"nowhere"}) == [folder / "one.md"]


def test_what_cannot_be_read_has_no_names(folder: Path) -> None:
    (folder / "broken.md").write_bytes(b"\xff" + table("one").encode())
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "folder.md").mkdir()
    assert names(PagesBelow(folder).find_naming({"one"}), folder) == ["one.md"]


IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"'), min_size=1, max_size=4)


@given(
    name=IDS,
    key=st.sampled_from(["id", "table"]),
    quote=st.sampled_from(['"', "'", ""]),
    between=st.sampled_from(["", " ", "\n", "\n> ", "\t"]),
    escaped=st.booleans(),
)
def test_whatever_way_a_name_is_written_its_page_is_found(
    name: str, key: str, quote: str, between: str, escaped: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    written = "".join(f"\\u{ord(sign):04x}" for sign in name) if escaped and name.isascii() else name
    text = f'<!-- MONGO_TABLE: {{{quote}{key}{quote}{between}:{between}"{written}"}} -->'
    (folder / "page.md").write_text(text, encoding="utf-8")
    assert PagesBelow(folder).find_naming({name}) == [folder / "page.md"]
