"""What `find` gives for one comment, exactly; odd characters; sizes; and what it does not load."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from mongo_tables.directives.comments import Comment, Scan, digest, replace
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.page_scan import find

TABLE = '<!-- MONGO_TABLE: {"collection": "r"} -->'


def only(text: str) -> Comment:
    (comment,) = find(text, "page.md").comments
    return comment


def rules(text: str) -> list[str]:
    return [finding.rule for finding in find(text, "page.md").findings]


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_keyword_is_found_with_its_body(keyword):
    comment = only(f"<!-- {keyword}: {{}} -->")
    assert (comment.keyword, comment.body) == (keyword, " {} ")
    assert comment.locate(0) == (1, len(f"<!-- {keyword}:") + 1)


def test_an_empty_body_is_found_and_left_to_whoever_reads_json():
    assert only("<!-- MONGO_TABLE:-->").body == ""


def test_a_page_without_a_name_of_ours_gives_nothing():
    assert find("# A page\n\n<!-- a remark -->\n", "page.md") == Scan((), ())


def test_a_position_in_the_body_is_found_again_in_a_quoted_list():
    text = '> - item\n>\n>     <!-- MONGO_TABLE:\n>     {\n>       "collection": 5\n>     }\n>     -->\n'
    comment = only(text)
    assert comment.body == '\n{\n  "collection": 5\n}\n'
    assert comment.locate(0) == (3, 24)
    assert comment.locate(comment.body.index("{")) == (4, 7)
    assert comment.locate(comment.body.index("5")) == (5, 23)
    assert (comment.prefix, text[comment.start : comment.start + 4]) == (">     ", "<!--")


def test_a_position_behind_the_body_is_its_end():
    comment = only("<!-- MONGO_TABLE: {}\n-->")
    assert comment.locate(999) == (2, 1)
    assert comment.locate(-1) == (1, 18)


def test_the_prefix_of_a_comment_on_the_line_of_a_list_mark_is_the_indentation_of_its_item():
    assert only(f"- {TABLE}").prefix == "    "
    assert only(f"> 1. {TABLE}").prefix == ">     "


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_kinds_of_newlines_give_the_same_body_and_lines(newline):
    text = newline.join(["a", "", "<!-- MONGO_TABLE:", '{"a":', "1}", "-->", "z"])
    comment = only(text)
    assert comment.body == '\n{"a":\n1}\n'
    assert comment.locate(comment.body.index("1")) == (5, 1)
    assert text[comment.end :] == f"{newline}z"


def test_a_byte_order_mark_is_no_character_of_the_first_line():
    comment = only(f"\ufeff{TABLE}")
    assert (comment.line, comment.column) == (1, 1)
    assert comment.locate(comment.body.index(":")) == only(TABLE).locate(comment.body.index(":"))


@pytest.mark.parametrize("odd", ["\x00", "\u2028", "\x0c", "\x85", "\x0b"])
def test_characters_that_only_python_takes_for_newlines_are_ordinary_characters(odd):
    comment = only(f"a{odd}b\n\n{TABLE}")
    assert (comment.line, comment.column) == (3, 1)


def test_front_matter_is_not_searched_but_a_byte_order_mark_does_not_hide_it():
    assert rules(f"\ufeff---\ntitle: {TABLE}\n---\n") == ["MT127"]
    assert find(f"\ufeff---\ntitle: {TABLE}\n---\n", "page.md").comments == ()


def test_leading_key_lines_are_front_matter_too():
    assert find(f"Title: {TABLE}\n\nText", "page.md").comments == ()


@pytest.mark.parametrize(
    ("front", "places"),
    [
        (f"---\ntitle: 'Reached {TABLE}'\n---\n", [(2, 17)]),
        (f"---\ndescription: |\n  # D\n  a {TABLE}\n---\n", [(4, 5)]),
        (f"---\na: 1\n# title: '{TABLE}'\nb: 2 # {TABLE}\n---\n", []),
        (f"Title: Reached {TABLE}\n\nText\n", [(1, 16)]),
        ("---\ntitle: 'x'\n---\n", []),
    ],
)
def test_text_that_readers_see_raw_from_front_matter_is_an_error_at_its_place(front, places):
    for newline in ("\n", "\r\n"):
        found = find(f"{front}\n# Page\n".replace("\n", newline), "page.md").findings
        assert [(one.rule, one.line, one.column) for one in found] == [("MT127", *at) for at in places]


@pytest.mark.parametrize("body", ['MONGO_VALUE: {"table": "one"} -->', "MONGO_TABLE: {} --->"])
def test_a_comment_with_a_dash_too_many_is_told_as_a_near_miss(body):
    (found,) = find(f"There are <!--- {body}\n", "page.md").findings
    assert (found.rule, found.severity, found.line, found.column) == ("MT103", "error", 1, 11)
    assert "dashes" in found.message
    assert f"`<!-- {body[:11]}:`" in found.hint


def test_findings_name_the_file_and_what_to_do():
    (finding,) = find("a\n\n  <!-- MONGO_TABEL: {} -->", "docs/x.md").findings
    assert (finding.file, finding.line, finding.column) == ("docs/x.md", 3, 3)
    assert "MONGO_TABLE" in finding.hint


def test_the_hint_for_a_comment_end_in_a_string_can_be_copied():
    (finding,) = find('<!-- MONGO_TABLE: {"title": "a --> b"} -->', "p.md").findings
    assert "--\\u003e" in finding.hint
    fixed = only('<!-- MONGO_TABLE: {"title": "a --\\u003e b"} -->')
    assert json.loads(fixed.body) == {"title": "a --> b"}


def test_replacing_leaves_everything_else_and_takes_the_region_along():
    text = (
        f"a \r\n\n{TABLE}  \n<!-- mongo-tables: begin {digest('x')} -->\nx\n<!-- mongo-tables: end -->\r\nz"
    )
    comments = find(text, "page.md").comments
    assert replace(text, comments, ["NEW"]) == "a \r\n\nNEW\r\nz"


def test_as_many_replacements_as_comments_are_needed():
    with pytest.raises(ValueError, match="shorter"):
        replace(TABLE, find(TABLE, "p.md").comments, [])


def test_the_inner_text_of_a_region_is_without_the_prefix_and_has_the_digest_that_was_written():
    inner = "\n| a |\n| - |\n| 1 |\n"
    lines = [TABLE, "", f"<!-- mongo-tables: begin {digest(inner)} -->"]
    lines += [*inner.split("\n"), "<!-- mongo-tables: end -->"]
    for prefix in ("", "> ", "    "):
        page = "\r\n".join((prefix + line).rstrip() for line in lines)
        region = only("- item\r\n\r\n" * (prefix == "    ") + page).region
        assert region is not None
        assert region.inner == inner
        assert digest(region.inner) == region.digest


VALUE = '<!-- MONGO_VALUE: {"collection": "r"} -->'


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("It is ", " ms"),
        ("It is ", "\nms"),
        ("> It is ", "\r\n> ms"),
        ("- It is ", "\r\n  \tms"),
        ("> It is ", "\nms"),
    ],
)
def test_the_inner_text_of_a_region_in_a_sentence_is_its_words_however_they_are_wrapped(before, behind):
    region = only(
        f"{before}{VALUE}<!-- mongo-tables: begin {digest('120 ms')} -->120{behind}<!-- mongo-tables: end -->."
    ).region
    assert region is not None
    assert (region.inner, digest(region.inner)) == ("120 ms", region.digest)


def test_the_digest_does_not_depend_on_newlines():
    assert digest("a\r\nb\rc") == digest("a\nb\nc")
    assert digest("") == "e3b0c44298fc1c14"


def test_deep_nesting_does_no_harm():
    for mark in ("> ", "- ", "    ", "<div>", "[", "!!! a\n"):
        find(mark * 3000 + TABLE, "page.md")


def test_a_page_without_a_comment_of_ours_loads_no_parser():
    code = (
        "import sys; from mongo_tables.directives.page_scan import find; find('<!-- x --> MONGO', 'p'); "
        "print('markdown_it' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "page",
    [
        f"<!-- off for now\n{TABLE}\n-->",
        f"<!-- off for now {TABLE} -->",
        f"<pre>\n{TABLE}\n</pre>",
        f"<script>\n{TABLE}\n</script>",
        f"<div>\n<!-- off\n{TABLE}\n-->\n</div>",
        f"words <textarea>{TABLE}</textarea>",
    ],
)
def test_a_table_that_is_switched_off_is_neither_shown_nor_a_fault(page: str) -> None:
    scan = find(f"# T\n\n{page}\n\nwords\n", "page.md")
    assert (scan.comments, scan.rejected) == ((), ())
    assert {one.severity for one in scan.findings} <= {"note"}


def test_a_table_switched_off_by_a_word_before_its_name_is_an_ordinary_comment() -> None:
    assert find(f"{TABLE.replace('MONGO', 'off MONGO')}\n\n{TABLE}", "page.md").findings == ()


@pytest.mark.parametrize("word", ["MONGO", "RESULT"])
@pytest.mark.parametrize(
    ("page", "rule", "said"),
    [
        ("# A <!-- {}_CHART: {{}} -->", "MT113", "for one number use {}_VALUE"),
        ("<!-- {}-CHEK: {{}} -->", "MT103", "did you mean `<!-- {}_CHECK:`?"),
        ("<!-- old\n\n<!-- {}_TABLE: {{}} -->\n\n-->", "MT124", "<!-- off {}_TABLE: … -->"),
        ("- a <!-- old <!-- {}_CHART: {{}} -->", "MT116", "<!-- off {}_CHART: … -->"),
    ],
)
def test_what_is_said_names_the_keyword_with_the_word_that_the_author_wrote(word, page, rule, said):
    (finding,) = find(page.format(word), "page.md").findings
    assert finding.rule == rule
    assert said.format(word) in finding.hint


def test_a_comment_says_what_it_asks_for_whichever_word_it_begins_with():
    assert [only(f"<!-- {keyword}: {{}} -->").kind for keyword in KEYWORDS] == list(KEYWORDS.values())
    assert KEYWORDS["RESULT_TABLE"] == KEYWORDS["MONGO_TABLE"] == "table"
