"""Comments of MDX: which ones are ours, where they are, and what is wrong with them."""

from __future__ import annotations

import pytest

from mongo_tables.directives.comments import Comment, Scan, keep_in_comment
from mongo_tables.directives.html_comments import script_end
from mongo_tables.directives.page_scan import find

TABLE = '{/* RESULT_TABLE: {"collection": "r"} */}'
VALUE = '{/* RESULT_VALUE: {"table": "t"} */}'


def scan(text: str, file: str = "page.mdx") -> Scan:
    return find(text, file)


def only(text: str, file: str = "page.mdx") -> Comment:
    (comment,) = scan(text, file).comments
    return comment


def told(text: str, file: str = "page.mdx") -> list[str]:
    return [
        f"{one.line}:{one.column} {one.rule} {one.message} | {one.hint}" for one in scan(text, file).findings
    ]


@pytest.mark.parametrize("file", ["page.mdx", "page.md"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        f"words\n\n{TABLE}\n",
        f'<Tabs>\n  <TabItem value="a">\n\n    {TABLE}\n\n  </TabItem>\n</Tabs>\n',
        f"<div>\n{TABLE}\n</div>\n",
        f"- item\n\n  {TABLE}\n",
        f"> {TABLE}",
        f"- {TABLE}",
        f"import X from './x'\n\n{TABLE}\n",
        f"<X style={{{{color: 'red'}}}} />\n\n{TABLE}\n",
        TABLE.replace("{/* ", "{/*\n").replace(" */}", "\n*/}"),
        TABLE.replace("{/* ", "{/** ").replace(" */}", "*/}"),
        TABLE.replace('"r"', '"r", "title": "a -- {b} <c>"'),
    ],
)
def test_a_comment_is_found_wherever_mdx_has_one(text: str, file: str) -> None:
    comment = only(text, file)
    assert comment.kind == "table"
    assert (comment.marks.open, comment.parsed.value["collection"]) == ("{/*", "r")
    assert text[comment.start :].startswith("{/*")
    assert text[: comment.end].endswith("*/}")
    assert scan(text, file).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        f'```jsx title="/src/x.js" {{1,3}} showLineNumbers\n{TABLE}\n```\n',
        f"~~~~\n{TABLE}\n~~~\n{TABLE}\n~~~~~\n",
        f"a `{TABLE}` b",
        f"export const a = `\n{TABLE}\n`\n\nwords\n",
        f"export const a = {{\n\n  b: '{TABLE}',\n\n}}\n\nwords\n",
        f"{{'{TABLE}'}}",
        f'words {{f("{TABLE}")}} words',
        f"{{/* off\n{TABLE}\n*/}}",
        f'<X a="{{/* RESULT_TABLE: 1 */}}" b={{`{TABLE}`}} />',
        f"\\{TABLE}",
    ],
)
def test_what_is_code_has_no_comment(text: str) -> None:
    assert scan(text).comments == ()
    assert scan(text).findings == ()


def test_an_ordinary_page_of_markdown_has_comments_of_both_kinds() -> None:
    text = f"<!-- a remark -->\n\n    {TABLE}\n\n`{TABLE}`\n\n{TABLE}\n\n<!-- RESULT_TABLE: {{}} -->\n"
    assert [(one.line, one.marks.close) for one in scan(text, "page.md").comments] == [(7, "*/}"), (9, "-->")]


def test_places_are_those_in_the_file() -> None:
    text = f'é {VALUE} and\n\n> {{/* RESULT_TABLE:\n> {{\n>   "collection": 5\n> }}\n> */}}\n'
    value, table = scan(text).comments
    assert (value.line, value.column, value.inline, value.locate(1)) == (1, 3, True, (1, 21))
    assert table.body == '\n{\n  "collection": 5\n}\n'
    assert (table.line, table.column, table.locate(table.body.index("5"))) == (3, 3, (5, 19))


def test_a_region_has_marks_of_mdx() -> None:
    begin, end = "{/* mongo-tables: begin 0123456789abcdef */}", "{/* mongo-tables: end */}"
    region = only(f"{TABLE}\n{begin}\n\n| a |\n\n{end}\n").region
    assert region is not None
    assert (region.inner, region.digest) == ("\n| a |\n", "0123456789abcdef")
    region = only(f"a {VALUE}{begin}12{end} b").region
    assert region is not None
    assert region.inner == "12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<!-- RESULT_TABLE: {"collection": "r"} -->',
            "1:1 MT107 MDX has no HTML comments, so RESULT_TABLE makes the build of the site fail "
            "| write {/* RESULT_TABLE: … */}",
        ),
        ('{/* RESULT_TABLE: {"a": 1}', "1:1 MT101 RESULT_TABLE is never closed | write */} after the JSON"),
        (
            '{/* RESULT_TABLE: {"a": 1} */',
            "1:1 MT101 RESULT_TABLE is never closed | write */} after the JSON",
        ),
        ('{/* RESULT_TABLE: {"a": 1} */ }', "1:28 MT107 RESULT_TABLE is closed by */ } | write */} instead"),
        (
            '{/* RESULT_TABLE: {"a": "x*/y"} */}',
            "1:27 MT102 */ ends RESULT_TABLE here, as everywhere in JavaScript "
            "| write *\\/ in a string: JSON reads it as */",
        ),
        (
            '{/* RESULT_TABLE: {"a": "x*/} y"} */}',
            "1:27 MT102 */} inside a JSON string closes RESULT_TABLE here "
            "| write *\\/} in the string: JSON reads it as */}",
        ),
        (
            '{/* RESULT_TABLE: {"a": "x*/ } y"} */}',
            "1:27 MT102 */ } inside a JSON string closes RESULT_TABLE here "
            "| write *\\/ } in the string: JSON reads it as */ }",
        ),
        (
            "{/* RESULT_TABEL: {} */}",
            "1:1 MT103 RESULT_TABEL is not a known comment | did you mean `{/* RESULT_TABLE:`?",
        ),
    ],
)
def test_faults_speak_of_the_marks_of_mdx(text: str, expected: str) -> None:
    assert told(text) == [expected]


def test_json_is_written_so_that_it_ends_no_comment() -> None:
    assert keep_in_comment('{"a": "*/} -->"}') == r'{"a": "*\/} --\u003e"}'
    kept = keep_in_comment('{"a": "*/}"}')
    assert only(f"{{/* RESULT_TABLE: {kept} */}}").parsed.value == {"a": "*/}"}


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("{a} b", 3),
        ("{'}'} b", 5),
        ("{`}${'}'}`} b", 11),
        ("{/* } */} b", 9),
        ("{[{a: 1}]} b", 10),
        ("{a", 0),
        ("import a from 'b'\n\nc", 17),
        ("export const a = [\n\n]\n \nc", 21),
        ("export const a = 1", 18),
    ],
)
def test_the_end_of_javascript(text: str, end: int) -> None:
    assert script_end(text, 0) == end
