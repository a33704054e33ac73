"""Values and statements in the prose of a site: in the sentence, or with a fault at the sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import markdown
import pytest

from mongo_tables.hosts.markdown_extension import MongoTablesError, MongoTablesExtension
from tests.hosts.builds import build, error_lines, sample
from tests.hosts.inprocess import write
from tests.hosts.test_serve import Preview

ROW = {"threads": 8}
GROUPED = {"thousands": True, "unit": "q/s"}


def value(column: str = "qps", **keys: Any) -> str:
    return (
        f"<!-- MONGO_VALUE: {json.dumps({'table': 'all-runs', 'column': column, 'where': ROW, **keys})} -->"
    )


def check(least: int, **keys: Any) -> str:
    body = {"table": "all-runs", "where": ROW, "expect": {"qps": {"$gt": least}}, **keys}
    return f"<!-- MONGO_CHECK: {json.dumps(body)} -->"


PROSE = f"""\
# Peak of {value()} queries

{value()} is the peak, *and {value(format=GROUPED)} is it* [again, {value()}](index.md).{check(100)}
More of the paragraph, then
{value("p99.ms")} at the start of a line, and {value("note")}.

## Tail {value("p99.ms")}

| Peak | Tail |
| --- | --- |
| {value()} | {value("p99.ms")} |
{check(100)}

- {value()}
- in an item {value()}

> {value()}

{check(1000)}

Last.
"""


def with_page(folder: Path, prose: str) -> Path:
    site = sample(folder)
    (site / "docs" / "prose.md").write_text(prose, encoding="utf-8")
    return site


def value_html(text: str, raw: str = "") -> str:
    return f'<span class="mongo-value" data-v="{raw or text}">{text}</span>'


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    site = with_page(tmp_path_factory.mktemp("prose"), PROSE)
    done = build(site, "--strict")
    assert done.returncode == 0, done.stderr
    return (site / "site" / "prose.html").read_text(encoding="utf-8")


def test_a_value_stands_in_its_sentence_and_divides_nothing(html: str) -> None:
    peak, tail = value_html("1032240"), value_html("12.3 ms", "12.25")
    grouped = value_html("1,032,240 q/s", "1032240")
    note = value_html("&lt;script&gt;alert(1)&lt;/script&gt;")
    paragraph = re.search(r"<p>[^\n]*is the peak.*?</p>", html, re.DOTALL)
    assert paragraph is not None
    assert paragraph[0] == (
        f'<p>{peak} is the peak, <em>and {grouped} is it</em> <a href="index.html">again, {peak}</a>.\n'
        f"More of the paragraph, then\n{tail} at the start of a line, and {note}.</p>"
    )


def test_a_value_stands_in_cells_items_and_quotes(html: str) -> None:
    peak = value_html("1032240")
    assert f"<td>{peak}</td>" in html
    assert f"<li>{peak}</li>" in html
    assert f"<li>in an item {peak}</li>" in html
    assert f"<p>{peak}</p>\n</blockquote>" in html
    assert html.count("<td>") == 2  # a statement under a table is no row of it


def test_a_heading_has_its_value_in_the_navigation_and_not_in_its_anchor(html: str) -> None:
    assert f'<h2 id="tail">Tail {value_html("12.3 ms", "12.25")}' in html
    assert re.search(r'href="#tail"[^>]*>\s*<span class="md-ellipsis">\s*Tail 12.3 ms\s*<', html)
    assert "<title>Peak of 1032240 queries - Sample</title>" in html


def test_a_statement_that_holds_leaves_nothing(html: str) -> None:
    assert "mongo-table-fault" not in html
    assert "<p></p>" not in html
    assert "MONGO_" not in html


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        (check(2_000_000), "MT322"),
        (check(1, where={"threads": 9}), "MT321"),
        (value(where={}), "MT320"),
        (value("rate"), "MT302"),
        (value(table="all-run"), "MT139"),
    ],
)
def test_a_build_ends_at_the_line_of_the_sentence(comment: str, rule: str, tmp_path: Path) -> None:
    site = with_page(tmp_path, f"# Prose\n\nOne line.\nA sentence {comment}.\n")
    done = build(site)
    assert done.returncode != 0
    (line, _) = error_lines(done.stderr)
    assert re.match(rf"docs/prose\.md:4:\d+: {rule} ", line)


def test_a_build_follows_the_results_of_a_statement(tmp_path: Path) -> None:
    site = with_page(tmp_path, f"A sentence.{check(1_000_000)}\n")
    assert build(site).returncode == 0
    runs = site / "fixtures" / "runs" / "runs.jsonl"
    runs.write_text(runs.read_text(encoding="utf-8").replace("1032240", "999"), encoding="utf-8")
    done = build(site)
    assert done.returncode != 0
    assert "docs/prose.md:1:12: MT322" in done.stderr


def test_a_preview_shows_a_failing_statement_at_its_place(tmp_path: Path) -> None:
    page = f"# Tail {value(table='all-run')}\n\nBefore.{check(1_000_000)} After {value()}.\n"
    with Preview(with_page(tmp_path, page)) as preview:
        shown = preview.wait("prose.html", "After")
        assert '<h1 id="tail">Tail <span class="mongo-table-fault" role="alert">' in shown
        assert f"<p>Before. After {value_html('1032240')}.</p>" in shown

        preview.edit("fixtures/runs/runs.jsonl", "1032240", "999")
        shown = preview.wait("prose.html", "MT322")
        assert (
            '<p>Before.<span class="mongo-table-fault" role="alert"><code>docs/prose.md:3:8</code>' in shown
        )
        assert f"After {value_html('999')}.</p>" in shown

        preview.edit("docs/index.md", '["by-threads"]', '["by-threads", { "$nope": 1 }]')
        shown = preview.wait("prose.html", "no value: table <code>all-runs</code> has a fault")


def converted(text: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(site)
    extension = MongoTablesExtension(results="fixtures", pipelines="docs/pipelines", file="page.md")
    return str(markdown.markdown(text, extensions=[extension, "tables", "toc"]))


def test_the_extension_puts_values_of_the_same_page(
    html: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = sample(tmp_path)
    table = (site / "docs" / "index.md").read_text(encoding="utf-8").split("---\n")[2]
    page = converted(f"{PROSE}\n{table}", site, monkeypatch)
    assert f'<h2 id="tail">Tail {value_html("12.3 ms", "12.25")}</h2>' in page
    assert page.count('class="mongo-value"') == html.count('class="mongo-value"')


def test_the_extension_says_that_it_sees_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MongoTablesError, match=r"page\.md:1:\d+: MT139 "):
        converted(f"The peak is {value()}\n", sample(tmp_path), monkeypatch)


def test_the_extension_publishes_no_comment_that_it_took_for_front_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MongoTablesError, match=r":1:7: MT127 MONGO_VALUE is in front matter"):
        converted(f"Peak: {value()}\n", sample(tmp_path), monkeypatch)


def site_with_the_extension_alone(folder: Path, prose: str) -> Path:
    one = '"id": "one", "collection": "r", "pipeline": [], "columns": ["n"], "headers": ["N"]'
    files = {
        "mkdocs.yml": "site_name: Small\ntheme:\n  name: material\n  font: false\nmarkdown_extensions: [mongo-tables]\n",
        "docs/index.md": f"# Home\n\n<!-- MONGO_TABLE: {{{one}}} -->\n",
        "docs/prose.md": f"# Prose\n\n{prose}\n",
        "fixtures/r/r.jsonl": '{"_id": 1, "n": 5}\n',
    }
    return write(folder, files)


ONE = '<!-- MONGO_VALUE: {"table": "one", "column": "n"} -->'


@pytest.mark.parametrize("program", ["mkdocs", "properdocs"])
def test_a_comment_where_nothing_can_stand_is_named_with_its_place_when_the_extension_is_alone(
    program: str, tmp_path: Path
) -> None:
    site = site_with_the_extension_alone(tmp_path, f"See [it]({ONE}) there.")
    done = build(site, program=program)
    assert done.returncode == 1
    assert "docs/prose.md:3:10: MT113" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extension_alone_finds_tables_of_other_pages_in_a_site(tmp_path: Path) -> None:
    site = site_with_the_extension_alone(tmp_path, f"There are {ONE}.")
    done = build(site)
    assert done.returncode == 0, done.stderr
    assert ">5</span>" in (site / "site" / "prose" / "index.html").read_text(encoding="utf-8")
