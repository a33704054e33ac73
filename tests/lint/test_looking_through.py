"""What is looked for in documents is looked for once, however many tables ask."""

from __future__ import annotations

from pathlib import Path

from mongo_tables.results.collection import Collection
from mongo_tables.site.pages import read_page
from tests.judged import asked

FIXTURES = Path(__file__).parent / "pages" / "fixtures"
TABLE = (
    '<!-- MONGO_TABLE: {"id": "tNUMBER", "collection": "players", "pipeline": [{"$match": {"goals": {"$gt": -NUMBER}}}, '
    '{"$sort": {"_id": 1}}], "columns": ["goals"], "headers": ["Goals"]} -->\n\n'
)


def test_documents_are_looked_through_for_texts_once_for_all_tables(monkeypatch) -> None:
    asked_for: list[str] = []

    texts = Collection.texts

    def look_through(collection, field):
        asked_for.append(field)
        return texts(collection, field)

    monkeypatch.setattr(Collection, "texts", look_through)
    text = "".join(TABLE.replace("NUMBER", str(number)) for number in range(20))
    assert asked(FIXTURES, read_page(text, "page.md", lambda _: None)).findings is not None
    assert asked_for == ["goals"]
