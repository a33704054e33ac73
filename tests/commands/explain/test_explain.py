"""``mongo-tables explain`` as an author meets it: what emptied a table, what emptied a column, where a run fails."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from mongo_tables.cli import main
from tests.commands.explain.data import as_json, told
from tests.commands.test_commands import mongo_tables
from tests.mongod import Mongod

RATE = {"$set": {"rate": {"$round": [{"$divide": [{"$multiply": ["$ops", 1000]}, "$ms"]}, 1]}}}

DOCUMENTS: list[dict[str, Any]] = [
    {
        "_id": {"testname": test, "threads": threads},
        "threads": threads,
        "ops": 4200 * threads,
        **({} if (test, threads) == ("insert", 8) else {"ms": 1000}),
        "points": [],
        "label": f"{threads} threads",
    }
    for test in ("insert", "update")
    for threads in (1, 2, 4, 8)
]


def comment(*stages: Any, columns: tuple[str, ...] = ("threads",), **keys: Any) -> str:
    body = {
        "collection": "runs",
        "pipeline": list(stages),
        "columns": list(columns),
        "headers": list(columns),
    }
    return f"<!-- MONGO_TABLE: {json.dumps(body | keys)} -->\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fixtures" / "runs").mkdir(parents=True)
    lines = "".join(json.dumps(document) + "\n" for document in DOCUMENTS)
    (tmp_path / "fixtures" / "runs" / "a.jsonl").write_text(lines)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


def explained(
    folder: Path, *stages: Any, expect: int = 0, arguments: tuple[str, ...] = (), **keys: Any
) -> str:
    """What the command prints for a page of one comment, run in this process: many tests need it."""
    (folder / "page.md").write_text(comment(*stages, **keys))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["explain", "page.md", *arguments]) == expect, printed.getvalue()
    return printed.getvalue()


def as_data(folder: Path, *stages: Any, expect: int = 0, arguments: tuple[str, ...] = (), **keys: Any) -> Any:
    (folder / "page.md").write_text(comment(*stages, **keys))
    with contextlib.redirect_stdout(io.StringIO()):
        (table,) = told("page.md", *arguments, expect=expect)
    return as_json(table, 3)


def said(table: Mapping[str, Any]) -> list[str]:
    remarks = [*table["remarks"], *(one for stage in table["stages"] for one in stage["remarks"])]
    return [" ".join(filter(None, (one["message"], one["hint"]))) for one in remarks]


def test_every_stage_says_how_many_documents_went_in_and_out(folder: Path) -> None:
    stages = [{"$match": {"threads": {"$gt": 2}}}, {"$group": {"_id": "$threads"}}, {"$limit": 1}]
    table = as_data(folder, *stages, columns=("_id",))
    assert [(stage["in"], stage["out"]) for stage in table["stages"]] == [(8, 4), (4, 2), (2, 1)]
    assert table["documents"] == 8
    assert table["rows"] == 1


def test_documents_that_the_match_drops_for_certain_are_counted_not_looked_at(folder: Path) -> None:
    table = as_data(folder, {"$match": {"_id.testname": "insert"}})
    assert (table["documents"], table["looked_at"]) == (8, 4)
    assert [(stage["in"], stage["out"]) for stage in table["stages"]] == [(8, 4)]
    assert "(fields of the 4 documents that the first $match may keep)" in explained(
        folder, {"$match": {"_id.testname": "insert"}}
    )


def test_fields_that_come_and_go_and_change_their_type_are_told(folder: Path) -> None:
    stage = {"$project": {"_id": "$threads", "double": {"$multiply": ["$ops", 2]}, "ops": 1}}
    (report,) = as_data(folder, stage, columns=("ops",))["stages"]
    assert report["came"] == ["double"]
    assert report["went"] == ["threads", "ms", "points", "label"]
    assert report["changed"] == ["_id"]
    text = explained(folder, stage, columns=("ops",))
    assert "+ double int" in text
    assert "~ _id object → int" in text


def test_the_stage_that_lost_all_rows_is_named_with_the_field_that_was_meant(folder: Path) -> None:
    text = explained(folder, {"$match": {"_id.testnam": "insert"}}, RATE, expect=1)
    assert "stage 1, $match, lost all 8 documents: no document has `_id.testnam`" in text
    assert "did you mean `_id.testname`?" in text


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"testname": "insert"}, "no document has `testname` did you mean `_id.testname`?"),
        (
            {"_id.testname": "inser", "threads": 1},
            'no document has `_id.testname` equal to "inser"; its values are "insert" ×4, "update" ×4 '
            "did you mean `insert`?",
        ),
        (
            {"threads": "4"},
            'no document has `threads` equal to "4"; its values are never strings, always int: '
            "1 ×2, 2 ×2, 4 ×2, 8 ×2 write it as it is stored, without quotes",
        ),
        (
            {"label": 4},
            "no document has `label` equal to 4; its values are always strings: "
            '"1 threads" ×2, "2 threads" ×2, "4 threads" ×2, "8 threads" ×2',
        ),
        (
            {"threads": {"$gte": 4, "$lt": 2}},
            'of the 4 documents with {"threads": {"$gte": 4}}, none has `threads` less than 2; '
            "its values are 4 ×2, 8 ×2",
        ),
        (
            {"$and": [{"ops": {"$gt": 1}}, {"threads": {"$in": [3, 5]}}]},
            "no document has `threads` among [3, 5]; its values are 1 ×2, 2 ×2, 4 ×2, 8 ×2",
        ),
        ({"$expr": {"$gt": ["$opps", 1000000]}}, "no document has `opps` did you mean `ops`?"),
        (
            {"$or": [{"threads": 3}, {"threads": 5}]},
            'no document fulfils {"$or": [{"threads": 3}, {"threads": 5}]}',
        ),
    ],
)
def test_a_match_that_keeps_nothing_is_taken_apart(folder: Path, query: Any, reason: str) -> None:
    table = as_data(folder, {"$match": query}, expect=1)
    assert said(table) == [f"stage 1, $match, lost all 8 documents: {reason}"]


def test_an_unwind_of_empty_arrays_is_named(folder: Path) -> None:
    table = as_data(folder, {"$unwind": "$points"}, expect=1)
    assert said(table) == [
        "stage 1, $unwind, lost all 8 documents: `points` is null or an empty array in every document"
    ]


def test_a_collection_that_is_not_there_is_not_blamed_on_a_stage(folder: Path) -> None:
    table = as_data(folder, {"$match": {"threads": 1}}, collection="run", expect=1)
    assert said(table) == ["the results source has no collection `run` did you mean `runs`?"]


def test_a_table_that_may_be_empty_is_explained_without_failing(folder: Path) -> None:
    table = as_data(folder, {"$match": {"threads": 3}}, empty="Not measured yet.")
    assert "lost all 8 documents" in said(table)[0]
    assert table["sound"]


def test_a_typo_in_a_computation_is_followed_to_the_column(folder: Path) -> None:
    table = as_data(folder, {"$set": {"rate": {"$divide": ["$op", 2]}}}, columns=("threads", "rate"))
    assert said(table) == [
        "column `rate` is null in every row, since stage 1, $set",
        "`rate` is null in every document: `op` is missing in every document did you mean `ops`?",
    ]


def test_a_division_that_gives_null_names_the_divisor_and_shows_the_row(folder: Path) -> None:
    stages = [{"$match": {"_id.testname": "insert"}}, RATE]
    text = explained(folder, *stages, columns=("threads", "rate"))
    assert "`rate` is null in 1 of 4 documents: `ms` is missing there" in text
    assert "column `rate` is null in 1 of 4 rows, since stage 2, $set" in text
    row = next(line for line in text.splitlines() if line.split()[:3] == ["null", "33600", "—"])
    assert row.split()[3] == "8"


def test_a_null_that_comes_from_an_earlier_null_names_the_earlier_stage(folder: Path) -> None:
    stages = [RATE, {"$set": {"double": {"$multiply": ["$rate", 2]}}}]
    table = as_data(folder, *stages, columns=("double",))
    assert "`double` is null in 1 of 8 documents: `rate` is null there since stage 1, $set" in said(table)


def test_the_branch_of_a_condition_that_was_taken_is_the_one_to_blame(folder: Path) -> None:
    guarded = {"$cond": [{"$gt": ["$ops", 0]}, {"$divide": ["$ops", "$ms"]}, None]}
    table = as_data(folder, {"$set": {"rate": guarded}}, columns=("rate",))
    assert "`rate` is null in 1 of 8 documents: `ms` is missing there" in said(table)


def test_a_null_that_the_author_wrote_is_no_warning(folder: Path) -> None:
    guarded = {"$cond": [{"$gt": ["$ms", 0]}, {"$divide": ["$ops", "$ms"]}, None]}
    table = as_data(folder, {"$set": {"rate": guarded}}, columns=("rate",))
    assert [one["severity"] for one in table["stages"][0]["remarks"]] == ["note"]


def test_a_place_beyond_the_end_of_an_array_is_blamed_on_its_expression(folder: Path) -> None:
    table = as_data(folder, {"$set": {"last": {"$arrayElemAt": ["$points", 9]}}}, columns=("last",), expect=1)
    assert said(table) == [
        "no row has the column `last`: stage 1, $set, gives it no value",
        '`last` is missing in every document: {"$arrayElemAt": ["$points", 9]} gives no value',
    ]


def test_a_pipeline_without_stages_shows_the_documents(folder: Path) -> None:
    assert '"1 threads"' in explained(folder)


def test_a_field_that_a_stage_dropped_is_told_with_the_stage(folder: Path) -> None:
    table = as_data(folder, {"$project": {"threads": 1}}, {"$sort": {"ops": 1}})
    assert said(table) == ["reads `ops`, which no document has; stage 1, $project, dropped it"]


def test_a_sum_of_a_field_that_does_not_exist_does_not_pass_for_zero(folder: Path) -> None:
    table = as_data(folder, {"$group": {"_id": None, "threads": {"$sum": "$thread"}}})
    assert said(table) == ["reads `thread`, which no document has did you mean `threads`?"]


def test_what_is_guarded_by_if_null_is_a_note(folder: Path) -> None:
    table = as_data(folder, {"$set": {"extra": {"$ifNull": ["$bonus", 0]}}}, columns=("extra",))
    assert [one["severity"] for one in table["stages"][0]["remarks"]] == ["note"]


def test_a_column_that_no_row_has_is_traced_to_the_stage_that_dropped_it(folder: Path) -> None:
    table = as_data(folder, {"$project": {"threads": 1}}, columns=("threads", "ops"), expect=1)
    assert said(table) == ["no row has the column `ops`: stage 1, $project, dropped it"]


def test_a_sound_table_is_called_one(folder: Path) -> None:
    assert "✓ 1 row for the 1 column of the table" in explained(
        folder, {"$group": {"_id": None, "threads": {"$max": "$threads"}}}
    )


def test_a_table_that_a_check_warns_of_is_not_called_sound_but_has_the_warning(folder: Path) -> None:
    text = explained(folder, {"$limit": 3})
    assert "MT401 `$limit` without a `$sort`" in text
    assert "✓" not in text


def test_halves_that_are_rounded_to_the_even_neighbour_are_counted(folder: Path) -> None:
    halves = {"$set": {"threads": {"$round": [{"$add": ["$threads", 0.5]}]}}}
    lines = explained(folder, {"$match": {"threads": {"$in": [1, 2, 4]}}}, halves)
    even = sum(one["threads"] in (2, 4) for one in DOCUMENTS)
    assert f"`threads` is rounded down in {even} document" in lines


def test_a_failing_pipeline_is_shown_up_to_the_stage_that_fails(folder: Path) -> None:
    stages = [{"$match": {"threads": 1}}, {"$set": {"n": {"$toInt": "$label"}}}, {"$sort": {"n": 1}}]
    table = as_data(folder, *stages, expect=1)
    assert [stage["operator"] for stage in table["stages"]] == ["$match"]
    assert [list(stage) for stage in table["unreached"]] == [["$set"], ["$sort"]]
    (one,) = table["findings"]
    body = (folder / "page.md").read_text()
    assert one["line"] == 1
    assert body[one["column"] - 1 :].startswith('"$toInt"')
    text = explained(folder, *stages, expect=1)
    assert text.index("$match") < text.index("fails") < text.index("not run")


def test_what_a_run_fails_for_is_told_beside_a_fault_of_a_later_stage(folder: Path) -> None:
    divided, cut = (
        {"$set": {"n": {"$divide": [1, {"$subtract": ["$threads", 1]}]}}},
        {"$set": {"n": {"$substr": ["$n", 0]}}},
    )
    told = [one["message"] for one in as_data(folder, divided, cut, expect=1)["findings"]]
    assert len(told) == 2 and "by zero" in " ".join(told) and "$substr" in " ".join(told)


@pytest.mark.parametrize("query", [{"$or": [{"k": {"$eq": []}}]}, {"$nor": [{"k": {"$nin": []}}]}])
def test_a_comparison_with_an_empty_list_is_no_trouble(folder: Path, query: Any) -> None:
    assert "$match" in explained(folder, {"$match": query}, expect=1)


def test_a_stage_that_does_not_exist_leaves_those_before_it_explained(folder: Path) -> None:
    table = as_data(folder, {"$match": {"threads": 1}}, {"$sotr": {"threads": 1}}, expect=1)
    assert [stage["out"] for stage in table["stages"]] == [2]
    assert [one["message"].partition("'$sotr'")[1] for one in table["findings"]] == ["'$sotr'"]


def test_a_stage_that_writes_is_never_run(folder: Path) -> None:
    table = as_data(folder, {"$match": {"threads": 1}}, {"$out": "copy"}, expect=1)
    assert [one["rule"] for one in table["findings"]] == ["MT201"]
    assert len(table["stages"]) == 1


def test_a_fault_in_another_key_does_not_hide_what_the_pipeline_does(folder: Path) -> None:
    table = as_data(folder, {"$match": {"threads": 1}}, expect=1, tittle="Runs")
    assert [stage["out"] for stage in table["stages"]] == [2]
    assert [one["rule"] for one in table["findings"]] == ["MT130"]


def test_a_comment_that_is_no_json_is_one_finding(folder: Path) -> None:
    (folder / "page.md").write_text('<!-- MONGO_TABLE: {"collection": } -->\n')
    assert "MT120" in mongo_tables("explain", "page.md", cwd=folder, expect=1).stdout


def test_a_chart_is_explained_like_a_table(folder: Path) -> None:
    body = {"collection": "runs", "pipeline": [{"$sort": {"threads": 1}}], "x": "threads", "y": "qps"}
    (folder / "page.md").write_text(f"<!-- MONGO_CHART: {json.dumps(body)} -->\n")
    assert "no row has the column `qps`" in mongo_tables("explain", "page.md", cwd=folder, expect=1).stdout


def test_shared_stages_are_marked_and_located_at_their_name(folder: Path) -> None:
    (folder / "docs" / "pipelines").mkdir(parents=True)
    (folder / "docs" / "pipelines" / "few.json").write_text('[{"$limit": 2}, {"$limit": 1}]')
    table = as_data(folder, {"$sort": {"threads": 1}}, "few")
    body = (folder / "page.md").read_text()
    assert [stage["shared"] for stage in table["stages"]] == [False, True, True]
    assert {stage["column"] for stage in table["stages"][1:]} == {body.index('"few"') + 1}
    assert "$limit (shared) 2" in explained(folder, "few")


# -- which tables --


@pytest.fixture
def two_tables(folder: Path) -> Path:
    tables = [comment({"$limit": count}).replace(', "pipeline"', ',\n"pipeline"') for count in (1, 2)]
    (folder / "page.md").write_text("# Runs\n\n" + "\n\n\n\n".join(tables))
    return folder


@pytest.mark.parametrize(
    ("place", "rows"),
    [
        ("page.md", [1, 2]),
        ("page.md:1", [1]),
        ("page.md:4", [1]),
        ("page.md:6", [1]),
        ("page.md:7", [2]),
        ("page.md:9:30", [2]),
        ("page.md:999", [2]),
    ],
)
def test_a_line_chooses_the_comment_that_it_stands_in_or_is_nearest_to(
    two_tables: Path, place: str, rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two_tables)
    assert [table.rows for table in told(place)] == rows


def test_the_fields_of_a_collection_are_listed_once_a_page(two_tables: Path) -> None:
    text = mongo_tables("explain", "page.md", cwd=two_tables).stdout
    assert text.count("label string") == 1
    assert text.count("with the fields listed above") == 1


@pytest.mark.parametrize("place", ["missing.md", "missing.md:3", "empty.md", "."])
def test_a_page_that_cannot_be_explained_is_one_line(folder: Path, place: str) -> None:
    (folder / "empty.md").write_text("Nothing here.\n")
    done = mongo_tables("explain", place, cwd=folder, expect=2)
    assert len(done.stderr.splitlines()) <= 2
    assert done.stdout == ""


def test_a_source_that_is_not_there_is_one_line(folder: Path) -> None:
    (folder / "page.md").write_text(comment({"$limit": 1}))
    done = mongo_tables("explain", "page.md", "--results", "nowhere", cwd=folder, expect=2)
    assert "nowhere" in done.stderr


def test_a_password_is_never_shown(folder: Path) -> None:
    (folder / "page.md").write_text(comment({"$limit": 1}))
    uri = "mongodb://someone:known-only-to-tests@127.0.0.1:1/perf?serverSelectionTimeoutMS=200"
    done = mongo_tables("explain", "page.md", "--results", uri, cwd=folder, expect=2)
    assert "127.0.0.1:1/perf" in done.stderr
    assert "known-only-to-tests" not in done.stdout + done.stderr


# -- the terminal --


@pytest.mark.parametrize("width", [40, 72, 120])
def test_no_line_is_wider_than_the_terminal(folder: Path, width: int) -> None:
    stages = [
        {"$match": {"_id.testname": "insert"}},
        RATE,
        {"$sort": {"opps": 1}},
        {"$match": {"threads": 3}},
    ]
    (folder / "page.md").write_text(comment(*stages))
    done = mongo_tables("explain", "page.md", cwd=folder, expect=1, COLUMNS=str(width))
    body = done.stdout.splitlines()[1:]
    assert max(map(len, body)) <= width


def test_values_cannot_command_the_terminal(folder: Path) -> None:
    evil = {"_id": "\x1b[2J\u202egnp", "\x1b]0;title\x07": "\x9b31m", "threads": "\r\x08"}
    with (folder / "fixtures" / "runs" / "b.jsonl").open("w") as file:
        file.write(json.dumps(evil) + "\n")
    query = {"$match": {"threads": {"$type": "string"}}}
    text = explained(folder, query, {"$match": {"threads": "\x1b[31m"}}, expect=1)
    assert not {"\x1b", "\x07", "\x9b", "\x08", "\r", "\u202e"} & set(text)
    assert "\\x1b[2J" in text or "\\u001b[2J" in text


def test_rows_can_be_left_out_and_asked_for(folder: Path) -> None:
    shown = [
        explained(folder, {"$sort": {"threads": 1}}, arguments=("--rows", count)).count(' threads"')
        for count in ("5", "0")
    ]
    assert shown == [5, 0]


# -- a server --


@pytest.fixture
def server(mongod: Mongod) -> Iterator[str]:
    uri = mongod.uri("explained")
    with MongoClient(uri) as client:
        client.drop_database("explained")
        client.explained.runs.insert_many(DOCUMENTS)
        client.explained.many.insert_many({"_id": n, "late": n} if n == 49 else {"_id": n} for n in range(50))
        yield uri
        client.drop_database("explained")


@pytest.mark.parametrize(
    ("stages", "columns", "expect"),
    [
        ([{"$match": {"_id.testnam": "insert"}}, RATE], ("threads",), 1),
        ([{"$match": {"_id.testname": "inser"}}], ("threads",), 1),
        ([{"$match": {"threads": {"$gt": 2, "$lt": 4}}}], ("threads",), 1),
        ([{"$sort": {"_id": 1}}, RATE, {"$set": {"x": {"$divide": ["$op", 2]}}}], ("rate", "x"), 0),
        ([{"$sort": {"_id": 1}}, {"$project": {"threads": 1}}, {"$sort": {"ops": 1}}], ("ops",), 1),
    ],
)
def test_a_server_and_files_are_explained_alike(
    folder: Path, server: str, stages: list[Any], columns: tuple[str, ...], expect: int
) -> None:
    offline = as_data(folder, *stages, columns=columns, expect=expect)
    online = as_data(folder, *stages, columns=columns, expect=expect, arguments=("--results", server))
    assert said(online) == said(offline)
    for here, there in zip(offline["stages"], online["stages"], strict=True):
        assert (here["in"], here["out"], here["came"], here["went"]) == (
            *(there["in"], there["out"]),
            *(there["came"], there["went"]),
        )


@pytest.mark.parametrize("stage", [{"$match": 5}, {"$limit": -1}, {"$set": {"x": {"$divide": [1]}}}])
def test_a_fault_that_the_server_finds_as_well_is_told_once(folder: Path, server: str, stage: Any) -> None:
    stages = [{"$sort": {"threads": 1}}, stage, {"$limit": 1}]
    table = as_data(folder, *stages, expect=1, arguments=("--results", server))
    assert [one["rule"] for one in table["findings"]] == ["MT301"]
    assert len(table["unreached"]) == 2


def test_a_field_of_a_document_that_was_not_fetched_is_not_called_absent(folder: Path, server: str) -> None:
    stages = [{"$match": {"_id": {"$gte": 0}}}, {"$sort": {"late": 1}}, {"$project": {"late": 1}}]
    table = as_data(folder, *stages, collection="many", columns=("late",), arguments=("--results", server))
    assert [stage["looked_at"] for stage in table["stages"]] == [20, 20, 50]
    assert not [one for one in said(table) if "no document has" in one]
    text = explained(folder, *stages, collection="many", columns=("late",), arguments=("--results", server))
    assert "the first 20 of each step" in text


def test_what_fails_on_a_server_late_is_still_found(folder: Path, server: str) -> None:
    failing = {"$set": {"x": {"$toInt": {"$cond": [{"$eq": ["$_id", 49]}, "late", 1]}}}}
    stages = [failing, {"$project": {"x": 1}}, {"$limit": 50}]
    table = as_data(
        folder, *stages, collection="many", columns=("x",), expect=1, arguments=("--results", server)
    )
    assert [one["rule"] for one in table["findings"]] == ["MT301"]
    assert table["rows"] is None


def test_who_compares_a_date_with_a_text_is_told_how_a_date_is_written(folder: Path) -> None:
    days = ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
    lines = [json.dumps({"_id": day, "at": {"$date": day}, "key": {"$oid": "0" * 24}}) for day in days]
    (folder / "fixtures" / "runs" / "a.jsonl").write_text("\n".join(lines))
    text = explained(folder, {"$match": {"at": {"$gte": "2026-02-01"}}}, columns=("at",), expect=1)
    assert "its values are never strings, always date" in text
    assert 'write it as {"$date": "2026-02-01T00:00:00Z"}' in text
    text = explained(folder, {"$match": {"at": {"$gte": "February"}}}, columns=("at",), expect=1)
    assert 'write such a value as {"$date": "2026-01-01T00:00:00Z"}' in text
    text = explained(folder, {"$match": {"key": "f" * 24}}, columns=("at",), expect=1)
    assert f'write it as {{"$oid": "{"f" * 24}"}}' in text


def test_what_a_facet_gives_is_shown(folder: Path) -> None:
    facet = {"$facet": {"tests": [{"$sortByCount": "$threads"}], "all": [{"$count": "documents"}]}}
    text = explained(folder, facet, {"$unwind": "$all"}, {"$project": {"threads": "$all.documents"}})
    first = text.split("$facet", 1)[1].split("$unwind", 1)[0]
    heads, cells = (line.split() for line in first.splitlines()[-4:-2])
    assert heads[:2] == ["tests", "all"]
    assert '[{"documents":' in " ".join(cells)
