"""Pages of MDX with every kind of figure. `mdx/make.sh` has MDX 3 and React make HTML of what is written here.

``python -m tests.outside mdx`` compiles them anew, each night.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.builds import read

RECORDED = Path(__file__).parent / "mdx"
ROWS = [json.loads(line) for line in (RECORDED / "m.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("m.jsonl", "page.mdx"):
        shutil.copy(RECORDED / name, tmp_path)
    return tmp_path / "page.mdx"


def run(*arguments: str) -> int:
    return main([*arguments, "--results", "m.jsonl"])


def test_figures_in_place_are_those_that_mdx_compiled(page: Path) -> None:
    assert run("render", "--in-place", "page.mdx") == 0
    assert page.read_bytes() == (RECORDED / "written.mdx").read_bytes()
    assert run("check", "page.mdx") == 0
    assert run("render", "--in-place", "--check", "page.mdx") == 0


def test_figures_in_place_of_comments_are_those_that_mdx_compiled(
    page: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run("render", "page.mdx") == 0
    assert capsysbinary.readouterr().out == (RECORDED / "rendered.mdx").read_bytes()
    assert run("render", "page.mdx", "--output", "out") == 0
    assert Path("out/page.mdx").read_bytes() == (RECORDED / "rendered.mdx").read_bytes()


@pytest.mark.parametrize("name", ["written", "rendered"])
def test_readers_see_what_the_documents_have(name: str) -> None:
    html = (RECORDED / f"{name}.html").read_text(encoding="utf-8")
    table = read(html).tables[0]
    body = [row for row in table if row and row[0] in {one["name"] for one in ROWS}]
    assert [row[0] for row in body] == [one["name"] for one in ROWS]
    assert [row[3] for row in body] == [one["seen"] for one in ROWS]
    assert [row[2] for row in body] == [
        "good {x}",
        "very a|b {c} doc",
        "line one\nline two",
        "a_b_ c 1. x",
    ]
    assert f'href="{ROWS[1]["url"].replace("&", "&amp;")}"' in html
    assert "RESULT_TABLE" not in re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert "mongo-tables" not in html
    assert {"https://e.org", "http://www.e.org"}.isdisjoint(re.findall(r'href="([^"]*)"', html))


def test_an_edit_by_hand_and_new_results_are_noticed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("render", "--in-place", "page.mdx")
    page.write_text(page.read_text().replace("**22.50", "**23.50").replace("22.50 ms", "23.50 ms"))
    assert run("check", "page.mdx") == 1
    assert "MT164" in capsys.readouterr().out
    assert run("render", "--in-place", "--force", "page.mdx") == 0
    results = Path("m.jsonl")
    results.write_text(results.read_text().replace("22.5", "23.5"))
    assert run("check", "page.mdx") == 1
    assert "MT166" in capsys.readouterr().out
    assert run("render", "--in-place", "--written") == 0
    assert run("check", "page.mdx") == 0


def test_a_page_of_docusaurus_is_known_by_its_comments(page: Path) -> None:
    Path("page.md").write_text(page.read_text())
    assert run("render", "--in-place", "page.md") == 0
    written = (RECORDED / "written.mdx").read_text()
    assert Path("page.md").read_text() == written


def test_comments_of_html_are_rewritten(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page.write_text('<!-- RESULT_TABLE: {"collection": "m", "columns": ["name", "ms"], "sort": "ms"} -->\n')
    assert run("check", "page.mdx") == 1
    assert "MT107 MDX has no HTML comments" in capsys.readouterr().out
    assert run("check", "--fix", "--write", "page.mdx") == 0
    assert page.read_text().startswith("{/* RESULT_TABLE: {")
    assert page.read_text().endswith("} */}\n")


@pytest.mark.parametrize("begin", ["{ /* RESULT_TABLE:", "{/*RESULT_TABLE:", "{\n/* RESULT_TABLE:"])
def test_blanks_around_the_marks_are_no_other_comment(
    page: Path, begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page.write_text(f'{begin} {{"collection": "m", "columns": ["name", "ms"], "sort": "ms"}} */ }}\n')
    assert run("check", "page.mdx") == 1
    assert "MT107 RESULT_TABLE is closed by */ }" in capsys.readouterr().out
    assert run("check", "--fix", "--write", "page.mdx") == 0
    assert run("render", "--in-place", "page.mdx") == 0
    assert run("check", "page.mdx") == 0
    assert "| ---" in page.read_text()


def test_a_page_with_figures_becomes_one_of_mdx(page: Path) -> None:
    table = '<!-- RESULT_TABLE: {"id": "t", "collection": "m", "columns": ["name", "ms"], "sort": "ms"} -->'
    value = '<!-- RESULT_VALUE: {"table": "t", "column": "ms", "where": {"ms": 1.5}} -->'
    Path("page.md").write_text(f"{table}\n\nIt takes {value}.\n")
    assert run("render", "--in-place", "page.md") == 0
    Path("page.md").rename(page)
    assert run("check", "--fix", "--write", "page.mdx") == 1
    assert run("render", "--in-place", "page.mdx") == 0
    assert not re.search("<!--|-->", page.read_text())
    assert run("check", "page.mdx") == 0


def test_a_folder_has_its_pages_of_mdx(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (page.parent / "docs").mkdir()
    page.rename("docs/page.mdx")
    assert run("check", "docs") == 0
    assert "12 comments on 1 page" in capsys.readouterr().err
    assert run("deps", "docs") == 0
    assert capsys.readouterr().out.split() == ["docs/page.mdx", "m.jsonl"]


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("## It takes {} ms", 1),
        ("###### {}", 1),
        ("It takes {}\n---", 1),
        ("# It takes {} ms", 0),
        ("It takes {}\n===", 0),
    ],
)
def test_a_value_that_docusaurus_shows_as_source_in_the_table_of_contents_is_told(
    page: Path, heading: str, told: int, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '{/* RESULT_TABLE: {"id": "t", "collection": "m", "columns": ["name", "ms"], "sort": "ms"} */}'
    value = '{/* RESULT_VALUE: {"table": "t", "column": "ms", "where": {"ms": 1.5}} */}'
    page.write_text(f"{table}\n\n{heading.format(value)}\n\nIt takes {value}.\n")
    assert run("check", "page.mdx") == told
    assert (
        capsys.readouterr().out.count(
            "warning MT128 in a heading, Docusaurus shows the source of RESULT_VALUE"
        )
        == told
    )
    Path("page.md").write_text(page.read_text().replace("{/*", "<!--").replace("*/}", "-->"))
    assert run("check", "page.md") == 0


def test_a_comment_in_a_fence_that_docusaurus_compiles_is_told(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comment = '{/* RESULT_TABLE: {"collection": "m", "columns": ["ms"], "sort": "ms"} */}'
    page.write_text(f"```mdx-code-block\n{comment}\n```\n\n~~~mdx\n{comment}\n~~~\n\n{comment}\n")
    assert run("check", "page.mdx") == 1
    said = capsys.readouterr().out
    assert (
        said.startswith("page.mdx:2:1: error MT112 Docusaurus compiles the text in this fence")
        and said.count("MT") == 1
    )


def test_init_writes_the_comment_that_a_page_takes(page: Path) -> None:
    page.write_text("# Speeds\n")
    assert run("init", "--table", "m", "--append", "page.mdx") == 0
    assert re.search(
        r"\n\{/\* RESULT_TABLE: \{ \"id\": \"m\", \"collection\": .* \} \*/\}\n\Z", page.read_text()
    )
    assert run("render", "--in-place", "page.mdx") == 0
