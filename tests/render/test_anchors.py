"""A link to a figure or a row leads to the same one tomorrow, whatever has been added beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mongo_tables.render.html import figure_html
from mongo_tables.render.markup import ANCHOR, with_anchors
from tests.render.specs import chart, table


def ids(*specs: object) -> list[str | None]:
    return [spec.id for spec in with_anchors(specs) if spec]


@pytest.mark.parametrize(
    ("spec", "anchor"),
    [
        (table("a", id="own"), "own"),
        (table("a", title="Speed of bulk inserts"), "table-speed-of-bulk-inserts"),
        (table("a", caption="Médian, p99 (ms)"), "table-median-p99-ms"),
        (table("a", "b", headers=["Size", "Docs/s"]), "table-size-docs-s"),
        (table("a", headers=["速度"]), "table"),
        (chart("a", "b", title="Speed"), "chart-speed"),
        (chart("a", "b"), "chart"),
    ],
)
def test_the_anchor_of_a_figure_is_its_id_or_made_of_its_words(spec: object, anchor: str) -> None:
    assert ids(spec) == [anchor]


def test_what_a_page_has_twice_is_numbered() -> None:
    one, named = table("a", title="T"), table("a", id="table-t")
    assert ids(one, None, one, named, one) == ["table-t-2", "table-t-3", "table-t", "table-t-4"]


def test_another_table_on_the_page_changes_no_anchor() -> None:
    assert ids(table("a", title="New"), table("a", title="Old"))[1] == ids(table("a", title="Old"))[0]


def row_ids(*rows: tuple[object, ...]) -> list[str]:
    names = "abcd"[: len(rows[0])]
    return ANCHOR.findall(
        figure_html(table(*names, id="t"), [dict(zip(names, row, strict=True)) for row in rows])
    )[1:]


def test_a_row_is_found_by_its_label() -> None:
    assert row_ids((1, 7), (0.5, 7), ("<b>", 7)) == ["t--1", "t--0-5", "t--b"]


def test_a_row_is_found_by_as_many_labels_as_tell_all_apart() -> None:
    assert row_ids(("a", 1, 7), ("a", 2, 7), ("b", 1, 7)) == ["t--a-1", "t--a-2", "t--b-1"]


def test_rows_that_nothing_tells_apart_are_numbered() -> None:
    assert row_ids(("a", 1), ("a", 1), ("", 1)) == ["t--a", "t--a-2", "t--row"]


def test_what_was_measured_names_no_row() -> None:
    assert row_ids(("a", 1.5), ("a", 2.5)) == ["t--a", "t--a-2"]


def test_a_format_changes_no_anchor_of_a_row() -> None:
    rows = [{"n": 1024}, {"n": None}, {}]
    shown = figure_html(table("n", id="t", format={"n": {"thousands": True}}), rows)
    assert ANCHOR.findall(shown) == ["t", "t--1024", "t--row", "t--row-2"]
    assert '<a href="#t--1024">1,024</a>' in shown


def test_the_values_of_a_chart_are_rows_with_anchors() -> None:
    shown = figure_html(replace(chart("a", "b"), id="c"), [{"a": 1, "b": 2}])
    assert ANCHOR.findall(shown) == ["c", "c--1"]


def test_a_label_that_shows_nothing_is_no_link() -> None:
    shown = figure_html(table("a", id="t"), [{"a": " "}])
    assert ANCHOR.findall(shown) == ["t", "t--row"]
    assert "<a " not in shown
