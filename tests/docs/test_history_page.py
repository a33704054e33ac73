"""The page of history has every campaign that this repository keeps."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hooks import campaigns
from mongo_tables.aggregation import aggregate

HERE = Path(__file__).parents[2]
HOW = "CONTRIBUTING.md says how `history` is written anew"


def read(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def history() -> list[dict[str, Any]]:
    return read(HERE / "fixtures" / "history")


def test_every_campaign_that_is_kept_is_in_the_history(history: list[dict[str, Any]]) -> None:
    kept = {folder.name for folder in (HERE / "fixtures" / "campaigns").iterdir()}
    assert kept - {one["_id"]["campaign"] for one in history} == set(), HOW


def test_every_row_of_this_site_is_in_the_history(history: list[dict[str, Any]]) -> None:
    rows = [
        row for row in read(HERE / "fixtures" / "results") if row.get("repeats") and "campaigns" not in row
    ]
    starts = [row.get("campaign", {}).get("start", row["start_time"])["$date"] for row in rows]
    points = {(one["experiment"], one["start"]["$date"]) for one in history}
    shown = {(row["_id"]["testname"], start) for row, start in zip(rows, starts, strict=True)}
    assert sorted(shown - points) == [], HOW


def test_a_row_is_called_in_words_and_no_two_of_an_experiment_alike(history: list[dict[str, Any]]) -> None:
    stages = json.loads((HERE / "docs/pipelines/row-in-words.json").read_text("utf-8"))["pipeline"]
    alike = Counter(
        (one["experiment"], one["variant"])
        for one in history
        if one["_id"]["of"] == "ratio" and not one["otherwise"]
    )
    compared = sorted(row for row, campaigns in alike.items() if campaigns > 1)
    documents = [
        {"_id": number, "experiment": name, "variant": row} for number, (name, row) in enumerate(compared)
    ]
    called = [(row["experiment"], row["words"]) for row in aggregate(documents, stages)]
    assert len(called) == len(set(called)) > 100
    of_the_program = re.compile(r"[a-z][A-Z]|[A-Z]{3,}_|True|False|Threads|cached")
    words = re.compile("FindOneAndUpdate|UpdateOne|ObjectIds|KiB")
    assert [row for _, row in called if of_the_program.search(words.sub("", row))] == []


def test_points_of_another_machine_and_of_other_work_are_series_of_their_own() -> None:
    stages = json.loads((HERE / "docs/pipelines/over-time.json").read_text("utf-8"))["pipeline"]
    fields = [[], ["servers.cpu"], ["servers.cpu", "topology.cache_gb"], ["experiment.scale", "servers.cpu"]]
    documents = [
        {"_id": {"row": "t: size 4"}, "start": hour, "value": 1.0, "otherwise": one, "text": "four"}
        for hour, one in enumerate(fields)
    ]
    rows = aggregate(documents, stages)
    assert {row["start"]: row["work"] for row in rows} == {
        0: "four", 1: "four, another machine", 2: "four, another machine", 3: "four, other work",
    }  # fmt: skip


def test_what_is_known_of_changes_is_of_campaigns_and_rows_that_there_are(
    history: list[dict[str, Any]],
) -> None:
    known = tomllib.loads((HERE / "docs" / "known-changes.toml").read_text("utf-8"))["change"]
    said = {(one["_id"]["campaign"], (one["known"] or {}).get("reason")) for one in history}
    assert [one for one in known if (one["campaign"], one["reason"]) not in said] == [], HOW


def test_the_rows_of_every_campaign_that_is_kept_are_files_that_the_page_links() -> None:
    kept = campaigns.list_kept(HERE)
    config: Any = SimpleNamespace(config_file_path=str(HERE / "mkdocs.yml"))
    page: Any = SimpleNamespace(url="changes/", file=SimpleNamespace(src_uri="changes.md"))
    shown = campaigns.on_page_markdown("# History\n", page, config, None)  # type: ignore[arg-type]
    for folder in kept:
        assert f"* [{folder.name}](documents/campaigns/{folder.name}.jsonl)\n" in shown
        rows = [json.loads(line) for line in campaigns.read_rows(folder).splitlines()]
        assert {row["campaign"]["id"] for row in rows} == {folder.name}
    page.file.src_uri = "costs.md"
    assert campaigns.on_page_markdown("# Costs\n", page, config, None) == "# Costs\n"  # type: ignore[arg-type]
