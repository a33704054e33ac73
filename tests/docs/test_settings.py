"""What a page lists of how its rows were measured has what a reader needs to know of their campaign."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate

PIPELINES = Path(__file__).parents[2] / "docs" / "pipelines"
CAMPAIGN = {
    "id": "c1",
    "start": datetime(2026, 11, 23, 9, 5, tzinfo=UTC),
    "blocks": 21,
    "measured_again": 2,
    "disturbed": 1,
    "targets": ["old", "new"],
    "slice_seconds": 0.04,
}
EXPERIMENT = {"name": "update", "target": "local", "scale": 0.01, "profile": "publish", "not_varied": []}


def list_settings(*rows: dict[str, Any]) -> dict[str, str]:
    pipelines = {
        path.stem: json.loads(path.read_text("utf-8"))["pipeline"] for path in PIPELINES.glob("*.json")
    }
    stages = pipelines["settings"][:-1] + pipelines["joined-values"]
    documents = [{"_id": number, "experiment": EXPERIMENT, **row} for number, row in enumerate(rows)]
    return {row["setting"]: row["value"] for row in aggregate(documents, stages)}


def test_the_settings_of_a_page_tell_the_campaign_and_its_profile() -> None:
    found = list_settings({"campaign": CAMPAIGN}, {"campaign": CAMPAIGN})
    assert list(found)[:8] == [
        "Campaign",
        "Profile",
        "Scale",
        "Blocks",
        "Blocks measured again",
        "Blocks kept despite interference",
        "Targets side by side",
        "Slices in which targets took turns",
    ]
    assert list(found.values())[:8] == [
        "c1, begun 2026-11-23 09:05", "publish", "1 % of the full size", "21", "2", "1 of 21", "old, new", "40 ms",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("speeds", "ratios", "said"),
    [
        ([100, 110], [0.5, 0.55], "the speeds of these rows (excluding controls) were 1.1 to 1.1 times those of the previous campaign, and their ratios were 1.1 times the previous ratios"),
        ([100, 40], [0.5, 0.5], "the speeds of these rows (excluding controls) were 0.4 to 0.4 times those of the previous campaign, and their ratios were 1 times the previous ratios"),
        ([100, 100], [0.5, 0.3], "the speeds of these rows (excluding controls) were 1 to 1 times those of the previous campaign, and their ratios were 0.6 times the previous ratios"),
        ([100, 200], [], "the speeds of these rows (excluding controls) were 2 to 2 times those of the previous campaign"),
        ([100], [0.5], None),
    ],
)  # fmt: skip
def test_the_settings_tell_how_far_the_newest_campaign_is_from_the_previous_one(
    speeds: list[int], ratios: list[float], said: str | None
) -> None:
    each = [{"id": f"c{number}", "speed": speed} for number, speed in enumerate(speeds, 1)]
    for campaign, ratio in zip(each, ratios, strict=False):
        campaign["ratio"] = ratio
    row = {
        "campaign": {**CAMPAIGN, "id": each[-1]["id"]},
        "speed": {"median": speeds[-1]},
        "campaigns": {"each": each, "against": "first" if ratios else "itself"},
    }
    assert list_settings(row).get("Compared with the previous campaign") == said


def test_the_settings_tell_of_each_campaign_how_many_blocks_something_else_disturbed() -> None:
    each = [{"id": "c0", "blocks": 8, "disturbed": 7}, {"id": "c1", "blocks": 6, "disturbed": 0}]
    found = list_settings({"campaign": CAMPAIGN, "campaigns": {"each": each, "against": "itself"}})
    assert found["Blocks kept despite interference"] == "7 of 8, then 0 of 6"


def test_what_nobody_could_see_is_said_not_to_be_known() -> None:
    found = list_settings({"campaign": {**CAMPAIGN, "disturbed": None, "targets": []}})
    assert found["Blocks kept despite interference"] == "not known"
    assert "Targets side by side" not in found


def test_of_rows_without_a_campaign_nothing_is_said_of_one() -> None:
    found = list_settings({"experiment": {**EXPERIMENT, "profile": None}})
    assert not [setting for setting in found if "Blocks" in setting or setting in ("Campaign", "Profile")]
