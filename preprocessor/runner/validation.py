"""Documents held against their schema before they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from preprocessor.runner.errors import RunnerError

SCHEMAS = Path(__file__).parents[1] / "schemas"


def check_result(document: Mapping[str, Any]) -> None:
    """Raise RunnerError when a result document is not what ``schemas/result.schema.json`` says.

    The schema speaks of Extended JSON, the form in which documents are published.
    """
    import bson

    from preprocessor.results import typedjson

    published = json.loads(typedjson.line(bson.encode(document)))
    error = next(iter(validator("result").iter_errors(published)), None)
    if error is not None:
        raise RunnerError(f"a result document is wrong at {error.json_path}: {error.message[:300]}")


@cache
def validator(name: str) -> Any:
    """The validator of ``schemas/NAME.schema.json``."""
    from jsonschema import Draft7Validator

    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Draft7Validator(schema)
