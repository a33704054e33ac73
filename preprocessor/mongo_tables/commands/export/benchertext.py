"""Benchmarks in the Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mongo_tables.commands.export.losses import Place, Row, Written
from mongo_tables.results.formats import bencher
from mongo_tables.results.formats.benchmark import shift

READER: Final = bencher.read


def write(rows: Sequence[Row]) -> Written:
    """The benchmarks as JSON: the value of each, and the interval that its tool gave.

    A name that stands in several suites has its suite before it.
    """
    names = Counter((row["_id"]["name"], row["_id"]["metric"]) for row in rows)
    found: dict[str, dict[str, Any]] = {}
    places: list[Place | None] = []
    for row in rows:
        if row.get("value") is None:
            places.append(None)
            continue
        suite, name, metric = (row["_id"][part] for part in ("testname", "name", "metric"))
        full = f"{suite}: {name}" if names[name, metric] > 1 else name or suite
        slug = _slug(row)
        found.setdefault(full, {})[slug] = _metric(row, slug)
        known = bencher.MEASURES.get(slug)
        places.append((bencher.TOOL, full, known.metric if known else slug))
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n" if found else ""
    return Written(text, places)


def _slug(row: Row) -> str:
    """The measure by the name that Bencher has for it: a built-in one, else that of the tool."""
    for slug, known in bencher.MEASURES.items():
        if (row["metric"], row["unit"]) == (known.metric, known.unit):
            return slug
    metric = str(row["metric"])
    return f"{metric} ({row['unit']})" if metric in bencher.MEASURES else metric


def _metric(row: Row, slug: str) -> Mapping[str, float]:
    known = bencher.MEASURES.get(slug)
    parts = {"value": "value", "lower_value": "low", "upper_value": "high"}
    return {
        part: shift(float(row[field]), -known.power if known else 0)
        for part, field in parts.items()
        if row.get(field) is not None
    }
