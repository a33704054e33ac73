"""The parts of a page, what can be folded, its colours, and its JSON laid out anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.comments.search import find
from mongo_tables.editor.formatting import format_comment, format_json, format_pipeline
from mongo_tables.editor.highlighting import colour_comments, colour_pipeline
from mongo_tables.editor.naming import Texts, mentions
from mongo_tables.editor.outline import list_folds, list_parts, list_pipeline_parts
from mongo_tables.editor.positions import Lines
from mongo_tables.pages.rewrites import apply_edits
from tests.editor.conftest import SAID, TABLE

TESTS = Path(__file__).parents[1]
PAGE = f"# Speeds\n\n{TABLE}\n{SAID}\n```\n{SAID}```\n"


def formatted(text: str) -> str:
    edits = (format_comment(text, one) for one in find(text, "page.md").comments)
    return apply_edits(text, [edit for edit in edits if edit])


def test_the_outline_has_the_comments_with_their_stages() -> None:
    table, value = list_parts(PAGE, find(PAGE, "page.md").comments)
    assert (table.name, table.told) == ("MONGO_TABLE", "speeds")
    assert [(one.name, one.told) for one in table.parts] == [
        ("$match", "stage 1"),
        ("$group", "stage 2"),
        ("$sort", "stage 3"),
    ]
    assert PAGE[table.parts[0].start : table.parts[0].end] == '{"$match": {"kind": "read"}}'
    assert (value.name, value.told) == ("MONGO_VALUE", "speeds qps")
    assert [one.name for one in list_pipeline_parts('{"pipeline": [{"$limit": 1}, "other"]}')] == [
        "$limit",
        '"other"',
    ]


def test_comments_and_their_containers_fold_and_so_does_what_was_written_behind_them() -> None:
    written = "<!-- mongo-tables: begin 0000000000000000 -->\n\n| a |\n\n<!-- mongo-tables: end -->\n"
    text = TABLE + written
    folds = list_folds(text, find(text, "page.md").comments, Lines(text))
    assert [(one.first, one.last, one.generated) for one in folds] == [
        (0, 10, False),
        (3, 6, False),
        (11, 15, True),
    ]


def test_colours_tell_operators_paths_and_keys_apart_in_comments_alone() -> None:
    found = colour_comments(PAGE, find(PAGE, "page.md").comments, 0, len(PAGE))
    told = {PAGE[one.start : one.end]: one.meaning for one in found}
    assert told["MONGO_TABLE"] == "keyword"
    assert told['"$group"'] == "function"
    assert told['"$threads"'] == "variable"
    assert told['"columns"'] == "property"
    assert told['"Threads"'] == "string"
    assert told["1"] == "number"
    assert max(one.end for one in found) < PAGE.index("```")
    assert found == sorted(found)
    assert [one.meaning for one in colour_pipeline('[{"$limit": 1}]')] == ["function", "number"]


def test_json_is_laid_out_by_what_fits_into_a_line() -> None:
    text = TABLE.replace("\n", " ").replace("  ", " ").strip() + "\n"
    laid = formatted(text)
    assert laid.startswith(
        '<!-- MONGO_TABLE: {\n  "id": "speeds",\n  "collection": "runs",\n  "pipeline": [\n'
    )
    assert '\n    {"$match": {"kind": "read"}},\n' in laid
    assert laid.endswith("\n} -->\n")
    assert formatted(laid) == laid
    assert formatted(TABLE) == TABLE


def test_tokens_stay_as_they_were_written() -> None:
    text = '<!-- MONGO_TABLE: {"collection" :"a\\u0041", "columns":[ "x" ],"limit":1E2 } -->\n'
    assert (
        formatted(text)
        == '<!-- MONGO_TABLE: {"collection": "a\\u0041", "columns": ["x"], "limit": 1E2} -->\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        "<!-- MONGO_TABLE: {\"collection\": 'x'} -->\n",
        '<!-- MONGO_TABLE: {"a":1, -->\n',
        f"```\n{TABLE}```\n",
    ],
)
def test_sentences_broken_json_and_code_stay_as_they_are(text: str) -> None:
    assert formatted(text) == text


def test_a_comment_in_a_quotation_keeps_its_marks() -> None:
    quoted = "".join(f"> {line}\n" for line in TABLE.replace('"pipeline": [', '"pipeline":   [').splitlines())
    laid = formatted(quoted)
    assert laid == "".join(f"> {line}\n" for line in TABLE.splitlines())


@pytest.mark.parametrize(
    "page", sorted((TESTS / "acceptance/pages").glob("*.md")), ids=lambda page: page.stem
)
def test_pages_ask_for_the_same_when_they_are_laid_out_anew(page: Path) -> None:
    text = page.read_bytes().decode()
    laid = formatted(text)
    before, after = (find(each, "page.md").comments for each in (text, laid))
    assert [(one.keyword, one.parsed.value) for one in before] == [
        (one.keyword, one.parsed.value) for one in after
    ]
    assert formatted(laid) == laid


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 2]))
def test_any_json_is_the_same_value_when_it_is_laid_out_anew(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    lines = format_json(text, 0, len(text), width=20)
    assert lines is not None
    assert json.loads("\n".join(lines)) == value


def test_a_shared_pipeline_is_laid_out_as_well() -> None:
    edit = format_pipeline('[{"$limit":1},"other"]')
    assert edit is not None
    assert edit.text == '[\n  {"$limit": 1},\n  "other"\n]\n'
    assert format_pipeline(edit.text) is None
    assert format_pipeline("[1,]") is None


def test_names_stand_where_they_mean_something() -> None:
    shared = '{"description": "speeds", "pipeline": ["reads", {"$match": {"id": "speeds"}}]}'
    text = TABLE.replace('{"$match"', '"reads", {"$match"')
    texts = Texts({"page.md": (text, find(text, "page.md").comments)}, {"all": ("all.json", shared)})
    found = [(one.file, one.name.sort, one.name.word, one.gives) for one in mentions(texts)]
    assert found == [
        ("page.md", "table", "speeds", True),
        ("page.md", "list", "reads", False),
        ("all.json", "list", "reads", False),
    ]
