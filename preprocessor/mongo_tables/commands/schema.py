"""``mongo-tables schema``: print the JSON Schema of a comment for editors.

The command adds the stages of the catalogue to the schemas in ``directives/schemas/``, which do not repeat them.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final

from mongo_tables import SITE
from mongo_tables.aggregation.catalogue import Operator, operators
from mongo_tables.directives.schemas import load

_STAGE: Final = "MT134"
"""The rule in a schema that marks the object of a stage."""


def run(arguments: Namespace) -> int:
    """Print the schema. Return 0."""
    # JSON is UTF-8, whatever the encoding of the terminal is.
    sys.stdout.buffer.write(editor_schema(arguments.name).encode("utf-8"))
    return 0


def schema_address(name: str) -> str:
    """Return the address of a schema on the site, which is also its ``$id``."""
    return f"{SITE}schemas/{name}.schema.json"


def editor_schema(name: str) -> str:
    """Return the text of a schema with the names and arguments of all stages."""
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
        # Without "type", because the evaluator has better messages about a wrong form.
        entry["required"] = list(one.required)
        entry["properties"] = {name: {} for name in (*one.required, *one.optional)}
    return entry
