"""What readers would see wrongly is told by the commands that authors run, at its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.cli import main

ROWS = [{"_id": 1, "a": "x", "n": 3}, {"_id": 2, "a": "y", "n": 5}]


def table(stages: list[Any] | str, **more: Any) -> str:
    body = {
        "id": "one",
        "collection": "r",
        "pipeline": stages,
        "columns": ["a", "n"],
        "headers": ["A", "N"],
        **more,
    }
    return f"<!-- MONGO_TABLE: {json.dumps(body)} -->\n"


def found(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(
        [
            "check",
            str(folder / "page.md"),
            "--results",
            str(folder / "fixtures"),
            "--format",
            "json",
            *options,
        ]
    )
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return [one for one in told if one["severity"] != "note"]


def write(folder: Path, page: str, rows: list[dict[str, Any]]) -> None:
    (folder / "fixtures" / "r").mkdir(parents=True, exist_ok=True)
    (folder / "fixtures" / "r" / "r.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), "utf-8"
    )
    (folder / "page.md").write_text(page, "utf-8")


SORTED = [{"$sort": {"_id": 1}}]


@pytest.mark.parametrize(
    ("value", "form", "rules"),
    [
        ("", None, ["MT325"]),
        ("  ", None, ["MT325"]),
        (None, None, ["MT325"]),
        (None, {"missing": "not measured"}, []),
        ({"b": 1}, None, ["MT325"]),
        ([1, 2], None, ["MT325"]),
        (
            {
                "ratio": 1.1,
                "blocks": 9,
                "margin": 0.1,
                "against": "b",
                "verdict": "faster",
                "low": 1.05,
                "high": 1.2,
            },
            None,
            [],
        ),
        (0, None, []),
        ("few", None, []),
    ],
)
def test_no_sentence_has_a_hole_where_a_value_should_be(
    value: Any, form: Any, rules: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"table": "one", "column": "n", "where": {"a": "y"}, **({"format": form} if form else {})}
    page = f"{table(SORTED)}\nThere are <!-- MONGO_VALUE: {json.dumps(body)} --> of them.\n"
    write(tmp_path, page, [ROWS[0], {**ROWS[1], "n": value}])
    assert [one["rule"] for one in found(tmp_path, capsys) if one["rule"] == "MT325"] == rules


def lines(mark: str, order: list[str]) -> tuple[str, list[dict[str, Any]]]:
    rows = [{"_id": n, "s": "A", "x": x, "n": n} for n, x in enumerate(["2024-01", "2024-03"])]
    rows += [{"_id": 2 + n, "s": "B", "x": x, "n": n} for n, x in enumerate(order)]
    chart = {"mark": mark, "x": "x", "y": "n", "series": "s"}
    return table(SORTED, columns=["s", "x", "n"], headers=["Kind", "Month", "Trains"], chart=chart), rows


@pytest.mark.parametrize(
    ("mark", "order", "told"),
    [
        ("line", ["2024-01", "2024-02", "2024-03"], True),
        ("line", ["2024-01", "2024-03", "2024-04"], False),
        ("bar", ["2024-01", "2024-02", "2024-03"], False),
    ],
)
def test_no_line_falls_where_its_rows_rise(
    mark: str, order: list[str], told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, *lines(mark, order))
    faults = [one for one in found(tmp_path, capsys) if one["rule"] == "MT330"]
    assert bool(faults) == told
    if told:
        assert "B have 2024-02 before 2024-03" in faults[0]["message"]


def test_a_table_written_into_its_page_is_not_left_behind_by_its_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, table(SORTED), ROWS)
    page, results = str(tmp_path / "page.md"), str(tmp_path / "fixtures")
    render = ["render", "--in-place", page, "--results", results]
    assert main(render) == 0
    text = (tmp_path / "page.md").read_text("utf-8")
    assert found(tmp_path, capsys) == []
    write(tmp_path, text, [ROWS[0], {**ROWS[1], "n": 6}])
    (stale,) = found(tmp_path, capsys)
    assert (stale["rule"], stale["severity"], stale["line"], stale["column"]) == ("MT166", "error", 1, 1)
    assert f"mongo-tables render --in-place {page}" in stale["hint"]
    assert found(tmp_path, capsys, "--static") == []
    assert main(render) == 0
    assert found(tmp_path, capsys) == []


def test_who_names_a_shared_pipeline_outside_a_list_is_told_where_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, table("base"), ROWS)
    (fault,) = found(tmp_path, capsys)
    assert (fault["rule"], fault["hint"]) == (
        "MT132",
        'write the name of a shared pipeline into a list: ["base"]',
    )


@pytest.mark.parametrize(("last", "rules"), [([7], []), ([], ["MT403"]), (None, ["MT403"])])
def test_an_element_of_an_array_lacks_where_an_array_is_empty_or_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], last: list[int] | None, rules: list[str]
) -> None:
    rows = [{**row, "runs": [3]} for row in ROWS]
    rows[1] = {**ROWS[1], **({} if last is None else {"runs": last})}
    write(tmp_path, table([{"$set": {"n": {"$first": "$runs"}}}, *SORTED]), rows)
    told = found(tmp_path, capsys)
    assert [one["rule"] for one in told] == rules
    assert all(("has no element" in one["message"]) == (last == []) for one in told)
