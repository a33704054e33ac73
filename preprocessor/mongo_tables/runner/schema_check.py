"""Validation of documents against their schemas before they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from mongo_tables.directives.schemas import load
from mongo_tables.results.extended_json import write_line
from mongo_tables.runner.errors import RunnerError


def check_result(document: Mapping[str, Any]) -> None:
    """Raise RunnerError if a result document does not match ``schemas/result.schema.json``."""
    _check(document, "result")


def check_published(document: Mapping[str, Any]) -> None:
    """Raise RunnerError if a document of published figures does not match ``schemas/published.schema.json``."""
    _check(document, "published")


def check_calibration(document: Mapping[str, Any]) -> None:
    """Raise RunnerError if a calibration does not match ``schemas/calibration.schema.json``."""
    _check(document, "calibration")


def _check(document: Mapping[str, Any], name: str) -> None:
    """Validate the document as Extended JSON, the published form, which the schemas describe."""
    import bson

    published = json.loads(write_line(bson.encode(document)))
    error = next(iter(validator(name).iter_errors(published)), None)
    if error is not None:
        raise RunnerError(f"a {name} document is wrong at {error.json_path}: {error.message[:300]}")


@cache
def validator(name: str) -> Any:
    """Return the validator of ``schemas/NAME.schema.json``."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))
