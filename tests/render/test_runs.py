"""The single runs behind a figure: every one of them, with an anchor that rows lead to."""

from __future__ import annotations

import re
from typing import Any

from bson.int64 import Int64

from preprocessor.aggregation import aggregate
from preprocessor.render.html import html_table
from preprocessor.render.runs import ListedRuns, list_runs
from preprocessor.results.provenance import Run, provenance_of
from tests.measured import document, speeds
from tests.site.builds import read

TABLE = speeds(title="Speed", id="t")


def runs_of(*documents: dict[str, Any]) -> tuple[Run, ...]:
    source = provenance_of(aggregate(list(documents), TABLE.source_query.pipeline))
    assert source
    return source.runs


def listed(*documents: dict[str, Any], **addresses: str) -> ListedRuns:
    """The list; ``addresses`` says where a document is, by its size with an s before it."""
    return list_runs(TABLE, runs_of(*documents), lambda key: addresses.get(f"s{key['docSizeKB']}", ""))


def seeded(size: int) -> dict[str, Any]:
    one = document(size)
    return one | {"repeats": [run | {"seed": f"1/{size}/{n}"} for n, run in enumerate(one["repeats"])]}


def test_every_run_is_listed_with_its_errors() -> None:
    (runs,) = read(listed(document(1), document(2)).html).tables
    assert runs[0] == [
        "Row",
        "Repeat",
        "Began (UTC)",
        "Window ms",
        "Operations",
        "Speed operations/s",
        "Errors",
    ]
    assert runs[3] == ["docSizeKB 1", "3", "2026-11-21T04:01:01.250Z", "700", "2", "110.5", "WriteError: 2"]
    assert [row[:2] + row[-1:] for row in runs[4:6]] == [["docSizeKB 2", "1", "0"], ["docSizeKB 2", "2", "0"]]


def test_a_run_has_its_seed_where_the_document_has_one() -> None:
    (runs,) = read(listed(seeded(1), document(2)).html).tables
    assert [row[-1] for row in runs] == ["Seed", "1/1/0", "1/1/1", "1/1/2", "—", "—", "—"]


def test_a_run_leads_to_its_document_where_that_can_be_had() -> None:
    html = listed(document(1), document(2), s2='documents/"2".json').html
    (runs,) = read(html).tables
    assert [row[-1] for row in runs] == ["Document", "—", "—", "—", "JSON", "JSON", "JSON"]
    assert html.count('<td><a href="documents/&quot;2&quot;.json">JSON</a></td>') == 3
    assert html.count("JSON") == 3


def test_a_row_leads_to_the_first_run_of_its_document() -> None:
    found = listed(document(1), document(2))
    (first, second) = found.behind([{"_id": document(size)["_id"]} for size in (1, 2)])
    assert [first, second] == ["t--runs--docsizekb-1-1", "t--runs--docsizekb-2-1"]
    rows = aggregate([document(1), document(2)], TABLE.pipeline)
    html = html_table(TABLE, rows, behind=["", second], notes=found.html)
    (link,) = re.findall('<a class="mongo-table__runs" href="#([^"]+)"', html)
    assert f'<tr id="{link}"><th scope="row"><a href="#{link}">docSizeKB 2</a>' in html
    assert '<a href="#t--2">2</a><a class="mongo-table__runs"' in html


def test_a_row_that_is_of_no_document_leads_nowhere() -> None:
    found = listed(document(1))
    others = [{}, {"_id": None}, {"_id": {"docSizeKB": 3, "testname": "insert"}}, {"_id": {"docSizeKB": 1}}]
    assert found.behind(others) == ["", "", "", ""]


def test_a_number_may_be_that_of_a_group_and_leads_nowhere() -> None:
    run = Run(Int64(7), 1, {"operations": 1})
    found = list_runs(TABLE, [run], lambda key: "")
    assert "_id 7" in found.html or ">7<" in found.html
    assert found.behind([{"_id": Int64(7)}]) == [""]


def test_keys_of_documents_are_never_markup() -> None:
    run = Run({"testname": "<b>", "size": '"><i>'}, 1, {"operations": 1})
    html = list_runs(TABLE, [run], lambda key: "").html
    assert "<b>" not in html
    assert "<i>" not in html
