"""`$jsonSchema`."""

from __future__ import annotations

from typing import Any

from preprocessor.aggregation.errors import NotOffline, Path
from preprocessor.aggregation.query.walking import Predicate


def compile_schema(schema: Any, path: Path) -> Predicate:
    """The predicate of documents that fit the schema."""
    raise NotOffline("$jsonSchema does not run offline", path)
