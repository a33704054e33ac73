"""What is looked for in documents is looked for once, however many tables ask, and whatever they hold."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.lint.linter import lint, look_at
from mongo_tables.results import collection
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.site.pages import read_page
from tests.judged import asked

FIXTURES = Path(__file__).parent / "pages" / "fixtures"
TABLE = (
    '<!-- MONGO_TABLE: {"id": "tNUMBER", "collection": "players", "pipeline": [{"$match": {"goals": {"$gt": -NUMBER}}}, '
    '{"$sort": {"_id": 1}}], "columns": ["goals"], "headers": ["Goals"]} -->\n\n'
)


def test_documents_are_looked_through_for_texts_once_for_all_tables(monkeypatch) -> None:
    looked_at: list[object] = []
    value_at = collection.values_at

    def look(document, parts):
        looked_at.append((id(document), parts))
        return value_at(document, parts)

    monkeypatch.setattr(collection, "values_at", look)
    text = "".join(TABLE.replace("NUMBER", str(number)) for number in range(20))
    assert asked(FIXTURES, read_page(text, "page.md", lambda _: None)).findings is not None
    assert looked_at
    assert len(looked_at) == len(set(looked_at))


def test_code_among_the_values_of_a_field_is_no_text(tmp_path: Path) -> None:
    document = '{"_id": %d, "a": {"$code": "%d ms"}, "b": "%d"}\n'
    (tmp_path / "kept.jsonl").write_text("".join(document % (number, number, number) for number in (9, 10)))
    stages = '{"$match": {"a": {"$ne": 3}, "b": {"$gt": "1"}}}, {"$sort": {"a": 1}}, {"$project": {"_id": 0}}'
    comment = f'<!-- MONGO_TABLE: {{"collection": "kept", "pipeline": [{stages}], "columns": ["b"], "headers": ["B"]}} -->'
    found = asked(tmp_path, read_page(comment, "page.md", lambda _: None)).findings
    assert "MT408" not in {one.rule for one in found}


def test_a_shared_list_is_followed_with_the_variables_of_each_comment(tmp_path: Path) -> None:
    (tmp_path / "case.jsonl").write_text('{"n": 5}\n{"n": 6}\n')
    (tmp_path / "far.json").write_text('[{"$project": {"_id": 0, "far": {"$gt": ["$n", "$$asked.limit"]}}}]')

    def found(*fields: str) -> list[tuple[str, str]]:
        text = "".join(
            f'<!-- MONGO_TABLE: {{"id": "{name}", "collection": "case", "let": {{"asked": {{"{name}": 5}}}}, '
            '"pipeline": ["far"], "columns": ["far"], "headers": ["Far"]} -->\n\n'
            for name in fields
        )
        page = read_page(text, "page.md", SharedPipelines(tmp_path))
        told = lint(page.pipeline_specs, open_fixtures(tmp_path), {}, look_at)
        return [(fields[(one.line - 1) // 2], one.rule) for one in told if one.rule == "MT402"]

    assert found("limits") == found("limit", "limits") == found("limits", "limit") == [("limits", "MT402")]
