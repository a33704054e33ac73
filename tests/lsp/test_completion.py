"""What is offered at a place: `|` marks it, in JSON that is broken there because it is being typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol.types import Position

from mongo_tables.jsontext.reader import parse
from mongo_tables.lsp.completion import Completion, complete
from mongo_tables.lsp.session import Session
from mongo_tables.lsp.typed_json import comment_body, cursor_at
from tests.lsp.conftest import SAID, TABLE, checked_session, lay_out, session_here

DOCUMENTS = [
    {
        "_id": {"testname": "insert", "n": n},
        "threads": n,
        "host": {"name": "a", "cpu": {"cores": 4}},
        "samples": [{"at": 1, "value": 2.5}, {"at": 2, "value": 3}],
        "odd": "x" if n > 1 else 1,
    }
    for n in (1, 2)
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("site")
    lay_out(folder, {"docs/page.md": f"# Speeds\n\n{TABLE}\n{SAID}"})
    (folder / "docs/pipelines").mkdir()
    (folder / "docs/pipelines/means.json").write_text(
        '{"description": "The means.", "pipeline": [{"$limit": 1}]}'
    )
    (folder / "fixtures/bench").mkdir()
    lines = "".join(f"{json.dumps(one)}\n" for one in DOCUMENTS)
    (folder / "fixtures/bench/bench.jsonl").write_text(lines)
    return checked_session(folder)


@pytest.fixture(autouse=True)
def _in_the_folder(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(session.project.request.site.file.parent)


def completed(session: Session, marked: str) -> tuple[str, Completion]:
    at = marked.index("|")
    text = marked.replace("|", "", 1)
    body = comment_body(text, at)
    assert body is not None
    return text, complete(text, cursor_at(text, body, at), session.knowledge)


def offered(session: Session, marked: str) -> list[str]:
    return [one.label for one in completed(session, marked)[1].found]


def taken(session: Session, marked: str, label: str) -> str:
    """The text once something that is offered was taken."""
    text, found = completed(session, marked)
    one = next(one for one in found.found if one.label == label)
    typed = text[found.start : marked.index("|")]
    assert one.sought.startswith(typed) or not typed, "editors compare what is typed with it"
    return text[: found.start] + one.text + text[found.end :]


def bench(stages: str, rest: str = "") -> str:
    return f'<!-- MONGO_TABLE: {{"collection": "bench", "pipeline": [{stages}{rest}'


@pytest.mark.parametrize("initial", ['{"sum": 0}', '{"$literal": {"sum": 0}}', '{"sum": "$threads"}'])
def test_what_a_reduction_made_so_far_has_the_fields_that_it_makes(session: Session, initial: str) -> None:
    made = '{"$set": {"x": {"$reduce": {"input": "$samples", "initialValue": %s, "in": {"sum": {"$add": ['
    assert offered(session, bench(f'{made % initial}"$$value.|')) == ["$$value.sum"]
    assert offered(session, bench(f'{made % initial}"$$this.|')) == ["$$this.at", "$$this.value"]


def test_the_number_of_steps_to_a_document_is_offered(session: Session) -> None:
    followed = '{"$graphLookup": {"from": "runs", "as": "m", "depthField": "steps"}}, {"$set": {"x": "$m.st|'
    assert "$m.steps" in offered(session, bench(followed))


def test_keys_of_a_comment_are_offered_without_those_that_it_has(session: Session) -> None:
    found = offered(session, '<!-- MONGO_TABLE: {"collection": "runs", "|')
    assert {"pipeline", "columns", "headers", "where", "id"} <= set(found)
    assert "collection" not in found
    assert offered(session, '<!-- MONGO_VALUE: {"|"}')[:3] == ["table", "column", "where"]


@pytest.mark.parametrize("around", ['MONGO_VALUE: {"say"', 'MONGO_CHART: {"title": {"say"'])
def test_the_verdicts_that_need_a_sentence_are_offered(session: Session, around: str) -> None:
    assert offered(session, f'<!-- {around}: {{"slower": "x", "|') == ["faster", "no difference", "not known"]


@pytest.mark.parametrize(
    ("stages", "names"),
    [
        ('{"$match": {"threads": 1}, "|', ()),
        ('{"$set": {"x": {"$abs": "$threads", "|', ()),
        ('{"$set": {"x": {"a": 1, "|', ()),
        ('{"$group": {"_id": 1, "x": {"$sum": 1, "|', ()),
        ('{"$setWindowFields": {"output": {"x": {"$sum": 1, "|', ("window",)),
    ],
)
def test_beside_what_must_stand_alone_nothing_is_offered(
    session: Session, stages: str, names: Sequence[str]
) -> None:
    assert offered(session, bench(stages)) == list(names)


def test_a_field_of_flags_offers_both(session: Session) -> None:
    flagged = '{"$set": {"fast": {"$gt": ["$threads", 1]}}}, {"$match": {"fast": %s'
    assert offered(session, bench(flagged % "|"))[:2] == ["false", "true"]
    assert offered(session, bench(flagged % '{"$eq": |')) == ["false", "true"]


def test_a_field_that_sorts_already_is_not_offered_again(session: Session) -> None:
    typed = '<!-- MONGO_TABLE: {"collection": "runs", "sort": ["-qps", "|"]} -->'
    assert "threads" in offered(session, typed)
    assert not {"qps", "-qps"} & set(offered(session, typed))


def test_an_expression_is_offered_beside_other_fields(session: Session) -> None:
    for stages in (
        '{"$set": {"a": 1, "x": |}',
        '{"$set": {"a": 1, "x": {"$add": [1, |',
        '{"$project": {"a": 1, "x": |',
    ):
        assert {"$threads", "$abs"} <= set(offered(session, bench(stages)))
    assert "$sum" in offered(session, bench('{"$group": {"_id": "$threads", "x": |}'))
    assert "$limit" in offered(session, bench('{"$match": {}}, |'))


@pytest.mark.parametrize("typed", ['{"$|', '{"$|}', '{"$|,', '{"$|"', '{"|"', '{"$|"}'])
@pytest.mark.parametrize("behind", ["", '{"$limit": 1}', '{"$match": {"threads": 1}},\n{"$limit": 1}'])
def test_a_stage_that_is_typed_between_others_is_offered(session: Session, typed: str, behind: str) -> None:
    assert "$sort" in offered(session, bench(f"\n{typed}\n{behind}\n", '], "columns": ["threads"]} -->'))


def test_an_operator_is_offered_where_its_quote_is_open(session: Session) -> None:
    stages = '{"$match": {"threads": 1}},\n{"$limit": 1}], "columns": ["threads"]} -->'
    assert "$add" in offered(session, bench(f'{{"$set": {{"a": {{"$ad|\n{stages}'))
    assert "$sum" in offered(session, bench(f'{{"$group": {{"_id": 1, "n": {{"$s|\n{stages}'))
    assert offered(session, bench(f'{{"$set": {{"a": {{"$abs": 1, "$ad|\n{stages}')) == []


@pytest.mark.parametrize(
    ("typed", "label", "whole"),
    [
        ('{"$set": {"a": "$thr|"}}', "$threads", '{"$set": {"a": "$threads"}}'),
        ('{"$sort": {"thr|": 1}}', "threads", '{"$sort": {"threads": 1}}'),
        ('{"$li|": 3}', "$limit", '{"$limit": 3}'),
        ('{"$so|rt": {"threads": 1}}', "$sort", '{"$sort": {"threads": 1}}'),
        (
            '{"$group": {"_id": 1, "n": {"$su|n": "$threads"}}}',
            "$sum",
            '{"$group": {"_id": 1, "n": {"$sum": "$threads"}}}',
        ),
        ('{"$match": {"thr|eads": 1}}', "threads", '{"$match": {"threads": 1}}'),
    ],
)
def test_a_quote_that_is_closed_stays(session: Session, typed: str, label: str, whole: str) -> None:
    assert taken(session, f"{bench(typed)}]}} -->", label) == f"{bench(whole)}]}} -->"


def test_what_can_never_run_at_a_place_is_not_offered(session: Session) -> None:
    assert "$facet" in offered(session, bench('{"|'))
    assert not {"$facet", "$documents"} & set(offered(session, bench('{"$facet": {"x": [{"|')))
    assert {"$expr", "$sampleRate"} <= set(offered(session, bench('{"$match": {"|')))
    within = set(offered(session, bench('{"$match": {"samples": {"$elemMatch": {"|')))
    assert {"at", "$and"} <= within
    assert not {"$expr", "$sampleRate"} & within
    beside = set(offered(session, bench('{"$setWindowFields": {"output": {"x": {"window": {}, "|')))
    assert {"$sum", "$derivative"} <= beside


def test_a_key_is_written_with_its_colon_and_not_twice(session: Session) -> None:
    assert taken(session, '<!-- RESULT_TABLE: {"col| -->', "columns") == '<!-- RESULT_TABLE: {"columns":  -->'
    typed = '<!-- RESULT_TABLE: {"col|": []} -->'
    assert taken(session, typed, "columns") == '<!-- RESULT_TABLE: {"columns": []} -->'
    assert taken(session, "<!-- RESULT_TABLE: {| -->", "limit") == '<!-- RESULT_TABLE: {"limit":  -->'


def test_values_of_a_key_are_those_of_its_schema(session: Session) -> None:
    assert {"line", "bar"} <= set(offered(session, '<!-- MONGO_CHART: {"mark": "|'))
    assert offered(session, '<!-- MONGO_VALUE: {"draw": |')[:2] == ["true", "false"]


@pytest.mark.parametrize(
    "before", ['{"collection": "', '{"collection": "runs", "pipeline": [{"$lookup": {"from": "']
)
def test_collections_are_offered_beside_others_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    lay_out(tmp_path, {"docs/page.md": "# Speeds\n"})
    files = {
        "one/a.jsonl": '{"_id": 1}\n',
        "broken/a.jsonl": '{"_id": \n',
        "old/2025/a.jsonl": '{"_id": 1}\n',
    }
    for name, text in files.items():
        (tmp_path / "fixtures" / name).parent.mkdir(parents=True)
        (tmp_path / "fixtures" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    made = session_here()
    found = completed(made, f"<!-- MONGO_TABLE: {before}|")[1].found
    assert [(one.label, one.remark) for one in found] == [
        ("broken", "cannot be read"),
        ("one", "1 document"),
        ("runs", "6 documents"),
    ]


def test_collections_tables_and_shared_pipelines_are_offered_by_name(session: Session) -> None:
    assert offered(session, '<!-- MONGO_TABLE: {"collection": "|') == ["bench", "runs"]
    assert offered(session, '<!-- MONGO_VALUE: {"table": "|') == ["speeds"]
    _, found = completed(session, bench('"|'))
    assert [(one.label, one.about) for one in found.found] == [("means", "The means.")]


def test_a_stage_in_a_list_opens_its_object(session: Session) -> None:
    assert {"$match", "$group", "$setWindowFields"} <= set(offered(session, bench('{"$|')))
    assert not {"$out", "$search"} & set(offered(session, bench('{"$|')))
    assert taken(session, bench("|", "]} -->"), "$sort") == bench('{"$sort": ', "]} -->")


@pytest.mark.parametrize(
    ("stages", "fields"),
    [
        ('{"$match": {"|', ["_id", "_id.testname", "_id.n", "threads", "host", "samples", "odd"]),
        ('{"$match": {"host.|', ["host.name", "host.cpu"]),
        ('{"$match": {"_id.testname": "insert"}}, {"$sort": {"_id.|', ["_id.testname", "_id.n"]),
        ('{"$group": {"_id": "$threads", "mean": {"$avg": "$odd"}}}, {"$sort": {"|', ["_id", "mean"]),
        ('{"$unwind": "$samples"}, {"$set": {"x": "$samples.|', ["$samples.at", "$samples.value"]),
        ('{"$project": {"host": 1}}, {"$set": {"x": "$host.cpu.|', ["$host.cpu.cores"]),
        ('{"$set": {"x": {"$add": ["$host.cpu.cores", "$host.|', ["$host.name", "$host.cpu"]),
        ('{"$unwind": "|', ["$samples"]),
        ('{"$lookup": {"from": "runs", "as": "r", "pipeline": [{"$match": {"qp|', ["qps"]),
        ('{"$facet": {"a": [{"$project": {"threads": 1}}, {"$sort": {"|', ["threads", "_id"]),
    ],
)
def test_fields_are_those_that_documents_have_at_that_stage(
    session: Session, stages: str, fields: Sequence[str]
) -> None:
    found = [one.label for one in completed(session, bench(stages))[1].found if one.sort == "field"]
    assert set(fields) <= set(found)
    if len(fields) < 3 and "lookup" not in stages and 'unwind": "|' not in stages:
        assert set(found) <= {*fields, "_id.testname", "_id.n"}


@pytest.mark.parametrize(
    ("stages", "fields"),
    [
        ('{"$lookup": {"from": "runs", "as": "m"}}, {"$set": {"x": "$m.|', ["$m.kind", "$m.qps"]),
        ('{"$lookup": {"from": "runs", "as": "m"}}, {"$unwind": "$m"}, {"$sort": {"m.|', ["m.kind", "m.qps"]),
        (
            '{"$lookup": {"from": "runs", "as": "m", "pipeline": [{"$project": {"speed": "$qps"}}]}}, '
            '{"$set": {"x": "$m.|',
            ["$m.speed", "$m._id"],
        ),
        ('{"$graphLookup": {"from": "runs", "as": "m.all"}}, {"$set": {"x": "$m.all.|', ["$m.all.qps"]),
        ('{"$unionWith": "runs"}, {"$sort": {"|', ["samples", "odd", "kind", "qps"]),
        ('{"$unionWith": "runs"}, {"$sort": {"host.|', ["host.name", "host.cpu"]),
        (
            '{"$unionWith": {"coll": "runs", "pipeline": [{"$project": {"speed": 1}}]}}, {"$sort": {"|',
            ["samples"],
        ),
    ],
)
def test_fields_of_another_collection_are_known_behind_the_stage_that_reads_it(
    session: Session, stages: str, fields: Sequence[str]
) -> None:
    assert set(fields) <= set(offered(session, bench(stages)))
    if "project" in stages:
        assert "qps" not in "".join(offered(session, bench(stages)))


def test_the_rest_of_the_comment_stands_where_it_is_while_one_types(session: Session) -> None:
    rest = '"}}, {"$sort": {"_id": 1}}], "columns": ["_id"], "headers": ["Threads"]} -->'
    text = taken(session, bench('{"$group": {"_id": "$thr|', rest), "$threads")
    assert parse(text.partition(":")[2].removesuffix("-->")).problems == ()
    assert '"_id": "$threads"}}' in text


def test_inside_a_map_the_element_has_its_fields(session: Session) -> None:
    mapped = '{"$set": {"v": {"$map": {"input": "$samples", "in": "'
    assert offered(session, bench(f"{mapped}$$this.|")) == ["$$this.at", "$$this.value"]
    assert {"$$this", "$$ROOT", "$$NOW"} <= set(offered(session, bench(f"{mapped}|")))
    named = '{"$set": {"v": {"$filter": {"input": "$samples", "as": "each", "cond": {"$gt": ["$$each.|'
    assert offered(session, bench(named)) == ["$$each.at", "$$each.value"]
    assert "$$this" not in offered(session, bench('{"$set": {"v": "|'))


def test_variables_of_a_comment_and_of_let_are_offered(session: Session) -> None:
    let = '<!-- MONGO_TABLE: {"collection": "bench", "let": {"least": 4}, "pipeline": [{"$set": {"a": "$$|'
    assert "$$least" in offered(session, let)
    assert "$$twice" in offered(session, bench('{"$set": {"a": {"$let": {"vars": {"twice": 2}, "in": "$$|'))


def test_operators_are_offered_where_they_can_stand(session: Session) -> None:
    assert taken(session, bench('{"$set": {"a": {"$div|', "}}}]} -->"), "$divide").endswith(
        '{"$divide": }}}]} -->'
    )
    assert "$avg" in offered(session, bench('{"$group": {"_id": null, "m": {"$|'))
    assert "$dateTrunc" not in offered(session, bench('{"$group": {"_id": null, "m": {"$|'))
    assert "$rank" in offered(session, bench('{"$setWindowFields": {"output": {"r": {"$|'))
    assert offered(session, bench('{"$match": {"threads": {"$gt|'))[:1] != ["$dateTrunc"]
    assert "$gte" in offered(session, bench('{"$match": {"threads": {"$|'))


def test_the_head_of_a_query_and_the_condition_of_a_field_offer_the_operators_that_stand_there(
    session: Session,
) -> None:
    head = {"$alwaysTrue", "$alwaysFalse", "$sampleRate"}
    assert head <= set(offered(session, bench('{"$match": {"|')))
    within = bench('{"$match": {"threads": {"|')
    for marked in (within, '<!-- MONGO_CHECK: {"table": "speeds", "expect": {"qps": {"|'):
        assert "$gte" in offered(session, marked)
        assert not {*head, "$rand", "$options"} & set(offered(session, marked))
    assert "$options" in offered(session, bench('{"$match": {"odd": {"$regex": "x", "|'))


@pytest.mark.parametrize(
    ("stages", "names"),
    [
        ('{"$group": {"_id": null, "x": {"$top": {"|', ["sortBy", "output"]),
        ('{"$set": {"x": {"$switch": {"branches": [{"|', ["case", "then"]),
        ('{"$set": {"x": {"$cond": {"|', ["if", "then", "else"]),
        ('{"$set": {"x": {"$getField": {"|', ["field", "input"]),
        ('{"$sample": {"|', ["size"]),
        ('{"$densify": {"range": {"|', ["step", "bounds", "unit"]),
        ('{"$fill": {"output": {"threads": {"|', ["value", "method"]),
        ('{"$setWindowFields": {"output": {"x": {"window": {"|', ["documents", "range", "unit"]),
        ('{"$setWindowFields": {"output": {"x": {"window": {"documents": ["|', []),
        ('{"$group": {"_id": null, "x": {"$top": {"sortBy": {"host.|', ["host.name", "host.cpu"]),
        ('{"$fill": {"output": {"host.|', ["host.name", "host.cpu"]),
        ('{"$set": {"x": {"$getField": {"field": "|', []),
    ],
)
def test_an_argument_offers_what_it_is_meant_to_be(
    session: Session, stages: str, names: Sequence[str]
) -> None:
    assert offered(session, bench(stages)) == names


def test_redact_offers_what_becomes_of_a_level(session: Session) -> None:
    assert {"$$KEEP", "$$PRUNE", "$$DESCEND"} <= set(
        offered(session, bench('{"$redact": {"$cond": {"then": "$$|'))
    )
    assert "$$KEEP" not in offered(session, bench('{"$set": {"x": "$$|'))


def test_stages_that_stand_within_others_alone_are_offered_there_alone(session: Session) -> None:
    assert "$documents" not in offered(session, bench('{"|'))
    assert "$documents" in offered(session, bench('{"$unionWith": {"pipeline": [{"|'))


def test_a_query_offers_the_values_that_a_field_has(session: Session) -> None:
    assert offered(session, bench('{"$match": {"_id.testname": "|')) == ["insert"]
    assert offered(session, bench('{"$match": {"threads": {"$in": [|'))[:2] == ["1", "2"]
    runs = '<!-- MONGO_TABLE: {"collection": "runs", "where": {"kind": "|'
    assert offered(session, runs) == ["read", "write"]


def test_columns_and_the_sort_of_rows_are_fields_of_the_rows(session: Session) -> None:
    table = TABLE.partition('"columns"')[0]
    assert offered(session, table + '"columns": ["|') == ["_id", "qps"]
    assert "-threads" in [
        one.text.rstrip('"')
        for one in completed(session, '<!-- MONGO_TABLE: {"collection": "runs", "sort": "-|')[1].found
    ]


def test_a_value_and_a_statement_offer_columns_and_values_of_their_table(session: Session) -> None:
    assert offered(session, '<!-- MONGO_VALUE: {"table": "speeds", "column": "|') == ["_id", "qps"]
    where = '<!-- MONGO_VALUE: {"table": "speeds", "column": "qps", "where": {'
    assert {"_id", "qps"} <= set(offered(session, f'{where}"|'))
    assert offered(session, f'{where}"_id": |')[:3] == ["1", "2", "8"]
    assert "$lt" in offered(session, '<!-- MONGO_CHECK: {"table": "speeds", "expect": {"qps": {"$|')


def test_settings_of_columns_offer_the_columns_that_are_shown(session: Session) -> None:
    table = '<!-- MONGO_TABLE: {"collection": "runs", "columns": ["threads", "qps"], "format": {"|'
    assert offered(session, table) == ["threads", "qps"]


def test_a_baseline_and_groups_of_headers_offer_the_columns_of_the_table(session: Session) -> None:
    table = '<!-- MONGO_TABLE: {"collection": "runs", "columns": ["threads", "qps"], '
    assert offered(session, f'{table}"baseline": {{"column": "|') == ["threads", "qps"]
    assert offered(session, f'{table}"baseline": {{"column": ["qps", "|') == ["threads"]
    assert offered(session, f'{table}"header_groups": {{"All": ["|') == ["threads", "qps"]


def test_what_is_no_column_offers_none(session: Session) -> None:
    assert offered(session, '<!-- MONGO_TABLE: {"markdown": |') == ["true", "false"]
    assert {"decimals", "unit"} <= set(offered(session, '<!-- MONGO_VALUE: {"format": {"|'))


def test_a_shared_pipeline_as_an_object_offers_its_keys(session: Session) -> None:
    file = "docs/pipelines/means.json"
    session.open(file, '{""}', 1)
    found = session.complete(file, Position(0, 2))
    session.close(file)
    assert found is not None
    assert {"description", "fields", "pipeline"} <= {one.label for one in found[0].found}


def test_a_shared_pipeline_offers_stages_and_the_fields_that_its_first_user_has(session: Session) -> None:
    used = '<!-- MONGO_TABLE: {"collection": "bench", "pipeline": [{"$unwind": "$samples"}, "means"]} -->'
    session.open("docs/user.md", used, 1)
    file = "docs/pipelines/means.json"
    text = '[{"$set": {"x": "$samples."}}]'
    session.open(file, text, 1)
    session.check()
    found = session.complete(file, Position(0, text.index('."') + 1))
    assert found is not None
    assert [one.label for one in found[0].found] == ["$samples.at", "$samples.value"]
    session.close(file)
    session.close("docs/user.md")
    session.check()


@pytest.mark.parametrize(
    "outside", ["Text |", "<!-- other: | -->", f"{TABLE}\n|", "<!-- MONGO_TABLE|: {} -->"]
)
def test_nothing_is_offered_outside_of_a_comment(outside: str) -> None:
    at = outside.index("|")
    body = comment_body(outside.replace("|", ""), at)
    assert body is None or at < body.start


def test_what_stands_in_a_quotation_is_completed_as_well(session: Session) -> None:
    quoted = '> <!-- MONGO_TABLE: {\n>   "collection": "bench",\n>   "pipeline": [\n>     {"$sort": {"thr|'
    assert "threads" in offered(session, quoted)


def test_a_value_that_would_end_the_comment_is_written_so_that_it_does_not(tmp_path: Path) -> None:
    page = '<!-- MONGO_TABLE: {"collection": "marks", "pipeline": [{"$match": {"kind": |'
    folder = tmp_path
    lay_out(folder, {"docs/page.md": page.replace("|", "")})
    (folder / "fixtures/marks").mkdir(parents=True)
    (folder / "fixtures/marks/marks.jsonl").write_text(
        '{"_id": 1, "kind": "a --> b"}\n{"_id": 2, "kind": "c --!> d"}\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        session = session_here()
        session.check()
        assert taken(session, page, "a --> b").endswith(r'{"kind": "a --\u003e b"')
        assert taken(session, page, "c --!> d").endswith(r'{"kind": "c --!\u003e d"')
