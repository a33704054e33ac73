"""Rows beside the pages of a site, or within them: where the links lead, there they are."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from urllib.parse import urljoin

import pytest

from mongo_tables.hosts.published_files import Shelf
from mongo_tables.render.downloads import data_address
from tests.hosts.builds import build, build_twice, sample

_LINK = re.compile(r'<a href="([^"]+)"[^>]* aria-label="(CSV|JSON): rows of')


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("./", "rows/a/b.t.csv"),
        ("a/b/", "../../rows/a/b.t.csv"),
        ("a/b.html", "../rows/a/b.t.csv"),
        ("b.html", "rows/a/b.t.csv"),
    ],
)
def test_an_address_leads_from_the_page_to_the_file(url: str, address: str) -> None:
    shelf = Shelf("a/b.md", url)
    assert shelf.place("t.csv", "text") == address
    assert shelf.files == {"rows/a/b.t.csv": "text"}
    assert urljoin(f"https://host/{url}", address) == "https://host/rows/a/b.t.csv"


def test_an_address_is_quoted_as_that_of_the_page_is() -> None:
    shelf = Shelf("a/#1 at 100%.md", "a/%231%20at%20100%25/")
    assert shelf.place("t.csv", "text") == "../../rows/a/%231%20at%20100%25.t.csv"
    assert list(shelf.files) == ["rows/a/#1 at 100%.t.csv"]


def test_small_files_are_their_own_address_and_large_ones_have_none() -> None:
    address = data_address("t.csv", "a,ü\r\n")
    assert address.startswith("data:text/csv;charset=utf-8;base64,")
    assert b64decode(address.partition(",")[2]).decode("utf-8") == "a,ü\r\n"
    assert data_address("t.json", "x" * 20_000) == ""


@pytest.mark.parametrize("urls", ["true", "false"])
def test_every_link_of_a_built_site_leads_to_its_rows_in_each_build(tmp_path: Path, urls: str) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = re.sub("(?m)^use_directory_urls:.*$", "", config.read_text(encoding="utf-8"))
    config.write_text(f"{text}\nuse_directory_urls: {urls}\n", encoding="utf-8")
    build_twice(site)
    links = [
        (page, *link)
        for page in (site / "site").rglob("*.html")
        for link in _LINK.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(links) == 12
    for page, address, kind in links:
        content = (page.parent / address).read_text(encoding="utf-8")
        assert content if kind == "CSV" else json.loads(content)["rows"]


def test_a_table_that_wants_nothing_told_has_nothing_under_it(tmp_path: Path) -> None:
    site = sample(tmp_path)
    page = site / "docs" / "index.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace('"collection":', '"provenance": false, "collection":', 1), encoding="utf-8")
    assert build(site, "--strict").returncode == 0
    assert "mongo-table__source" not in (site / "site" / "index.html").read_text(encoding="utf-8")
    assert not (site / "site" / "rows" / "index").exists()
