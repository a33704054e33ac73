"""A site is built: the right cells in the right places, or every fault and no site."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.hosts.builds import article, build, error_lines, files, read, sample

HOSTILE = 'a|b --> ]]> & *c* `d` "e"'


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sample(tmp_path_factory.mktemp("mkdocs"))
    done = build(site, "--strict")
    assert done.returncode == 0, done.stderr
    return site / "site"


def with_extension(site: Path) -> Path:
    """The sample with the Markdown extension beside the plugin."""
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("  - tables\n", "  - tables\n  - mongo-tables:\n      results: fixtures\n"),
        encoding="utf-8",
    )
    return site


def test_every_table_has_the_rows_of_its_pipeline(built: Path) -> None:
    (table,) = read(article(built / "index.html")).tables
    assert table == [
        ["Threads", "Queries/s", "p99 ms", "Note", "Server"],
        ["1", "139.8", "4.5", "plain", "8.0.4"],
        ["8", "1032240", "12.3", "<script>alert(1)</script>", "8.0.4"],
        ["64", "9007199254740993", "—", HOSTILE, "n/a"],
    ]


def test_a_table_stands_in_the_container_of_its_comment(built: Path) -> None:
    html = article(built / "guide.html")
    assert [table[0][-1] for table in read(html).tables] == [
        "In a note",
        "In a tab",
        "In a list",
        "In a quote",
        "In a paragraph",
    ]
    assert (
        html.index("admonition note")
        < html.index("In a note<")
        < html.index('</div>\n<div class="tabbed-set')
    )
    assert html.index("<blockquote>") < html.index(">In a quote<") < html.index("</blockquote>")
    assert html.index("<li>") < html.index(">In a list<") < html.index("</li>")


def test_a_table_in_a_sentence_divides_the_paragraph(built: Path) -> None:
    html = article(built / "guide.html")
    assert "<p>In the middle</p>\n<figure" in html
    assert "</figure>\n<p>of a sentence.</p>" in html


def test_a_comment_in_a_code_sample_stays_text(built: Path) -> None:
    html = article(built / "guide.html")
    assert '&lt;!-- MONGO_TABLE: { "collection": "runs", "pipeline": []' in html


def test_no_comment_is_published(built: Path) -> None:
    for page in built.rglob("*.html"):
        assert not [
            text for text in read(page.read_text(encoding="utf-8")).comments if "mongo" in text.lower()
        ]


def test_shared_pipelines_are_not_published(built: Path) -> None:
    assert not list(built.rglob("by-threads*"))


def test_hostile_cells_are_text(built: Path) -> None:
    html = article(built / "index.html")
    assert "script" not in read(html).tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</td>" in html


def test_an_empty_result_says_what_the_author_wrote(built: Path) -> None:
    assert "Not measured &lt;yet&gt;." in article(built / "guide.html")


def test_the_search_index_has_each_number_as_a_word(built: Path) -> None:
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    words = {word for entry in index["docs"] for word in entry["text"].split()}
    assert {"139.8", "1032240", "9007199254740993"} <= words


def build_page(folder: Path, program: str, rows: str, text: str) -> None:
    """Build a site of one page, whose collection ``t`` has these rows."""
    (folder / "docs").mkdir()
    (folder / "t.json").write_text(rows)
    (folder / "docs" / "index.md").write_text(text)
    config = "site_name: S\nplugins: [search, {mongo-tables: {results: t.json}}]\n"
    if program == "zensical":
        config = "site_name: S\nmarkdown_extensions: [{mongo-tables: {results: t.json}}]\n"
    (folder / "mkdocs.yml").write_text(config)
    done = build(folder, program=program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", ["mkdocs", "zensical"])
def test_a_line_break_separates_words_of_the_search_index(program: str, tmp_path: Path) -> None:
    rows = '[{"k": "a", "note": "annihilating\\ncerulean"}]'
    text = (
        '# P\n\n<!-- RESULT_TABLE: {"title": "T", "caption": "one\\ntwo", "collection": "t", "columns": ["k", "note"],'
        ' "headers": ["K", "Remark\\nbeside"], "sort": "k"} -->\n'
    )
    build_page(tmp_path, program, rows, text)
    (index,) = (
        path for path in (tmp_path / "site").rglob("search*.json") if "annihilating" in path.read_text()
    )
    words = set(re.findall(r"\w+", re.sub(r"<[^<>]*>", "", index.read_text().replace("\\n", "\n"))))
    assert {"annihilating", "cerulean", "one", "two", "Remark", "beside"} <= words


@pytest.mark.parametrize("program", ["mkdocs", "zensical"])
def test_markdown_signs_in_a_comment_and_a_table_in_a_list_item_stay_what_they_are(
    program: str, tmp_path: Path
) -> None:
    rows = '[{"k": "[**bold**](x) `y`", "n": 7}]'
    text = (
        '# P\n\nSeven: <!-- RESULT_VALUE: {"collection": "t", "where": {"k": "[**bold**](x) `y`"}, "field": "n"} -->.\n\n'
        '* Item\n\n    <!-- RESULT_TABLE: {"collection": "t", "columns": ["k", "n"], "sort": "k"} -->\n'
    )
    build_page(tmp_path, program, rows, text)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.search(r"<p>Seven: (?:<[^>]*>)*7(?:<[^>]*>)*\.</p>", page)
    assert "RESULT_" not in page and "<strong>bold</strong>" not in page
    assert not re.search(r"<p>\s*<figure", page)
    assert re.search(r"<li>(?:(?!</li>).)*<figure", page, re.DOTALL)


def test_the_style_sheet_is_linked_and_there(built: Path) -> None:
    assert 'href="assets/mongo-tables.css"' in (built / "index.html").read_text(encoding="utf-8")
    assert (built / "assets" / "mongo-tables.css").stat().st_size < 14336


def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    site = sample(tmp_path)
    assert build(site, "-d", "one", PYTHONHASHSEED="1").returncode == 0
    assert build(site, "-d", "two", PYTHONHASHSEED="2").returncode == 0
    assert files(site / "one") == files(site / "two")


@pytest.mark.parametrize("program", ["properdocs", "zensical"])
def test_other_programs_show_the_same_cells(program: str, built: Path, tmp_path: Path) -> None:
    site = sample(tmp_path)
    if program == "zensical":
        with_extension(site)
    done = build(site, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("index.html", "guide.html"):
        assert read(article(site / "site" / page)).tables == read(article(built / page)).tables


def test_plugin_and_extension_in_one_site_make_each_table_once(built: Path, tmp_path: Path) -> None:
    site = with_extension(sample(tmp_path))
    done = build(site, "--strict")
    assert done.returncode == 0, done.stderr
    assert article(site / "site" / "guide.html") == article(built / "guide.html")


def test_zensical_stops_at_a_fault(tmp_path: Path) -> None:
    site = with_extension(sample(tmp_path))
    page = site / "docs" / "index.md"
    page.write_text(page.read_text(encoding="utf-8").replace("by-threads", "by-thread"), encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "docs/index.md:11:16: MT140" in done.stdout + done.stderr


FAULTY = """\
---
title: Faulty
---

<!-- MONGO_TABLE: { "collection": "runs", "pipeline": [], "columns": ["threads"], "header": ["T"] } -->

<!-- MONGO_TABLE: { "collection": "runs", "pipeline": [ { "$match": { "threads": 1 } },
  { "$out": "elsewhere" } ], "columns": ["x"], "headers": ["X"] } -->

<!-- MONGO_TABLE: { "collection": "runs", "pipeline": [], "columns": ["thread"], "headers": ["T"] } -->
"""


def test_a_build_lists_every_fault_at_its_place_on_disk_and_fails(tmp_path: Path) -> None:
    site = sample(tmp_path)
    (site / "docs" / "faulty.md").write_text(FAULTY, encoding="utf-8")
    (site / "docs" / "second.md").write_text("<!-- MONGO_TABLE: { -->\n", encoding="utf-8")
    done = build(site)
    assert done.returncode != 0
    places = [line.split(" ")[:2] for line in error_lines(done.stderr)]
    assert places[:-1] == [
        ["docs/faulty.md:5:83:", "MT130"],
        ["docs/faulty.md:8:5:", "MT201"],
        ["docs/faulty.md:10:71:", "MT302"],
        ["docs/second.md:1:19:", "MT120"],
    ]
    assert "4 errors, listed above; nothing was built" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((site / "site").rglob("*.html"))


REPEATED = """\
<!-- MONGO_TABLE: { "collection": "runs", "collection": "runs", "pipeline": [],
  "columns": ["threads"], "headers": ["T"] } -->
"""


def test_a_warning_fails_a_strict_build_only(tmp_path: Path) -> None:
    site = sample(tmp_path)
    (site / "docs" / "repeated.md").write_text(REPEATED, encoding="utf-8")
    lax, strict = build(site), build(site, "--strict")
    assert (lax.returncode, strict.returncode) == (0, 1)
    assert "docs/repeated.md:1:43: MT122" in lax.stderr


def test_a_source_out_of_reach_is_one_fault(tmp_path: Path) -> None:
    site = sample(tmp_path)
    done = build(site, MONGO_TABLES_RESULTS="mongodb://user:secret@127.0.0.1:9/db")
    assert done.returncode != 0
    assert len([line for line in error_lines(done.stderr) if "MT310" in line]) == 1
    assert "secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_fault_in_a_snippet_is_told_with_the_name_and_line_of_its_file(tmp_path: Path) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("  - tables\n", "  - tables\n  - pymdownx.snippets\n"), encoding="utf-8")
    (site / "part.txt").write_text(
        'One.\n\n<!-- MONGO_TABLE: { "colection": "runs" } -->\n', encoding="utf-8"
    )
    (site / "docs" / "includes.md").write_text('Text.\n\n--8<-- "part.txt"\n', encoding="utf-8")
    done = build(site)
    assert done.returncode != 0
    assert any(line.startswith("part.txt:3:21: MT130") for line in error_lines(done.stderr)), done.stderr


def test_the_environment_comes_before_the_option(tmp_path: Path) -> None:
    site = sample(tmp_path)
    (site / "fixtures").rename(site / "elsewhere")
    assert build(site).returncode != 0
    assert build(site, MONGO_TABLES_RESULTS="elsewhere").returncode == 0


@pytest.mark.parametrize(
    "option", ["time_limit: .inf", "time_limit: .nan", "connect_limit: -1", "row_limit: 0", "workers: 0"]
)
def test_a_limit_that_is_none_is_refused(option: str, tmp_path: Path) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    name = option.partition(":")[0]
    config.write_text(
        text.replace("results: fixtures", f"results: fixtures\n      {option}", 1), encoding="utf-8"
    )
    done = build(site)
    assert done.returncode == 1
    assert f"option '{name}': Expected a number above 0" in done.stderr
    assert "Traceback" not in done.stderr
