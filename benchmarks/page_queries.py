"""The queries that the pages of a folder ask."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mongo_tables.results.model import Query
from mongo_tables.site.disk import list_pages, snapshot_of
from mongo_tables.site.site import parse_site


def queries_of(paths: Iterable[str], pipelines: Path) -> list[Query]:
    """The distinct queries of the pages that ``paths`` name, with their shared pipelines."""
    faults: list[str] = []
    files = [file for path in paths for file in list_pages(path, faults)]
    assert not faults, faults
    texts = {file.as_posix(): file.read_text("utf-8") for file in files}
    return list(parse_site(snapshot_of(texts, pipelines=pipelines)).queries().values())
