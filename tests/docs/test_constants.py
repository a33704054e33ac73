"""What pages say of the program and of published machines is what the program, and its experiments, say themselves."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.cli import main
from mongo_tables.results.guards import OPTIONS

HERE = Path(__file__).parents[2]
EXPERIMENTS = HERE / "preprocessor" / "mongo_tables" / "runner" / "experiments"


def read(fixture: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "fixtures" / fixture).read_text("utf-8").splitlines()]


CONSTANTS = read("program/constants.jsonl")
MACHINES = read("machines/published.jsonl")
PLACE = ("database", "collection")


def find(path: str) -> Any:
    """What stands at ``module:NAME.step``, or at ``folder/file.json:key.step``.

    A step is the key of a mapping, the place in a sequence, else the name of an attribute; ``()`` behind it calls it.
    """
    where, _, steps = path.partition(":")
    found: Any = json.loads((HERE / where).read_text("utf-8")) if "/" in where else import_module(where)
    for step in steps.split("."):
        if isinstance(found, Mapping):
            found = found[step]
        elif isinstance(found, Sequence) and step.lstrip("-").isdigit():
            found = found[int(step)]
        else:
            found = getattr(found, step.removesuffix("()"))
        found = found() if step.endswith("()") else found
    return found


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda one: str(one["_id"]))
def test_a_constant_that_pages_show_is_that_of_the_program(constant: dict[str, Any]) -> None:
    assert constant["value"] * constant.get("unit_is", 1) == pytest.approx(find(constant["_id"]))


def test_every_limit_of_a_pipeline_is_shown_with_where_it_holds() -> None:
    shown = {one["option"]: one["on"] == "files" for one in CONSTANTS if "option" in one}
    assert shown == {name: option.of_files for name, option in OPTIONS.items()}


@pytest.mark.parametrize("told", read("times/times.jsonl"), ids=lambda one: str(one["_id"]))
def test_a_page_says_the_time_of_its_command_as_a_dry_run_of_it_does(
    told: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(told["command"])
    assert words[2] == told["_id"]
    assert main([*words[1:], "--dry-run"]) == 0
    assert f"including loading: about {told['time']}\n" in capsys.readouterr().out
    quoted = f'{{"table": "run-times", "column": "time", "where": {{"_id": "{told["_id"]}"}}}}'
    named = [HERE / "docs/index.md", *(HERE / "docs/experiments").glob("*.md")]
    pages = [page.read_text("utf-8") for page in named]
    assert [f"\n{told['command']}\n" in page for page in pages if quoted in page] == [True]


def list_published(experiment: dict[str, Any]) -> list[tuple[object, ...]]:
    """The machines that the variants of an experiment were published for: tier, disk, its size and operations."""
    reference = experiment["reference"]
    ordered = [one.get("instance", reference) for one in experiment["variants"]]
    fields = ("atlasInstanceType", "atlasDiskType", "atlasDiskSizeGB", "atlasIOPS")
    return sorted({tuple(one[field] for field in fields) for one in ordered})


def first_source(one: Mapping[str, Any]) -> str:
    return str(one["source"]).split(";")[0]


def test_published_machines_are_those_that_the_experiments_name() -> None:
    files = [tomllib.loads(path.read_text("utf-8")) for path in sorted(EXPERIMENTS.glob("*.toml"))]
    named = {one["name"]: one for one in files if "atlasInstanceType" in one.get("reference", {})}
    assert {one["experiment"] for one in MACHINES} == set(named)
    for name, experiment in named.items():
        reference = experiment["reference"]
        mine = [one for one in MACHINES if one["experiment"] == name]
        found = sorted((one["tier"], one["disk"], one["disk_gb"], one["operations"]) for one in mine)
        assert found == list_published(experiment), name
        assert {first_source(one) for one in mine} == {first_source(reference)}
        assert {one["version"] for one in mine} == {reference["version"]}
        caches = {one["cache_gb"] for one in mine if one["tier"] == reference["atlasInstanceType"]}
        assert caches <= {reference["cache_gb"]}


def test_what_published_runs_inserted_is_what_the_experiments_name() -> None:
    for one in read("subjects/published.jsonl"):
        file = tomllib.loads((EXPERIMENTS / f"{one['_id']}.toml").read_text("utf-8"))
        named = {key: value for key, value in file["parameters"].items() if key not in PLACE}
        assert (one["title"], one["parameters"]) == (file["title"], named)
