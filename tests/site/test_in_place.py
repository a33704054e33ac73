"""In place: values in sentences, charts beside the page; shown once by every reader of Markdown, and never twice written.

Tables under their comments are in `test_markdown`.
"""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mongo_tables.findings.finding import Finding
from mongo_tables.render.values import visible
from mongo_tables.site.in_place import InPlace, region_findings, stale_findings
from mongo_tables.site.markdown import render_markdown
from mongo_tables.site.pages import Page, read_page, tables_by_id
from tests.judged import asked, composed_in_place
from tests.render.test_pipe_table import EXTENSIONS, KNOWN, SPECIAL

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TABLE = {"id": "speed", "collection": "runs", "pipeline": [{"$sort": {"_id": 1}}]}
TABLE |= {"columns": ["name", "qps"], "headers": ["Name", "Queries/s"]}
FORM = {"qps": {"decimals": 0, "thousands": True, "unit": "req/s"}}
CHART = {"id": "drawn", "collection": "runs", "pipeline": [{"$sort": {"_id": 1}}], "x": "name", "y": "qps"}


def table(**keys: object) -> str:
    return f"<!-- MONGO_TABLE: {json.dumps({**TABLE, 'format': FORM, **keys})} -->"


def chart(**keys: object) -> str:
    return f"<!-- MONGO_CHART: {json.dumps({**CHART, **keys})} -->"


def value(row: int = 1, **keys: object) -> str:
    body = {"table": "speed", "column": "qps", "where": {"_id": row}, **keys}
    return f"<!-- MONGO_VALUE: {json.dumps(body)} -->"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fill([("a", 1234.4), ("b", 56789)])
    return tmp_path


def fill(rows: list[tuple[str, object]]) -> None:
    os.makedirs("fixtures/runs", exist_ok=True)  # noqa: PTH103
    lines = [
        json.dumps({"_id": number, "name": name, "qps": qps}) for number, (name, qps) in enumerate(rows, 1)
    ]
    Path("fixtures/runs/a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(text: str, file: str = "README.md") -> Page:
    page = read_page(text, file, lambda _: None)
    assert [one for one in page.findings if one.severity == "error"] == []
    return page


def composed(text: str, file: str = "README.md") -> InPlace:
    page = read(text, file)
    build = asked("fixtures", page)
    return composed_in_place(page, build.answers, build.tables)


def in_place(text: str) -> str:
    return composed(text).text


def rules(found: list[Finding]) -> list[str]:
    return [one.rule for one in found]


class _Words(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.tags = "", list[str]()
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self.words += "\n" if tag == "br" else ""


def readers(text: str) -> list[_Words]:
    """What those who read the page on GitHub and by Python-Markdown get."""
    return [_Words(GITHUB.render(text)), _Words(markdown.markdown(text, extensions=EXTENSIONS))]


PLACES = {
    "words": "We reach {} now.",
    "item": "- one\n- we reach {} now",
    "nested item": "1. one\n\n    - we reach {} now",
    "heading": "## At {} now",
    "quote": "> We reach {} now.",
    "cell": "| a | b |\n| - | - |\n| x | at {} |\n| y | z |",
    "first in a cell": "| a | b |\n| - | - |\n| x | {} |",
    "emphasis": "We reach **{}** now.",
    "link": "See [the {} of us](https://example.com).",
    "raw HTML": '<p align="center">\nWe reach {} now.\n</p>',
    "line in raw HTML": '<p align="center">\n{} are reached now.\n</p>',
    "twice": "From {} to {} of them.",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_value_is_shown_once_wherever_it_stands(place: str, newline: str, folder: Path) -> None:
    text = f"{PLACES[place]}\n\n".replace("\n", newline)
    written = in_place(text.replace("{}", value()) + table() + newline)
    assert written.count("-->1,234 req/s<!--") == place.count("twice") + 1
    assert in_place(written) == written
    assert written.count("\r") == written.count("\n") * (newline == "\r\n")
    shown = written.partition("<!-- MONGO_TABLE")[0]
    for seen, plain in zip(readers(shown), readers(text.replace("{}", "1,234 req/s")), strict=True):
        assert (seen.words.split(), seen.tags) == (plain.words.split(), plain.tags)


HOSTILE = [
    read(f"{place.replace('{}', value(column='name'))}\n\n{table()}\n")
    for name, place in PLACES.items()
    if name != "link"  # which has a text of its own
]
PLAIN_TAGS = set("p ul ol li h2 blockquote strong br wbr table thead tbody tr th td".split())


@settings(max_examples=60, deadline=None)
@given((SPECIAL | st.text(max_size=20) | st.sampled_from(KNOWN)).filter(str.strip))
@example("a--> b <!-- c")
@example("1\n2")
def test_whatever_a_database_holds_is_text_in_its_sentence(text: str) -> None:
    shown = " ".join(visible(text).split())
    for page in HOSTILE:
        rows = [{"_id": 1, "name": text, "qps": 1}]
        answers = {page.tables[0].query.key: rows}
        written = composed_in_place(page, answers, tables_by_id([page])).text
        again = read(written)
        assert composed_in_place(again, answers, tables_by_id([again])).text == written
        for seen in readers(written.partition("<!-- MONGO_TABLE")[0]):
            assert shown in " ".join(seen.words.split())
            assert set(seen.tags) <= PLAIN_TAGS
            assert "mongo" not in seen.words.replace(shown, "").lower()


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("{} are reached.", "begins with a comment"),
        ("We reach\n{} now.", "begins with a comment"),
        ("- {} in an item", "begins with a comment"),
        ("> {} in a quote", "begins with a comment"),
        ("We reach <!-- MONGO_VALUE: {\"table\": \"speed\", \"column\": \"qps\", \"where\": {\"name\": \"a--b\"}} -->.", "`--`"),
        ("| a |\n| - |\n| <!-- MONGO_VALUE: {\"table\": \"speed\", \"column\": \"qps\", \"where\": {\"name\": \"a|b\"}} --> |", "`|`"),
        ("## At <!-- MONGO_VALUE: {\"table\": \"speed\",\n\"column\": \"qps\"} -->", "a heading"),
        ("We reach <!-- MONGO_VALUE: {\"table\": \"speed\",\n\n\"column\": \"qps\"} -->.", "the paragraph"),
        ("It is so.<!-- MONGO_CHECK: {\"table\": \"speed\", \"expect\": {\"name\": {\"$ne\": \"--\"}}} -->", "`--`"),
    ],
)  # fmt: skip
def test_where_github_would_show_the_comment_or_no_markdown_it_is_told(page: str, message: str) -> None:
    text = page.replace("{}", value())
    (found,) = region_findings(read(f"{text}\n\n{table()}\n"))
    assert (found.rule, message in found.message, bool(found.hint)) == ("MT167", True, True)


def test_the_remedy_for_such_a_place_lasts_whatever_a_formatter_wraps(folder: Path) -> None:
    sentence = f"We reach {value()} requests each second on a machine with two processors of last year."
    (found,) = region_findings(read(f"{sentence.replace(' <!--', chr(10) + '<!--')}\n\n{table()}\n"))
    assert "`&nbsp;`" in found.hint
    words = re.findall(r"(?:<!--.*?-->|[^\s<])+", sentence.replace(" <!--", "&nbsp;<!--"))
    assert len(words) > 10
    for at in range(1, len(words)):  # A formatter may break the line between any two words.
        page = f"{' '.join(words[:at])}\n{' '.join(words[at:])}\n\n{table()}\n"
        assert region_findings(read(page)) == []


@pytest.mark.parametrize("page", ["{} are reached.", "- {} in an item", "> {} in a quote"])
def test_such_a_place_is_none_for_the_value(page: str, folder: Path) -> None:
    text = f"{page.replace('{}', value())}\n\n{table()}\n"
    assert in_place(text).startswith(text.split("\n")[0] + "\n")


def test_a_statement_has_nothing_written_behind_it_and_is_no_fault(folder: Path) -> None:
    check = '<!-- MONGO_CHECK: {"table": "speed", "expect": {"qps": {"$gt": 1}}} -->'
    for text in (f"More is faster.{check}\n", f"More is faster.\n{check}\n\n{check}\n\n- {check}\n"):
        page = f"{text}\n{table()}\n"
        assert region_findings(read(page)) == []
        assert in_place(page).startswith(text)


def test_a_value_that_was_edited_by_hand_is_noticed(folder: Path) -> None:
    written = in_place(f"We reach {value()} now.\n\n{table()}\n")
    assert region_findings(read(written)) == []
    edited = written.replace("-->1,234 req", "-->9,234 req")
    (found,) = region_findings(read(edited))
    assert (found.rule, found.line, found.column) == ("MT164", 1, 10)
    assert "--force" in found.hint
    (stale,) = stale_findings(composed(edited))
    assert stale.rule == "MT164"
    assert in_place(edited) == written


def test_a_value_that_a_formatter_wrapped_is_no_edit_and_stays(folder: Path) -> None:
    written = in_place(f"> We reach {value()} now.\n\n{table()}\n")
    wrapped = written.replace("-->1,234 req/s<", "-->1,234\n> req/s<")
    assert wrapped != written
    assert region_findings(read(wrapped)) == []
    assert in_place(wrapped) == wrapped


def test_what_the_rows_no_longer_say_is_told_at_its_comment(folder: Path) -> None:
    written = in_place(f"From {value(1)} to {value(2)}.\n\n{table()}\n")
    fill([("a", 1234.4), ("b", 60000)])
    found = stale_findings(composed(written))
    assert [(one.rule, one.line) for one in found] == [("MT166", 1), ("MT166", 3)]
    assert "README.md" in found[0].hint
    assert "-->60,000 req/s<!--" in in_place(written)
    assert stale_findings(composed(in_place(written))) == []


def test_a_value_that_was_forgotten_in_a_page_with_others_is_told(folder: Path) -> None:
    """On GitHub its sentence would have a hole."""
    written = in_place(f"{table()}\n")
    (found,) = stale_findings(composed(f"We reach {value()} now.\n\n{written}"))
    assert (found.rule, found.line, "is not in the page" in found.message) == ("MT166", 1, True)


def test_a_page_without_any_figure_is_one_finding(folder: Path) -> None:
    (found,) = stale_findings(composed(f"{table()}\n\nFrom {value(1)} to {value(2)}.\n"))
    assert found.message == "the figure under this comment and 2 more are not in the page"


def test_rendering_elsewhere_takes_values_for_what_is_in_place(folder: Path) -> None:
    text = f"From {value(1)} to **{value(2)}**.\n\n{table()}\n"
    page = read(text)
    build = asked("fixtures", page)
    plain = render_markdown(page, build.answers, build.tables)
    again = read(composed_in_place(page, build.answers, build.tables).text)
    assert render_markdown(again, build.answers, build.tables) == plain
    assert plain.startswith("From 1,234 req/s to **56,789 req/s**.\n")


def test_a_chart_is_a_picture_beside_the_page_with_its_name_and_its_course_in_words(folder: Path) -> None:
    made = composed(f"# A\n\n{chart(title='Speed of [all]', format=FORM)}\n", "docs/My page.de.md")
    (drawn,) = made.drawings
    assert drawn.path == folder / "docs" / "My page.de.drawn.svg"
    alt = "Speed of ［all］. Line chart of qps by name. qps: from 1,234 req/s at a to 56,789 req/s at b."
    assert f"\n**Speed of \\[all\\]**\n\n![{alt}](My%20page.de.drawn.svg)\n\n<!-- mongo" in made.text
    for html in (GITHUB.render(made.text), markdown.markdown(made.text, extensions=EXTENSIONS)):
        assert html.count("<img ") == 1
        assert 'src="My%20page.de.drawn.svg"' in html
        assert "Line chart of qps by name" in html
    again = composed(made.text, "docs/My page.de.md")
    assert (again.text, again.drawings[0].text) == (made.text, drawn.text)


def test_a_table_with_a_chart_has_the_picture_between_its_title_and_its_rows(folder: Path) -> None:
    made = composed(f"{table(title='All', chart={'x': 'name', 'y': 'qps'})}\n")
    lines = made.text.splitlines()
    assert lines[3:7] == ["**All**", "", "![All](README.speed.svg)", ""]
    assert lines[7].startswith("| Name")
    assert [one.path.name for one in made.drawings] == ["README.speed.svg"]


def test_a_chart_without_rows_is_its_statement_and_no_picture(folder: Path) -> None:
    made = composed(f"{chart(pipeline=[{'$match': {'_id': 9}}], empty='Not measured.')}\n")
    assert "_Not measured._" in made.text
    assert "![" not in made.text
    assert made.drawings == []


def test_charts_without_an_id_are_called_by_their_title_and_never_alike(folder: Path) -> None:
    one = chart(title="Speed").replace('"id": "drawn", ', "")
    made = composed(f"{one}\n\n{one}\n")
    assert [drawn.path.name for drawn in made.drawings] == [
        "README.chart-speed.svg",
        "README.chart-speed-2.svg",
    ]


def test_pages_of_one_name_in_different_folders_have_drawings_of_their_own(folder: Path) -> None:
    paths = {
        composed(f"{chart()}\n", file).drawings[0].path
        for file in ("a/README.md", "b/README.md", "../README.md")
    }
    assert len(paths) == 3


def test_a_page_that_is_a_link_has_its_drawings_beside_the_file_that_it_leads_to(folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(f"{chart()}\n")
    (folder / "README.md").symlink_to("docs/index.md")
    made = composed(f"{chart()}\n")
    assert made.drawings[0].path == folder / "docs" / "index.drawn.svg"
    assert "(index.drawn.svg)" in made.text


_PIECES = st.sampled_from(
    [
        *(
            value(),
            value(2),
            table(),
            chart(),
            "text ",
            "**",
            "# ",
            "> ",
            "- ",
            "| ",
            "| a |\n| - |\n",
            "<p>",
            "</p>",
        ),
        *(
            "\n",
            "\n\n",
            "\r\n",
            "`",
            "```\n",
            "    ",
            "[",
            "](x)",
            "<!-- other -->",
            "1,234",
            "<!-- mongo-tables: end -->",
        ),
    ]
)


@settings(max_examples=200, deadline=None)
@given(text=st.lists(_PIECES, max_size=14).map("".join))
@example(text=f"> {table()}")
@example(text=f"| a |\n| - |\n    {table()}\n")
@example(text=f"{value()}```\n    {table()}\n")
@example(text=f"> text\n>     {chart()}\n")
@example(text=f"{value()}{value()}{table()}| a |\n| - |\n")
@example(text=f"- x\n\n    | a |\n    | - |\n    {chart()}\n")
def test_writing_twice_changes_nothing_whatever_the_page(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fill([("a|b", 1234.4), ("-->", 56789)])
        page = read_page(text, "README.md", lambda _: None)
        build = asked("fixtures", page)
        once = composed_in_place(page, build.answers, build.tables).text
        again = read_page(once, "README.md", lambda _: None)
        assert composed_in_place(again, build.answers, build.tables).text == once
        # A page with an error is not written at all, so only sound pages have to stay as they are.
        assert not region_findings(again) or region_findings(page)
        kept = re.sub(
            r"(\n[> ]*)?<!-- mongo-tables: begin [0-9a-f]{16} -->.*?<!-- mongo-tables: end -->",
            "",
            once,
            flags=re.DOTALL,
        )
        assert kept.split() == text.split() or "mongo-tables" in text


def test_hooks_that_tidy_ends_of_lines_and_files_find_nothing_to_do(folder: Path) -> None:
    fill([("a ", 1234.4), ("b\n", 56789), ("", 3)])
    found = composed(f"# Speed\n\n{table()}\n\nIt is {value()}.\n\n{chart()}\n")
    assert found.drawings
    for text in (found.text, *(one.text for one in found.drawings)):
        assert [line for line in text.split("\n") if line != line.rstrip()] == []
        assert text.endswith("\n") and not text.endswith("\n\n") and "\r" not in text
