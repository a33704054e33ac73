"""What is told of a place: `|` marks it."""

from __future__ import annotations

import pytest

from mongo_tables.lsp.diagnostics import Lines
from mongo_tables.lsp.session import Session
from tests.lsp.conftest import PAGE, SAID, TABLE, checked_session, lay_out


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {PAGE: f"# Speeds\n\n{TABLE}\n{SAID}"})
    (folder / "docs/pipelines").mkdir()
    (folder / "docs/pipelines/first.json").write_text(
        '{"description": "The first.", "fields": {"qps": "How fast it was."}, "pipeline": [{"$limit": 1}]}'
    )
    (folder / "fixtures/results").mkdir()
    key = '{"_id": {"testname": "a", "n": %d}, "start_time": {"$date": "2026-01-01T00:00:00Z"}%s}\n'
    (folder / "fixtures/results/r.jsonl").write_text(key % (1, ', "duration": 5') + key % (2, ""))
    (folder / "fixtures/tagged").mkdir()
    (folder / "fixtures/tagged/t.jsonl").write_text('{"_id": 1, "tags": ["a", "b"]}\n')
    return checked_session(folder)


@pytest.fixture(autouse=True)
def _in_the_folder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.project.request.site.file.parent)


def told(session: Session, marked: str, file: str = "docs/new.md") -> str:
    at = marked.index("|")
    text = marked.replace("|", "", 1)
    session.open(file, text, 1)
    found = session.hover(file, Lines(text).position(at))
    session.close(file)
    return found[0].text if found else ""


def runs(stages: str) -> str:
    return f'<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": [{stages}], "columns": ["threads"]}} -->'


def test_a_field_is_told_with_its_kinds_and_its_values(session: Session) -> None:
    assert told(session, runs('{"$set": {"x": "$thr|eads"}}')) == (
        "`$threads` · int\n\nvalues: `1`, `2`, `8`"
    )
    assert told(session, runs('{"$match": {"ki|nd": "read"}}')).startswith("`kind` · string")
    assert told(session, runs('{"$sort": {"|nowhere": 1}}')) == "`nowhere` · no document has it at this stage"


@pytest.mark.parametrize(
    "condition", ['{"th|reads": 3}', '{"th|reads": {"$gt": 100}}', '{"th|reads": {"$gt": }}']
)
def test_a_condition_is_not_applied_to_the_field_that_it_is_written_for(
    condition: str, session: Session
) -> None:
    for place in (f'"where": {condition}', f'"pipeline": [{{"$match": {condition}}}]'):
        text = f'<!-- MONGO_TABLE: {{"collection": "runs", {place}, "columns": ["threads"]}} -->'
        assert told(session, text).endswith("values: `1`, `2`, `8`")


def test_a_condition_that_is_not_written_to_its_end_excludes_nothing(session: Session) -> None:
    text = runs('{"$match": {"threads": {"$gt": }}}, {"$sort": {"thr|eads": 1}}')
    assert told(session, text).endswith("values (earlier stages may drop some): `1`, `2`, `8`")


def test_a_field_of_results_is_told_with_its_meaning_and_unit(session: Session) -> None:
    text = '<!-- MONGO_TABLE: {"collection": "results", "pipeline": [{"$sort": {"dur|ation": 1}}]} -->'
    found = told(session, text)
    assert "not in all" in found
    assert "Duration (milliseconds): Length of the timed window" in found
    assert "Length" not in told(session, runs('{"$set": {"dur|ation": 1}}'))


def test_a_field_behind_a_group_is_what_the_group_makes_of_it(session: Session) -> None:
    stages = '{"$group": {"_id": "$threads", "mean": {"$avg": "$qps"}}}, {"$set": {"x": "$me|an"}}'
    assert told(session, runs(stages)).startswith("`$mean` · ")
    assert (
        told(session, runs(stages.replace("$me|an", "$q|ps"))) == "`$qps` · no document has it at this stage"
    )


def test_a_value_in_the_place_of_a_stage_is_none(session: Session) -> None:
    for value in ('{"$date": "2026-05-01"}', '{"$date": "x"}', '{"$numberLong": "5"}', '{"$oid": "z"}'):
        assert told(session, runs(f'{value}, {{"$sort": {{"thr|eads": 1}}}}')).startswith("`threads` · int")


def test_what_a_stage_makes_is_told_at_its_name(session: Session) -> None:
    assert told(session, runs('{"$group": {"_id": "$kind", "be|st": {"$max": "$qps"}}}')) == "`best` · double"
    assert told(session, runs('{"$set": {"kn|own": {"$toUpper": "$kind"}}}')) == "`known` · string"
    assert told(session, runs('{"$project": {"tw|ice": {"$concat": ["a", "b"]}}}')) == "`twice` · string"
    assert told(session, runs('{"$facet": {"al|l": [{"$limit": 1}]}}')) == "`all` · array of object"


def test_operators_and_stages_are_told_with_their_arguments_and_where_to_read_on(session: Session) -> None:
    found = told(session, runs('{"$set": {"x": {"$dateT|runc": {}}}}'))
    assert (
        "[`$dateTrunc`](https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateTrunc/)"
        in found
    )
    assert "since MongoDB 5.0" in found
    assert "takes `date`, `unit`, `binSize`, `timezone` and `startOfWeek`" in found
    assert "gives number" in told(session, runs('{"$set": {"x": {"$div|ide": []}}}'))
    assert "takes `if`, `then` and `else`" in told(session, runs('{"$set": {"x": {"$co|nd": []}}}'))
    assert "[`$group`](" in told(session, runs('{"$gro|up": {}}'))
    assert "not run: a pipeline never writes to a database" in told(session, runs('{"$o|ut": "x"}'))


def test_a_field_that_a_shared_pipeline_explains_is_told_with_its_words(session: Session) -> None:
    assert "How fast it was." in told(session, runs('"first", {"$set": {"x": "$q|ps"}}'))
    assert "How fast it was." not in told(session, runs('{"$set": {"x": "$q|ps"}}, "first"'))


def test_rows_of_a_group_are_not_counted_as_documents(session: Session) -> None:
    grouped = '{"$group": {"_id": "$threads"}}, {"$set": {"x": "$_i|d"}}'
    assert told(session, runs(grouped)) == "`$_id` · int\n\nvalues: `1`, `2`, `8`"


@pytest.mark.parametrize(
    ("stages", "values"),
    [
        ('{"$set": {"a": 1}}, {"$sort": {"ki|nd": 1}}', ': `"read"`, `"write"`'),
        ('{"$match": {"threads": {"$gt": 1}}}, {"$sort": {"thr|eads": 1}}', " (earlier stages may drop some): `2`, `8`"),
        ('{"$limit": 2}, {"$sort": {"thr|eads": 1}}', " (earlier stages may drop some): `1`, `2`, `8`"),
        ('{"$match": {"threads": 1}}, {"$set": {"threads": "$qps"}}, {"$sort": {"thr|eads": 1}}', " (earlier stages may drop some): `100.5`"),
    ],
)  # fmt: skip
def test_values_are_told_with_whether_stages_before_may_drop_some(
    session: Session, stages: str, values: str
) -> None:
    assert told(session, runs(stages)).partition("\n\nvalues")[2] == values


def test_of_an_array_a_condition_excludes_no_value(session: Session) -> None:
    """It is met by one element, and the others stand beside that."""
    stages = '{"$match": {"tags": "a"}}, {"$sort": {"ta|gs": 1}}'
    found = told(session, runs(stages).replace('"runs"', '"tagged"'))
    assert found.endswith('values (earlier stages may drop some): `"a"`, `"b"`')


def test_fields_of_another_collection_are_told(session: Session) -> None:
    looked_up = (
        '{"$lookup": {"from": "results", "as": "m"}}, {"$unwind": "$m"}, {"$set": {"x": "$m.dur|ation"}}'
    )
    assert told(session, runs(looked_up)) == "`$m.duration` · int, not in all documents\n\nvalues: `5`"
    both = '{"$unionWith": "results"}, {"$sort": {"dur|ation": 1}}'
    assert told(session, runs(both)).startswith("`duration` · int, not in all documents")


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


def test_a_column_is_told_with_what_its_first_cell_comes_from(session: Session) -> None:
    page = session.project.text(PAGE) or ""
    found = told(session, page.replace('["_id", "qps"]', '["_id", "q|ps"]'), PAGE)
    assert found == (
        "`qps` · number\n\n"
        "first row: **100.5**, from\n"
        "* 1 of 3 documents of `runs`: `_id` `read1`\n"
        "* the field `qps`\n"
        "* stage 2, $group, which makes `qps`\n\n"
        "`mongo-tables explain docs/page.md:3 --cell 1 qps` lists all"
    )


def test_a_column_of_an_edited_comment_is_told_without_old_documents(session: Session) -> None:
    page = session.project.text(PAGE) or ""
    edited = page.replace("$avg", "$max").replace('["_id", "qps"]', '["_id", "q|ps"]')
    assert "first row" not in told(session, edited, PAGE)


def test_a_table_is_told_at_its_own_id(session: Session) -> None:
    page = f"# Speeds\n\n{TABLE}\n{SAID}".replace('"id": "spe', '"id": "spe|')
    found = told(session, page, PAGE)
    assert found.startswith("table `speeds`")
    assert "| --- " in found


def test_a_comment_in_fenced_code_is_text(session: Session) -> None:
    table = runs('{"$set": {"x": "$thr|eads"}}')
    assert told(session, f"text\n\n{table}")
    assert not told(session, f"text\n\n```json\n{table}\n```\n")
    assert told(session, f"```text\ncode\n```\n\n{table}\n\n```text\ncode\n```\n")
    assert told(session, f"```json\n{table}\n")


def test_of_words_of_a_sentence_nothing_is_told(session: Session) -> None:
    assert told(session, "A se|ntence.") == ""
