"""Values and statements about tables of other pages, in a program that hands over one page at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from preprocessor.pages.model import Page
from preprocessor.pages.neighbours import neighbours
from preprocessor.pages.reading import read_page
from preprocessor.specs.sharedpipelines import SharedPipelines
from tests.site.builds import article, build, sample
from tests.site.test_build import with_extension

ELSEWHERE = '<!-- MONGO_VALUE: {"table": "all-runs", "column": "qps", "where": {"threads": 8}} -->'
UNKNOWN = ELSEWHERE.replace("all-runs", "no-runs")
TABLE = {"id": "here", "collection": "runs", "pipeline": [], "columns": ["threads"], "headers": ["Threads"]}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return with_extension(sample(tmp_path))


@pytest.fixture
def read(site: Path) -> Callable[[str, str], Page]:
    shared = SharedPipelines(site / "docs" / "pipelines")
    return lambda text, file: read_page(text, file, shared)


def found(text: str, site: Path, read: Callable[[str, str], Page]) -> list[tuple[str, list[str | None]]]:
    others = neighbours(read(text, "docs/prose.md"), site, Path("docs"), read)
    return [(other.file, [table.id for table in other.tables]) for other in others]


def test_zensical_shows_a_value_of_another_page(site: Path) -> None:
    (site / "docs" / "prose.md").write_text(f"# Prose\n\nA peak of {ELSEWHERE}.\n", encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '<span class="mongo-value" data-v="1032240">1032240</span>' in article(
        site / "site" / "prose.html"
    )


def test_zensical_stops_at_a_value_of_no_page(site: Path) -> None:
    (site / "docs" / "prose.md").write_text(f"# Prose\n\nA peak of {UNKNOWN}.\n", encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "docs/prose.md:3:" in done.stdout + done.stderr and "MT139" in done.stdout + done.stderr


def test_only_the_tables_that_are_named_come_from_another_page(
    site: Path, read: Callable[[str, str], Page]
) -> None:
    assert found(f"A peak of {ELSEWHERE}.", site, read) == [("docs/index.md", ["all-runs"])]


def test_a_page_that_names_its_own_tables_needs_no_other(
    site: Path, read: Callable[[str, str], Page]
) -> None:
    own = json.dumps({"table": "here", "column": "threads"})
    assert (
        found(f"<!-- MONGO_TABLE: {json.dumps(TABLE)} -->\n\n<!-- MONGO_VALUE: {own} -->", site, read) == []
    )


def test_a_page_that_only_mentions_the_name_is_no_neighbour(
    site: Path, read: Callable[[str, str], Page]
) -> None:
    (site / "docs" / "mention.md").write_text('Call it "no-runs".\n', encoding="utf-8")
    assert found(f"A peak of {UNKNOWN}.", site, read) == []


def test_a_file_that_is_no_text_is_left_to_the_program(site: Path, read: Callable[[str, str], Page]) -> None:
    (site / "docs" / "broken.md").write_bytes(b'\xff "all-runs"')
    assert found(f"A peak of {ELSEWHERE}.", site, read) == [("docs/index.md", ["all-runs"])]
