"""Directives and roles of reStructuredText: which are read, which are samples, and where faults are."""

from __future__ import annotations

from textwrap import dedent

import pytest

from mongo_tables.directives.page_scan import find
from tests.commands.test_commands import mongo_tables

TABLE = '{"collection": "runs", "columns": ["a"]}'


def kinds(text: str) -> list[str]:
    return [one.keyword for one in find(dedent(text), "page.rst").comments]


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        (f".. result-table::\n\n   {TABLE}\n", ["RESULT_TABLE"]),
        (f".. mongo-table:: {TABLE}\n", ["MONGO_TABLE"]),
        (f"* An item\n\n  .. result-chart::\n\n     {TABLE}\n\nText.\n", ["RESULT_CHART"]),
        (f".. note::\n\n   .. result-check::\n\n      {TABLE}\n", ["RESULT_CHECK"]),
        ('Takes :result-value:`{"table": "t",\n"column": "a"}` s.\n', ["RESULT_VALUE"]),
        (".. note:: It saves :result:`saved` here.\n", ["RESULT"]),
        (".. [1] It saves :result:`saved`.\n", ["RESULT"]),
        ("(:result:`saved`, :result:`lost`)\n", ["RESULT", "RESULT"]),
        (f"Text::\n\n   .. result-table::\n\n      {TABLE}\n", []),
        (f"* Text::\n\n     .. result-table:: {TABLE}\n\n  .. result-chart:: {TABLE}\n", ["RESULT_CHART"]),
        (f".. code-block:: rst\n   :caption: A\n\n   .. result-table::\n\n      {TABLE}\n", []),
        (f"..\n   .. result-table::\n\n      {TABLE}\n", []),
        (f".. Off for now\n   .. result-table:: {TABLE}\n", []),
        ("Write ``:result:`saved```.\n", []),
        (f".. results:: of the year\n\n   {TABLE[1:]}\n", []),
        (f"<!-- RESULT_TABLE: {TABLE} -->\n", []),
    ],
    ids=lambda each: "" if isinstance(each, list) else None,
)
def test_what_is_a_directive_and_what_is_a_sample(text: str, keywords: list[str]) -> None:
    scan = find(text, "page.rst")
    assert [one.keyword for one in scan.comments] == keywords
    assert scan.findings == ()


def test_a_markdown_page_has_no_directives() -> None:
    assert find(f".. result-table::\n\n   {TABLE}\n", "page.md").comments == ()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (f".. result-tabel::\n\n   {TABLE}\n", "there is no directive result-tabel", ".. result-table::"),
        (f".. result-value:: {TABLE}\n", "there is no directive result-value", ":result-value:"),
        (f"A :result-table:`{TABLE}` b\n", "there is no role result-table", ".. result-table::"),
    ],
)
def test_a_name_that_is_nearly_one_is_a_fault_with_the_right_one(text: str, message: str, hint: str) -> None:
    (found,) = find(text, "page.rst").findings
    assert (found.rule, found.message, found.hint) == ("MT103", message, f"did you mean `{hint}`?")


def test_check_reports_a_fault_in_a_directive_at_its_place(tmp_path) -> None:
    (tmp_path / "fixtures/runs").mkdir(parents=True)
    (tmp_path / "fixtures/runs/a.jsonl").write_text('{"_id": 1, "a": "x"}\n')
    (tmp_path / "page.rst").write_bytes(
        b"Speed\r\n=====\r\n\r\n* .. result-table::\r\n\r\n"
        b'     {"id": "speed",\r\n      "colection": "runs", "columns": ["a"]}\r\n\r\n'
        b'  It is :result-value:`{"table": "sped", "column": "a"}` s.\r\n'
    )
    done = mongo_tables("check", "page.rst", cwd=tmp_path, expect=1)
    assert "page.rst:7:7: error MT130" in done.stdout
    assert "page.rst:9:34: error MT139" in done.stdout


def test_only_sphinx_shows_figures_of_restructuredtext(tmp_path) -> None:
    (tmp_path / "page.rst").write_text(f".. result-table::\n\n   {TABLE}\n")
    for options in ([], ["--in-place"]):
        done = mongo_tables("render", *options, "page.rst", cwd=tmp_path, expect=2)
        assert "page.rst: render cannot write figures into reStructuredText" in done.stderr
