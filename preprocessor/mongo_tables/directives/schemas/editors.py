"""The JSON Schemas for editors, which list every stage of the catalogue for completion.

A check does not need the stages' names in the schema (it asks the catalogue), so the files in ``schemas/`` omit them
and cannot diverge from the catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mongo_tables import SITE
from mongo_tables.aggregation.catalogue import Operator, operators
from mongo_tables.directives.schemas import load

# The mark of a stage object in a schema: the rule that reports an object that is not a stage.
_STAGE = "MT134"


def schema_address(name: str) -> str:
    """Return the address of the schema ``name`` on the site, which is also its ``$id``."""
    return f"{SITE}schemas/{name}.schema.json"


def editor_schema(name: str) -> str:
    """Return the text of the schema ``name``, with stages and their arguments listed wherever they are allowed."""
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
        # Without "type": the evaluator has better messages about a wrong form.
        entry["required"] = list(one.required)
        entry["properties"] = {name: {} for name in (*one.required, *one.optional)}
    return entry
