"""The parts of a page, and the names in it."""

from __future__ import annotations

from mongo_tables.directives.page_scan import find
from mongo_tables.lsp.names import Texts, mentions
from mongo_tables.lsp.outline import list_parts, list_pipeline_parts
from tests.lsp.conftest import SAID, TABLE

PAGE = f"# Speeds\n\n{TABLE}\n{SAID}\n```\n{SAID}```\n"


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
