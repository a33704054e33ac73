"""The JSON Schemas as editors want them: with every stage of the catalogue to choose from.

A check does not need the stages' names in the schema (it asks the catalogue itself), so the files in ``schemas/`` do
without them, and stay in step with the catalogue for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mongo_tables import SITE
from mongo_tables.aggregation.catalogue import Operator, operators
from mongo_tables.directives.schemas import load

# How a schema marks the object that is a stage: the rule that speaks when it is none.
_STAGE = "MT134"


def schema_address(name: str) -> str:
    """Where the site has the schema ``name``, and what it is called by (``$id``)."""
    return f"{SITE}schemas/{name}.schema.json"


def editor_schema(name: str) -> str:
    """The text of the schema ``name``, stages and their arguments listed wherever one can stand."""
    schema = load(name)
    called = {"$schema": schema["$schema"], "$id": schema_address(name)}
    stages = {one.name: _stage(one) for one in operators() if one.kind == "stage" and not one.refused}
    return json.dumps(called | _with_stages(schema, stages), indent=2, ensure_ascii=False) + "\n"


def _with_stages(value: Any, stages: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_with_stages(item, stages) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _with_stages(item, stages) for key, item in value.items()}
    is_stage = value.get("x-rule") == _STAGE and "propertyNames" in value
    return inner | {"properties": stages} if is_stage else inner


def _stage(one: Operator) -> dict[str, Any]:
    since = f", since MongoDB {one.since}" if one.since else ""
    entry: dict[str, Any] = {
        "title": f"Stage {one.name}{since}",
        "description": f"{one.manual}",
        "markdownDescription": f"[`{one.name}` in MongoDB's manual]({one.manual}){since}",
    }
    if one.style == "named":
        # Without "type": what the stage does with another form is for the evaluator to say, in better words.
        entry["required"] = list(one.required)
        entry["properties"] = {name: {} for name in (*one.required, *one.optional)}
    return entry
