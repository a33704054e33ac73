"""A pipeline is judged once, before anything runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mongo_tables import aggregation
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.results.answers import Answers
from mongo_tables.site.checks import lint_site
from mongo_tables.site.pages import read_page
from tests.judged import asked, report_on, unasked

HASHED = (
    '<!-- MONGO_TABLE: {"collection": "runs", "pipeline": [{"$set": {"n": {"$toHashedIndexKey": "$n"}}}], '
    '"columns": ["n"], "headers": ["Run"]} -->\n'
)
SOUND = HASHED.replace("$toHashedIndexKey", "$abs")


def fixtures(folder: Path) -> Path:
    (folder / "runs").mkdir()
    (folder / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 1}\n')
    return folder


def test_what_fixtures_cannot_run_is_said_where_fixtures_are_the_source(tmp_path: Path) -> None:
    page = read_page(HASHED, "page.md", SharedPipelines(tmp_path))
    (found,) = (
        one for one in lint_site(unasked(fixtures(tmp_path), page).figures.judge) if one.rule == "MT312"
    )
    assert (found.line, found.column) == (1, HASHED.index('"$toHashedIndexKey"') + 1)
    assert [
        one.rule
        for one in lint_site(unasked("mongodb://localhost", page).figures.judge)
        if one.rule == "MT312"
    ] == []


def test_reading_and_linting_a_page_compiles_each_pipeline_once(tmp_path: Path) -> None:
    source, compiled = fixtures(tmp_path), 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal compiled
        compiled += event == "call" and frame.f_code is aggregation.check.__code__

    sys.setprofile(count)
    try:
        page = read_page(SOUND * 3, "page.md", SharedPipelines(tmp_path))
        lint_site(unasked(source, page).figures.judge)
    finally:
        sys.setprofile(None)
    assert compiled == 3


def test_a_number_in_the_path_of_a_column_is_told_where_it_means_the_place_in_an_array(
    tmp_path: Path,
) -> None:
    (tmp_path / "trains").mkdir()
    row = '{"_id": 1, "stops": [{"at": 5}], "fares": {"0": {"cents": 7}}}\n'
    (tmp_path / "trains" / "a.jsonl").write_text(row)

    def told(column: str) -> list[tuple[str, str, str]]:
        body = f'{{"collection": "trains", "pipeline": [], "columns": ["_id", "{column}"], "headers": ["Train", "X"]}}'
        page = read_page(f"<!-- MONGO_TABLE: {body} -->", "page.md", SharedPipelines(tmp_path))
        found = asked(tmp_path, page).faults
        return [(one.rule, one.message, one.hint) for one in found]

    ((rule, message, hint),) = told("stops.0.at")
    assert (rule, message) == ("MT302", "no row has the column 'stops.0.at'")
    assert '{"$arrayElemAt": ["$stops", 0]}' in hint and '`"rows": "stops.*"` makes a row of each' in hint
    assert told("fares.0.cents") == []
    assert told("stops.at") == []


def test_what_is_known_of_a_comment_is_never_taken_for_one_that_is_read_after_it(tmp_path: Path) -> None:
    shared = SharedPipelines(tmp_path)
    source = Answers(str(fixtures(tmp_path)))
    for number in range(50):
        # Each page is gone before the next is read, whose comment may stand at the same place of memory.
        column = "absent" if number % 2 else "n"
        page = read_page(SOUND.replace('"columns": ["n"]', f'"columns": ["{column}"]'), "page.md", shared)
        (spec,) = page.pipeline_specs
        assert bool(report_on(source, page).figures.judge.judge(spec)) == (column == "absent")


@pytest.mark.parametrize(
    "stage",
    [
        '{"$lookup": {"from": "runs", "pipeline": ["ones"], "as": "other"}}',
        '{"$unionWith": {"coll": "runs", "pipeline": ["ones"]}}',
        '{"$facet": {"other": ["ones"]}}',
    ],
)
def test_a_shared_list_that_is_named_within_a_stage_is_told_with_what_to_do(
    stage: str, tmp_path: Path
) -> None:
    (tmp_path / "ones.json").write_text('[{"$match": {"n": 1}}]')
    body = f'{{"collection": "runs",\n"pipeline": [{stage}],\n"columns": ["n"]}}'
    page = read_page(f"<!-- MONGO_TABLE: {body} -->\n", "page.md", SharedPipelines(tmp_path))
    (found,) = (one for one in unasked(fixtures(tmp_path), page).faults if one.severity == "error")
    assert (found.rule, found.line, found.column) == ("MT301", 2, stage.index('"ones"') + 14)
    assert found.message == "a stage must be a document with one '$' name, not the string 'ones'"
    assert found.hint == (
        "only the outermost pipeline can name a shared stage list: write the stages of `ones` here instead"
    )
