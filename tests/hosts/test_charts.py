"""Charts and comparisons in a site: drawn where they are asked for, or an error at the setting to blame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hosts.builds import article, build, error_lines, read, sample


def comment(keyword: str, **keys: Any) -> str:
    body = {"collection": "runs", "pipeline": [{"$sort": {"threads": 1}}], **keys}
    return f"<!-- {keyword}: {json.dumps(body)} -->\n"


CHART: dict[str, Any] = {
    "x": "threads",
    "y": "qps",
    "log": "xy",
    "labels": {"qps": "Queries/s"},
    "id": "speed",
}
TABLE: dict[str, Any] = {"columns": ["threads", "qps"], "headers": ["Threads", "Queries/s"]}


def with_page(folder: Path, *comments: str) -> Path:
    site = sample(folder)
    (site / "docs" / "charts.md").write_text("\n".join(["# Charts\n", *comments]), encoding="utf-8")
    return site


def test_charts_and_comparisons_are_in_the_page(tmp_path: Path) -> None:
    baseline = {"row": {"threads": 1}, "column": "qps", "as": "ratio", "header": "Times"}
    compared = comment(
        "MONGO_TABLE", **TABLE, baseline=baseline, chart={"x": "threads", "y": "qps", "mark": "bar"}
    )
    site = with_page(tmp_path, comment("MONGO_CHART", **CHART), compared)
    done = build(site, "--strict")
    assert done.returncode == 0, done.stderr
    html = article(site / "site" / "charts.html")
    assert '<figure class="mongo-table" id="speed">' in html
    assert html.count('<svg class="mongo-chart__wide"') == 2
    assert html.count('class="mongo-chart__area"') == 2 * 6
    values, table = read(html).tables
    assert values[1] == ["1", "139.8"]
    assert [row[2] for row in table] == ["Times", "baseline", "7383.7", "64429179218462.0"]


def test_what_cannot_be_drawn_or_compared_ends_the_build_at_its_setting(tmp_path: Path) -> None:
    site = with_page(
        tmp_path,
        comment("MONGO_CHART", **{**CHART, "y": "note", "labels": {}}),
        comment("MONGO_CHART", **{**CHART, "x": "thread", "id": "other"}),
        comment("MONGO_CHART", **{**CHART, "id": "third", "pipeline": [{"$match": {"threads": -1}}]}),
        comment("MONGO_TABLE", **TABLE, baseline={"row": 9, "column": "qps"}),
        comment("MONGO_TABLE", **TABLE, chart={"x": "qps", "y": "threads", "log": "x", "mark": "bar"}),
        comment("MONGO_CHART", **{**CHART, "id": "fourth", "log": "x", "stack": True}),
        comment("MONGO_TABLE", **TABLE, chart={"x": "threads", "y": "qps", "facets": "threads"}),
    )
    done = build(site)
    assert done.returncode != 0
    found = [line.split(": ")[1][:5] for line in error_lines(done.stderr)[:-1]]
    assert found == ["MT330", "MT302", "MT303", "MT331", "MT330", "MT330", "MT330"]
    assert error_lines(done.stderr)[1].startswith("docs/charts.md:5:")
    source = (site / "docs" / "charts.md").read_text("utf-8").split("\n")
    for number, key in ((5, '"stack": '), (6, '"facets": ')):
        line, column = map(int, error_lines(done.stderr)[number].split(":")[1:3])
        assert source[line - 1][: column - 1].endswith(key)


def test_small_charts_are_one_image_of_the_page_and_stay_within_it(tmp_path: Path) -> None:
    kinds = {"$set": {"kind": {"$cond": [{"$lt": ["$threads", 8]}, "few", "many"]}}}
    asked = {
        **CHART,
        "facets": "kind",
        "pipeline": [{"$sort": {"threads": 1}}, kinds],
        "reference": [{"from": 1, "to": 5}],
    }
    site = with_page(tmp_path, comment("MONGO_CHART", **asked))
    assert build(site, "--strict").returncode == 0
    html = article(site / "site" / "charts.html")
    assert html.count('<svg class="mongo-chart__wide"') == 1
    assert [html.count(f">{name}</text>") for name in ("few", "many")] == [2, 2]
    assert read(html).tables[0][0] == ["kind", "threads", "Queries/s"]


def test_dates_stand_on_a_time_axis_and_those_that_cannot_end_the_build(tmp_path: Path) -> None:
    def dated(*stages: dict[str, Any], **keys: Any) -> str:
        day = {
            "$dateAdd": {
                "startDate": {"$toDate": "2024-12-30T23:00:00Z"},
                "unit": "day",
                "amount": "$threads",
            }
        }
        pipeline = [{"$set": {"day": day}}, *stages, {"$sort": {"qps": 1}}]
        return comment("MONGO_CHART", pipeline=pipeline, x="day", y="qps", **keys)

    site = with_page(tmp_path, dated(id="whole"))
    assert build(site, "--strict").returncode == 0
    html = article(site / "site" / "charts.html")
    assert ">2025</text>" in html
    assert "day 2024-12-31T23:00:00Z" in html
    mixed = {"$set": {"day": {"$cond": [{"$eq": ["$threads", 1]}, "new year", "$day"]}}}
    done = build(with_page(tmp_path / "other", dated(mixed, id="mixed")))
    assert done.returncode != 0
    assert "MT330 `day` is a date in " in done.stderr
    assert "another value is new year" in done.stderr
