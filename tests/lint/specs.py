"""Tables as the linter gets them, from a pipeline alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bson import json_util

from mongo_tables.directives import reader
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.specs import TableSpec


def comment_of(pipeline: Sequence[Any], columns: Sequence[str], **more: Any) -> str:
    """The text of a comment, one stage a line."""
    stages = ",\n".join(
        json_util.dumps(stage, json_options=json_util.CANONICAL_JSON_OPTIONS) for stage in pipeline
    )
    rest = {"columns": list(columns), "headers": [f"Column {n}" for n, _ in enumerate(columns)], **more}
    collection = rest.pop("collection", "case")
    first = f'<!-- MONGO_TABLE: {{"collection": "{collection}", "pipeline": ['
    return f"{first}\n{stages}\n],\n{json.dumps(rest)[1:]} -->\n"


def table(pipeline: Sequence[Any], columns: Sequence[str], **more: Any) -> TableSpec:
    """The spec of a comment that must have no fault."""
    (comment,) = find(comment_of(pipeline, columns, **more), "page.md").comments
    read = reader.read(comment, "page.md", lambda _: None)
    spec = read.spec
    assert isinstance(spec, TableSpec), read.findings
    return spec
