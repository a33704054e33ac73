"""What is kept of pages is small while it waits, comes back as it was, and is never shown once it is broken."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mongo_tables.site import buildcache
from mongo_tables.site.keptpages import Broken, KeptPage, Made
from mongo_tables.site.plainmarkdown import Plain
from mongo_tables.site.plugin import MongoTablesPlugin
from mongo_tables.site.spool import bytes_of
from tests.site.builds import files
from tests.site.inprocess import CONFIG, ROWS, built, table, value, write

PLUGINS = "plugins: [search, mongo-tables]\n"
HOOK = """
def on_page_context(context, *, page, **_):
    page.content = page.content.replace("<table>", "<table><!-- seen -->")
"""
BREAKS: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda packed: packed[: len(packed) // 2],
    "empty": lambda packed: b"",
    "not packed": lambda packed: zlib.decompress(packed),
    "something else": lambda packed: zlib.compress(b"[1, 2]"),
    "no JSON": lambda packed: zlib.compress(b"figures"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(tmp_path / "cache"))
    pages = {
        "docs/index.md": f"# There are {value('two')}\n\nOr {value('one')}.\n\n{table('one')}\n",
        "docs/two.md": f"# Second\n\n{table('two')}\n\nWords\n{table('three', 4)}\nin between.\n",
    }
    return write(tmp_path, {"mkdocs.yml": f"{CONFIG}{PLUGINS}", "fixtures/r/r.jsonl": ROWS, **pages})


def build(site: Path) -> Mapping[str, bytes]:
    """The files of a site that is built."""
    outcome = built(site, strict=True)
    assert outcome.done, outcome.log
    found = files(site / "site")
    return {path: content.split(b"Build Date UTC")[0] for path, content in found.items()}


def break_what_is_kept(monkeypatch: pytest.MonkeyPatch, part: str, do: Callable[[bytes], bytes]) -> None:
    load = buildcache.load

    def broken(fixtures: Path, key: str) -> dict[str, KeptPage] | None:
        kept = load(fixtures, key)
        return kept and {
            name: page._replace(**{part: do(bytes_of(getattr(page, part)))}) for name, page in kept.items()
        }

    monkeypatch.setattr("mongo_tables.site.sitereading.load", broken)


def test_a_page_is_unpacked_as_it_was_packed() -> None:
    figures = {"a": "<table>ä\ud800</table>", "b": "", "c": "<b>1</b>"}
    made = Made("text", figures, {"c": Plain("1")}, {"rows/a.csv": "1\r\n"}, {"a": "words"}, [2])
    page = KeptPage.of("given", made)
    head, body = page.open_head(), page.open_body()
    assert (head.text, head.large, head.plain) == ("text", ["a"], {"c": Plain("1")})
    assert {**head.figures, **body.figures} == figures
    assert list(head.figures) == list(figures)
    assert (page.open_words(), body.files) == (made.words, made.files)


@pytest.mark.parametrize("do", BREAKS.values(), ids=BREAKS)
def test_what_is_broken_is_not_unpacked(do: Callable[[bytes], bytes]) -> None:
    page = KeptPage.of("given", Made("text", {"a": "<b>1</b>"}))
    with pytest.raises(Broken):
        page._replace(head=do(bytes_of(page.head))).open_head()
    with pytest.raises(Broken):
        page._replace(body=do(bytes_of(page.body))).open_body()


@pytest.mark.parametrize("do", BREAKS.values(), ids=BREAKS)
def test_a_page_whose_kept_head_is_broken_is_made_anew(
    do: Callable[[bytes], bytes], site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = build(site)
    break_what_is_kept(monkeypatch, "head", do)
    assert build(site) == sound


@pytest.mark.parametrize("part", ["body", "words"])
@pytest.mark.parametrize("do", BREAKS.values(), ids=BREAKS)
def test_a_page_whose_kept_figures_are_broken_is_not_published(
    do: Callable[[bytes], bytes], part: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = build(site)
    with monkeypatch.context() as patch:
        break_what_is_kept(patch, part, do)
        outcome = built(site, strict=True)
    assert not outcome.done
    assert "kept figures were broken" in outcome.log
    assert build(site) == sound


def test_a_page_that_others_read_is_made_anew_where_its_kept_figures_are_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": HOOK})
    sound = build(site)
    break_what_is_kept(monkeypatch, "body", lambda packed: packed[:-9])
    assert build(site) == sound


@pytest.mark.parametrize("cache", ["cache", ""], ids=["kept", "not kept"])
def test_no_page_holds_its_tables_before_its_turn_or_after(
    cache: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    def look(plugin: MongoTablesPlugin) -> None:
        held.extend("<table" in (each.page.content or "") for each in plugin._site.given.values())

    for event in ("on_env", "on_shutdown"):
        usual = getattr(MongoTablesPlugin, event)

        def watched(self: MongoTablesPlugin, *given: object, usual=usual, **named: object) -> object:  # type: ignore[no-untyped-def]
            look(self)
            return usual(self, *given, **named)

        monkeypatch.setattr(MongoTablesPlugin, event, watched)
    monkeypatch.setenv("MONGO_TABLES_CACHE", cache and str(site / cache))
    pages = [build(site) for _ in range(2)]
    assert held == [False] * 8
    assert pages[0] == pages[1]
    assert [pages[0][page].count(b"mongo-table__scroll") for page in ("index.html", "two/index.html")] == [
        1,
        2,
    ]


READS = """
def on_env(env, *, config, files):
    pages = [file.page for file in files.documentation_pages()]
    config.extra["counted"] = sum(page.content.count("<table") for page in pages)

def on_post_page(output, *, page, config):
    return output.replace("</body>", f"<p>Tables: {config.extra['counted']}</p></body>")
"""


def test_a_hook_that_reads_pages_before_they_are_written_finds_their_tables(site: Path) -> None:
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": READS})
    for _ in range(2):  # Made, and kept.
        assert b"<p>Tables: 3</p>" in build(site)["index.html"]


def test_a_file_behind_a_table_that_cannot_be_written_is_named(site: Path) -> None:
    write(site, {"docs/rows": "a file where the folder of rows belongs"})
    for _ in range(2):
        outcome = built(site, strict=True)
        assert not outcome.done
        assert "site/rows/index.one.csv: Not a directory" in outcome.log
