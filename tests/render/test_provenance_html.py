"""What stands under a figure: one line in sight, and how it was made folded away."""

from __future__ import annotations

from typing import Any

from mongo_tables.aggregation import aggregate
from mongo_tables.render.charts.plot import as_table
from mongo_tables.render.provenance_html import (
    ListedRuns,
    amount_of,
    lines_of,
    list_runs,
    provenance_html,
)
from mongo_tables.results.provenance import Provenance, provenance_of
from tests.hosts.builds import read
from tests.measured import document, in_blocks, pooled, speeds
from tests.render.specs import chart

LINKS = {"CSV": "x.csv", "JSON": "x.json"}


def source(*documents: dict[str, Any]) -> Provenance | None:
    return provenance_of(aggregate(list(documents), speeds().source_query.pipeline))


def made(*documents: dict[str, Any], runs: ListedRuns | None = None) -> str:
    found = source(*documents)
    amount = amount_of(lines_of(found.runs)) if found else ""
    return provenance_html(speeds(title="Speed"), found, LINKS, runs or ListedRuns("rows", amount=amount))


def test_the_line_ends_with_links_that_say_what_they_lead_to() -> None:
    html = made(document(1))
    assert "<p>Measured 2026-11-21 · MongoDB 6.0.5 · " in html
    assert '<a href="x.csv" aria-label="CSV: rows of Speed">CSV</a> · <a href="x.json"' in html


def test_the_day_of_old_age_is_there_for_a_script_as_well() -> None:
    html = provenance_html(speeds(max_age=10), source(document(1)), LINKS)
    due = '<time class="mongo-table__due" datetime="2026-12-01">to be measured again by 2026-12-01</time>'
    assert f"<p>Measured 2026-11-21 · {due} · MongoDB 6.0.5 · " in html


def test_a_chart_has_its_day_of_old_age_and_its_own_selection_too() -> None:
    drawn = chart("threads", "ops", max_age=10, where={"threads": {"$gt": 1}}, pipeline=None)
    html = provenance_html(as_table(drawn), source(document(1)), LINKS)
    assert 'datetime="2026-12-01"' in html
    assert "The rows are these documents of" in html


def test_search_engines_are_kept_out() -> None:
    assert made(document(1)).startswith('<div class="mongo-table__source" data-search-exclude>')


def test_rows_of_unknown_origin_can_be_taken_away_all_the_same() -> None:
    html = provenance_html(speeds(), None, LINKS)
    assert '<p><a href="x.csv"' in html
    assert "Measured" not in html


def test_the_pipeline_is_the_authors_a_stage_a_line_and_never_markup() -> None:
    pipeline = [{"$match": {"a": "<script>"}}, "shared", {"$project": {f"field{n}": 1 for n in range(12)}}]
    spec = speeds(pipeline=[stage for stage in pipeline if stage != "shared"])
    html = provenance_html(spec, None, {})
    assert "[\n  {&quot;$match&quot;: {&quot;a&quot;: &quot;&lt;script&gt;&quot;}},\n  {\n" in html
    assert "    &quot;$project&quot;: {\n      &quot;field0&quot;: 1,\n" in html


def test_the_single_runs_are_folded_away() -> None:
    found = source(document(1))
    assert found
    html = made(document(1), runs=list_runs(speeds(), lines_of(found.runs), lambda key: ""))
    assert "<p>The single runs behind the rows:</p>" in html
    assert len(read(html).tables[0]) == 4
    assert html.index("<details>") < html.index("<table>") < html.index("</details>")


def test_runs_that_a_figure_above_lists_are_linked_there() -> None:
    html = made(document(1), runs=ListedRuns("first", html="<table></table>"))
    assert '<a href="#first">An earlier figure</a> lists the single runs.' in html
    assert read(html).tables == []


def test_very_many_runs_are_counted() -> None:
    html = made(*(document(size) for size in range(1, 52)))
    assert "The rows come from 153 repeats, too many to list here." in html


def test_the_runs_of_pooled_rows_say_which_campaign_they_are_of() -> None:
    both = pooled(("c0ffee", 21, 3), ("decade", 22, 3))
    one = in_blocks(1, campaigns=both)
    other = in_blocks(2, campaigns=both, campaign={"id": "decade"})
    found = source(one)
    assert found
    html = made(one, runs=list_runs(speeds(), lines_of(found.runs), lambda key: ""))
    assert "The single runs behind the rows (from campaign c0ffee only):" in html
    assert "The rows come from 6 blocks (from one campaign per row), too many" in made(one, other)
    assert "of one campaign" not in made(in_blocks(1))


def test_what_the_line_does_not_say_is_a_list_in_the_fold() -> None:
    html = made(document(1))
    line, fold = html.split("<details>")
    for text in ("<li>Write concern: w: majority</li>", "<li>Scale: 0.001</li>", "<li>Seed: 1</li>"):
        assert text in fold
    assert [word for word in ("majority", "replica set", "PyMongo", "Some CPU") if word in line] == []


def test_values_of_documents_are_never_markup() -> None:
    html = made(document(1, versions={"server": "<b>", "harness": "</div>"}, campaign={"id": "<i>"}))
    assert "<i>" not in html
    assert "MongoDB &lt;b&gt;" in html
    assert "</div></p>" not in html
