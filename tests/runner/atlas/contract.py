"""What was said to the fake and by it, held against the Administration API's own specification.

Its licence (CC BY-NC-SA) keeps it out of this repository: ``python -m tests.outside atlas FOLDER`` is given where it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote

import yaml
from jsonschema import Draft7Validator, FormatChecker

from mongo_tables.runner.atlas.api import TOKEN_PATH
from tests.outside import FOLDER, outside_folder
from tests.runner.atlas.fake import Exchange

FILE = "atlas/administration-api-cut.yaml"


def is_there() -> bool:
    """Whether the tests were started with it: ``python -m tests.outside atlas FOLDER``."""
    return FOLDER in os.environ and (outside_folder() / FILE).exists()


@cache
def specification() -> Mapping[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: Mapping[str, Any] = yaml.load((outside_folder() / FILE).read_text("utf-8"), loader)
    return found


def violations(exchange: Exchange) -> Iterator[str]:
    """What of a request, or of its answer, the specification does not have."""
    if exchange.path == TOKEN_PATH:  # it is in no path of the specification, only in its securitySchemes
        return
    operation, named = _operation(exchange)
    if operation is None:
        yield f"there is no {exchange.method} {exchange.path}"
        return
    yield from _query(operation, exchange.query, named)
    yield from _request(operation, exchange)
    yield from _answer(operation, exchange)


def _operation(exchange: Exchange) -> tuple[Mapping[str, Any] | None, dict[str, str]]:
    """The operation, and the parameters in its path; a path without any is before one with."""
    for path, operations in sorted(
        specification()["paths"].items(), key=lambda one: "{" in one[0].rpartition("/")[2]
    ):
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
        found = re.fullmatch(pattern, exchange.path)
        if found and exchange.method.lower() in operations:
            return operations[exchange.method.lower()], {k: unquote(v) for k, v in found.groupdict().items()}
    return None, {}


def _query(
    operation: Mapping[str, Any], query: Mapping[str, list[str]], named: Mapping[str, str]
) -> Iterator[str]:
    known = {one["name"]: one for one in map(_resolved, operation.get("parameters", ()))}
    yield from (f"no parameter {name}" for name in query if known.get(name, {}).get("in") != "query")
    for name, one in known.items():
        schema = _schema(one["schema"], writes=True)
        if one["in"] == "path":
            yield from _faults(named[name], schema, f"path {name}")
        elif name in query:
            given = [int(value) if schema.get("type") == "integer" else value for value in query[name]]
            yield from _faults(given if schema.get("type") == "array" else given[0], schema, f"query {name}")
        elif one.get("required"):
            yield f"the parameter {name} is missing"


def _request(operation: Mapping[str, Any], exchange: Exchange) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        if exchange.body:
            yield "a body where none is taken"
        return
    media = exchange.headers.get("Content-Type", "")
    if media not in content:
        yield f"the body is {media}, and the operation takes {', '.join(content)}"
        return
    yield from _faults(exchange.body, _schema(content[media]["schema"], writes=True), "request")


def _answer(operation: Mapping[str, Any], exchange: Exchange) -> Iterator[str]:
    answers = operation["responses"]
    if str(exchange.status) not in answers:
        yield f"status {exchange.status} is none of {', '.join(answers)}"
        return
    answer = _resolved(answers[str(exchange.status)])
    content = answer.get("content", {})
    if exchange.media_type not in content:
        yield f"the answer is {exchange.media_type}, and there are {', '.join(content)}"
        return
    if schema := content[exchange.media_type].get("schema"):
        yield from _faults(exchange.answer, _schema(schema, writes=False), "answer")


def _faults(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    for error in Draft7Validator(schema, format_checker=FormatChecker()).iter_errors(value):
        yield f"{where} {error.json_path}: {error.message[:200]}"


def _resolved(one: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in one:
        _, _, kind, name = one["$ref"].split("/")
        one = specification()["components"][kind][name]
    return one


@cache
def _named(reference: str, writes: bool) -> dict[str, Any]:
    return _schema(_resolved({"$ref": reference}), writes=writes)


def _schema(one: Mapping[str, Any], *, writes: bool) -> dict[str, Any]:
    """JSON Schema of one of OpenAPI 3.0, and stricter: a field that is not in it is a mistake.

    ``writes`` is whether it is of a request: what is readOnly is not in one, and what is writeOnly in no answer.
    """
    if "$ref" in one:
        return _named(one["$ref"], writes)
    found = {
        key: value for key, value in one.items() if key not in ("example", "description", "externalDocs")
    }
    if "items" in found:
        found["items"] = _schema(found["items"], writes=writes)
    if "properties" in found:
        hidden = "readOnly" if writes else "writeOnly"
        kept = {key: value for key, value in found["properties"].items() if not _resolved(value).get(hidden)}
        found["properties"] = {key: _schema(value, writes=writes) for key, value in kept.items()}
        found["required"] = [key for key in found.get("required", []) if key in kept]
        found.setdefault("additionalProperties", False)
    if isinstance(found.get("additionalProperties"), Mapping):
        found["additionalProperties"] = _schema(found["additionalProperties"], writes=writes)
    return found
