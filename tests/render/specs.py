"""Table specs as a page would give them, for tests that begin at the rows."""

from __future__ import annotations

import json
from typing import Any

from mongo_tables.directives.pipelines import SharedPipeline
from mongo_tables.directives.specs import ChartSpec, TableSpec
from mongo_tables.site.pages import read_page


def no_shared(name: str) -> SharedPipeline:
    return SharedPipeline(name, None)


def table(*columns: str, **keys: Any) -> TableSpec:
    """The spec of a comment with these columns; headers are the columns' names unless given."""
    body = {
        "collection": "c",
        "pipeline": [],
        "columns": list(columns),
        "headers": keys.pop("headers", list(columns)),
        **keys,
    }
    source = json.dumps(body).replace("-->", "--\\u003e")
    page = read_page(f"<!-- MONGO_TABLE: {source} -->\n", "page.md", no_shared)
    assert not page.findings, page.findings
    (spec,) = page.tables
    return spec


def chart(x: str, y: str | list[str], **keys: Any) -> ChartSpec:
    """The spec of a MONGO_CHART comment."""
    body = {"collection": "c", "pipeline": [], "x": x, "y": y, **keys}
    body = {key: value for key, value in body.items() if value is not None}
    source = json.dumps(body).replace("-->", "--\\u003e")
    page = read_page(f"<!-- MONGO_CHART: {source} -->\n", "page.md", no_shared)
    assert not page.findings, page.findings
    (spec,) = page.pipeline_specs
    assert isinstance(spec, ChartSpec)
    return spec
