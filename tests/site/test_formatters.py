"""Pages with every kind of figure as formatters of Markdown leave them: `formatted/make.sh` runs these."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mongo_tables.cli import main

FORMATTED = Path(__file__).parent / "formatted"
FORMATTERS = ("prettier", "prettier-wrap", "markdownlint", "mdformat", "remark")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(FORMATTED / "m.jsonl", tmp_path)
    shutil.copy(FORMATTED / "page.md", tmp_path)
    render()
    return tmp_path / "page.md"


def render(*options: str) -> int:
    return main(["render", "--in-place", "page.md", "--results", "m.jsonl", *options])


def check() -> int:
    return main(["check", "page.md", "--results", "m.jsonl"])


@pytest.mark.parametrize("name", FORMATTERS)
def test_a_page_that_a_formatter_wrote_is_settled(name: str, page: Path) -> None:
    formatted = (FORMATTED / f"{name}.md").read_bytes()
    assert formatted != page.read_bytes() or name in ("prettier", "markdownlint")
    page.write_bytes(formatted)
    assert check() == 0
    assert render() == 0
    assert page.read_bytes() == formatted


@pytest.mark.parametrize("name", FORMATTERS)
def test_new_results_are_written_into_such_a_page_without_force(
    name: str, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(FORMATTED / f"{name}.md", page)
    results = Path("m.jsonl")
    results.write_text(results.read_text().replace("1.5", "1.75"))
    capsys.readouterr()
    assert check() == 1
    told = capsys.readouterr().out
    assert "MT164" not in told
    assert "it is 1.50, and 1.75 now" in told
    assert render() == 0
    assert "1.50" not in page.read_text()
    assert check() == 0


@pytest.mark.parametrize("name", FORMATTERS)
@pytest.mark.parametrize(
    ("written", "typed"), [("22.50", "21.50"), ("in an item", "in a box"), ("*yet", "*ever")]
)
def test_an_edit_of_what_such_a_page_says_is_noticed(name: str, written: str, typed: str, page: Path) -> None:
    text = (FORMATTED / f"{name}.md").read_text()
    at = text.rindex(written)
    page.write_text(text[:at] + typed + text[at + len(written) :])
    assert render() == 1
    assert render("--force") == 0
    assert check() == 0


def test_pages_are_written_as_prettier_writes_them(page: Path) -> None:
    """Prettier indents what is in a list, but not the comments, as far as the first line of the item."""
    written, formatted = page.read_bytes(), (FORMATTED / "prettier.md").read_bytes()
    assert written.replace(b"\n    ", b"\n  ") == formatted.replace(b"\n    ", b"\n  ")


def test_figures_that_an_earlier_version_wrote_are_no_edits(page: Path) -> None:
    """Their digests are those of the bytes, and emphasis had asterisks."""
    Path("m.jsonl").write_text('{"_id": 1, "ms": 2}\n')
    comment = '<!-- RESULT_TABLE: {"collection": "m", "columns": ["ms"], "sort": "ms", "caption": "c"} -->'
    page.write_text(
        f"{comment}\n<!-- mongo-tables: begin 76798b994a466573 -->\n\n*c*\n\n|  Ms |\n| --: |\n|   1 |\n\n"
        "<!-- mongo-tables: end -->\n"
    )
    assert render() == 0
    assert "|   2 |" in page.read_text()


def test_what_formatters_undo_is_written_otherwise(page: Path) -> None:
    """mdformat unescapes ``https&#58;//``, which makes it a link, and with markdown-it-py 3 drops escapes of an alternative text.

    markdownlint writes a part ``www.`` as a link, and VitePress a part ``//e.org``.
    """
    Path("m.jsonl").write_text('{"_id": 1, "at": "https://e.org, www.e.org, a@e.org, :+1:", "ms": 2}\n')
    page.write_text(
        '<!-- RESULT_TABLE: {"collection": "m", "columns": ["at", "ms"], "sort": "_id"} -->\n\n'
        '<!-- RESULT_CHART: {"id": "c", "title": "$5 & <x> *y* [z]", "collection": "m", "mark": "bar", "x": "at", "y": "ms",'
        ' "sort": "_id"} -->\n'
    )
    assert render() == 0
    text = page.read_text()
    assert "| https:/<wbr>/e.org, www<wbr>.e.org, a@<wbr>e.org, :<wbr>+1: |" in text
    alternative = text[text.index("![") : text.index("](")]
    assert alternative.startswith("![＄5 ＆ ＜x＞ ＊y＊ ［z］. ")
    assert not set(alternative[2:]) & set("&\\*<>[]$")
    assert check() == 0


@pytest.mark.parametrize(
    ("written", "undone"),
    [
        ("H&#126;2&#126;O", "H~2~O"),
        ("&#126;&#126;x&#126;&#126;", "\\~~x\\~~"),
        ("&#36;x_1&#36;", "$x_1$"),
    ],
)
def test_a_pair_of_signs_whose_escapes_a_formatter_removed_is_told(
    written: str, undone: str, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """mdformat writes such raw pairs, and GitHub shows the text between them struck out or as a formula."""
    Path("m.jsonl").write_text('{"_id": 1, "at": "H~2~O, ~~x~~, $x_1$, $5 or 6$5, ~ a ~"}\n')
    page.write_text(
        '<!-- RESULT_TABLE: {"id": "t", "collection": "m", "columns": ["at"], "sort": "_id"} -->\n\n'
        'A&nbsp;<!-- RESULT_VALUE: {"table": "t", "column": "at", "where": {"_id": 1}} --> b\n'
    )
    assert render() == 0
    sound = page.read_text()
    page.write_text(sound.replace(written, undone))
    capsys.readouterr()
    assert check() == 1
    told = capsys.readouterr().out
    assert told.count("MT166") == 2
    assert "without escapes, which GitHub strikes out or shows as a formula" in told
    assert "and exclude the page from your formatter" in told
    assert render() == 0
    assert page.read_text() == sound
    page.write_text(sound.replace("&#36;5 or 6&#36;5", "$5 or 6$5").replace("&#126; a &#126;", "~ a ~"))
    assert check() == 0


def test_a_value_of_bars_in_a_sentence_passes_mdformat(page: Path) -> None:
    Path("m.jsonl").write_text('{"_id": 1, "at": "| |"}\n')
    value = '<!-- RESULT_VALUE: {"collection": "m", "field": "at", "where": {"_id": 1}} -->'
    page.write_text(f"A&nbsp;{value} b\n")
    assert render() == 0
    assert "&#124; &#124;" in page.read_text()
    page.write_text(page.read_text().replace("&#124; &#124;", "| |"))
    assert check() == 0
