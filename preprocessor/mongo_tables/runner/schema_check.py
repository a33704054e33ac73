"""Documents held against their schema before they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from mongo_tables.directives.schemas import load
from mongo_tables.results.extended_json import write_line
from mongo_tables.runner.errors import RunnerError


def check_result(document: Mapping[str, Any]) -> None:
    """Raise RunnerError when a result document is not what ``schemas/result.schema.json`` says."""
    _check(document, "result")


def check_published(document: Mapping[str, Any]) -> None:
    """Raise RunnerError when a document of published figures is not what ``schemas/published.schema.json`` says."""
    _check(document, "published")


def check_calibration(document: Mapping[str, Any]) -> None:
    """Raise RunnerError when a calibration is not what ``schemas/calibration.schema.json`` says."""
    _check(document, "calibration")


def _check(document: Mapping[str, Any], name: str) -> None:
    """The schemas speak of Extended JSON, the form in which documents are published."""
    import bson

    published = json.loads(write_line(bson.encode(document)))
    error = next(iter(validator(name).iter_errors(published)), None)
    if error is not None:
        raise RunnerError(f"a {name} document is wrong at {error.json_path}: {error.message[:300]}")


@cache
def validator(name: str) -> Any:
    """The validator of ``schemas/NAME.schema.json``."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))
