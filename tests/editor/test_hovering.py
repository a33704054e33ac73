"""What is told of a place: `|` marks it."""

from __future__ import annotations

import pytest

from preprocessor.editor.positions import Lines
from preprocessor.editor.session import Session, request_of
from tests.editor.conftest import PAGE, SAID, TABLE, lay_out


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {PAGE: f"# Speeds\n\n{TABLE}\n{SAID}"})
    (folder / "docs/pipelines").mkdir()
    (folder / "docs/pipelines/first.json").write_text(
        '{"description": "The first.", "pipeline": [{"$limit": 1}]}'
    )
    (folder / "fixtures/results").mkdir()
    key = '{"_id": {"testname": "a", "n": %d}, "start_time": {"$date": "2026-01-01T00:00:00Z"}%s}\n'
    (folder / "fixtures/results/r.jsonl").write_text(key % (1, ', "duration": 5') + key % (2, ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = Session(lambda: request_of(None, None, None, database=False))
        made.check()
        return made


@pytest.fixture(autouse=True)
def _in_the_folder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.project.request.site.file.parent)


def told(session: Session, marked: str, file: str = "docs/new.md") -> str:
    at = marked.index("|")
    text = marked.replace("|", "", 1)
    session.open(file, text, 1)
    found = session.hover(file, Lines(text).position(at))
    session.close(file)
    return found[0].told if found else ""


def runs(stages: str) -> str:
    return f'<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": [{stages}], "columns": ["threads"]}} -->'


def test_a_field_is_told_with_its_kinds_the_share_of_documents_and_its_values(session: Session) -> None:
    assert told(session, runs('{"$set": {"x": "$thr|eads"}}')) == (
        "`$threads` · int · in 6 of 6 documents\n\nvalues: `1`, `2`, `8`"
    )
    assert told(session, runs('{"$match": {"ki|nd": "read"}}')).startswith(
        "`kind` · string · in 6 of 6 documents"
    )
    assert told(session, runs('{"$sort": {"|nowhere": 1}}')) == "`nowhere` · no document has it here"


def test_a_field_of_results_is_told_with_its_meaning_and_unit(session: Session) -> None:
    text = '<!-- MONGO_TABLE: {"collection": "results", "pipeline": [{"$sort": {"dur|ation": 1}}]} -->'
    found = told(session, text)
    assert "in 1 of 2 documents" in found
    assert "not in all" in found
    assert "Duration (milliseconds): Length of the timed window" in found
    assert "Length" not in told(session, runs('{"$set": {"dur|ation": 1}}'))


def test_a_field_behind_a_group_is_what_the_group_makes_of_it(session: Session) -> None:
    stages = '{"$group": {"_id": "$threads", "mean": {"$avg": "$qps"}}}, {"$set": {"x": "$me|an"}}'
    assert told(session, runs(stages)).startswith("`$mean` · ")
    assert told(session, runs(stages.replace("$me|an", "$q|ps"))) == "`$qps` · no document has it here"


def test_operators_and_stages_are_told_with_their_arguments_and_where_to_read_on(session: Session) -> None:
    found = told(session, runs('{"$set": {"x": {"$dateT|runc": {}}}}'))
    assert (
        "[`$dateTrunc`](https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateTrunc/)"
        in found
    )
    assert "since MongoDB 5.0" in found
    assert "- `unit`" in found and "`timezone`" in found
    assert "takes [number, number]" in told(session, runs('{"$set": {"x": {"$div|ide": []}}}'))
    assert "[`$group`](" in told(session, runs('{"$gro|up": {}}'))
    assert "not run: it writes" in told(session, runs('{"$o|ut": "x"}'))


def test_a_key_is_told_as_its_schema_has_it(session: Session) -> None:
    assert "become columns" in told(session, '<!-- MONGO_TABLE: {"col|umns": []} -->')


def test_variables_are_told(session: Session) -> None:
    assert told(session, runs('{"$set": {"x": "$$R|OOT"}}')) == "`$$ROOT` · the whole document"


def test_a_shared_pipeline_is_told_with_its_stages(session: Session) -> None:
    assert told(session, runs('"fi|rst"')) == "shared pipeline `first`\n\nThe first.\n\n`$limit`"


def test_a_value_is_told_at_its_name_and_a_table_with_its_rows(session: Session) -> None:
    page = session.project.text(PAGE) or ""
    assert told(session, page.replace("MONGO_VALUE", "MONGO_|VALUE"), PAGE) == "writes **100.5**"
    rows = "| Threads | Queries/s |\n| --- | --- |\n| 1 | 100.5 |\n| 2 | 201 |\n| 8 | 804 |"
    assert rows in told(session, page.replace("MONGO_TABLE", "MONGO|_TABLE"), PAGE)
    assert rows in told(session, page.replace('"table": "spe', '"table": "|spe'), PAGE)
    assert "`qps` of table `speeds`: Queries/s" in told(
        session, page.replace('"column": "qps"', '"column": "q|ps"'), PAGE
    )


def test_of_words_of_a_sentence_nothing_is_told(session: Session) -> None:
    assert told(session, "A se|ntence.") == ""
