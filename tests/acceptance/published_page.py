"""A published page of thirty-two tables is rendered as it stands, from files and from a server to the same bytes.

The page is not part of this project; whoever has it runs ``python -m tests.outside published FOLDER``. The suite has a
report of its own, of as many tables: ``pages/report.md``.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.test_same_bytes import database, fixtures, render
from tests.outside import outside_folder
from tests.runner.conftest import replica_set
from tests.runner.test_row_speeds import differ, rows

__all__ = ["database", "fixtures", "replica_set", "rows"]
PAGE = outside_folder() / "seeds/mongodb-performance-tables.md"


def test_an_existing_document_of_32_tables_needs_no_change(fixtures: str, database: str) -> None:
    offline, online = render(PAGE, fixtures), render(PAGE, database)
    assert offline.returncode == 0, offline.stderr.decode()
    assert offline.stdout == online.stdout
    rows = [line for line in offline.stdout.decode().splitlines() if line.startswith("|")]
    separators = [index for index, line in enumerate(rows) if set(line) <= set("|-: ")]
    ours = separators[1:]  # the first table of the document is written by hand
    assert len(ours) == 32
    assert all(index + 1 < len(rows) and not set(rows[index + 1]) <= set("|-: ") for index in ours)


@pytest.mark.parametrize("name", ["insert_docsize", "insert_batchsize", "query_full"])
def test_its_pipelines_compute_the_speeds_of_new_rows(rows: list[dict[str, Any]], name: str) -> None:
    tables, wrong = differ(PAGE, rows, name)
    assert tables >= 1
    assert wrong == []
