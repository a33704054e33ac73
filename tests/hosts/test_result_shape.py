"""What a benchmark result is, is told by the shape of the documents: never by what their collection is called."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
from bson import json_util

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.lint.rule_context import Documents
from mongo_tables.results.answers import Answers
from mongo_tables.site.checks import lint_site
from mongo_tables.site.pages import read_page
from tests.judged import report_on, unasked
from tests.measured import document
from tests.mongod import Mongod
from tests.render.specs import no_shared

ROOT = Path(__file__).parents[2]
SPORTS = [
    {"_id": 1, "game": "A : B", "duration": 2.5, "start_time": {"$date": "2024-05-01T15:00:00Z"}, "versions": {"server": "x"}},
    {"_id": 2, "game": "C : D", "duration": 1.75, "start_time": {"$date": "2024-05-02T15:00:00Z"}},
]  # fmt: skip
GAMES = (
    '<!-- MONGO_TABLE: {"collection": "results", "pipeline": [{"$project": {"game": 1, "duration": 1}}, '
    '{"$sort": {"_id": 1}}], "columns": ["game", "duration"], "headers": ["Game", "Duration (h)"]%s} -->\n'
)
SPEEDS = (
    '<!-- MONGO_TABLE: {"collection": "NAME", "pipeline": [{"$project": {"cpu": "$hardware.cpu", '
    '"start": "$start_time"}}, {"$sort": {"_id": 1}}], "columns": ["cpu", "start"], '
    '"headers": ["Processor", "Began"]%s} -->\n'
)


def fixtures(folder: Path, collection: str, documents: list[dict[str, Any]]) -> str:
    target = folder / "fixtures" / collection
    target.mkdir(parents=True)
    lines = "".join(f"{json_util.dumps(one)}\n" for one in documents)
    (target / "all.jsonl").write_text(lines, encoding="utf-8")
    return str(target.parent)


def figures(text: str, where: str, shared: Any = no_shared) -> str:
    page = read_page(text, "page.md", shared)
    assert not page.findings
    report = report_on(Answers(where), page, needs="figures")
    return "\n".join(report.figures.html(page, lambda name, _: name))


def test_sports_results_in_a_collection_called_results_are_not_taken_for_a_benchmark(tmp_path: Path) -> None:
    html = figures(GAMES % "", fixtures(tmp_path, "results", SPORTS))
    assert "A : B" in html
    assert "<abbr" not in html
    assert "Measured" not in html
    assert "JSON" in html, "the rows can be taken away all the same"


def test_no_unit_of_a_benchmark_is_held_against_sports_results(tmp_path: Path) -> None:
    page = read_page(GAMES % "", "page.md", no_shared)
    source = fixtures(tmp_path, "results", SPORTS)
    assert "MT404" not in [one.rule for one in lint_site(unasked(source, page).figures.judge)]
    assert "MT404" not in [one.rule for one in lint_site(unasked("mongodb://localhost", page).figures.judge)]


@pytest.mark.parametrize("collection", ["results", "measured", "2026"])
def test_benchmark_results_tell_all_of_themselves_in_a_collection_of_any_name(
    collection: str, tmp_path: Path
) -> None:
    page = (SPEEDS % "").replace("NAME", collection)
    html = figures(page, fixtures(tmp_path, collection, [document(1), document(2)]))
    assert '<abbr title="Processor: Model of the processor.">' in html
    assert "Measured 2026-11-21 · MongoDB 6.0.5" in html
    assert "<li>Experiment: insert</li>" in html


def test_units_of_results_are_known_in_a_collection_of_any_name(tmp_path: Path) -> None:
    text = (GAMES % "").replace('"results"', '"measured"').replace('"game"', '"cpu"')
    documents = [{**document(size), "duration": 700 + size, "cpu": size} for size in (1, 2)]
    source = fixtures(tmp_path, "measured", documents)
    found = lint_site(unasked(source, read_page(text, "page.md", no_shared)).figures.judge)
    assert "MT404" in [one.rule for one in found]


def test_without_documents_a_pipeline_that_asks_for_a_test_is_taken_to_read_results() -> None:
    known = '[{"$match": {"_id.testname": "insert"}}, {"$project": {"game": 1, "duration": 1}}'
    page = read_page(
        (GAMES % "").replace('[{"$project": {"game": 1, "duration": 1}}', known), "page.md", no_shared
    )
    assert "MT404" in [one.rule for one in lint_site(unasked("mongodb://localhost", page).figures.judge)]
    begun = Documents(None).begun(page.tables[0])
    assert "bench_config" in begun.shape.fields
    assert not begun.is_learned


def test_results_beside_other_documents_are_told_of_alone_and_lend_no_meaning(tmp_path: Path) -> None:
    html = figures(
        (SPEEDS % "").replace("NAME", "results"), fixtures(tmp_path, "results", [document(1), *SPORTS])
    )
    assert "Measured 2026-11-21 · " in html
    assert "<li>Result documents: 1</li>" in html
    assert "Model of the processor" not in html


def test_who_asks_for_the_line_gets_it_for_documents_of_any_shape(tmp_path: Path) -> None:
    html = figures(GAMES % ', "provenance": true', fixtures(tmp_path, "results", SPORTS))
    assert "Measured 2024-05-01 to 2024-05-02 · MongoDB x" in html
    assert "<li>Result documents: 2</li>" in html
    assert "<abbr" not in html


def test_the_age_of_documents_of_any_shape_can_be_limited(tmp_path: Path) -> None:
    html = figures(GAMES % ', "max_age": 100000', fixtures(tmp_path, "results", SPORTS))
    assert "to be measured again by 2298-02-15" in html
    assert "Measured" not in html


def test_what_a_shared_list_says_of_its_fields_stands_at_their_headers_whatever_is_shown(
    tmp_path: Path,
) -> None:
    body = {"fields": {"game": "Who played."}, "pipeline": [{"$project": {"game": 1}}]}
    (tmp_path / "games.json").write_text(json.dumps(body), encoding="utf-8")
    shown = {"collection": "results", "pipeline": ["games"], "columns": ["game"], "headers": ["Game"]}
    page = f"# Games\n\n<!-- MONGO_TABLE: {json.dumps(shown)} -->\n"
    html = figures(page, fixtures(tmp_path, "results", SPORTS), SharedPipelines(tmp_path))
    assert '<abbr title="Who played.">Game</abbr>' in html


def test_the_values_of_a_chart_are_explained_at_their_headers_as_those_of_a_table_are(tmp_path: Path) -> None:
    body = {"fields": {"game": "Who played.", "n": "How often."}, "pipeline": [{"$set": {"n": 1}}]}
    (tmp_path / "games.json").write_text(json.dumps(body), encoding="utf-8")
    drawn = {"collection": "results", "pipeline": ["games"], "mark": "bar", "x": "game", "y": "n"}
    page = f"# Games\n\n<!-- MONGO_CHART: {json.dumps(drawn)} -->\n"
    html = figures(page, fixtures(tmp_path, "results", SPORTS), SharedPipelines(tmp_path))
    assert '<abbr title="Who played.">' in html
    assert '<abbr title="How often.">' in html


def test_the_values_of_a_chart_of_results_mean_what_their_fields_do(tmp_path: Path) -> None:
    drawn = {
        "collection": "results",
        "pipeline": [{"$project": {"cpu": "$hardware.cpu", "n": {"$literal": 1}}}],
    }
    page = f"# Speeds\n\n<!-- MONGO_CHART: {json.dumps({**drawn, 'mark': 'bar', 'x': 'cpu', 'y': 'n'})} -->\n"
    html = figures(page, fixtures(tmp_path, "results", [document(1)]))
    assert '<abbr title="Processor: Model of the processor.">' in html


def test_headers_mean_the_same_where_no_line_is_wanted(tmp_path: Path) -> None:
    page = (SPEEDS % ', "provenance": false').replace("NAME", "results")
    html = figures(page, fixtures(tmp_path, "results", [document(1)]))
    assert '<abbr title="Processor: Model of the processor.">' in html
    assert "Measured" not in html


@pytest.fixture
def served(mongod: Mongod) -> Iterator[str]:
    with pymongo.MongoClient(mongod.uri()) as client:
        client["shapes"]["results"].insert_many(json_util.loads(json_util.dumps(SPORTS)))
        client["shapes"]["measured"].insert_many([document(1), document(2)])
        yield mongod.uri("shapes")
        client.drop_database("shapes")


def test_a_server_and_files_agree_on_what_is_a_result(served: str, tmp_path: Path) -> None:
    fixtures(tmp_path, "results", SPORTS)
    (tmp_path / "fixtures" / "measured").mkdir()
    lines = "".join(f"{json_util.dumps(document(size))}\n" for size in (1, 2))
    (tmp_path / "fixtures" / "measured" / "all.jsonl").write_text(lines, encoding="utf-8")
    page = (GAMES % "") + (SPEEDS % "").replace("NAME", "measured")
    assert figures(page, served) == figures(page, str(tmp_path / "fixtures"))


@pytest.mark.parametrize("name", ["insert-docsize", "concurrency", "delete"])
def test_pages_of_this_site_are_the_same_whatever_the_collection_is_called(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path, dirs_exist_ok=True)
    (tmp_path / "results").rename(tmp_path / "measured")
    text = (ROOT / "docs" / "experiments" / f"{name}.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pipelines", tmp_path / "pipelines")
    for path in (tmp_path / "pipelines").iterdir():
        path.write_text(path.read_text("utf-8").replace('"from": "results"', '"from": "measured"'), "utf-8")
    here = figures(text, str(ROOT / "fixtures"), SharedPipelines(ROOT / "docs" / "pipelines"))
    there = figures(
        text.replace('"collection": "results"', '"collection": "measured"'),
        str(tmp_path),
        SharedPipelines(tmp_path / "pipelines"),
    )
    assert "<abbr" in here
    assert "Measured 20" in here
    assert there.replace("<code>measured</code>", "<code>results</code>") == here
