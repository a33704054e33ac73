"""``rows`` and ``compute`` in a page: each fault once, at its place, with what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.build import build
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import snapshot_of
from tests.commands.test_commands import mongo_tables

DATA = {
    "tool": "rtk",
    "result": {
        "total": 9,
        "by_class": {"git": {"n": 4, "kb": 512}, "npm": {"n": 0, "kb": 256}, "pip": {"kb": 128}},
    },
}


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(DATA), "utf-8")
    return str(path)


def judged(source: str, **body: Any) -> list[tuple[str, str, str]]:
    """The rule, the text at the place, and message with hint of each finding."""
    text = f"<!-- RESULT_TABLE: {json.dumps({'collection': 'bench', **body}, ensure_ascii=False)} -->\n"
    found = build(snapshot_of({"page.md": text}), Answers(source)).findings
    lines = text.splitlines()
    return [
        (one.rule, lines[one.line - 1][one.column - 1 :], f"{one.message} | {one.hint}")
        for one in found
        if one.rule != "MT166"
    ]


def test_a_table_of_a_map_has_its_keys_as_a_column(source: str) -> None:
    columns = ["_key", "kb", "mb"]
    compute = {"mb": "kb / 1024"}
    assert not judged(source, rows="result.by_class.*", columns=columns, compute=compute, sort="_key")


def test_rows_can_be_selected_before_they_are_computed_and_sorted_after(source: str) -> None:
    body = {
        "rows": "result.by_class.*",
        "where": {"n": {"$gt": 0}},
        "columns": ["_key", "each"],
        "compute": {"each": "kb / n", "double": "each * 2"},
        "sort": "-double",
    }
    assert not judged(source, **body)
    page = build(
        snapshot_of({"page.md": f"<!-- RESULT_TABLE: {json.dumps({'collection': 'bench', **body})} -->"}),
        Answers(source),
    )
    assert "| git |" in page.figures.markdown(page.pages[0])


def test_a_pipeline_goes_on_from_the_rows_and_is_computed_upon(source: str) -> None:
    stages = [{"$group": {"_id": None, "kb": {"$sum": "$kb"}}}]
    body = {
        "rows": "result.by_class.*",
        "pipeline": stages,
        "columns": ["mb"],
        "compute": {"mb": "kb / 1024"},
    }
    assert not judged(source, **body)


def test_rows_without_a_computed_value_are_told_once_at_the_part_that_lacks(source: str) -> None:
    found = judged(
        source, rows="result.by_class.*", columns=["_key", "each"], compute={"each": "kb / n"}, sort="_key"
    )
    ((rule, at, told),) = found
    assert rule == "MT337" and at.startswith('n"}') and "`each` has no value in 2 of 3 rows" in told
    assert "a divisor is 0 in 1, `n` is missing in 1" in told

    where = {"n": {"$exists": True}}
    ((rule, at, told),) = judged(
        source,
        rows="result.by_class.*",
        where=where,
        columns=["_key", "each"],
        compute={"each": "kb / n"},
        sort="_key",
    )
    assert (
        rule == "MT337"
        and at.startswith('n"}')
        and "`each` has no value in 1 of 2 rows: a divisor is 0" in told
    )

    ((rule, at, told),) = judged(
        source, rows="result.by_class.*", columns=["_key", "each"], compute={"each": "kb * _key"}, sort="_key"
    )
    assert rule == "MT337" and at.startswith('_key"}') and "`_key` is not a number" in told
    assert told.endswith("use columns of numbers")


def test_a_mistyped_path_is_told_the_nearest_one(source: str) -> None:
    def hint(**body: Any) -> tuple[str, str]:
        rule, _, told = judged(source, sort="_key", **body)[0]
        return rule, told.rpartition(" | ")[2]

    columns = ["_key", "kb"]
    assert hint(rows="result.byclass.*", columns=columns) == ("MT303", "did you mean `result.by_class`?")
    assert hint(rows="by_class.*", columns=columns) == ("MT303", "did you mean `result.by_class`?")
    assert ".* at the end" in hint(rows="result.by_class", columns=columns)[1]
    each = {"rows": "result.by_class.*", "columns": ["_key", "each"]}
    assert hint(**each, compute={"each": "kbb * 2"}) == ("MT337", "did you mean `kb`?")
    assert hint(**each, compute={"each": "kb / total"}) == ("MT337", "did you mean `result.total`?")
    assert hint(**each, compute={"each": "$kb * 2"}) == ("MT133", "name a column without `$`")
    assert hint(rows="result.by_class.*", columns=["_key", "total"]) == (
        "MT302",
        "did you mean `result.total`?",
    )


def test_a_number_of_a_text_with_a_zero_at_its_end_and_no_documents_are_told(tmp_path: Path) -> None:
    def told(documents: Any, **body: Any) -> str:
        (tmp_path / "bench.json").write_text(json.dumps(documents), "utf-8")
        return judged(str(tmp_path / "bench.json"), columns=["v"], sort="v", **body)[0][2]

    assert told([{"v": "3.10"}], where={"v": 3.1}).endswith('write it as it is stored, "3.10"')
    assert told([]).startswith("collection 'bench' has no documents | ")


def test_a_row_that_may_lack_the_value_is_said_in_the_format(source: str) -> None:
    body = {"columns": ["_key", "each"], "compute": {"each": "kb / n"}, "sort": "_key"}
    assert not judged(source, rows="result.by_class.*", format={"each": {"missing": "–"}}, **body)


def test_a_column_that_entries_have_is_pointed_out(source: str) -> None:
    found = judged(source, columns=["kb"])
    assert any(
        'write "rows": "result.by_class.*" to get a row for each entry' in told for _, _, told in found
    )


def test_a_mistyped_path_and_a_mistyped_operand_stand_at_their_place(source: str) -> None:
    told = judged(source, rows="result.by_clas.*", columns=["kb"], sort="_key")
    assert [rule for rule, _, _ in told] == ["MT303", "MT402"]
    assert all(at.startswith('"result.by_clas.*"') for _, at, _ in told)
    assert "did you mean `by_class`?" in told[1][2]

    told = judged(
        source, rows="result.by_class.*", columns=["_key", "x"], compute={"x": "2 * kbb"}, sort="_key"
    )
    assert {at for _, at, _ in told} == {'kbb"}, "sort": "_key"} -->'}


@pytest.mark.parametrize("written", ["result.by_class", "$result.*", "a..*", "result.*.", "", 3, "*x.*"])
def test_anything_that_is_no_path_is_refused(source: str, written: Any) -> None:
    assert {rule for rule, _, _ in judged(source, rows=written, columns=["kb"])} <= {"MT132", "MT133"}
    assert judged(source, rows=written, columns=["kb"])


def test_an_explanation_shows_the_keys_as_they_are_written(source: str, tmp_path: Path) -> None:
    body = {
        "rows": "result.by_class.*",
        "columns": ["_key", "mb"],
        "compute": {"mb": "kb / 1024"},
        "sort": "_key",
    }
    page = tmp_path / "page.md"
    page.write_text(f"<!-- RESULT_TABLE: {json.dumps({'collection': 'bench', **body})} -->\n")
    told = mongo_tables("explain", "page.md", "--results", source, cwd=tmp_path).stdout
    heads = [line.split("  ")[1].strip() for line in told.splitlines() if line[:4].strip().isdigit()]
    assert [line for line in told.splitlines() if line.startswith('   1  rows "result.by_class.*"')]
    assert [line for line in told.splitlines() if line.startswith('   2  compute {"mb": "kb / 1024"}')]
    assert len(heads) == 4 and "1 → 3" in told and "$unwind" not in told and "_row" not in told


def test_a_database_reference_among_entries_is_no_traceback(tmp_path: Path) -> None:
    entries = '{"p": {"a": 1}, "q": {"a": 2}, "r": {"$ref": "others", "$id": 1}}'
    (tmp_path / "bench.jsonl").write_text(f'{{"_id": 1, "entries": {entries}}}\n')
    assert [rule for rule, _, _ in judged(str(tmp_path), columns=["b"], headers=["B"])] == ["MT302"]


TIMES = {
    "datasets": [
        {"name": "small", "times": [{"lib": "json", "ms": 1.5}, {"lib": "mylib", "ms": 0.5}]},
        {"name": "large", "times": [{"lib": "mylib", "ms": 50.5}, {"lib": "json", "ms": 150.5}]},
    ]
}
BY_LIB = {
    "$set": {
        "by": {"$arrayToObject": {"$map": {"input": "$times", "in": {"k": "$$this.lib", "v": "$$this.ms"}}}}
    }
}


@pytest.fixture
def times(tmp_path: Path) -> str:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(TIMES))
    return str(path)


@pytest.mark.parametrize(
    "keys",
    [
        {"columns": ["name", "times.1.ms"]},
        {"columns": ["name", "s"], "compute": {"s": "'times.1.ms' / 'times.0.ms'"}},
    ],
)
def test_elements_with_names_are_chosen_by_name_because_their_order_may_differ(
    times: str, keys: dict[str, Any]
) -> None:
    ((_, _, told),) = judged(times, rows="datasets.*", sort="name", **keys)
    assert json.dumps(BY_LIB) in told
    sound = {"columns": ["name", "by.mylib", "s"], "compute": {"s": "by.json / by.mylib"}}
    assert not judged(times, rows="datasets.*", pipeline=[BY_LIB, {"$sort": {"name": 1}}], **sound)


def test_a_column_made_from_a_mistyped_path_is_told_at_the_path(times: str) -> None:
    stage = json.loads(json.dumps(BY_LIB).replace("$times", "$tims"))
    columns = ["name", "by.mylib", "by.json"]
    found = judged(times, rows="datasets.*", pipeline=[stage, {"$sort": {"name": 1}}], columns=columns)
    assert [rule for rule, _, _ in found] == ["MT302", "MT302"]
    assert all(at.startswith('"$tims"') for _, at, _ in found)
    assert all(
        told.endswith("`by` is computed from `$tims`, which no row has | did you mean `times`?")
        for _, _, told in found
    )
