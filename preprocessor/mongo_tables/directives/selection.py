"""Rows without a pipeline: the documents that ``where`` selects, in the order of ``sort``, the first ``limit`` of them.

The keys become the stages ``$match``, ``$sort`` and ``$limit`` here, each with the key as its origin; everybody else
sees a pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mongo_tables.directives.origins import Origin
from mongo_tables.directives.sharedpipelines import Expanded, Stage
from mongo_tables.findings.finding import Finding
from mongo_tables.jsontext.document import Document

STAGES: Final[Mapping[str, str]] = {"where": "$match", "sort": "$sort", "limit": "$limit"}
"""The keys that select rows, in the order in which they do, each with the stage that it stands for."""


def expand_selection(document: Document, body: Mapping[str, Any]) -> Expanded:
    """Give the stages that the keys of a comment stand for, as far as shapes allow.

    ``body`` is that of ``document``, its Extended JSON decoded.
    """
    stages: list[Stage] = []
    origins: list[Origin] = []
    for key, operator in STAGES.items():
        operand = None if document.parsed.is_guess((key,)) else _operand(key, body.get(key))
        if operand:
            stages.append({operator: operand})
            fields = tuple(operand) if isinstance(operand, Mapping) and isinstance(body[key], list) else ()
            origins.append(Origin((key,), "key", fields))
    return Expanded(tuple(stages), tuple(origins), ())


def _operand(key: str, written: Any) -> Mapping[str, Any] | int | None:
    """Give the operand of the stage that a key stands for; None where what is written is none."""
    if key == "sort":
        named = [written] if isinstance(written, str) else written
        texts = isinstance(named, list) and all(isinstance(one, str) for one in named)
        return read_sort(named) if texts else None
    if key == "limit":
        return int(written) if isinstance(written, (int, float)) and not isinstance(written, bool) else None
    return written if isinstance(written, Mapping) else None


def read_sort(named: list[str]) -> dict[str, int]:
    """Give the keys of a ``$sort``: ``-mean`` is the field ``mean`` from the greatest down."""
    return {one.removeprefix("-"): -1 if one.startswith("-") else 1 for one in named}


def write_sort(keys: Mapping[str, Any]) -> str:
    """Give the keys of a ``$sort`` as a comment without a pipeline says them."""
    named = [f"-{field}" if direction == -1 else field for field, direction in keys.items()]
    return f'"sort": {json.dumps(named if len(named) > 1 else named[0], ensure_ascii=False)}'


def selection_findings(document: Document) -> Iterator[Finding]:
    """Complain of a key that selects rows beside a pipeline, and of a field that is sorted by twice."""
    body = document.parsed.value
    for key, operator in STAGES.items():
        if key in body and "pipeline" in body:
            message = f"`{key}` means nothing beside a `pipeline`: nobody can tell which of them comes first"
            operand = json.dumps(_operand(key, body[key]), ensure_ascii=False)
            hint = f'say it in the pipeline, as a stage: {{"{operator}": {operand}}}'
            yield document.finding("MT130", (key,), message, hint, key=True)
    yield from _repeated_fields(document, body.get("sort"))


def _repeated_fields(document: Document, named: Any) -> Iterator[Finding]:
    fields: list[str] = []
    for index, one in enumerate(named if isinstance(named, list) else ()):
        field = one.removeprefix("-") if isinstance(one, str) else ""
        if field and field in fields:
            message = f"rows are sorted by `{field}` twice: the second time changes nothing"
            yield document.finding("MT133", ("sort", index), message, "remove one of the two")
        fields.append(field)
