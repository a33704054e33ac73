"""The single runs behind a figure: every one of them, with an anchor that rows lead to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation import aggregate
from mongo_tables.build import build
from mongo_tables.render.html import figure_html
from mongo_tables.render.provenance_html import (
    Line,
    ListedRuns,
    RowRepeat,
    amount_of,
    lines_of,
    list_runs,
)
from mongo_tables.results.answers import Answers
from mongo_tables.results.provenance import provenance_of
from mongo_tables.site.disk import snapshot_of
from tests.hosts.builds import read
from tests.measured import document, in_blocks, speeds

TABLE = speeds(title="Speed", id="t")


def lines_behind(*documents: dict[str, Any]) -> list[Line]:
    source = provenance_of(aggregate(list(documents), TABLE.source_query.pipeline))
    assert source
    return lines_of(source.runs)


def listed(*documents: dict[str, Any], **addresses: str) -> ListedRuns:
    """The list; ``addresses`` says where a document is, by its size with an s before it."""
    return list_runs(TABLE, lines_behind(*documents), lambda key: addresses.get(f"s{key['docSizeKB']}", ""))


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


def test_a_row_that_was_measured_in_blocks_has_a_line_for_each_block() -> None:
    (runs,) = read(listed(in_blocks(1, 2), in_blocks(2, 2)).html).tables
    assert runs[0][:4] == ["Row", "Block", "Began (UTC)", "Window ms"]
    assert [row[:2] for row in runs[1:]] == [
        ["docSizeKB 1", "0"],
        ["docSizeKB 1", "1"],
        ["docSizeKB 2", "0"],
        ["docSizeKB 2", "1"],
    ]


def test_the_windows_of_a_block_there_and_back_stand_in_one_line_with_the_speed_of_the_block() -> None:
    one = in_blocks(1, 1, back=True)
    there, back = (window | {"seed": f"s{number}"} for number, window in enumerate(one["repeats"]))
    back["errors"] = {"WriteError": 2}
    (runs,) = read(listed(one | {"repeats": [there, back | {"errors": {"WriteError": 2}}]}).html).tables
    line = dict(zip(*runs, strict=True))
    assert line["Windows"] == "2"
    assert line["Began (UTC)"] == "2026-11-21T04:01:01.250Z"
    assert (line["Window ms"], line["Operations"]) == ("1,400", "1")
    assert line["Speed operations/s"] == "94.9"  # The geometric mean of 100 and 90, as in `speed` of the row.
    assert (line["Errors"], line["Seed"]) == ("WriteError: 2", "s0, s1")


def test_rows_with_blocks_and_rows_without_stand_in_one_list() -> None:
    (runs,) = read(listed(in_blocks(1, 1), document(2)).html).tables
    assert runs[0][:3] == ["Row", "Block", "Repeat"]
    assert [row[1:3] for row in runs[1:]] == [["0", "—"], ["—", "1"], ["—", "2"], ["—", "3"]]


def test_what_is_too_much_to_list_is_counted_in_blocks_and_repeats() -> None:
    lines = lines_behind(in_blocks(1, 20, back=True), document(2))
    assert amount_of(lines) == "20 blocks and 3 repeats"
    assert amount_of(lines[:1]) == "1 block"


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
    html = figure_html(TABLE, rows, behind=["", f"#{second}"], notes=found.html)
    (link,) = re.findall('<a class="mongo-table__runs" href="#([^"]+)"', html)
    assert f'<tr id="{link}"><th scope="row"><a href="#{link}">docSizeKB 2</a>' in html
    assert '<a href="#t--2">2</a><a class="mongo-table__runs"' in html


def test_a_row_that_is_of_no_document_leads_nowhere() -> None:
    found = listed(document(1))
    others = [{}, {"_id": None}, {"_id": {"docSizeKB": 3, "testname": "insert"}}, {"_id": {"docSizeKB": 1}}]
    assert found.behind(others) == ["", "", "", ""]


def test_a_number_may_be_that_of_a_group_and_leads_nowhere() -> None:
    run = RowRepeat(Int64(7), 1, {"operations": 1})
    found = list_runs(TABLE, [[run]], lambda key: "")
    assert "_id 7" in found.html or ">7<" in found.html
    assert found.behind([{"_id": Int64(7)}]) == [""]


def test_keys_of_documents_are_never_markup() -> None:
    run = RowRepeat({"testname": "<b>", "size": '"><i>'}, 1, {"operations": 1})
    html = list_runs(TABLE, [[run]], lambda key: "").html
    assert "<b>" not in html
    assert "<i>" not in html


def test_columns_that_no_run_has_are_left_out() -> None:
    one = document(1)
    short = one | {
        "repeats": [{"operations_per_second": 5.0, "start_time": run["start_time"]} for run in one["repeats"]]
    }
    (runs,) = read(listed(short).html).tables
    assert "Window" not in str(runs)
    assert "Operations" not in str(runs)
    assert "Speed" in str(runs)


def test_runs_are_listed_under_the_first_figure_that_has_them_and_asks_for_them(tmp_path: Path) -> None:
    line = '{"n": 1, "start_time": {"$date": "2024-01-01T00:00:00Z"}, "repeats": [{"duration": 5}]}\n'
    (tmp_path / "own.jsonl").write_text(line)
    table = {"collection": "own", "pipeline": [], "columns": ["n"], "headers": ["N"]}

    def told(*asking: bool) -> list[list[str]]:
        asked = {True: {"provenance": True}, False: {}}
        bodies = [json.dumps({"id": f"t{at}", **table, **asked[one]}) for at, one in enumerate(asking)]
        text = "".join(f"<!-- MONGO_TABLE: {body} -->\n\n" for body in bodies)
        report = build(snapshot_of({"page.md": text}, "figures"), Answers(str(tmp_path)))
        html = report.figures.html(report.pages[0], lambda name, content: name)
        return [re.findall("single runs behind|lists the single runs|rows come from", one) for one in html]

    assert told(False, True, True) == [[], ["single runs behind"], ["lists the single runs"]]
    assert told(True, False) == [["single runs behind"], []]
