"""What is told of measurements is what result documents have."""

from __future__ import annotations

import pytest

from mongo_tables.directives.schemas import fields
from mongo_tables.results.provenance import COMPARED, IN_PROVENANCE, RUN_COLUMNS

PATHS = [
    *COMPARED.values(),
    *(f"{part}.{name}" for part, names in IN_PROVENANCE.items() for name in names),
    *IN_PROVENANCE,
    *(f"repeats.{name}" for name in RUN_COLUMNS),
]


@pytest.mark.parametrize("path", PATHS)
def test_every_field_that_is_told_is_one_of_the_schema(path: str) -> None:
    assert any(path in fields(schema) for schema in ("result", "benchmark", "published"))
