"""A large site is made page by page, and is the one that is made of all pages at once; so are its faults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mongo_tables.site import pagebypage, pagereader
from mongo_tables.site.plugin import MongoTablesPlugin
from tests.site.builds import files
from tests.site.inprocess import CONFIG, ROWS, built, table, value, write

PLUGINS = "plugins: [search, mongo-tables]\n"
SOUND = {
    "a": f"# Page A {value('b')}\n\n{table('a')}\n\nLast: {value('f')}.\n",
    "b": f"# Page B\n\n{value('a')} before.\n\n{table('b', 4)}\n\n{table('b2')}\n",
    "c": "# Page C\n\n`<!-- MONGO_TABLE: {} -->` is no table here.\n",
    "d": f"# Page D\n\nLike A: {value('a')}.\n\n{table('d')}\n",
    "e": f"# Page E\n\n{value('b2')} and {value('b')}\n\n{table('e')}\n",
    "f": f"# Page F\n\n{table('f')}\n\n{value('f')}\n",
}
FAULTS = {
    "an id on two pages": {"e": f"# Page E\n\n{table('b')}\n\n{table('e', 4)}\n"},
    "an id twice on a page": {"e": f"# Page E\n\n{table('e')}\n\n{table('e', 4)}\n"},
    "no table": {"d": f"# Page D\n\n{value('none')}\n", "f": f"# F\n\n{table('f')}\n\n{value('naught')}\n"},
    "a value of no row": {"f": f"# Page F\n\n{table('f', 9)}\n"},
    "no column": {"b": SOUND["b"].replace('["a", "n"]', '["a", "m"]')},
    "no JSON": {"d": "# Page D\n\n<!-- MONGO_TABLE: {,} -->\n"},
    "another stage": {"e": SOUND["e"].replace("$sort", "$sorts")},
    "in front matter": {"c": f"---\nx: '{table('x')}'\n---\n# C\n"},
    "written otherwise": {"a": SOUND["a"].replace('"id": "a"', '"id": "\\u0061"')},
}
LATE = """
def on_page_markdown(markdown, *, page, config, files):
    return markdown.replace("Like A", "As in A")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONGO_TABLES_CACHE", "")
    pages = {f"docs/{name}.md": text for name, text in SOUND.items()}
    settings = {"mkdocs.yml": f"{CONFIG}{PLUGINS}", "fixtures/r/r.jsonl": ROWS}
    return write(tmp_path, {**settings, **pages, "docs/index.md": "# Home\n"})


def build(
    site: Path, many: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[bool, list[str], Mapping[str, bytes]]:
    """Whether a site of ``many`` pages or more, which are made one by one, is built, its faults, and its files."""
    monkeypatch.setattr(pagebypage, "MANY", many)
    outcome = built(site)
    found = files(site / "site") if outcome.done else {}
    dated = {path: content.split(b"Build Date UTC")[0] for path, content in found.items()}
    return outcome.done, outcome.errors + outcome.warnings, dated


def test_a_site_made_page_by_page_is_the_one_made_at_once(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one, at_once = (build(site, many, monkeypatch) for many in (1, 100))
    assert one_by_one[:2] == (True, [])
    assert one_by_one[1] == at_once[1]
    assert one_by_one == at_once


@pytest.mark.parametrize("pages", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_as_if_all_pages_were_made_at_once(
    pages: Mapping[str, str], site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site, {f"docs/{name}.md": text for name, text in pages.items()})
    one_by_one, at_once = (build(site, many, monkeypatch) for many in (1, 100))
    assert one_by_one[1] == at_once[1]
    assert one_by_one == at_once


def test_a_page_that_comes_otherwise_is_told_as_if_all_pages_were_made_at_once(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site, {"hook.py": LATE, "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n"})
    one_by_one, at_once = (build(site, many, monkeypatch) for many in (1, 100))
    assert one_by_one[1] == at_once[1]
    assert one_by_one == at_once
    assert b"As in A" in one_by_one[2]["d/index.html"]


@pytest.mark.parametrize("cache", ["", "cache"], ids=["not kept", "kept"])
def test_no_page_is_held_once_it_is_done_and_no_other_quotes_it(
    cache: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", cache and str(site / cache))
    held: list[list[str]] = []
    usual = MongoTablesPlugin.on_page_content

    def watched(self: MongoTablesPlugin, html: str, **given: object) -> str:
        made = usual(self, html, **given)  # type: ignore[arg-type]
        held.append([Path(page.file).stem for page in self._site.pages.values()])
        assert len(self._site.reader._read) <= 3
        assert len(self._site.asked.by_key) <= 6
        assert not self._site.told
        return made

    monkeypatch.setattr(MongoTablesPlugin, "on_page_content", watched)
    done, faults, _ = build(site, 1, monkeypatch)
    assert (done, faults) == (True, [])
    assert held == [[], ["a"], ["a", "b"], ["a", "b"], ["b"], [], []]


OTHER = table("b", pipeline='[{"$set": {"n": {"$add": ["$n", 1]}}}]')
CHANGES = {
    "nothing but words": ({"c": "# Page C\n\nOther words.\n"}, set()),
    "words of a page with figures": ({"d": SOUND["d"].replace("Like A", "As in A")}, {"a", "d"}),
    "a table that others quote": ({"b": SOUND["b"].replace(table("b", 4), OTHER)}, {"a", "b", "e", "f"}),
    "a table that went elsewhere": (
        {"b": SOUND["b"].replace(table("b2"), ""), "f": f"{SOUND['f']}\n{table('b2')}\n"},
        {"a", "b", "e", "f"},
    ),
    "a page more": ({"g": f"# Page G\n\n{table('g')}\n\n{value('d')}\n"}, {"d", "g"}),
    "an id that is there already": ({"g": f"# Page G\n\n{table('d')}\n"}, None),
    "a table that others miss": ({"a": "# Page A\n\nNo table.\n"}, None),
    "a pipeline": ({"e": SOUND["e"].replace("$sort", "$sorts")}, None),
}


@pytest.mark.parametrize(("pages", "read"), CHANGES.values(), ids=CHANGES)
def test_pages_that_did_not_change_are_taken_over_and_the_site_is_the_one_made_anew(
    pages: Mapping[str, str], read: set[str] | None, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(site / "cache"))
    build(site, 1, monkeypatch)
    write(site, {f"docs/{name}.md": text for name, text in pages.items()})
    seen: set[str] = set()
    usual = pagereader.read_page

    def watched(text: str, file: str, shared: object) -> object:
        seen.add(Path(file).stem)
        return usual(text, file, shared)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(pagereader, "read_page", watched)
        again = build(site, 1, monkeypatch)
    monkeypatch.setenv("MONGO_TABLES_CACHE", "")
    assert again == build(site, 100, monkeypatch)
    assert read is None or seen == read


def test_a_text_like_the_id_of_a_quoted_table_is_not_taken_for_it(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(site / "cache"))
    write(site, {"docs/c.md": f"# Page C\n\n`{table('a')}` is no table here.\n"})
    for least in (0, 4):
        write(site, {"docs/a.md": f"# Page A\n\n{table('a', least)}\n"})
        made = build(site, 1, monkeypatch)
    monkeypatch.setenv("MONGO_TABLES_CACHE", "")
    assert made == build(site, 100, monkeypatch)


def test_what_was_taken_over_is_kept_for_the_build_after(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(site / "cache"))
    for words in ("One.", "Two.", "Three."):
        write(site, {"docs/d.md": f"{SOUND['d']}\n{words}\n"})
        changed = build(site, 1, monkeypatch)
        monkeypatch.setattr(pagereader, "read_page", lambda *_: pytest.fail("a page is read"))
        assert build(site, 1, monkeypatch) == changed
        monkeypatch.undo()
        monkeypatch.chdir(site)
        monkeypatch.setenv("MONGO_TABLES_CACHE", str(site / "cache"))


def test_other_results_are_asked_for_on_every_page(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(site / "cache"))
    build(site, 1, monkeypatch)
    write(site, {"fixtures/r/r.jsonl": ROWS.replace("1", "7")})
    again = build(site, 1, monkeypatch)
    monkeypatch.setenv("MONGO_TABLES_CACHE", "")
    assert again == build(site, 100, monkeypatch)
