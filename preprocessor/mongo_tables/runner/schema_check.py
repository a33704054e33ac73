"""Validation of documents against their schemas before they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from mongo_tables.directives.schemas import load
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.extended_json import write_line


def check_document(name: str, document: Mapping[str, Any]) -> None:
    """Raise CommandError if a document does not match ``schemas/NAME.schema.json``, such as that of ``result``."""
    # As Extended JSON, the published form, which the schemas describe.
    import bson

    published = json.loads(write_line(bson.encode(document)))
    error = next(iter(validator(name).iter_errors(published)), None)
    if error is not None:
        raise CommandError(f"a {name} document is wrong at {error.json_path}: {error.message[:300]}")


@cache
def validator(name: str) -> Any:
    """Return the validator of ``schemas/NAME.schema.json``."""
    from jsonschema import Draft7Validator

    return Draft7Validator(load(name))
