"""What editors complete from: every stage there is, and no other verdict than the check's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from mongo_tables import SITE
from mongo_tables.aggregation.catalogue import operators
from mongo_tables.commands.schema import editor_schema
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.schemas import load, names
from mongo_tables.jsontext.reader import parse

ROOT = Path(__file__).parents[4]


def stage_objects(value: Any) -> list[dict[str, Any]]:
    """The parts of a schema that describe a stage."""
    if isinstance(value, list):
        return [found for item in value for found in stage_objects(item)]
    if not isinstance(value, dict):
        return []
    inner = [found for item in value.values() for found in stage_objects(item)]
    is_stage = value.get("propertyNames", {}).get("pattern") == "^\\$[a-zA-Z]"
    return [value, *inner] if is_stage else inner


@pytest.mark.parametrize("name", ["table", "chart", "pipeline"])
def test_editors_offer_every_stage_that_runs_with_its_manual(name: str) -> None:
    offered = {one.name for one in operators() if one.kind == "stage" and not one.refused}
    found = stage_objects(json.loads(editor_schema(name)))
    assert found
    for stage in found:
        assert set(stage["properties"]) == offered
        assert all(one["description"].startswith("https://") for one in stage["properties"].values())
        assert "$out" not in stage["properties"]
    assert set(found[0]["properties"]["$bucket"]["properties"]) == {
        "groupBy",
        "boundaries",
        "default",
        "output",
    }


@pytest.mark.parametrize("name", names())
def test_a_published_schema_is_a_schema(name: str) -> None:
    published = json.loads(editor_schema(name))
    Draft7Validator.check_schema(published)
    assert published["$schema"] == load(name)["$schema"]
    assert published["$id"] == f"{SITE}schemas/{name}.schema.json"


def test_editors_accept_the_comments_of_this_site() -> None:
    validator = Draft7Validator(json.loads(editor_schema("table")))
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    bodies = [
        parse(comment.body).value
        for page in pages
        for comment in find(page.read_text("utf-8"), page.name).comments
        if comment.keyword == "MONGO_TABLE"
    ]
    assert bodies
    assert [error.message for body in bodies for error in validator.iter_errors(body)] == []


def test_a_shared_pipeline_names_its_schema_and_is_read(tmp_path: Path) -> None:
    from mongo_tables.directives.pipelines import SharedPipelines

    page = (ROOT / "docs" / "authors" / "tools.md").read_text("utf-8")
    (example,) = [text for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if "$schema" in text]
    (tmp_path / "by-threads.json").write_text(example)
    found = SharedPipelines(tmp_path)("by-threads")
    assert found.findings == ()
    assert len(found.stages) == 1
    assert Draft7Validator(json.loads(editor_schema("pipeline"))).is_valid(json.loads(example))


def test_the_site_publishes_every_schema(tmp_path: Path) -> None:
    from mkdocs.config import load_config
    from mkdocs.structure.files import Files

    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path))
    config = config.plugins.on_config(config)
    files = config.plugins.on_files(Files([]), config=config)
    published = {file.src_uri: file.content_string for file in files}
    for name in names():
        assert published[f"schemas/{name}.schema.json"] == editor_schema(name)
