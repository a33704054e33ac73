"""What is told of the documents behind a table: theirs alone, all of it where they differ, and nothing invented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pymongo
import pytest
from bson.int64 import Int64

from mongo_tables.aggregation import aggregate
from mongo_tables.files.process import today
from mongo_tables.render.downloads import json_text
from mongo_tables.render.provenance import provenance_details, provenance_parts
from mongo_tables.render.values import raw_text
from mongo_tables.results.opening import open_source
from mongo_tables.results.provenance import Provenance, joined_queries, provenance_of
from mongo_tables.results.pull import pull
from mongo_tables.site.pages import read_page
from tests.judged import asked
from tests.measured import document, in_blocks, pooled, speeds
from tests.mongod import Mongod
from tests.render.specs import no_shared

MIXED = [
    document(1),
    document(2, server="8.0.12", day=23, client={"connections": 1}),
    document(4, server="8.0.4", day=22),
]


def provenance(documents: list[dict[str, Any]], pipeline: list[dict[str, Any]] | None = None) -> Provenance:
    spec = speeds(pipeline=pipeline) if pipeline is not None else speeds()
    found = provenance_of(aggregate(documents, spec.source_query.pipeline))
    assert found
    return found


def details(source: Provenance) -> dict[str, str]:
    return dict(provenance_details(source))


def test_the_line_says_when_on_what_and_how_often() -> None:
    assert provenance_parts(provenance([document(1), document(2)])) == [
        "Measured 2026-11-21",
        "MongoDB 6.0.5",
        "2 processors, 24 GiB",
        "3 repeats",
    ]


def test_all_the_rest_is_told_by_name_in_the_words_of_the_documents() -> None:
    assert provenance_details(provenance([document(1), document(2)])) == (
        ("Result documents", "2"),
        ("Experiment", "insert"),
        ("Deployment", "replica set of 3 members, 0.25 GiB cache each, all on one machine"),
        ("Machine", "Some CPU, 2 processors, 23.5 GiB memory"),
        ("Write concern", "w: majority"),
        ("Connections", "10"),
        ("Scale", "0.001"),
        ("Time limit of a window", "0.7 s"),
        ("Seed", "1"),
        ("Driver", "PyMongo 4.20.0"),
        ("Program", "mongo-tables 0.1.0"),
    )


TWO = pooled(("c0ffee", 21, 20), ("decade", 22, 18))


@pytest.mark.parametrize(
    ("documents", "often"),
    [
        ([in_blocks(1, 20), in_blocks(2, 20, back=True)], "20 blocks"),
        ([in_blocks(1, 20), in_blocks(2, 12)], "12 to 20 blocks"),
        ([in_blocks(1, 1)], "1 block"),
        (
            [in_blocks(1, 20, campaigns=pooled(("a", 1, 20), ("b", 2, 20)))],
            "20 blocks in each of 2 campaigns, speeds measured 2026-11-21",
        ),
        (
            [in_blocks(1, 20, campaigns=TWO)],
            "18 to 20 blocks in each of 2 campaigns, speeds measured 2026-11-21",
        ),
        (
            [in_blocks(1, 20, campaigns=TWO), in_blocks(2, 20)],
            "18 to 20 blocks in each of 1 to 2 campaigns, speeds measured 2026-11-21",
        ),
        ([in_blocks(1, 20), document(2)], "20 blocks, 3 repeats"),
        ([document(1, experiment={"name": "x", "repeats": 1})], "measured once"),
        ([document(1, experiment={"name": "x"})], "client of 2 processors, 24 GiB"),
    ],
)
def test_the_line_counts_blocks_and_campaigns_and_repeats_where_there_are_no_blocks(
    documents: list[dict[str, Any]], often: str
) -> None:
    assert provenance_parts(provenance(documents))[-1] == often


def test_rows_of_several_campaigns_name_all_of_them_with_day_and_blocks() -> None:
    many = pooled(*((f"c{day}", day, 20) for day in range(9, 1, -1)))
    named = details(provenance([in_blocks(1, 20, campaigns=many)]))["Campaigns"]
    assert named.startswith("c2 of 2026-11-02, 20 blocks; c3 of 2026-11-03, 20 blocks; ")
    assert named.endswith("c9 of 2026-11-09, 20 blocks")
    both = [in_blocks(1, 20, campaigns=TWO), in_blocks(2, 20)]
    assert (
        details(provenance(both))["Campaigns"]
        == "c0ffee of 2026-11-21, 20 blocks; decade of 2026-11-22, 18 blocks"
    )


def test_the_days_and_the_versions_of_pooled_rows_are_those_of_all_their_campaigns() -> None:
    differs = [{"field": "versions.driver", "values": ["PyMongo 4.19.0", "PyMongo 4.20.0"]}]
    source = provenance([in_blocks(1, 20, campaigns={**TWO, "differs": differs}), in_blocks(2, 20)])
    assert provenance_parts(source)[0] == "Measured 2026-11-21 to 2026-11-22"
    assert details(source)["Driver"] == "PyMongo 4.19.0, PyMongo 4.20.0"


def test_a_row_of_one_campaign_names_that() -> None:
    assert details(provenance([in_blocks(1, 2)]))["Campaigns"] == "c0ffee of 2026-11-21, 2 blocks"
    assert "Campaigns" not in details(provenance([document(1)]))


def test_rows_that_were_pooled_tell_alike_though_their_ratios_differ() -> None:
    one, other = (in_blocks(size, campaigns=pooled(("a", size, 3), ("b", 5, 3))) for size in (1, 1))
    other |= {"_id": {"docSizeKB": 2, "testname": "insert"}}
    other["campaigns"]["each"][0]["ratio"] = 7.0
    assert len(provenance([one, other]).sets) == 1


def test_campaigns_of_another_form_stop_nobody() -> None:
    odd = document(1, campaign="x", campaigns={"each": [1, {"id": 7, "start": "noon", "blocks": "many"}]})
    assert "Campaigns" in details(provenance([odd]))


def test_readers_are_told_of_rows_of_a_quick_run() -> None:
    quick = [document(size) for size in (1, 2)]
    for one in quick:
        one["experiment"]["profile"] = "quick"
    source = provenance(quick)
    assert provenance_parts(source)[1] == "measured with the quick profile"
    mixed = provenance([quick[0], document(2)])
    assert provenance_parts(mixed)[1] == "in part measured with the quick profile"


def test_another_profile_is_no_warning_and_stands_in_the_fold() -> None:
    one = document(1)
    one["experiment"]["profile"] = "publish"
    assert "publish" not in " ".join(provenance_parts(provenance([one])))
    assert details(provenance([one]))["Profile"] == "publish"


def test_where_documents_differ_every_value_is_shown_in_order() -> None:
    parts = provenance_parts(provenance(MIXED))
    assert parts[:2] == ["Measured 2026-11-21 to 2026-11-23", "MongoDB 6.0.5, 8.0.4, 8.0.12"]
    assert details(provenance(MIXED))["Connections"] == "1, 10"


def test_many_numbers_become_a_range() -> None:
    documents = [document(1, client={"connections": n}) for n in (1, 2, 8, 16, 128)]
    assert details(provenance(documents))["Connections"] == "1 to 128"


def test_numbers_are_ordered_by_their_value() -> None:
    scales = [0.5, 0.25, 1e-7]
    few = [document(1, experiment={"name": "x", "scale": scale}) for scale in scales]
    assert details(provenance(few))["Scale"] == "1e-7, 0.25, 0.5"
    many = [document(1, experiment={"name": "x", "scale": scale}) for scale in (*scales, 0.125, 0.75)]
    assert details(provenance(many))["Scale"] == "1e-7 to 0.75"


def test_the_hosts_of_a_deployment_are_not_told() -> None:
    one = document(1, experiment={"name": "x", "target": "secret.example:27017"})
    assert "secret" not in repr(provenance([one]).sets)


def test_an_instance_is_named_and_the_machine_is_then_the_clients() -> None:
    config = {"atlasInstanceType": "M40", "atlasDiskSizeGB": 200, "atlasIOPS": 3000}
    one = document(1, bench_config=config)
    one["experiment"]["target"] = "atlas"
    assert "M40" in provenance_parts(provenance([one]))
    told = details(provenance([one]))
    assert told["Client"] == "Some CPU, 2 processors, 23.5 GiB memory"
    assert "Machine" not in told


MEMBER = {"cpu": "Server CPU", "cores": 8, "memory_gib": 32, "cache_gib": 15.5}


@pytest.mark.parametrize(
    ("members", "servers", "short"),
    [
        ([MEMBER] * 3, "Server CPU, 8 processors, 32 GiB memory", "3 servers of 8 processors, 32 GiB"),
        ([MEMBER], "Server CPU, 8 processors, 32 GiB memory", "server of 8 processors, 32 GiB"),
        (
            [{"role": "primary", **MEMBER}, {}, 7],
            "Server CPU, 8 processors, 32 GiB memory",
            "server of 8 processors, 32 GiB",
        ),
        (
            [MEMBER, {**MEMBER, "cpu": "Other", "cores": 4}],
            "Other, 4 processors, 32 GiB memory; Server CPU, 8 processors, 32 GiB memory",
            "server of 8 processors, 32 GiB; server of 4 processors, 32 GiB",
        ),
        ([{"role": "primary", "version": "6.0.5"}], None, "client of 2 processors, 24 GiB"),
    ],
)
def test_servers_elsewhere_are_told_apart_from_the_client(
    members: list[Any], servers: str | None, short: str
) -> None:
    one = document(1, servers={"kind": "replica set", "members": members, "not_known": []})
    one["experiment"]["target"] = "db.example:27017"
    told = details(provenance([one]))
    assert told.get("Servers") == servers
    assert told["Client"] == "Some CPU, 2 processors, 23.5 GiB memory"
    assert provenance_parts(provenance([one]))[2] == short


def test_servers_on_the_machine_of_the_client_are_told_once() -> None:
    one = document(1, servers={"kind": "replica set", "members": [MEMBER] * 3, "not_known": []})
    assert provenance_parts(provenance([one])) == provenance_parts(provenance([document(1)]))
    assert details(provenance([one])) == details(provenance([document(1)]))


PUBLISHED = {"_id": {"testname": "insert", "row": 1}, "size": 4, "source": "a report"}


@pytest.mark.parametrize(
    ("stated", "line"),
    [
        ({"date": "2026-01-08", "version": "8.0"}, "Published figures of 2026-01-08, MongoDB 8.0"),
        ({"measured": "2020-08", "version": "4.0"}, "Published figures measured 2020-08, MongoDB 4.0"),
        ({"version": "3.4.10"}, "Published figures, MongoDB 3.4.10, date not stated by the source"),
        ({"date": "2026-01-08"}, "Published figures of 2026-01-08, version not stated by the source"),
        ({}, "Published figures, date and version not stated by the source"),
    ],
)
def test_the_line_of_published_figures_says_what_their_source_states(
    stated: dict[str, str], line: str
) -> None:
    found = provenance([{**PUBLISHED, "published": stated}], [{"$match": {"size": 4}}])
    assert provenance_parts(found) == [line]
    assert details(found) == {"Source of published figures": "a report"}


@pytest.mark.parametrize(
    ("start", "other", "measured"),
    [
        ("results", "published", "Measured 2026-11-21 to 2026-11-25"),
        ("published", "results", "Measured 2026-11-21"),
    ],
)
def test_the_line_describes_documents_that_a_lookup_adds(start: str, other: str, measured: str) -> None:
    collections = {
        "results": [document(1), document(2, day=25)],
        "published": [{**PUBLISHED, "published": {"date": "2026-01-08", "version": "8.0"}}],
    }
    # The match chooses among the added documents; the stage after it removes what the line shows.
    added = [{"$match": {"_id.docSizeKB": {"$ne": 2}}}, {"$project": {"_id": 1}}]
    lookup = {"$lookup": {"from": other, "pipeline": added, "as": "others"}}
    spec = speeds(collection=start, pipeline=[{"$sort": {"_id": 1}}, {"$project": {"_id": 1}}, lookup])
    answers = [
        aggregate(collections[start], one.pipeline, collections=collections) for one in spec.joined.values()
    ]
    found = provenance_of(aggregate(collections[start], spec.source_query.pipeline), *answers)
    assert found
    assert provenance_parts(found) == [
        measured,
        "MongoDB 6.0.5",
        "2 processors, 24 GiB",
        "3 repeats",
        "Published figures of 2026-01-08, MongoDB 8.0",
    ]
    assert found.documents == (2 if start == "results" else 0)


def test_the_documents_of_a_join_are_read_without_the_stages_that_it_does_not_need() -> None:
    first = {"$lookup": {"from": "notes", "localField": "_id", "foreignField": "of", "as": "notes"}}
    key = {"$set": {"key": {"$add": ["$number", 1]}}}
    other = {"$set": {"speed": {"$divide": ["$work", "$duration"]}}}
    chosen = {"$match": {"work": {"$gt": 1}}}
    second = {"$lookup": {"from": "results", "localField": "key", "foreignField": "n", "as": "more"}}
    of_first, of_second = joined_queries("results", [chosen, other, first, key, second], {}).values()
    by_id, by_key = {"$group": {"_id": {"local": "$_id"}}}, {"$group": {"_id": {"local": "$key"}}}
    assert of_first.pipeline[:2] == (chosen, by_id)
    assert of_second.pipeline[:3] == (chosen, key, by_key)
    # Stages that drop fields, or that make other documents, stay.
    grouped = {"$group": {"_id": "$speed", "n": {"$sum": 1}}}
    renamed = {"$project": {"key": "$_id"}}
    unused = {"$set": {"label": {"$toString": "$n"}}}
    (found,) = joined_queries("results", [other, key, grouped, unused, renamed, second], {}).values()
    assert found.pipeline[:4] == (other, grouped, renamed, by_key)


@pytest.mark.parametrize(
    "join",
    [
        {"localField": "k", "foreignField": "k"},
        {"localField": "k", "foreignField": "k", "pipeline": [{"$match": {"n": {"$gt": 1}}}]},
        {
            "let": {"k": "$k", "five": 5},
            "pipeline": [{"$match": {"$expr": {"$in": ["$$k", ["$k", "$$five"]]}}}],
        },
        {"pipeline": [{"$match": {"n": 2}}]},
    ],
)
def test_each_document_of_a_join_is_read_as_the_join_finds_it(join: dict[str, Any]) -> None:
    rows = [
        {"_id": number, "k": k} for number, k in enumerate((1, 1.0, None, "a", [1, "a"], [[1]], {"b": 1}))
    ]
    rows.append({"_id": 7})
    others = [{**row, "n": row["_id"]} for row in rows]
    lookup = {"$lookup": {"from": "others", "as": "found", **join}}
    (query,) = joined_queries("rows", [lookup], {}).values()
    expected = [lookup, {"$unwind": "$found"}, {"$replaceWith": "$found"}, {"$group": {"_id": "$n"}}]
    collections = {"rows": rows, "others": others}
    found = aggregate(rows, [*query.pipeline[:-1], {"$group": {"_id": "$n"}}], collections=collections)
    wanted = aggregate(rows, expected, collections=collections)
    assert sorted(one["_id"] for one in found) == sorted(one["_id"] for one in wanted) != []


def test_what_documents_do_not_have_is_not_told() -> None:
    bare = {
        "_id": {"testname": "insert"},
        "start_time": document(1)["start_time"],
        "versions": {"server": None},
    }
    assert provenance_parts(provenance([bare])) == ["Measured 2026-11-21"]
    assert details(provenance([bare])) == {"Result documents": "1"}


@pytest.mark.parametrize("documents", [[], [{"_id": 1, "n": 1}], [{"_id": 1, "start_time": "noon"}]])
def test_documents_that_are_no_results_have_no_provenance(documents: list[dict[str, Any]]) -> None:
    assert provenance_of(aggregate(documents, speeds(pipeline=[]).source_query.pipeline)) is None


@pytest.mark.parametrize(
    "pipeline",
    [
        [{"$match": {"_id.docSizeKB": 4}}],
        [{"$sort": {"start_time": 1}}, {"$skip": 1}, {"$limit": 1}],
        [{"$set": {"k": "$_id.docSizeKB"}}, {"$match": {"k": 4}}, {"$project": {"k": 1}}],
    ],
)
def test_only_documents_that_the_pipeline_chooses_count(pipeline: list[dict[str, Any]]) -> None:
    found = provenance(MIXED, pipeline)
    assert found.documents == 1
    assert provenance_parts(found)[1] == "MongoDB 8.0.4"


@pytest.mark.parametrize(
    "stage", [{"$project": {"_id": 1}}, {"$set": {"versions.server": "0"}}, {"$unwind": "$repeats"}]
)
def test_a_stage_that_changes_what_is_told_ends_the_choice(stage: dict[str, Any]) -> None:
    found = provenance(MIXED, [stage, {"$match": {"_id.docSizeKB": 4}}])
    assert found.documents == 3
    assert provenance_parts(found)[1] == "MongoDB 6.0.5, 8.0.4, 8.0.12"


def test_tables_that_begin_with_the_same_documents_ask_once() -> None:
    one = speeds()
    other = speeds(
        pipeline=[*one.pipeline[:1], {"$project": {"size": "$_id.docSizeKB", "speed": "$duration"}}]
    )
    assert one.source_query.key == other.source_query.key


def test_of_a_local_target_that_was_asked_for_the_fold_says_what_it_was() -> None:
    one = document(1)
    one["topology"] |= {
        "program": "mongod-b",
        "settings": {"members": 1, "cacheGB": 0.02, "setParameter": {"a": "x y", "b": "2"}},
    }
    source = provenance([one])
    assert details(source)["Settings of the deployment"] == "mongod-b, setParameter.a: x y, setParameter.b: 2"


def test_every_repeat_is_a_run_in_the_order_of_time() -> None:
    runs = provenance([document(4), document(2)]).runs
    assert [(run["key"]["docSizeKB"], len(run["repeats"])) for run in runs] == [(2, 3), (4, 3)]
    assert runs[0]["repeats"][2]["errors"] == {"WriteError": 2}


@pytest.fixture
def served(mongod: Mongod) -> Iterator[str]:
    with pymongo.MongoClient(mongod.uri()) as client:
        client["told"]["results"].insert_many([*MIXED, {"_id": 1, "repeats": "none"}])
        yield mongod.uri("told")
        client.drop_database("told")


def test_a_server_and_files_tell_the_same(served: str, tmp_path: Path) -> None:
    pull(open_source(served), tmp_path / "fixtures")
    for pipeline in ([], [{"$match": {"_id.testname": "insert"}}]):
        query = speeds(pipeline=pipeline).source_query
        sources = [open_source(served), open_source(str(tmp_path / "fixtures"))]
        told = [provenance_of(source.aggregate(query)) for source in sources]
        for source in sources:
            source.close()
        assert repr(told[0]) == repr(told[1])
        assert told[0] and sum(len(run["repeats"]) for run in told[0].runs) == 9


COMMENT = (
    '<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": [], "columns": ["_id"], "headers": ["Run"], '
    '"max_age": {days}}} -->\n'
)


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (9, ["the newest result is of 2026-11-21: 10 days old, and `max_age` is 9"]),
        (10, []),
    ],
)
def test_results_older_than_they_may_be_are_warned_of_on_the_day_of_the_check(
    days: int, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796083200")  # 2026-12-01
    found = checked(tmp_path, days, '{"_id": 1, "start_time": {"$date": "2026-11-21T23:59:59Z"}}\n')
    assert [one for one in found if one[0] == "MT333"] == [("MT333", each) for each in told]


def test_the_line_says_by_when_results_are_to_be_measured_again() -> None:
    told = provenance([document(1), document(2, day=24)])
    assert provenance_parts(told, told.due(10))[:2] == [
        "Measured 2026-11-21 to 2026-11-24",
        "to be measured again by 2026-12-04",
    ]


def test_no_day_is_due_without_a_limit_without_a_date_and_beyond_the_calendar() -> None:
    told = provenance([document(1)])
    undated = replace(told, last=None)
    assert [told.due(None), undated.due(10), told.due(10**7)] == [None, None, None]


@pytest.mark.parametrize("written", ["", "soon", "9" * 30])
def test_an_epoch_that_is_no_day_is_none(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", written)
    assert abs(today() - datetime.now(UTC).date()) <= timedelta(days=1)


def test_results_without_a_date_cannot_be_young_enough(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, 9, '{"_id": 1}\n')
    assert found[0] == "MT333"
    assert "none of them has a `start_time`" in found[1]


def checked(folder: Path, days: int, lines: str) -> list[tuple[str, str]]:
    (folder / "runs").mkdir()
    (folder / "runs" / "a.jsonl").write_text(lines, encoding="utf-8")
    page = read_page(COMMENT.format(days=days), "page.md", no_shared)
    return [(one.rule, one.message) for one in asked(folder, page).faults]


def test_equal_values_of_other_types_are_written_as_each_measurement_has_them() -> None:
    for members, connections in ((8, 8), (8.0, 8.0), (1, True), (True, 1), (1.0, Int64(1))):
        source = provenance(
            [document(1, topology={"kind": "set", "members": members}, client={"connections": connections})]
        )
        assert details(source)["Connections"] == raw_text(connections)
        assert (
            details(source)["Deployment"] == f"set of {raw_text(members)} member{'' if members == 1 else 's'}"
        )
        written = json.loads(json_text(speeds(), [], source))["provenance"][0]["topology"]["members"]
        assert repr(written) == repr(members)
